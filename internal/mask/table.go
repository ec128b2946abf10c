package mask

import "strings"

// mostRows is how many rows below a header are read.
const mostRows = 1000

// tables finds the values below a header such as NAME  PASSWORD, in aligned columns and in Markdown tables.
func tables() finder {
	return finder{words: []string{"password", "passwd", "pwd", "secret", "token", "key"}, at: (*scan).table}
}

func (s *scan) table(start, end int) {
	if start < s.tabled {
		return
	}

	if start >= s.header.end {
		s.readHeader(start)
	}

	if !s.isHeader {
		return
	}

	line, stop := s.header.start, s.header.end
	pipes := hasPipes(s.text[line:stop])
	name := window{start, end}

	for name.start > line && isName(s.text[name.start-1]) {
		name.start--
	}

	for name.end < stop && isName(s.text[name.end]) {
		name.end++
	}

	class := classify(s.text[name.start:name.end])

	pattern := s.patternOf(class)
	if class == "" || pattern == "" {
		return
	}

	column := name.start - line
	if pipes {
		column = strings.Count(s.text[line:name.start], "|")
	}

	for row := 0; row < mostRows && stop < len(s.text); row++ {
		line = stop + 1
		if stop = lineEnd(s.text, line); strings.TrimSpace(s.text[line:stop]) == "" {
			break
		}

		cell := cellAt(s.text, line, stop, column, pipes)
		if text := s.text[cell.start:cell.end]; len(text) >= 6 && plausible(class, text, value{sign: equals, first: true}) && !isLetters(text) && hasLetter(text) {
			s.hide(cell.start, cell.end, pattern)
		}
	}

	s.tabled = stop
}

// longestHeader is more than a line of column names has.
const longestHeader = 1024

// readHeader looks at the line of a position, once for all words in it.
func (s *scan) readHeader(at int) {
	from := max(s.header.end, at-longestHeader)
	start := from + strings.LastIndexByte(s.text[from:at], '\n') + 1
	s.header = window{start, lineEnd(s.text, at)}
	line := s.text[start:s.header.end]
	s.isHeader = len(line) <= longestHeader && isHeader(line, hasPipes(line))
}

func hasPipes(line string) bool { return strings.HasPrefix(strings.TrimLeft(line, " "), "|") }

func lineEnd(text string, at int) int {
	if i := strings.IndexByte(text[min(at, len(text)):], '\n'); i >= 0 {
		return at + i
	}

	return len(text)
}

// isHeader says whether a line has at least two columns, and nothing but names: in capitals, where no signs separate them.
func isHeader(line string, pipes bool) bool {
	columns := len(strings.FieldsFunc(line, func(r rune) bool { return r == '|' }))
	if !pipes {
		columns = len(strings.Fields(line))
	}

	return columns > 1 && !strings.ContainsFunc(line, func(r rune) bool {
		return r > 127 || !isName(byte(r)) && !isSpace(byte(r)) && (!pipes || r != '|') || !pipes && isLower(byte(r))
	})
}

// cellAt returns the cell of a row that begins in a column; of a Markdown table, the one behind so many signs.
func cellAt(text string, line, stop, column int, pipes bool) window {
	start := line + column

	if pipes {
		for start = line; column > 0 && start < stop; start++ {
			if text[start] == '|' {
				column--
			}
		}

		for start < stop && text[start] == ' ' {
			start++
		}
	} else if start >= stop || start > line && !isSpace(text[start-1]) {
		return window{line, line}
	}

	end := start
	for end < stop && !isSpace(text[end]) && (!pipes || text[end] != '|') {
		end++
	}

	return window{start, end}
}
