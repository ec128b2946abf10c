package api

import (
	"crypto/hmac"
	"crypto/sha256"
	"strings"

	"tarsy.dev/tarsy"
)

// idempotencyKey is the Idempotency-Key header: a name that the sender chooses for one request.
type idempotencyKey string

// identify returns the key of a request, or nil if it has none. Different senders may use the same key, so the hash covers the API key
// and the author. The fingerprint is keyed with the sender's key: a plain hash would make it easier to guess what masking hides in the
// stored alert.
func (key idempotencyKey) identify(who *caller, operation string) (*tarsy.IdempotencyKey, error) {
	if key == "" {
		return nil, nil //nolint:nilnil // having none is fine
	}

	if len(key) > tarsy.MaxIdempotencyKey || strings.ContainsFunc(string(key), func(r rune) bool { return r < ' ' || r > '~' }) {
		return nil, tarsy.FieldErrorf(tarsy.CodeInvalidField, "Idempotency-Key",
			"Idempotency-Key must have at most %d printable ASCII characters", tarsy.MaxIdempotencyKey)
	}

	keyID := ""
	if who.hasLogin() {
		keyID = who.identity()
	}

	// No part contains a NUL.
	hash := sha256.Sum256([]byte(strings.Join([]string{keyID, who.author, string(key)}, "\x00")))
	fingerprint := hmac.New(sha256.New, []byte(key))
	fingerprint.Write([]byte(operation + "\x00"))
	fingerprint.Write(who.body)

	return &tarsy.IdempotencyKey{Hash: hash[:], Fingerprint: fingerprint.Sum(nil)}, nil
}
