package mask

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"strings"
	"sync"
)

// shortestSecret is the length below which a configured value is not hidden: it would occur by chance.
const shortestSecret = 8

// headLength is how much of a value the automaton searches for. A value may be a whole key; its rest is compared.
const headLength = 24

// secrets are the configured values and the forms that they have in text.
type secrets struct {
	heads []string
	// of are the forms that begin with each head.
	of    [][]string
	words func() *words
}

func newSecrets(values []string) *secrets {
	s := &secrets{}
	seen, heads := map[string]bool{}, map[string]int{}

	for _, value := range values {
		value = strings.TrimSpace(value)
		if len(value) < shortestSecret || ordinary(value) {
			continue
		}

		for _, form := range formsOf(value) {
			if len(form) < shortestSecret || seen[form] {
				continue
			}

			seen[form] = true

			head := form[:min(len(form), headLength)]
			if _, ok := heads[head]; !ok {
				heads[head] = len(s.heads)
				s.heads = append(s.heads, head)
				s.of = append(s.of, nil)
			}

			s.of[heads[head]] = append(s.of[heads[head]], form)
		}
	}

	s.words = sync.OnceValue(func() *words { return newWords(s.heads, false) })

	return s
}

func (s *secrets) mask(text string) string {
	if len(s.heads) == 0 {
		return text
	}

	var spans []span

	s.words().each(text, func(head int32, start, _ int) {
		for _, form := range s.of[head] {
			if strings.HasPrefix(text[start:], form) {
				spans = append(spans, span{start, start + len(form), "secret"})
			}
		}
	})

	return splice(text, spans)
}

// formsOf returns the forms of a value in plain text, URLs, JSON and base64. Within a longer base64 text a value starts at one of three
// offsets; the characters that it shares with its neighbours are omitted.
func formsOf(value string) []string {
	forms := []string{value, url.QueryEscape(value), url.PathEscape(value)}

	if raw, err := json.Marshal(value); err == nil {
		forms = append(forms, string(raw[1:len(raw)-1]))
	}

	for _, encoding := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding} {
		forms = append(forms, encoding.EncodeToString([]byte(value)))

		for offset := range 3 {
			padded := encoding.EncodeToString(append(make([]byte, offset), value...))
			first := (offset*8 + 5) / 6
			last := (offset + len(value)) * 8 / 6
			forms = append(forms, padded[first:last])
		}
	}

	return forms
}

// ordinary reports whether a value is a common word.
func ordinary(value string) bool {
	switch strings.ToLower(value) {
	case "password", "passwort", "changeme", "secret12", "undefined", "disabled", "required", "optional", "username", "postgres", "postgresql",
		"localhost", "kubernetes", "administrator", "anonymous", "readonly", "123456789", "12345678", "development", "production",
		"unlimited", "default1", "internal", "example.com", "test1234", "password1", "redacted", "database", "security", "internet":
		return true
	}

	for _, c := range []byte(value) {
		if c != value[0] {
			return false
		}
	}

	return true
}
