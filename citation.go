package tarsy

import (
	"fmt"
	"strings"
)

// Citation links a mark in an analysis to the timeline event of the tool call it cites.
type Citation struct {
	// Number as written by CallNumber, e.g. "1.2.3".
	Call string `json:"call"     schema:"call"`
	// The EventToolCall in the same session's timeline.
	EventID string `json:"event_id" schema:"id"`
}

// CallNumber names a tool call within its session: the index of its stage, of its agent, and of the call in its
// execution, all from one.
func CallNumber(stage, agent, n int) string { return fmt.Sprintf("%d.%d.%d", stage, agent, n) }

// CallMark is the mark of a call as models read and write it.
func CallMark(call string) string { return "[call " + call + "]" }

// maxCited limits the citations of one text: more than any reader follows, and few enough to store with a text that is all marks.
const maxCited = 200

// CitedCalls returns the calls that a text cites in marks: `[call 1.2.3]`, `[call 1.2.3, 1.2.5]` or `[calls 1.1.1 and 1.1.2]`. Each is
// returned once, in order of appearance, up to the first two hundred.
//
// Marks in fenced code are ignored: such text is quoted, often from a tool result, and is not a conclusion. The text of a Markdown link is
// ignored too, because it already has a target. Marks in inline code count, because models tend to quote anything that looks like a name;
// the dashboard shows them as code.
//
// Case and white space may vary, because models write them differently. Anything else is not a mark.
func CitedCalls(text string) []string {
	var (
		cited []string
		seen  = map[string]bool{}
	)

	for text = withoutFences(text); len(cited) < maxCited; {
		_, rest, found := strings.Cut(text, "[")
		if !found {
			break
		}

		mark := markReader{rest: rest}
		calls, whole := mark.read()
		text = mark.rest

		if !whole || strings.HasPrefix(text, "(") {
			continue
		}

		for _, call := range calls {
			if !seen[call] && len(cited) < maxCited {
				seen[call] = true
				cited = append(cited, call)
			}
		}
	}

	return cited
}

// WithoutMarks removes call marks and the spaces before them, for readers who cannot open the calls.
func WithoutMarks(text string) string {
	var out strings.Builder

	for {
		before, rest, found := strings.Cut(text, "[")
		mark := markReader{rest: rest}

		switch _, whole := mark.read(); {
		case !found:
			out.WriteString(text)

			return strings.TrimSpace(out.String())
		case whole && !strings.HasPrefix(mark.rest, "("):
			out.WriteString(strings.TrimRight(before, " "))

			text = mark.rest
		default:
			out.WriteString(before + "[")

			text = rest
		}
	}
}

// markReader reads one mark after its opening bracket. It never reads past another bracket, so a caller that continues where it stopped
// reads the text only once.
type markReader struct{ rest string }

// read returns the calls of a mark, and whether the text is a mark.
func (m *markReader) read() (calls []string, whole bool) {
	m.spaces()

	if !m.word("call") {
		return nil, false
	}

	m.word("s")

	for parted := m.spaces(); parted; {
		call, ok := m.number()
		if !ok {
			return nil, false
		}

		if len(calls) < maxCited {
			calls = append(calls, call)
		}

		parted = m.spaces()
		if m.word("]") {
			return calls, true
		}

		parted = m.separator(parted)
	}

	return nil, false
}

// separator reads a comma, "and", or both. The word must be surrounded by spaces.
func (m *markReader) separator(spaced bool) bool {
	comma := m.word(",")
	if comma {
		m.spaces()

		spaced = true
	}

	if spaced && m.word("and") {
		return m.spaces()
	}

	return comma
}

// spaces skips white space and reports whether there was any.
func (m *markReader) spaces() bool {
	before := len(m.rest)
	m.rest = strings.TrimLeft(m.rest, " \t\r\n\f")

	return len(m.rest) < before
}

// word reads a word, ignoring case, and reports whether it was there.
func (m *markReader) word(word string) bool {
	if len(m.rest) < len(word) || !strings.EqualFold(m.rest[:len(word)], word) {
		return false
	}

	m.rest = m.rest[len(word):]

	return true
}

// number reads a number as CallNumber writes it: without leading zeros and of limited length.
func (m *markReader) number() (string, bool) {
	const parts, longest = 3, 6

	from, part := m.rest, 0

	for {
		digits := 0
		for digits < len(m.rest) && digits < longest && m.rest[digits] >= '0' && m.rest[digits] <= '9' {
			digits++
		}

		if digits == 0 || m.rest[0] == '0' {
			return "", false
		}

		m.rest = m.rest[digits:]

		if part++; part == parts {
			return from[:len(from)-len(m.rest)], true
		}

		if !m.word(".") {
			return "", false
		}
	}
}

// withoutFences removes the contents of fenced code. It keeps the fences, so that the text before and after them is not joined. As in
// Markdown, an unclosed fence extends to the end.
func withoutFences(text string) string {
	if !strings.Contains(text, "```") && !strings.Contains(text, "~~~") {
		return text
	}

	var (
		b    strings.Builder
		open string
	)

	for line := range strings.Lines(text) {
		fence := fenceOf(line)

		switch {
		case open == "":
			open = fence

			b.WriteString(line)
		case strings.HasPrefix(fence, open) && strings.TrimSpace(line) == fence:
			open = ""

			b.WriteString(line)
		}
	}

	return b.String()
}

// fenceOf returns the backticks or tildes at the start of a line if they can open or close a fence.
func fenceOf(line string) string {
	const shortest = 3

	line = strings.TrimSpace(line)

	for _, mark := range []string{"`", "~"} {
		fence := line[:len(line)-len(strings.TrimLeft(line, mark))]
		// Backticks followed by more backticks on the same line are inline code.
		if len(fence) >= shortest && (mark == "~" || !strings.Contains(line[len(fence):], mark)) {
			return fence
		}
	}

	return ""
}
