package mask

import "strings"

// sweepPlain sweeps a text, and once more without its disguises: percent-encoding, and characters that nobody sees, which break a
// name apart.
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

// invisible are zero-width characters, joiners, marks of direction and the soft hyphen.
var invisible = []string{"\u200b", "\u200c", "\u200d", "\u200e", "\u200f", "\u2060", "\ufeff", "\u00ad", "\u180e"}

// undisguise decodes %3D and its like and drops invisible characters. It returns for each byte of the result its place in the
// original, or no places if there is nothing to undo.
func undisguise(text string) (string, []int32) {
	if !strings.ContainsAny(text, "%"+strings.Join(invisible, "")) {
		return "", nil
	}

	var out strings.Builder

	places := make([]int32, 0, len(text)+1)
	changed := false

	for i := 0; i < len(text); {
		if size := invisibleAt(text[i:]); size > 0 {
			i += size
			changed = true

			continue
		}

		places = append(places, int32(i))

		if c, ok := percentAt(text[i:]); ok {
			out.WriteByte(c)

			i += len("%3D")
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

// percentAt decodes the printable characters that are encoded.
func percentAt(text string) (byte, bool) {
	if len(text) < 3 || text[0] != '%' {
		return 0, false
	}

	high, low := strings.IndexByte(hexDigits, text[1]|' '), strings.IndexByte(hexDigits, text[2]|' ')
	c := byte(high<<4 | low)

	return c, high >= 0 && low >= 0 && c >= ' ' && c <= '~'
}

const hexDigits = "0123456789abcdef"
