package llm

import "strings"

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
