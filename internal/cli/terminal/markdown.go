package terminal

import (
	"regexp"
	"strings"
)

var (
	heading  = regexp.MustCompile(`^(#{1,6})\s+(.*?)\s*#*$`)
	listItem = regexp.MustCompile(`^(\s*)([-*+]|\d{1,3}[.)])\s+(.*)$`)
	fence    = regexp.MustCompile("^\\s*(```|~~~)")
	rule     = regexp.MustCompile(`^\s*(?:-{3,}|\*{3,}|_{3,})\s*$`)
	inline   = regexp.MustCompile("\\*\\*([^*]+)\\*\\*|`([^`]+)`|\\*([^*\\s][^*]*)\\*|\\[([^\\]]+)\\]\\([^)\\s]+\\)")
)

// Markdown renders clean Markdown in lines of at most width cells. It supports enough for an analysis to read well, even while it is still
// being written. Links show only their text; nothing is loaded or hidden.
func (p Palette) Markdown(text string, width int, base Style) []string {
	m := markdown{palette: p, width: width, base: base}

	for line := range strings.SplitSeq(strings.TrimRight(text, "\n "), "\n") {
		m.line(strings.TrimRight(line, " "))
	}

	m.flush()

	return m.out
}

type markdown struct {
	palette Palette
	width   int
	base    Style
	out     []string

	paragraph []string
	first     string // prefix of the paragraph's first line
	rest      string
	table     []string
	code      bool
	codeFrom  int // the indentation of a fence
}

func (m *markdown) line(line string) {
	if m.code || fence.MatchString(line) {
		m.codeLine(line)

		return
	}

	trimmed := strings.TrimSpace(line)

	if strings.HasPrefix(trimmed, "|") {
		m.end()
		m.table = append(m.table, trimmed)

		return
	}

	m.endTable()

	item := listItem.FindStringSubmatch(line)

	switch {
	case trimmed == "":
		m.end()
		m.blank()
	case heading.MatchString(line):
		m.end()
		m.blank()
		m.emit(heading.FindStringSubmatch(line)[2], m.base.With(Bold), "", "")
	case rule.MatchString(line):
		m.end()
		m.out = append(m.out, m.palette.Paint(Dim, strings.Repeat("─", min(m.width, tableRule))))
	case item != nil:
		m.end()

		mark := item[2]
		if strings.ContainsAny(mark, "-*+") {
			mark = "•"
		}

		m.first = item[1] + mark + " "
		m.rest = strings.Repeat(" ", Width(m.first))
		m.paragraph = []string{item[3]}
	case strings.HasPrefix(trimmed, ">"):
		if m.rest != quoteMark {
			m.end()
		}

		m.first, m.rest = quoteMark, quoteMark
		m.paragraph = append(m.paragraph, strings.TrimSpace(strings.TrimPrefix(trimmed, ">")))
	default:
		m.paragraph = append(m.paragraph, trimmed)
	}
}

const (
	quoteMark = "▏ "
	tableRule = 40
)

// codeLine renders code unchanged, cut to the width.
func (m *markdown) codeLine(line string) {
	if fence.MatchString(line) {
		m.end()
		m.endTable()

		m.code = !m.code
		m.codeFrom = len(line) - len(strings.TrimLeft(line, " "))

		return
	}

	indent := len(line) - len(strings.TrimLeft(line, " "))
	line = line[min(indent, m.codeFrom):]
	prefix := strings.Repeat(" ", m.codeFrom) + "  "
	m.out = append(m.out, prefix+m.palette.Paint(Cyan, Truncate(line, m.width-Width(prefix))))
}

// end finishes the paragraph.
func (m *markdown) end() {
	if len(m.paragraph) > 0 {
		m.emit(strings.Join(m.paragraph, " "), m.base, m.first, m.rest)
	}

	m.paragraph, m.first, m.rest = nil, "", ""
}

func (m *markdown) flush() {
	m.end()
	m.endTable()
}

func (m *markdown) blank() {
	if n := len(m.out); n > 0 && m.out[n-1] != "" {
		m.out = append(m.out, "")
	}
}

func (m *markdown) emit(text string, style Style, first, rest string) {
	m.out = append(m.out, m.palette.Wrap(m.inline(text, style), m.width, first, rest)...)
}

// inline splits a paragraph into styled spans.
func (m *markdown) inline(text string, style Style) []Span {
	var spans []Span

	for text != "" {
		at := inline.FindStringSubmatchIndex(text)
		if at == nil {
			break
		}

		spans = append(spans, Span{text[:at[0]], style})

		for group, look := range []Style{style.With(Bold), style.With(Cyan), style.With(Italic), style} {
			if from := at[2*group+2]; from >= 0 {
				spans = append(spans, Span{text[from:at[2*group+3]], look})
			}
		}

		text = text[at[1]:]
	}

	return append(spans, Span{text, style})
}
