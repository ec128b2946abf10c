package mask

import (
	"slices"
	"strings"
)

// sweepPlain sweeps a text as it is, and a second time without disguises: percent-encoding, escaped characters and entities, terminal
// colours and invisible characters, which break a name apart.
func sweepPlain(text string, wanted names, work *budget) []span {
	spans := sweep(text, wanted, work)

	plain, places := undisguise(text)
	if places == nil || work.over {
		return spans
	}

	for _, found := range sweep(plain, wanted, work) {
		hidden := span{int(places[found.start]), int(places[found.end]), found.name}
		if hidden.hides(text) {
			spans = append(spans, hidden)
		}
	}

	return spans
}

// invisible are zero-width characters, joiners, direction marks and the soft hyphen.
var invisible = []string{"\u200b", "\u200c", "\u200d", "\u200e", "\u200f", "\u2060", "\ufeff", "\u00ad", "\u180e"}

// undisguise decodes %3D, \u0026 and the like and drops colours and invisible characters. It returns for each byte of the result its
// position in the original, or no positions if there is nothing to decode.
func undisguise(text string) (string, []int32) {
	if !strings.ContainsAny(text, "%\x1b"+strings.Join(invisible, "")) && !hasEscaped(text) {
		return "", nil
	}

	var out strings.Builder

	places := make([]int32, 0, len(text)+1)
	changed := false

	for i := 0; i < len(text); {
		if size := max(invisibleAt(text[i:]), colourAt(text[i:])); size > 0 {
			i += size
			changed = true

			continue
		}

		places = append(places, int32(i))

		if c, size := decodedAt(text[i:]); size > 0 {
			out.WriteByte(c)

			i += size
			changed = true
		} else {
			out.WriteByte(text[i])
			i++
		}
	}

	if !changed {
		return "", nil
	}

	return out.String(), append(places, int32(len(text)))
}

// decodedAt decodes an escaped character. It returns the length of the escape.
func decodedAt(text string) (byte, int) {
	switch text[0] {
	case '%':
		return percentAt(text)
	case '\\':
		return unicodeAt(text)
	case '&':
		return entityAt(text)
	}

	return 0, 0
}

func invisibleAt(text string) int {
	if text[0] < 0x80 {
		return 0
	}

	for _, char := range invisible {
		if strings.HasPrefix(text, char) {
			return len(char)
		}
	}

	return 0
}

// escapes are escape sequences for the character that begins a colour code.
var escapes = []string{"u001b", "u001B", "x1b", "x1B", "033", "e"}

// hasEscaped reports whether a text may contain escaped characters or colours.
func hasEscaped(text string) bool {
	return slices.ContainsFunc([]string{`\u00`, `\x1`, "033[", `\e[`, "^[[", "&quot;", "&#"}, func(sign string) bool { return strings.Contains(text, sign) })
}

// unicodeAt decodes characters that many programs escape in JSON, such as \u0026 for &. It returns the length of the escape.
func unicodeAt(text string) (byte, int) {
	at := 0
	for at < len(text) && at < mostSlashes && text[at] == '\\' {
		at++
	}

	const zero = "u00"
	if !strings.HasPrefix(text[at:], zero) || len(text) < at+len(zero)+2 {
		return 0, 0
	}

	c, ok := hexAt(text[at+len(zero):])
	if !ok || c == '\\' {
		return 0, 0
	}

	return c, at + len(zero) + 2
}

// entities are the characters that HTML has to escape, and others that are often escaped.
var entities = map[string]byte{"&quot;": '"', "&#34;": '"', "&#39;": '\'', "&apos;": '\'', "&amp;": '&', "&lt;": '<', "&gt;": '>', "&#61;": '=', "&#x3D;": '=', "&#58;": ':'}

// entityAt decodes an HTML entity. It returns the length of the entity.
func entityAt(text string) (byte, int) {
	end := strings.IndexByte(text[:min(len(text), len("&quot;"))], ';')
	c, ok := entities[text[:end+1]]

	if !ok {
		return 0, 0
	}

	return c, end + 1
}

// colourAt returns the length of a terminal colour code, such as ESC[1;31m, or 0.
func colourAt(text string) int {
	at := 0

	switch text[0] {
	case '\x1b':
		at = 1
	case '^', '#':
		// Terminals and log daemons print the character like this.
		for _, escape := range []string{"^[", "#033"} {
			if strings.HasPrefix(text, escape) {
				at = len(escape)
			}
		}
	case '\\':
		for at < len(text) && at < mostSlashes && text[at] == '\\' {
			at++
		}

		escape := slices.IndexFunc(escapes, func(escape string) bool { return strings.HasPrefix(text[at:], escape) })
		if escape < 0 {
			return 0
		}

		at += len(escapes[escape])
	default:
		return 0
	}

	if at == 0 || at >= len(text) || text[at] != '[' {
		return 0
	}

	return colourEnd(text, at+1)
}

// colourEnd returns where a colour code ends whose numbers begin at a position, or 0.
func colourEnd(text string, at int) int {
	for ; at < len(text) && at < 32 && (isDigit(text[at]) || text[at] == ';'); at++ {
	}

	if at < len(text) && (text[at] == 'm' || text[at] == 'K') {
		return at + 1
	}

	return 0
}

// percentAt decodes printable characters that are percent-encoded, once or twice.
func percentAt(text string) (byte, int) {
	for _, percent := range []string{"%25", "%"} {
		if digits := len(percent); strings.HasPrefix(text, percent) && len(text) >= digits+2 {
			if c, ok := hexAt(text[digits:]); ok {
				return c, digits + 2
			}
		}
	}

	return 0, 0
}

// hexAt decodes two hexadecimal digits, if they encode a printable character.
func hexAt(text string) (byte, bool) {
	high, low := strings.IndexByte(hexDigits, text[0]|' '), strings.IndexByte(hexDigits, text[1]|' ')
	c := byte(high<<4 | low)

	return c, high >= 0 && low >= 0 && c >= ' ' && c <= '~'
}

const hexDigits = "0123456789abcdef"
