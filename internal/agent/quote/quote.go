// Package quote prepares text that others wrote for a prompt: it marks it as data and bounds its length.
package quote

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"tarsy.dev/tarsy/internal/plaintext"
)

// BytesPerToken is the estimate that every limit in tokens is based on: close enough for a threshold, not for a bill.
const BytesPerToken = 4

// Block puts text between markers. The text cannot end its own block.
func Block(name, text string) string {
	return fmt.Sprintf("<!-- %s_START -->\n%s\n<!-- %s_END -->", name, Neutral(text), name)
}

// Neutral escapes what would make a marker of a text; a model can still read it. Characters that people do not see are removed: a model reads what is
// written in them, such as instructions in tag characters, and nobody who checks the alert notices.
func Neutral(text string) string {
	text = strings.Map(func(r rune) rune {
		if hidden(r) {
			return -1
		}

		return r
	}, text)

	return strings.ReplaceAll(text, "<!--", "&lt;!--")
}

// hidden reports whether a character takes part in a text that nobody sees. Control characters and line separators are read as such.
func hidden(r rune) bool {
	return plaintext.Invisible(r) && !unicode.IsControl(r) && r != '\u2028' && r != '\u2029'
}

// OneLine joins a text to one line, for places where a line has a meaning.
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
