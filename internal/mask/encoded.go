package mask

import (
	"encoding/base64"
	"maps"
	"slices"
	"strings"
)

// deepest is how many layers of base64 are decoded.
const deepest = 2

// encoded finds base64 that contains a secret. It searches for the base64 forms of words that typically name secrets, decodes the text
// around them and sweeps that.
func encoded() finder {
	telling := []string{"pass", "secret", "token", "Pass", "Secret", "Token", "PASS", "SECRET", "TOKEN", "_pw", "_PW", "pwd", "PWD", "_psk", "_PSK", "creds", "CREDS", "credential", "CREDENTIAL", "api_key", "API_KEY", "apiKey", "api-key", "encryption", "ENCRYPTION", "-----BEGIN ", `"auth":`, "://", `eyJhbGciOi`, `eyJ0eXAiOi`, `eyJraWQiOi`}

	var list []string

	exact := map[string]bool{}

	for _, word := range telling {
		for offset := range 3 {
			raw := base64.StdEncoding.EncodeToString(append(make([]byte, offset), word...))
			form := raw[(offset*8+5)/6 : (offset+len(word))*8/6]

			if len(form) >= 4 && !exact[form] {
				exact[form] = true
				list = append(list, strings.ToLower(form))
			}
		}
	}

	return finder{words: list, at: func(s *scan, start, end int) {
		if start >= s.decoded && exact[s.text[start:end]] && s.wanted[base64Secret] && s.depth < deepest {
			s.decode(start)
		}
	}}
}

// decode checks the base64 around a position.
func (s *scan) decode(at int) {
	start, end := at, at
	for start > s.decoded && isEncoded(s.text[start-1]) && s.text[start-1] != '=' {
		start--
	}

	for end < len(s.text) && isEncoded(s.text[end]) && end-start < longestBlock {
		end++
	}

	s.decoded = end

	text := strings.TrimRight(s.text[start:end], "=")
	if len(text) < 16 {
		return
	}

	raw, err := base64.RawStdEncoding.DecodeString(text[:len(text)-len(text)%4])
	if err != nil || !printable(raw) {
		return
	}

	if found := s.catalog.sweep(string(raw), s.inside(), s.depth+1, s.work); len(found) > 0 {
		s.hide(start, end, s.encodedName(found[0].name))
	}
}

// inside returns the names to search for in decoded text: everything that is wanted, and all credentials.
func (s *scan) inside() names {
	inside := maps.Clone(s.wanted)
	for _, name := range credentials {
		inside[name] = true
	}

	return inside
}

// encodedName keeps the name of a pattern that is a secret as a whole.
func (s *scan) encodedName(name string) string {
	if s.wanted[name] && slices.Contains([]string{privateKey, sshKey, certificate}, name) {
		return name
	}

	return base64Secret
}
