package plaintext

import (
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Invisible reports whether a character has an effect instead of a visible shape: control characters, including line breaks and
// tabs, and characters that change the direction of text, have no width or look blank.
func Invisible(r rune) bool {
	switch {
	case unicode.IsControl(r), r == '\u2028', r == '\u2029':
		return true
	case r == '\u200d': // joins emoji
		return false
	case unicode.Is(unicode.Cf, r): // directions, zero width, tags
		return true
	case r == '\u115f', r == '\u1160', r == '\u3164', r == '\uffa0': // letters that are blank
		return true
	default:
		return false
	}
}

// EscapeInvisible escapes the invisible characters in valid JSON, so that programs still decode them and people who open the
// file see them. ASCII control characters are left as they are: inside strings, valid JSON has them escaped already.
func EscapeInvisible(raw []byte) []byte {
	var out []byte

	done := 0

	for at := 0; at < len(raw); {
		r, size := utf8.DecodeRune(raw[at:])
		if r > '~' && Invisible(r) {
			out = appendEscape(append(out, raw[done:at]...), r)
			done = at + size
		}

		at += size
	}

	if done == 0 {
		return raw
	}

	return append(out, raw[done:]...)
}

func appendEscape(out []byte, r rune) []byte {
	units := []rune{r}

	const oneUnit = 0xffff
	if r > oneUnit {
		high, low := utf16.EncodeRune(r)
		units = []rune{high, low}
	}

	const hex = "0123456789abcdef"
	for _, unit := range units {
		out = append(out, '\\', 'u', hex[unit>>12&15], hex[unit>>8&15], hex[unit>>4&15], hex[unit&15])
	}

	return out
}
