package api

import (
	"net/http"
	"strings"
	"unicode"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/plaintext"
)

// maxAuthor is the maximum length of an author's name, in characters.
const maxAuthor = 200

// author names the caller: the user that a trusted proxy names, else the key's name, else the default author.
func author(r *http.Request, key *tarsy.APIKey, proxied bool) string {
	if proxied {
		if user := forwardedUser(r); user != "" {
			return user
		}
	}

	if key != nil {
		return key.Name
	}

	return tarsy.DefaultAuthor
}

// forwardedUser returns the user that a proxy names; empty if it names none.
func forwardedUser(r *http.Request) string {
	for _, name := range []string{"X-Forwarded-User", "X-Forwarded-Email"} {
		value := cleanAuthor(r.Header.Get(name))
		if value != "" {
			return value
		}
	}

	return ""
}

func cleanAuthor(name string) string {
	name = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}

		return r
	}, plaintext.Clean(name))

	runes := []rune(strings.TrimSpace(name))

	return strings.TrimSpace(string(runes[:min(len(runes), maxAuthor)]))
}
