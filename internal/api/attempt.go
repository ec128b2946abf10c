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

// LoginLimits bound logins by browsers; zero means no limit.
type LoginLimits struct {
	// AttemptsPerMinute applies to each address, and to the logins with each key.
	AttemptsPerMinute int
	// SessionsPerKey is how many browsers can be logged in with one key. A further login ends the oldest session.
	SessionsPerKey int
}

// sharesPerLogin is how many reads of shared sessions an address gets for each login attempt it is allowed: the page reads a long
// timeline in parts, and again while the session runs.
const sharesPerLogin = 6

// attempts limits how often browsers try to log in. All requests share it.
type attempts struct {
	networks *limit.Rate
	keys     *limit.Rate
	shares   *limit.Rate
	notice   *limit.Notice
}

// fromNetwork counts a login attempt from a network, whether or not it succeeds.
func (a *attempts) fromNetwork(ctx context.Context, network string, now time.Time) error {
	wait, ok := a.networks.Allow(network, now)
	if ok {
		return nil
	}

	a.notice.Refused(ctx, "login refused, too many attempts from one address", "address", network)

	return tooManyAttempts(wait, "Too many attempts to log in from this address. Try again later.")
}

// atShares counts an attempt to read a shared session. It is counted separately from logins because a page reads several times.
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

// withKey counts a login with an existing key.
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

// KeyOf returns the id of the key behind a request that reached a handler, or the identity of its user; it is empty where no
// credentials are required.
func KeyOf(r *http.Request) string {
	if who, ok := r.Context().Value(callerKey{}).(*caller); ok {
		return who.identity()
	}

	return ""
}
