package script

import (
	"unicode"
	"unicode/utf8"
)

const (
	bytesPerToken = 4
	maxPieceRunes = 32
)

func tokens(bytes int) int { return (bytes + bytesPerToken - 1) / bytesPerToken }

// split splits text after the white space that follows a word, and long words after maxPieceRunes. The pieces together are the
// text, byte for byte, and no rune is split.
func split(text string) []string {
	var (
		pieces []string
		start  int
		runes  int
		space  bool
	)

	for i, r := range text {
		isSpace := unicode.IsSpace(r)
		if i > start && ((space && !isSpace) || runes == maxPieceRunes) {
			pieces = append(pieces, text[start:i])
			start, runes = i, 0
		}

		space = isSpace
		runes++
	}

	if start < len(text) {
		pieces = append(pieces, text[start:])
	}

	return pieces
}

// trickle splits text into its runes; an invalid byte is a separate piece.
func trickle(text string) []string {
	pieces := make([]string, 0, len(text))

	for len(text) > 0 {
		_, size := utf8.DecodeRuneInString(text)
		pieces = append(pieces, text[:size])
		text = text[size:]
	}

	return pieces
}

// short returns text on one line, truncated to n runes.
func short(text string, n int) string {
	out := make([]rune, 0, n)

	for _, r := range text {
		if len(out) == n {
			return string(out) + "…"
		}

		if unicode.IsSpace(r) || r == utf8.RuneError {
			r = ' '
		}

		out = append(out, r)
	}

	return string(out)
}
