package react

import (
	"encoding/json"
	"strings"
	"unicode"
)

// readInput parses an action's input at the start of text, and returns its length. JSON ends with its value and a fenced block with its
// fence; other text ends at the next heading. In a reply with capitalised headings, a key in lower case is not a heading.
func readInput(text string, lower bool) (input string, length int) {
	skipped := len(text) - len(strings.TrimLeft(text, " \t\r\n"))
	body := text[skipped:]

	switch {
	case strings.HasPrefix(body, codeFence):
		if inner, n, ok := fenced(body); ok {
			return inner, skipped + n
		}

		// The reply was cut off before the fence was closed, or the model forgot to close it.
		first := lineAt(body, 0)
		if from := len(first) + 1; from < len(body) && isLanguage(first[len(codeFence):]) {
			value, n := readInput(body[from:], lower)

			return value, skipped + from + n
		}
	case strings.HasPrefix(body, "{") || strings.HasPrefix(body, "["):
		if n := jsonLength(body); n > 0 {
			return body[:n], skipped + n
		}
	}

	end := plainEnd(body, lower)
	input = strings.TrimSpace(strings.ReplaceAll(body[:end], "\r\n", "\n"))

	if inner := strings.Trim(input, "`"); len(input) > len(inner) && !strings.Contains(inner, "`") {
		input = strings.TrimSpace(inner)
	}

	return input, skipped + end
}

// fenced parses a fenced block, without the name of its language.
func fenced(body string) (inner string, length int, ok bool) {
	from := len(codeFence)
	inner, _, ok = strings.Cut(body[from:], codeFence)

	if !ok {
		return "", 0, false
	}

	length = from + len(inner) + len(codeFence)
	first := lineAt(inner, 0)

	switch {
	case len(first) < len(inner) && isLanguage(first):
		inner = inner[len(first)+1:]
	case strings.HasPrefix(strings.ToLower(first), "json"):
		inner = inner[len("json"):]
	}

	return strings.TrimSpace(strings.ReplaceAll(inner, "\r\n", "\n")), length, true
}

// isLanguage reports whether a text is empty or can be the name of a language.
func isLanguage(text string) bool {
	return strings.TrimLeftFunc(strings.TrimSpace(text), func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) == ""
}

// jsonLength returns the length of the JSON value at the start of a text, or zero.
func jsonLength(text string) int {
	decoder := json.NewDecoder(strings.NewReader(text))

	var value json.RawMessage
	if err := decoder.Decode(&value); err != nil {
		return 0
	}

	return int(decoder.InputOffset())
}

// plainEnd finds the heading that ends an input. An observation ends it in any case.
func plainEnd(body string, lower bool) int {
	for at := 0; at < len(body); {
		line := lineAt(body, at)
		if s, ok := headingOf(line); ok && (lower || !s.lower || s.heading == headObservation) {
			return at
		}

		at += len(line) + 1
	}

	return len(body)
}
