package api

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/oidc"
	"tarsy.dev/tarsy/internal/plaintext"
)

const (
	attemptCookie = "tarsy_login"
	// attemptLife is how long a login at the issuer can take.
	attemptLife = 10 * time.Minute
	// maxReturnTo is the maximum length of a path to return to: browsers drop cookies of more than 4 KiB.
	maxReturnTo = 2000
)

// attempt is a login in progress. The browser keeps it in a cookie for the callback, so that any server can finish it. It is not
// signed: anyone who can write this host's cookies can log its browsers in as another user without it.
type attempt struct {
	oidc.Attempt

	ReturnTo string    `json:"return_to"`
	At       time.Time `json:"at"`
	// Replaces is the hash of the browser session in which the login began; empty without one. The callback cannot read that session's
	// cookie, which browsers do not send when another site redirects them here.
	Replaces []byte `json:"replaces,omitempty"`
}

// cookie returns the cookie of the attempt. The issuer redirects the browser here from its own site, so SameSite is Lax.
func (a attempt) cookie(secure bool) *http.Cookie {
	raw, _ := json.Marshal(a) //nolint:errchkjson // texts and a time

	return &http.Cookie{ //nolint:gosec // over plain HTTP a browser would not send a Secure cookie back
		Name: attemptCookie, Value: base64.RawURLEncoding.EncodeToString(raw), Path: oidcCallbackPath, MaxAge: int(attemptLife.Seconds()),
		HttpOnly: true, Secure: secure, SameSite: http.SameSiteLaxMode,
	}
}

// forgottenAttempt returns the cookie that makes the browser delete its attempt.
func forgottenAttempt() string {
	gone := &http.Cookie{Name: attemptCookie, Path: oidcCallbackPath, MaxAge: -1, HttpOnly: true, SameSite: http.SameSiteLaxMode} //nolint:gosec // it has no value

	return gone.String()
}

// readAttempt decodes the cookie of an attempt that has not expired.
func readAttempt(cookie string, now time.Time) (attempt, error) {
	raw, err := base64.RawURLEncoding.DecodeString(cookie)
	expired := tarsy.Errorf(tarsy.CodeLoginExpired, "The login took too long, or began in another browser or at another address. Log in again.")

	var found attempt
	if err != nil || json.Unmarshal(raw, &found) != nil {
		return attempt{}, expired
	}

	found.ReturnTo, err = localPath(found.ReturnTo)
	if err != nil {
		return attempt{}, expired
	}

	if age := now.Sub(found.At); age >= attemptLife || age < -attemptLife {
		return attempt{ReturnTo: found.ReturnTo}, expired
	}

	return found, nil
}

// localPath checks that a path leads to a page of the dashboard, however a browser parses it. An empty path becomes /.
func localPath(text string) (string, error) {
	wrong := tarsy.FieldErrorf(tarsy.CodeInvalidParameter, "return_to", "return_to must be a path of the dashboard, such as /sessions, of at most %d characters", maxReturnTo)

	if text == "" {
		return "/", nil
	}

	if len(text) > maxReturnTo || !strings.HasPrefix(text, "/") || strings.HasPrefix(text, "//") || strings.Contains(text, `\`) ||
		text != plaintext.Clean(text) || strings.ContainsFunc(text, func(r rune) bool { return plaintext.Invisible(r) || r == ' ' }) {
		return "", wrong
	}

	u, err := url.Parse(text)
	if err != nil || u.Scheme != "" || u.Host != "" || u.Path == "" || path.Clean(u.Path) != u.Path && path.Clean(u.Path)+"/" != u.Path ||
		strings.Contains(u.Path, `\`) || isAPI(u.Path) || u.Path == "/login" {
		return "", wrong
	}

	return u.String(), nil
}
