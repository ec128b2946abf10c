package tarsy

import (
	"fmt"
	"strings"
)

// Citation is a mark of an analysis that names a tool call of its session, and the timeline event of that call.
type Citation struct {
	Call    string `json:"call"     schema:"call"`
	EventID string `json:"event_id" schema:"id"`
}

// CallNumber names a tool call within its session: the index of its stage, that of its agent, and the call's place
// among those of its execution, all from one.
func CallNumber(stage, agent, n int) string { return fmt.Sprintf("%d.%d.%d", stage, agent, n) }

// CallMark is the mark of a call as models read and write it.
func CallMark(call string) string { return "[call " + call + "]" }

// maxCited is how many calls of one text are taken for cited: more than any reader follows, and little enough to be
// stored beside a text that names nothing but calls.
const maxCited = 200

// CitedCalls finds the calls that a text names in marks, `[call 1.2.3]`, `[call 1.2.3, 1.2.5]` or
// `[calls 1.1.1 and 1.1.2]`: each once, in the order of their appearance, the first two hundred of them.
//
// What stands in fenced code is no mark: it is quoted, often from a tool's result, and nobody concluded it. Neither is
// the text of a Markdown link, which leads where the link says. A mark in inline code counts,
// for models like to quote what looks like a name; the dashboard shows it as the code that it is.
//
// A mark is tolerant of what models do to it, its case and its spaces, and of nothing that may mean something else.
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

// markReader reads one mark from behind its bracket. It never reads over another bracket, so whoever goes on where it
// stopped reads a text once.
type markReader struct{ rest string }

// read returns the calls of a mark, and whether it is one.
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

// separator reads a comma, "and", or both. The word stands between spaces.
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

// spaces reads spaces, and reports whether there were any.
func (m *markReader) spaces() bool {
	before := len(m.rest)
	m.rest = strings.TrimLeft(m.rest, " \t\r\n\f")

	return len(m.rest) < before
}

// word reads a word in any case.
func (m *markReader) word(word string) bool {
	if len(m.rest) < len(word) || !strings.EqualFold(m.rest[:len(word)], word) {
		return false
	}

	m.rest = m.rest[len(word):]

	return true
}

// number reads a number as CallNumber writes it: without leading zeros, and of bounded length.
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

// withoutFences leaves out what stands in fenced code. The fences stay, so that what they part does not become one. A
// fence that is not closed goes to the end, as Markdown has it.
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

// fenceOf is the run of backticks or tildes that a line begins with, if it is long enough to open or close a fence.
func fenceOf(line string) string {
	const shortest = 3

	line = strings.TrimSpace(line)

	for _, mark := range []string{"`", "~"} {
		fence := line[:len(line)-len(strings.TrimLeft(line, mark))]
		// An opening of backticks has none behind it: that would be code within a line.
		if len(fence) >= shortest && (mark == "~" || !strings.Contains(line[len(fence):], mark)) {
			return fence
		}
	}

	return ""
}
