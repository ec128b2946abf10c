package mask

import "strings"

// indented parses YAML line by line, by indentation alone.
type indented struct {
	text  string
	open  []mapping
	spans []span
	data  section
}

// mapping is an open mapping. Its keys are in one column.
type mapping struct {
	manifest

	column int
	key    string
}

// section is the data of a mapping that is being parsed.
type section struct {
	on     bool
	column int // of the key data
	entry  int // the column of its entries, -1 before the first
	value  span
}

func (y *indented) read() {
	for at := 0; at < len(y.text); {
		end := strings.IndexByte(y.text[at:], '\n')
		if end < 0 {
			end = len(y.text)
		} else {
			end += at
		}

		y.line(at, end)
		at = end + 1
	}

	y.endData()
	y.close(-1)
}

// line parses a line from start to end.
func (y *indented) line(start, end int) {
	for end > start && isSpace(y.text[end-1]) {
		end--
	}

	column := 0
	for start+column < end && y.text[start+column] == ' ' {
		column++
	}

	text := y.text[start+column : end]
	if text == "" || text[0] == '#' && !y.data.on {
		return
	}

	if y.data.on && column > y.data.column {
		y.dataLine(start+column, end, column)

		return
	}

	y.endData()

	if strings.HasPrefix(text, "---") || strings.HasPrefix(text, "...") || strings.HasPrefix(text, "```") {
		y.close(-1)

		return
	}

	y.entry(start, column, text)
}

// entry parses a line that is not part of some data.
func (y *indented) entry(start, column int, text string) {
	item := column
	for strings.HasPrefix(text, "- ") {
		rest := strings.TrimLeft(text[2:], " ")
		column += len(text) - len(rest)
		text = rest
	}

	key, rest, ok := cutKey(text)
	if !ok {
		y.close(column - 1)

		return
	}

	if column > item {
		y.close(item)
	} else {
		y.close(column)
	}

	if len(y.open) == 0 || y.open[len(y.open)-1].column != column {
		y.open = append(y.open, mapping{column: column})
	}

	top := &y.open[len(y.open)-1]
	top.key = key

	switch {
	case key == "kind":
		// A second kind in one mapping belongs to another object, where the separator line was lost.
		if top.kind != "" {
			y.spans = append(y.spans, top.secrets()...)
			top.manifest = manifest{}
		}

		top.kind = strings.Trim(strings.TrimSpace(cutComment(rest)), `"'`)
	case isDataKey(key):
		y.startData(start+column+len(text)-len(rest), rest, column)
	}
}

// cutKey cuts a line at the colon after its key.
func cutKey(text string) (key, rest string, ok bool) {
	end := 0
	for end < len(text) && (isName(text[end]) || text[end] == '/') {
		end++
	}

	if end == 0 || end >= len(text) || text[end] != ':' || end+1 < len(text) && text[end+1] != ' ' && text[end+1] != '\t' {
		return "", "", false
	}

	return text[:end], text[end+1:], true
}

func cutComment(text string) string {
	before, _, _ := strings.Cut(text, " #")

	return before
}

// startData begins the data of the open mapping, or keeps it if it is on the same line.
func (y *indented) startData(at int, rest string, column int) {
	value := strings.TrimSpace(rest)
	at += len(rest) - len(strings.TrimLeft(rest, " \t"))

	switch {
	case value == "" || strings.HasPrefix(value, "#") || strings.HasPrefix(value, "&") || strings.HasPrefix(value, "!") ||
		strings.HasPrefix(value, "|") || strings.HasPrefix(value, ">"):
	case value == "{}" || value == "null" || value == "~" || strings.HasPrefix(value, "*"):
		return
	case strings.HasPrefix(value, "{"):
		closed := strings.TrimSuffix(value, "}")
		y.keep(span{at + 1, at + len(closed), secretData})
	default:
		y.keep(span{at, at + len(value), secretData})
	}

	y.data = section{on: true, column: column, entry: -1}
}

// dataLine parses a line of data. Lines that are not entries continue the last value.
func (y *indented) dataLine(start, end, column int) {
	d := &y.data
	if d.entry < 0 {
		d.entry = column
	}

	if column == d.entry {
		if value := entryValue(y.text[start:end]); value >= 0 {
			y.keep(d.value)
			d.value = y.valueSpan(start+value, end)

			return
		}
	}

	if d.value.end <= d.value.start {
		d.value.start = start
	}

	d.value.end, d.value.name = end, secretData
}

// entryValue returns where the value of an entry begins, or -1 if the line is not an entry.
func entryValue(line string) int {
	if line[0] == '"' || line[0] == '\'' {
		closing := strings.IndexByte(line[1:], line[0]) + 2
		if closing < 2 || !strings.HasPrefix(line[closing:], ":") {
			return -1
		}

		return len(line) - len(strings.TrimLeft(line[closing+1:], " \t"))
	}

	colon := strings.Index(line, ": ")
	if colon < 0 && strings.HasSuffix(line, ":") {
		colon = len(line) - 1
	}

	if colon <= 0 || strings.ContainsAny(line[:colon], " \t") {
		return -1
	}

	return len(line) - len(strings.TrimLeft(line[colon+1:], " \t"))
}

// valueSpan excludes the quotes around a value, and the indicator of a block scalar, whose lines follow.
func (y *indented) valueSpan(start, end int) span {
	text := y.text[start:end]

	switch {
	case text == "" || text == "null" || text == "~" || text[0] == '|' || text[0] == '>' || strings.HasPrefix(text, "!!"):
		return span{end, end, secretData}
	case len(text) > 1 && (text[0] == '"' || text[0] == '\'') && text[len(text)-1] == text[0]:
		return span{start + 1, end - 1, secretData}
	}

	return span{start, end, secretData}
}

// keep adds a value to the open mapping.
func (y *indented) keep(value span) {
	if value.start < value.end && len(y.open) > 0 && !bare(y.text[value.start:value.end]) {
		top := &y.open[len(y.open)-1]
		top.values = append(top.values, value)
	}
}

func (y *indented) endData() {
	if y.data.on {
		y.keep(y.data.value)
		y.data = section{}
	}
}

// close closes the mappings to the right of a column. A mapping without a kind passes its values to the list that contains it: the kind
// may be the list's.
func (y *indented) close(column int) {
	for len(y.open) > 0 {
		closed := y.open[len(y.open)-1]
		if closed.column <= column {
			return
		}

		y.open = y.open[:len(y.open)-1]
		y.spans = append(y.spans, closed.secrets()...)

		if len(y.open) > 0 && closed.kind == "" {
			if top := &y.open[len(y.open)-1]; top.key == "items" {
				top.items = append(top.items, closed.values...)
			}
		}
	}
}
