package auth

import (
	"crypto/rand"
	"strings"
)

// A share's secret is "tarsyshare_" and 52 random characters of base32, which is 260 bits. Its form differs from a key's
// secret.
const (
	shareStart        = "tarsyshare_"
	shareSecretLength = 52
)

// NewShareSecret generates the secret of a share, which is not stored, and its hash, which is.
func NewShareSecret() (secret string, hash []byte) {
	secret = shareStart + strings.ToLower(rand.Text()+rand.Text())

	return secret, Hash(secret)
}

// MayBeShareSecret reports whether s has the form of a share's secret. Anything else is rejected without querying the database.
func MayBeShareSecret(s string) bool {
	rest, ok := strings.CutPrefix(s, shareStart)

	return ok && len(rest) == shareSecretLength && isPlain(rest)
}
