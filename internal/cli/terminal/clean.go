// Package terminal prepares text for a terminal: it removes what is dangerous from the output of alerts, tools and models, wraps it, and
// paints it if colours are enabled. It does not know sessions or servers.
package terminal

import (
	"encoding/json"
	"strings"
	"unicode/utf8"

	"tarsy.dev/tarsy/internal/plaintext"
)

const (
	escape     = '\x1b'
	bell       = '\a'
	stringEnd  = '\u009c'
	controlSeq = '\u009b'
	tabWidth   = 4
)

// Clean returns text that a terminal can only print: no escape sequences, no control characters except line breaks, and no invisible
// characters that reverse the reading direction. Tabs become spaces. The visible text remains.
func Clean(text string) string {
	text = strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\r\n", "\n")

	var out strings.Builder

	column := 0

	for len(text) > 0 {
		if n := sequence(text); n > 0 {
			text = text[n:]

			continue
		}

		r, size := utf8.DecodeRuneInString(text)
		text = text[size:]

		switch {
		case r == '\n', r == '\r', r == '\u0085', r == '\u2028', r == '\u2029':
			out.WriteByte('\n')

			column = 0
		case r == '\t':
			n := tabWidth - column%tabWidth
			out.WriteString(strings.Repeat(" ", n))

			column += n
		case !plaintext.Invisible(r):
			out.WriteRune(r)

			column++
		}
	}

	return out.String()
}

// Line is Clean for text that must stay on one line.
func Line(text string) string {
	return strings.Join(strings.Fields(Clean(text)), " ")
}

// sequence returns the length of the escape sequence at the beginning of text, or 0 if there is none. An unterminated sequence counts only
// as its beginning, so that it does not swallow the rest.
func sequence(text string) int {
	first, size := utf8.DecodeRuneInString(text)

	rest := text[size:]

	var kind rune

	switch first {
	case escape:
		next, n := utf8.DecodeRuneInString(rest)
		kind, rest, size = next, rest[n:], size+n

		if len(text) == 1 || next == escape {
			return 1
		}
	case controlSeq:
		kind = '['
	case '\u0090':
		kind = 'P'
	case '\u009d':
		kind = ']'
	case '\u0098':
		kind = 'X'
	case '\u009e':
		kind = '^'
	case '\u009f':
		kind = '_'
	default:
		return 0
	}

	switch kind {
	case '[':
		return size + untilFinal(rest, '@')
	case ']', 'P', 'X', '^', '_':
		return size + untilStringEnd(rest)
	}

	if first == escape && (kind < ' ' || kind >= '\x7f') {
		return 1 // what follows is not part of a sequence
	}

	if kind <= '/' {
		return size + untilFinal(rest, '0')
	}

	return size
}

// untilFinal returns the length of the rest of a sequence: parameters, and a final character that is at least lowest.
// It returns 0 if there is no final character.
func untilFinal(text string, lowest byte) int {
	for i := range len(text) {
		switch b := text[i]; {
		case b >= lowest && b <= '~':
			return i + 1
		case b < ' ' || b >= lowest:
			return 0
		}
	}

	return 0
}

// untilStringEnd returns the length of the string in a title, link or device command, or 0 if it does not end on this line.
func untilStringEnd(text string) int {
	for i, r := range text {
		switch r {
		case '\n':
			return 0
		case bell:
			return i + 1
		case stringEnd:
			return i + utf8.RuneLen(stringEnd)
		case escape:
			if strings.HasPrefix(text[i+1:], `\`) {
				return i + len("\x1b\\")
			}

			return 0
		}
	}

	return 0
}

// JSON escapes in valid JSON what Clean would remove: programs still get everything, and terminals nothing dangerous.
func JSON(raw []byte) []byte { return plaintext.EscapeInvisible(raw) }

// Compact formats a JSON value on one line, cleaned.
func Compact(value any) string {
	if text, ok := value.(string); ok {
		return Line(text)
	}

	encoded, err := json.Marshal(value)
	if err != nil {
		return "?"
	}

	return Line(string(encoded))
}
