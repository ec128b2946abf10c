package auth

import (
	"crypto/rand"
	"strings"
)

// A share's secret is "tarsyshare_" and 52 random characters of base32, which is 260 bits. It does not have the form of a key's.
const (
	shareStart        = "tarsyshare_"
	shareSecretLength = 52
)

// NewShareSecret makes the secret of a share, which is kept nowhere, and the hash that is stored.
func NewShareSecret() (secret string, hash []byte) {
	secret = shareStart + strings.ToLower(rand.Text()+rand.Text())

	return secret, Hash(secret)
}

// MayBeShareSecret reports whether s has the form of a share's secret: what has not is refused without asking the database.
func MayBeShareSecret(s string) bool {
	rest, ok := strings.CutPrefix(s, shareStart)

	return ok && len(rest) == shareSecretLength && isPlain(rest)
}
