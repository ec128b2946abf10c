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
	// attemptLife is how long a login at the issuer may take.
	attemptLife = 10 * time.Minute
	// maxReturnTo is the length of a path to return to: browsers drop cookies of more than 4 KiB.
	maxReturnTo = 2000
)

// attempt is a login that has begun. Its browser keeps it in a cookie for the callback, so that any server can finish it. It is not
// signed: who can write the cookies of this host can log its browsers in as somebody else without it.
type attempt struct {
	oidc.Attempt

	ReturnTo string    `json:"return_to"`
	At       time.Time `json:"at"`
	// Replaces is the hash of the browser session that the login began in; empty without one. The callback cannot read that session's cookie,
	// which browsers do not send when another site leads them here.
	Replaces []byte `json:"replaces,omitempty"`
}

// cookie makes the cookie of the attempt. The issuer sends the browser here from its own site, so SameSite is Lax.
func (a attempt) cookie(secure bool) *http.Cookie {
	raw, _ := json.Marshal(a) //nolint:errchkjson // texts and a time

	return &http.Cookie{ //nolint:gosec // over plain HTTP a browser would not send a Secure cookie back
		Name: attemptCookie, Value: base64.RawURLEncoding.EncodeToString(raw), Path: oidcCallbackPath, MaxAge: int(attemptLife.Seconds()),
		HttpOnly: true, Secure: secure, SameSite: http.SameSiteLaxMode,
	}
}

// forgottenAttempt makes the browser forget its attempt.
func forgottenAttempt() string {
	gone := &http.Cookie{Name: attemptCookie, Path: oidcCallbackPath, MaxAge: -1, HttpOnly: true, SameSite: http.SameSiteLaxMode} //nolint:gosec // it has no value

	return gone.String()
}

// readAttempt reads the cookie of an attempt that is not too old.
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

// localPath checks that a path leads to a page of the dashboard, however a browser reads it. An empty one leads to the first page.
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
