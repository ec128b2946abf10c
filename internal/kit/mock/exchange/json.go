package exchange

import "unicode/utf8"

// AppendString appends s as a JSON string, quotes included, byte for byte as encoding/json writes it without escaping HTML:
// invalid UTF-8 becomes U+FFFD. Encoders use it for every text, because most texts need no escaping and then cost one copy.
func AppendString(buf []byte, s string) []byte {
	buf = append(buf, '"')
	start := 0

	for i := 0; i < len(s); {
		c := s[i]

		if c < utf8.RuneSelf {
			if plain(c) {
				i++

				continue
			}

			buf = append(buf, s[start:i]...)
			buf = appendEscape(buf, c)
			i++
			start = i

			continue
		}

		r, size := utf8.DecodeRuneInString(s[i:])
		// Some readers of event streams treat the two Unicode line separators as line ends.
		if (r == utf8.RuneError && size == 1) || r == '\u2028' || r == '\u2029' {
			buf = append(buf, s[start:i]...)
			buf = appendUnicode(buf, r)
			start = i + size
		}

		i += size
	}

	buf = append(buf, s[start:]...)

	return append(buf, '"')
}

func plain(c byte) bool { return c >= ' ' && c != '"' && c != '\\' }

func appendEscape(buf []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(buf, '\\', c)
	case '\n':
		return append(buf, '\\', 'n')
	case '\r':
		return append(buf, '\\', 'r')
	case '\t':
		return append(buf, '\\', 't')
	case '\b':
		return append(buf, '\\', 'b')
	case '\f':
		return append(buf, '\\', 'f')
	default:
		return appendUnicode(buf, rune(c))
	}
}

func appendUnicode(buf []byte, r rune) []byte {
	const hex = "0123456789abcdef"

	return append(buf, '\\', 'u', hex[r>>12&0xf], hex[r>>8&0xf], hex[r>>4&0xf], hex[r&0xf])
}
