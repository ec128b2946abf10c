package mask

import (
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	markerStart = "[MASKED_"
	markerEnd   = "]"
	// longestMarker exceeds the length of any marker.
	longestMarker = 64
)

// marker returns the replacement of a secret.
func marker(name string) string { return markerStart + strings.ToUpper(name) + markerEnd }

// span is a piece of text to hide, and the name of the pattern.
type span struct {
	start, end int
	name       string
}

// markerAt returns the end of the marker at a position, or 0 if there is none.
func markerAt(text string, at int) int {
	if !strings.HasPrefix(text[at:], markerStart) {
		return 0
	}

	for end := at + len(markerStart); end < len(text) && end-at < longestMarker; end++ {
		switch c := text[end]; {
		case c == ']':
			return end + 1
		case !isUpper(c) && !isDigit(c) && c != '_':
			return 0
		}
	}

	return 0
}

// within reports whether a position is inside a marker.
func within(text string, at int) bool {
	from := max(0, at-longestMarker)

	open := strings.LastIndex(text[from:min(len(text), at+len(markerStart)-1)], markerStart)
	if open < 0 {
		return false
	}

	return at < markerAt(text, from+open)
}

// bare reports whether a piece of text contains only markers and the signs around them, so that nothing is left to hide.
func bare(text string) bool {
	marked := false

	for {
		start := strings.Index(text, markerStart)
		if start < 0 {
			return marked && !strings.ContainsFunc(text, meaningful)
		}

		end := markerAt(text, start)
		if end == 0 || strings.ContainsFunc(text[:start], meaningful) {
			return false
		}

		marked = true
		text = text[end:]
	}
}

func meaningful(r rune) bool {
	return r == utf8.RuneError || r > utf8.RuneSelf || isWord(byte(r))
}

// hides reports whether a span contains anything that is not hidden yet.
func (s span) hides(text string) bool {
	return s.start < s.end && !within(text, s.start) && !bare(text[s.start:s.end])
}

// splice replaces the spans, which may overlap and be in any order, with their markers. Where spans overlap, the first one names the
// marker.
func splice(text string, spans []span) string {
	spans = slices.DeleteFunc(spans, func(s span) bool { return !s.hides(text) })
	if len(spans) == 0 {
		return text
	}

	slices.SortFunc(spans, func(a, b span) int {
		if a.start != b.start {
			return a.start - b.start
		}

		return b.end - a.end
	})

	var out strings.Builder

	done := 0

	for i := 0; i < len(spans); {
		s := spans[i]
		for i++; i < len(spans) && spans[i].start < s.end; i++ {
			s.end = max(s.end, spans[i].end)
		}

		start, end := max(done, runeStart(text, s.start)), runeEnd(text, s.end)
		out.WriteString(text[done:start])
		out.WriteString(marker(s.name))

		done = end
	}

	out.WriteString(text[done:])

	return out.String()
}

// runeStart and runeEnd avoid splitting characters. They do not move across bytes of invalid UTF-8.
func runeStart(text string, at int) int {
	for start := at - 1; start >= 0 && start > at-utf8.UTFMax && at < len(text) && !utf8.RuneStart(text[at]); start-- {
		if r, size := utf8.DecodeRuneInString(text[start:]); r != utf8.RuneError && start+size > at {
			return start
		}
	}

	return at
}

func runeEnd(text string, at int) int {
	if start := runeStart(text, at); start < at {
		_, size := utf8.DecodeRuneInString(text[start:])

		return start + size
	}

	return at
}
