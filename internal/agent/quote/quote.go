// Package quote prepares untrusted text for a prompt: it marks it as data and limits its length.
package quote

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"tarsy.dev/tarsy/internal/plaintext"
)

// BytesPerToken is the estimate behind every limit in tokens: close enough for a threshold, not for a bill.
const BytesPerToken = 4

// Block puts text between markers. The text cannot end its own block.
func Block(name, text string) string {
	return fmt.Sprintf("<!-- %s_START -->\n%s\n<!-- %s_END -->", name, Neutral(text), name)
}

// Neutral escapes what would start a marker in a text; a model can still read it. It removes invisible characters: a model reads
// instructions hidden in them, such as in tag characters, and a person who checks the alert would not notice.
func Neutral(text string) string {
	text = strings.Map(func(r rune) rune {
		if hidden(r) {
			return -1
		}

		return r
	}, text)

	return strings.ReplaceAll(text, "<!--", "&lt;!--")
}

// hidden reports whether a character is invisible. Control characters and line separators do not count: models read them as such.
func hidden(r rune) bool {
	return plaintext.Invisible(r) && !unicode.IsControl(r) && r != '\u2028' && r != '\u2029'
}

// OneLine joins a text into one line, for places where lines are significant.
func OneLine(text string) string { return Neutral(strings.Join(strings.Fields(text), " ")) }

// Tokens estimates how many tokens a text has, rounded up.
func Tokens(text string) int { return (len(text) + BytesPerToken - 1) / BytesPerToken }

// Truncate cuts text to a number of estimated tokens. It keeps the head and the tail: the end of a log usually matters
// most. The note between them counts towards the limit, so truncating twice changes nothing.
func Truncate(text string, tokens int) string {
	whole := Tokens(text)

	return plaintext.CutMiddle(text, tokens*BytesPerToken,
		fmt.Sprintf("\n\n[cut: about %d of %d tokens left out]\n\n", whole-tokens, whole))
}

// TruncateFront keeps the end of a text instead of its beginning.
func TruncateFront(text string, tokens int) string {
	if len(text) <= tokens*BytesPerToken {
		return text
	}

	note := fmt.Sprintf("[cut: the last %d of about %d tokens are shown]\n\n", tokens, Tokens(text))
	from := len(text) - max(tokens*BytesPerToken-len(note), 0)

	for from < len(text) && !utf8.RuneStart(text[from]) {
		from++
	}

	return note + text[from:]
}
