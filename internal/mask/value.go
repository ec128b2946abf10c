package mask

import "strings"

// value is where a value stands and how it is written.
type value struct {
	window
	quoted bool
	// first says that the name was the first thing in its line, as in YAML and env dumps.
	first bool
	// query says that the name is a parameter of an address.
	query bool
	sign  sign
}

// valueAt reads the value that begins at a position.
func (s *scan) valueAt(at int, by sign, name window) value {
	v := value{sign: by, first: s.first(name.start)}
	v.query = name.start > 0 && strings.IndexByte("?&", s.text[name.start-1]) >= 0
	at = skipSpaces(s.text, at)

	if at < len(s.text) && by == colon && (s.text[at] == '|' || s.text[at] == '>') {
		v.window = s.yamlBlock(at, name.start)

		return v
	}

	if by == element {
		near := s.text[at:min(len(s.text), at+longestDoubt)]
		near, _, _ = strings.Cut(near, escapedLess)
		near, _, _ = strings.Cut(near, "<")
		v.window, v.quoted = window{at, at + len(near)}, true

		return v
	}

	// A header may have several values: "X-Token": ["…"].
	if strings.HasPrefix(s.text[at:], "[") && skipQuote(s.text, at+1) > at+1 {
		at++
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

// first says whether a name is the first thing in its line, but for dashes and quotes.
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

// closing returns the end of a quoted value. A quote that is escaped no deeper than the opening one closes it; so does the
// end of the line or text, which may have been cut off. It returns -1 if neither is near: the quote was none.
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

// plainEnd returns the end of a value without quotes.
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
			// A value that has its line for itself may contain these.
			if !v.first || at+1 == len(s.text) || isSpace(s.text[at+1]) || c == '&' {
				return at
			}
		}
	}

	return at
}

// yamlBlock returns the lines of a YAML block that are indented more than the line of its key.
func (s *scan) yamlBlock(at, name int) window {
	line := strings.LastIndexByte(s.text[max(0, name-longestName):name], '\n') + max(0, name-longestName) + 1
	margin := indent(s.text[line:])

	next := strings.IndexByte(s.text[at:min(len(s.text), at+8)], '\n')
	if next < 0 {
		return window{}
	}

	start := at + next + 1
	end := start

	for end < len(s.text) {
		row := s.text[end:]
		if length := strings.IndexByte(row, '\n'); length >= 0 {
			row = row[:length+1]
		}

		if strings.TrimSpace(row) != "" && indent(row) <= margin {
			break
		}

		end += len(row)
	}

	body := s.text[start:end]
	trimmed := strings.TrimRight(body, " \t\r\n")

	return window{start + len(body) - len(strings.TrimLeft(body, " \t\r\n")), start + len(trimmed)}
}

func indent(line string) int {
	return len(line) - len(strings.TrimLeft(line, " "))
}
