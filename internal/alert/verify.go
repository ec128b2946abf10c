package alert

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"strings"

	"tarsy.dev/tarsy/internal/config"
)

// Secrets returns the value of an environment variable and whether it is set.
type Secrets func(name string) (value string, ok bool)

// Verify reports whether a request comes from the receiver's sender: it has the token if token_env is set, and a valid
// signature if secret_env is set. Without both settings it reports false; such receivers need an API key. While its secret is
// rotated, a sender may send several signatures; one valid signature is enough. The error says that a secret is not set on the
// server.
//
// Signatures do not expire: PagerDuty signs no timestamp. A replayed request counts as a repeated delivery for a while, and
// after that increments the count of its alert at most once.
func Verify(r config.Receiver, secrets Secrets, header http.Header, body []byte) (bool, error) {
	ok := r.TokenEnv != "" || r.SecretEnv != ""

	if r.TokenEnv != "" {
		token, err := secret(r, secrets, r.TokenEnv)
		if err != nil {
			return false, err
		}

		ok = hasToken(header, token) && ok
	}

	if r.SecretEnv != "" {
		key, err := secret(r, secrets, r.SecretEnv)
		if err != nil {
			return false, err
		}

		source, err := sourceOf(r)
		if err != nil {
			return false, err
		}

		ok = source.signing.verify(header, key, body) && ok
	}

	return ok, nil
}

// Sign returns headers with which a body passes Verify. The error says that a secret is not set.
func Sign(r config.Receiver, secrets Secrets, body []byte) (http.Header, error) {
	header := http.Header{}

	if r.TokenEnv != "" {
		token, err := secret(r, secrets, r.TokenEnv)
		if err != nil {
			return nil, err
		}

		header.Set("Authorization", "Bearer "+token)
	}

	if r.SecretEnv != "" {
		key, err := secret(r, secrets, r.SecretEnv)
		if err != nil {
			return nil, err
		}

		source, err := sourceOf(r)
		if err != nil {
			return nil, err
		}

		header.Set(source.signing.headers[0], source.signing.prefix+hex.EncodeToString(sign(key, body)))
	}

	return header, nil
}

func secret(r config.Receiver, secrets Secrets, name string) (string, error) {
	value, ok := secrets(name)
	if !ok || value == "" {
		return "", fmt.Errorf("environment variable %s of the receiver %s/%s is not set", name, r.Source, r.Name)
	}

	return value, nil
}

// hasToken reports whether the token was sent as a bearer token, or as the password of basic authentication, the only form that
// Amazon SNS supports.
func hasToken(header http.Header, token string) bool {
	scheme, sent, ok := strings.Cut(strings.TrimSpace(header.Get("Authorization")), " ")
	ok = ok && strings.EqualFold(scheme, "Bearer")

	if _, password, basic := (&http.Request{Header: header}).BasicAuth(); basic {
		sent, ok = password, true
	}

	// Comparing hashes of equal length does not leak the length of the token.
	got, want := sha256.Sum256([]byte(strings.TrimSpace(sent))), sha256.Sum256([]byte(token))

	return hmac.Equal(got[:], want[:]) && ok
}

// verify reports whether the headers contain a valid signature of the body.
func (s signing) verify(header http.Header, key string, body []byte) bool {
	wanted := [][]byte{sign(key, body)}

	if s.also != nil {
		for _, before := range s.also(header) {
			wanted = append(wanted, sign(key, []byte(before), body))
		}
	}

	found := false

	for _, name := range s.headers {
		for _, line := range header.Values(name) {
			for part := range strings.SplitSeq(line, ",") {
				got, ok := s.digits(strings.TrimSpace(part))
				for _, want := range wanted {
					found = ok && hmac.Equal(got, want) || found
				}
			}
		}
	}

	return found
}

// digits decodes a signature.
func (s signing) digits(text string) ([]byte, bool) {
	digits, ok := strings.CutPrefix(text, s.prefix)
	if !ok && (!s.bare || strings.Contains(text, "=")) {
		return nil, false
	}

	raw, err := hex.DecodeString(digits)

	return raw, err == nil && len(raw) == sha256.Size
}

func sign(key string, parts ...[]byte) []byte {
	mac := hmac.New(sha256.New, []byte(key))
	for _, part := range parts {
		mac.Write(part)
	}

	return mac.Sum(nil)
}
