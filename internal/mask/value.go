package mask

import "strings"

// value is the position of a value and how it is written.
type value struct {
	window
	quoted bool
	// first means that the name comes first on its line, as in YAML and env dumps.
	first bool
	// query means that the name is a query parameter of an address.
	query bool
	// block means that the value is on its own lines, below the name.
	block bool
	sign  sign
}

// content returns the value without the line breaks and spaces between its lines.
func (v value) content(text string) string {
	if !v.block || v.end-v.start > longestDoubt {
		return text[v.start:v.end]
	}

	return strings.Join(strings.FieldsFunc(text[v.start:v.end], func(r rune) bool { return r == ' ' || r == '\n' || r == '\r' }), "")
}

// valueAt parses the value that begins at a position.
func (s *scan) valueAt(at int, by sign, name window) value {
	v := value{sign: by, first: s.first(name.start)}
	v.query = name.start > 0 && strings.IndexByte("?&", s.text[name.start-1]) >= 0
	at = skipSpaces(s.text, at)

	if by == colon || by == pair {
		at = skipProperties(s.text, at)

		if at < len(s.text) && (s.text[at] == '|' || s.text[at] == '>') {
			v.window, v.block = s.yamlBlock(at, name.start), true

			return v
		}
	}

	at = skipWrapper(s.text, at)

	if by == element {
		const data = "<![CDATA["
		if strings.HasPrefix(s.text[at:], data) {
			at += len(data)
		}

		near := s.text[at:min(len(s.text), at+longestDoubt)]
		near, _, _ = strings.Cut(near, escapedLess)
		near, _, _ = strings.Cut(near, "<")
		near, _, _ = strings.Cut(near, "]]>")
		near = strings.TrimRight(near, " \t\r\n")
		v.window, v.quoted = window{at, at + len(near)}, true

		return v
	}

	// A header may have several values: "X-Token": ["…"].
	if strings.HasPrefix(s.text[at:], "[") && skipQuote(s.text, at+1) > at+1 {
		at++
	}

	if strings.HasPrefix(s.text[at:], "`") {
		if end := strings.IndexAny(s.text[at+1:min(len(s.text), at+longestDoubt)], "`\n"); end > 0 {
			v.window, v.quoted = window{at + 1, at + 1 + end}, true

			return v
		}
	}

	if open := skipQuote(s.text, at); open > at {
		if end := s.closing(open, open-at-1, s.text[open-1]); end >= 0 {
			v.window, v.quoted = window{open, end}, true

			return v
		}

		at = open
	}

	v.window = window{at, s.plainEnd(at, v)}

	return v
}

// first reports whether a name comes first on its line, ignoring dashes and quotes.
func (s *scan) first(at int) bool {
	for n := 0; n < longestName && at > 0; n++ {
		switch c := s.text[at-1]; c {
		case ' ', '\t', '-', '"', '\'':
			at--
		case '\n':
			return true
		case 'n':
			return at > 1 && s.text[at-2] == '\\'
		default:
			return false
		}
	}

	return at == 0
}

// closing returns the end of a quoted value. A quote that is escaped no deeper than the opening one closes it; so does the end of the
// line or text, which may have been cut off. It returns -1 if neither is near: then the quote does not open a value.
func (s *scan) closing(from, depth int, quote byte) int {
	slashes := 0
	limit := min(len(s.text), from+longestQuoted)

	for at := from; at < limit; at++ {
		switch s.text[at] {
		case '\\':
			slashes++

			continue
		case quote:
			if slashes <= depth {
				return at - slashes
			}
		case '\n':
			return at
		}

		slashes = 0
	}

	if limit < len(s.text) {
		return -1
	}

	return limit
}

// plainEnd returns the end of an unquoted value.
func (s *scan) plainEnd(at int, v value) int {
	for ; at < len(s.text); at++ {
		switch c := s.text[at]; c {
		case ' ', '\t', '\n', '\r', '"', '\'', '`', '<', '>':
			return at
		case '\\':
			// Escaped text ends at its line break or quote; a backslash may also be part of a password.
			if at+1 < len(s.text) && strings.IndexByte(`nrtu"'\`, s.text[at+1]) >= 0 {
				return at
			}
		case ',', ';', '&', ')', '}', ']':
			// A value that extends to the end of its line can contain these.
			if !v.first || at+1 == len(s.text) || isSpace(s.text[at+1]) || c == '&' {
				return at
			}
		}
	}

	return at
}

// yamlBlock returns the lines of a YAML block, which are indented more than the line of its key.
func (s *scan) yamlBlock(at, name int) window {
	margin := indent(s.text[rowStart(s.text, name, longestName):])

	head, next := rowEnd(s.text[:min(len(s.text), at+longestName)], at)
	if header, _, _ := strings.Cut(s.text[at:head], "#"); next == head || len(strings.TrimRight(header, " \t")) > len("|-2") {
		return window{}
	}

	start, end, deep := next, next, 0

	for next < len(s.text) {
		at = next

		var stop int

		stop, next = rowEnd(s.text, at)
		if row := s.text[at:stop]; strings.TrimSpace(row) != "" {
			if deep == 0 {
				deep = indent(row)
			}

			if deep <= margin || indent(row) < deep || row[indent(row)] == '"' {
				break
			}

			end = at + len(strings.TrimRight(row, " \t"))
		}

		if next == stop {
			break
		}
	}

	return window{min(end, start+deep), end}
}

// skipProperties skips an anchor or a tag before a YAML value.
func skipProperties(text string, at int) int {
	for range 2 {
		end := at

		switch {
		case strings.HasPrefix(text[at:], "&"):
			for end++; end < len(text) && end-at < longestName && isName(text[end]); end++ {
			}
		case strings.HasPrefix(text[at:], "!!str"):
			end = at + len("!!str")
		case strings.HasPrefix(text[at:], "!!binary"):
			end = at + len("!!binary")
		}

		if end-at < 2 || end >= len(text) || text[end] != ' ' && breakAt(text, end) == 0 {
			return at
		}

		at = skipSpaces(text, end)
	}

	return at
}

// wrappers are what languages put around a value. All but the last two are followed by a quote.
var wrappers = []string{"b", "u", "Some(", "SecretStr(", `{"String":`, `{String:`, "Optional["}

// skipWrapper skips what a language puts before a value, such as b'…' and Some("…"), and markup of Markdown and HTML.
func skipWrapper(text string, at int) int {
	for _, markup := range []string{"** ", "__ ", "</b> ", "</strong> "} {
		if strings.HasPrefix(text[at:], markup) {
			return skipSpaces(text, at+len(markup))
		}
	}

	for i, wrapper := range wrappers {
		if end := at + len(wrapper); strings.HasPrefix(text[at:], wrapper) && (i >= len(wrappers)-2 || skipQuote(text, end) > end) {
			return end
		}
	}

	return at
}

func indent(line string) int {
	return len(line) - len(strings.TrimLeft(line, " "))
}
