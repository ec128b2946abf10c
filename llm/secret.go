package llm

import "strings"

// Brief returns as much of a provider's text as people are shown, in valid UTF-8: the body of an error can be a whole page.
func Brief(text string) string {
	const most = 500

	text = strings.ToValidUTF8(text, "\ufffd")
	runes := 0

	for i := range text {
		if runes == most {
			return text[:i] + "…"
		}

		runes++
	}

	return text
}

// Secrets returns a replacer that hides the key of a provider and the values of the headers that are sent with every call, one
// of which may be another key. A value shorter than eight bytes is considered a word, not a secret, and is not hidden.
func Secrets(key string, headers map[string]string) *strings.Replacer {
	const (
		shortest = 8
		hidden   = "[hidden]"
	)

	var pairs []string

	hide := func(secret string) {
		if len(secret) >= shortest {
			pairs = append(pairs, secret, hidden)
		}
	}

	hide(key)

	for _, value := range headers {
		hide(value)

		for word := range strings.FieldsSeq(value) {
			hide(word) // in "Bearer KEY", KEY is the secret
		}
	}

	return strings.NewReplacer(pairs...)
}
