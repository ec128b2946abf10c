package stream

import "unicode/utf8"

// wholeRunes returns how many bytes of the text can be sent now: all, except the beginning of a rune whose other bytes are still missing.
func wholeRunes(text string) int {
	for back := 1; back < utf8.UTFMax && back <= len(text); back++ {
		start := len(text) - back
		if !utf8.RuneStart(text[start]) {
			continue
		}

		if utf8.FullRuneInString(text[start:]) {
			break
		}

		return start
	}

	return len(text)
}

// jsonPrefix returns how many bytes of the text, cut between runes, fit into a JSON string of the given size. It is at least one rune, so
// that cutting always makes progress.
func jsonPrefix(text string, size int) int {
	for i, r := range text {
		size -= jsonSize(r)
		if size < 0 && i > 0 {
			return i
		}
	}

	return len(text)
}

// jsonSize returns the maximum size of the rune inside a JSON string as written by encoding/json.
func jsonSize(r rune) int {
	const escaped, backslashed = len(`\u0000`), len(`\n`)

	switch {
	case r < ' ', r == '<', r == '>', r == '&', r == 0x7f, r == utf8.RuneError, r == '\u2028', r == '\u2029':
		return escaped
	case r == '"', r == '\\':
		return backslashed
	default:
		return utf8.RuneLen(r)
	}
}
