package private

import (
	"crypto/hmac"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
)

// iterations is how often a password is hashed. More iterations slow down guessing, but a password of 192 random bits cannot be
// guessed. With PostgreSQL's default of 4096, hashing took most of the time of a new connection.
const iterations = 1

// newVerifier returns what the server stores for a password, in PostgreSQL's format for SCRAM-SHA-256. The server accepts it in
// place of the password. It must not be used for passwords that people choose.
func newVerifier(password string) (string, error) {
	salt := make([]byte, 16)
	if _, err := rand.Read(salt); err != nil {
		return "", err
	}
	salted, err := pbkdf2.Key(sha256.New, password, salt, iterations, sha256.Size)
	if err != nil {
		return "", err
	}
	key := func(name string) []byte {
		code := hmac.New(sha256.New, salted)
		code.Write([]byte(name))
		return code.Sum(nil)
	}
	stored := sha256.Sum256(key("Client Key"))
	encode := base64.StdEncoding.EncodeToString
	return fmt.Sprintf("SCRAM-SHA-256$%d:%s$%s:%s", iterations, encode(salt), encode(stored[:]), encode(key("Server Key"))), nil
}
