package api

import (
	"context"
	"math"
	"net/http"
	"time"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/limit"
	"tarsy.dev/tarsy/internal/problem"
)

// LoginLimits bound what browsers that log in may cost; zero means no limit.
type LoginLimits struct {
	// AttemptsPerMinute holds for each address, and for the logins with each key.
	AttemptsPerMinute int
	// SessionsPerKey is how many browsers may be logged in with one key. The oldest one makes room.
	SessionsPerKey int
}

// sharesPerLogin is how many reads of shared sessions one address may make for each login that it may try: the page reads a long timeline in parts,
// and again while the session runs.
const sharesPerLogin = 6

// attempts limits how often browsers try to log in. It is shared by all requests.
type attempts struct {
	networks *limit.Rate
	keys     *limit.Rate
	shares   *limit.Rate
	notice   *limit.Notice
}

// fromNetwork counts an attempt from a network, whether it will succeed or not.
func (a *attempts) fromNetwork(ctx context.Context, network string, now time.Time) error {
	wait, ok := a.networks.Allow(network, now)
	if ok {
		return nil
	}

	a.notice.Refused(ctx, "login refused, too many attempts from one address", "address", network)

	return tooManyAttempts(wait, "Too many attempts to log in from this address. Try again later.")
}

// atShares counts an attempt to read a shared session. A page reads several times, so it is counted apart from logins.
func (a *attempts) atShares(ctx context.Context, network string, now time.Time) error {
	wait, ok := a.shares.Allow(network, now)
	if ok {
		return nil
	}

	a.notice.Refused(ctx, "shared session refused, too many attempts from one address", "address", network)

	return tooManyAttempts(wait, "Too many attempts to open shared sessions from this address. Try again later.")
}

// ofUser counts a login of a user whom the issuer identified.
func (a *attempts) ofUser(ctx context.Context, user *caller, now time.Time) error {
	wait, ok := a.keys.Allow(user.identity(), now)
	if ok {
		return nil
	}

	a.notice.Refused(ctx, "login refused, too many logins of one user", user.logged()...)

	return tooManyAttempts(wait, "Too many logins of this user. Try again later.")
}

// withKey counts a login with a key that exists.
func (a *attempts) withKey(ctx context.Context, key *tarsy.APIKey, now time.Time) error {
	wait, ok := a.keys.Allow(key.ID, now)
	if ok {
		return nil
	}

	a.notice.Refused(ctx, "login refused, too many logins with one key", "key_id", key.ID, "key_name", key.Name)

	return tooManyAttempts(wait, "Too many logins with this API key. Try again later.")
}

func tooManyAttempts(wait time.Duration, message string) error {
	p := problem.New(tarsy.Errorf(tarsy.CodeTooManyRequests, "%s", message))
	p.RetryAfter = int(math.Ceil(wait.Seconds()))

	return p
}

// KeyOf is the id of the key behind a request that reached a handler, or the identity of its user; it is empty where nobody needs one.
func KeyOf(r *http.Request) string {
	if who, ok := r.Context().Value(callerKey{}).(*caller); ok {
		return who.identity()
	}

	return ""
}
