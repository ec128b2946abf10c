package mask

import "strings"

const (
	// mostRows is the maximum number of rows read below a header, mostColumns the maximum number of their columns.
	mostRows    = 1000
	mostColumns = 4
	// longestHeader exceeds the length of a line of column names, longestTitle that of a column name.
	longestHeader = 1024
	longestTitle  = 48
)

// tables finds the values below a header such as NAME PASSWORD: in aligned columns, in tables with lines between them, and in files
// separated by commas, semicolons or tabs.
func tables() finder {
	return finder{words: []string{"pass", "pw", "psk", "secret", "token", "key", "cred"}, at: (*scan).table}
}

// header is the line of a table with the column names.
type header struct {
	window

	next int // where the line below begins
	// separator is the sign between columns; a space means that they are aligned, and 0 that the line is not a header.
	separator byte
	// read is how many columns have been read.
	read int
}

func (s *scan) table(start, end int) {
	if start >= s.header.end {
		if start < s.tabled {
			return
		}

		s.header = s.readHeader(start)
	}

	h := s.header
	if h.separator == 0 || h.next == h.end || h.read == mostColumns {
		return
	}

	name := window{start, end}
	for name.start > h.start && isName(s.text[name.start-1]) {
		name.start--
	}

	for name.end < h.end && isName(s.text[name.end]) {
		name.end++
	}

	title := name

	var beside window
	if h.separator == ' ' {
		title, beside = titleAt(s.text[h.start:h.end], name.start-h.start)
		title = window{h.start + title.start, h.start + title.end}
	}

	class := classify(s.text[title.start:title.end])

	pattern := s.patternOf(class)
	if class == "" || pattern == "" {
		return
	}

	s.column(h, title, beside, class, pattern)
}

// titleAt returns the title of the aligned column at a position, and an adjacent title. Titles are separated by two spaces, or by one
// if no two of them have more.
func titleAt(line string, at int) (title, beside window) {
	gap := "  "
	if !strings.Contains(strings.TrimSpace(line), gap) {
		gap = " "
	}

	found := false

	for start := 0; start < len(line); {
		if isSpace(line[start]) {
			start++

			continue
		}

		end := len(line)
		if i := strings.Index(line[start:], gap); i >= 0 {
			end = start + i
		}

		one := window{start, start + len(strings.TrimRight(line[start:end], " \t\r"))}

		if found {
			return title, one
		}

		if found = at < end; found {
			title = one
		} else {
			beside = one
		}

		start = end
	}

	return title, beside
}

// column hides the values below a name. In aligned columns, the adjacent one determines whether a line is a row.
func (s *scan) column(h header, name, beside window, class, pattern string) {
	columns := countSigns(s.text[h.start:h.end], h.separator)
	number := countSigns(s.text[h.start:name.start]+"x", h.separator)
	place := window{name.start - h.start, name.end - h.start}

	line, stop := h.next, h.next
	for row := 0; row < mostRows && line < len(s.text); row++ {
		end, next := rowEnd(s.text, line)
		text := s.text[line:end]

		if stop = end; isRule(text) {
			line = next

			continue
		}

		if strings.TrimSpace(text) == "" || h.separator != ' ' && countSigns(text, h.separator) != columns {
			break
		}

		var cell window
		if h.separator == ' ' {
			if !isRow(text, s.text[h.start:h.end], beside) {
				break
			}

			cell = alignedCell(text, place)
		} else {
			cell = separatedCell(text, h.separator, number)
		}

		if value := text[cell.start:cell.end]; len(value) >= 6 && plausibleCell(class, value) {
			s.hide(line+cell.start, line+cell.end, pattern)
		}

		if line = next; next == end {
			break
		}
	}

	s.header.read++
	s.tabled = max(s.tabled, stop)
}

// isRow reports whether a line is a row below aligned titles: it has as many words, or fits the adjacent column.
func isRow(line, titles string, beside window) bool {
	if len(strings.Fields(line)) == len(strings.Fields(titles)) {
		return true
	}

	return alignedCell(line, beside) != (window{}) || strings.TrimSpace(line[min(beside.start, len(line)):min(beside.end, len(line))]) == ""
}

func plausibleCell(class, text string) bool {
	return plausible(class, text, value{sign: equals, first: true}) && !isLetters(text) && hasLetter(text)
}

