package auth

import (
	"crypto/rand"
	"crypto/subtle"
	"strings"
	"time"
)

// BrowserSessionLife is how long a browser stays logged in.
const BrowserSessionLife = 7 * 24 * time.Hour

// A browser session's secret is 52 random characters of base32, which is 260 bits; a CSRF token is half as long.
const browserSecretLength = 52

// BrowserSecret is what a browser gets that logs in: Secret goes into its cookie and is kept nowhere, Hash is what is
// stored, and CSRFToken is what only the server's own page can know.
type BrowserSecret struct {
	Secret    string
	Hash      []byte
	CSRFToken string
}

// NewBrowserSecret makes the secrets of a browser session.
func NewBrowserSecret() BrowserSecret {
	secret := strings.ToLower(rand.Text() + rand.Text())

	return BrowserSecret{Secret: secret, Hash: Hash(secret), CSRFToken: strings.ToLower(rand.Text())}
}

// MayBeBrowserSecret reports whether s has the form of a browser session's secret: what has not is refused without
// asking the database.
func MayBeBrowserSecret(s string) bool { return len(s) == browserSecretLength && isPlain(s) }

// SameToken compares a token that was sent with the right one, in a time that tells nothing about it.
func SameToken(sent, right string) bool {
	return right != "" && subtle.ConstantTimeCompare([]byte(sent), []byte(right)) == 1
}
