package auth

import (
	"crypto/rand"
	"crypto/subtle"
	"strings"
	"time"
)

// BrowserSessionLife is the lifetime of a browser session.
const BrowserSessionLife = 7 * 24 * time.Hour

// A browser session's secret is 52 random characters of base32, which is 260 bits; a CSRF token is half as long.
const browserSecretLength = 52

// BrowserSecret is created when a browser logs in: Secret goes into its cookie and is not stored, Hash is stored, and CSRFToken
// is known only to the server's own page.
type BrowserSecret struct {
	Secret    string
	Hash      []byte
	CSRFToken string
}

// NewBrowserSecret generates the secrets of a browser session.
func NewBrowserSecret() BrowserSecret {
	secret := strings.ToLower(rand.Text() + rand.Text())

	return BrowserSecret{Secret: secret, Hash: Hash(secret), CSRFToken: strings.ToLower(rand.Text())}
}

// MayBeBrowserSecret reports whether s has the form of a browser session's secret. Anything else is rejected without querying
// the database.
func MayBeBrowserSecret(s string) bool { return len(s) == browserSecretLength && isPlain(s) }

// SameToken compares a sent token with the right one in constant time.
func SameToken(sent, right string) bool {
	return right != "" && subtle.ConstantTimeCompare([]byte(sent), []byte(right)) == 1
}