// readHeader parses the line at a position, once for all words in it.
func (s *scan) readHeader(at int) header {
	start := max(s.header.end, rowStart(s.text, at, longestHeader))
	end, next := rowEnd(s.text[:min(len(s.text), at+longestHeader)], at)
	h := header{window: window{start, end}, next: next}

	line := s.text[start:end]
	// In a JSON string, the header begins after the quote.
	if at := start + strings.LastIndexByte(line, ':') + 1; at > start && skipQuote(s.text, at) > at {
		h.start = min(end, skipQuote(s.text, at))
		line = s.text[h.start:end]
	}

	if len(line) <= longestHeader && start < end {
		h.separator = separatorOf(line)
	}

	return h
}

// separatorOf returns the sign between the columns of a header, or 0 if the line is not a header: every column has a name of a few
// words.
func separatorOf(line string) byte {
	for _, sign := range []byte("|\t;,") {
		if strings.IndexByte(line, sign) < 0 {
			continue
		}

		if sign == '|' {
			line = strings.Trim(line, " |\r")
		}

		for title := range strings.SplitSeq(line, string(sign)) {
			if !isTitle(strings.Trim(strings.TrimSpace(title), `"'\`)) {
				return 0
			}
		}

		return sign
	}

	// Words separated by single spaces are prose, unless all are in capitals.
	capitals := !strings.ContainsFunc(line, func(r rune) bool { return r < 128 && isLower(byte(r)) })
	columns := 0

	for title := range strings.SplitSeq(strings.TrimSpace(line), "  ") {
		title = strings.TrimSpace(title)
		if title == "" {
			continue
		}

		if !isTitle(title) {
			return 0
		}

		if columns++; capitals {
			columns += strings.Count(title, " ")
		}
	}

	if columns < 2 {
		return 0
	}

	return ' '
}

// isTitle recognizes the name of a column.
func isTitle(title string) bool {
	return title != "" && len(title) <= longestTitle && hasLetter(title[:1]) && strings.Count(title, " ") < 3 &&
		!strings.ContainsFunc(title, func(r rune) bool { return r > 127 || !isName(byte(r)) && r != ' ' })
}

// isRule recognizes a line between the header and the rows.
func isRule(line string) bool {
	return strings.Contains(line, "--") && strings.Trim(line, "-+|:= \t\r") == ""
}

// countSigns counts the signs between columns; those in quotes, and those at both ends of a line, do not count.
func countSigns(line string, sign byte) int {
	if sign == '|' {
		line = strings.TrimPrefix(strings.TrimLeft(line, " "), "|")
		line = strings.TrimSuffix(strings.TrimRight(line, " \r"), "|")
	}

	count, quoted := 0, false

	for i := range len(line) {
		switch line[i] {
		case '"':
			quoted = !quoted
		case sign:
			if !quoted {
				count++
			}
		}
	}

	return count
}

// separatedCell returns the cell after the given number of signs, without surrounding spaces and quotes.
func separatedCell(line string, sign byte, number int) window {
	start := 0
	if sign == '|' {
		start = len(line) - len(strings.TrimPrefix(strings.TrimLeft(line, " "), "|"))
	}

	quoted := false
	end := start

	for ; end < len(line); end++ {
		if line[end] == '"' {
			quoted = !quoted
		}

		if line[end] != sign || quoted {
			continue
		}

		if number == 0 {
			break
		}

		number--
		start = end + 1
	}

	for start < end && strings.IndexByte(" \t\"'\\", line[start]) >= 0 {
		start++
	}

	for end > start && strings.IndexByte(" \t\r\"'\\", line[end-1]) >= 0 {
		end--
	}

	return window{start, end}
}

// alignedCell returns the word below a name, aligned to its left or its right.
func alignedCell(line string, name window) window {
	start := min(name.start, len(line))
	if start < len(line) && isSpace(line[start]) {
		for start < len(line) && start < name.end && isSpace(line[start]) {
			start++
		}
	} else {
		for start > 0 && !isSpace(line[start-1]) {
			start--
		}
	}

	end := start
	for end < len(line) && !isSpace(line[end]) {
		end++
	}

	if start != name.start && end != name.end {
		return window{}
	}

	return window{start, end}
}
