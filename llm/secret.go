package llm

import "strings"

// Brief is as much of a provider's words as people are shown, in valid UTF-8: a body of an error may be a whole page.
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

// Secrets hides, in what is shown, the key of a provider and what stands in the headers that go with every call: one of
// them may be another key. What is shorter than eight bytes is no secret but a word, and stays.
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
			hide(word) // "Bearer" is none, what follows it is.
		}
	}

	return strings.NewReplacer(pairs...)
}
