package mask

import "strings"

// mostItems is the maximum number of items of a list, longestItem the maximum length of one.
const (
	mostItems   = 1000
	longestItem = 4 << 10
)

// list hides the items of a list with a name such as passwords: in brackets, on lines that begin with a dash, or separated by commas.
// It returns false if there is no list. In nested lists and in items that are mappings, the names within them decide.
func (s *scan) list(at int, by sign, name window, class string) bool {
	pattern := s.patternOf(class)
	if pattern == "" || by != colon && by != equals {
		return false
	}

	from := skipSpaces(s.text, at)
	if by == colon {
		from = skipProperties(s.text, from)
	}

	var items []value

	switch {
	case strings.HasPrefix(s.text[from:], "["):
		items = s.bracketed(from + 1)
	case by == colon && s.endsLine(from):
		items = s.rows(from, name)
	case by == equals && classify(s.text[name.start:name.end]) == "":
		items = s.separated(from)
	}

	for _, item := range items {
		if plausible(class, s.text[item.start:item.end], item) && !isLetters(s.text[item.start:item.end]) {
			s.hide(item.start, item.end, pattern)
			s.named = max(s.named, item.end)
		}
	}

	return len(items) > 0
}

// bracketed parses ["a", "b"] and [a, b], also over several lines.
func (s *scan) bracketed(at int) []value {
	var items []value

	for len(items) < mostItems {
		at = skipBlank(s.text, at)
		open := skipQuote(s.text, at)
		v := value{sign: equals, quoted: open > at}

		if v.quoted {
			near := &scan{text: s.text[:min(len(s.text), open+longestItem)]}
			v.window = window{open, near.closing(open, open-at-1, s.text[open-1])}
			at = skipQuote(s.text, v.end)
		} else {
			end := at
			for end < len(s.text) && end-at < longestItem && strings.IndexByte(" ,][{}\"'\n\\", s.text[end]) < 0 {
				end++
			}

			v.window, at = window{at, end}, end
		}

		if v.start >= v.end {
			return items
		}

		items = append(items, v)

		if at = skipBlank(s.text, at); at >= len(s.text) || s.text[at] != ',' {
			return items
		}

		at++
	}

	return items
}

// rows parses the lines below a name: items with a dash, values of a mapping without secrets' names, or the value itself.
func (s *scan) rows(at int, name window) []value {
	if !s.first(name.start) {
		return nil
	}

	plural := classify(s.text[name.start:name.end]) == ""
	margin := indent(s.text[rowStart(s.text, name.start, longestName):])

	var items []value

	for len(items) < mostItems {
		at += breakAt(s.text, at)
		end, next := rowEnd(s.text, at)
		row := s.text[at:end]
		item := strings.TrimLeft(row, " ")

		dash := strings.HasPrefix(item, "- ")
		if deep := len(row) - len(item); len(item) > longestItem || deep < margin || deep == margin && !dash {
			return items
		}

		v, ok := s.item(end-len(item), end, dash, len(items) == 0, plural)
		if !ok || next == end {
			if ok {
				items = append(items, v)
			}

			return items
		}

		items = append(items, v)
		at = end
	}

	return items
}

// item parses one line below a name. Only the first one can be a bare value, and only a plural name has a mapping of values.
func (s *scan) item(start, end int, dash, first, plural bool) (value, bool) {
	v := value{sign: equals, first: true}

	if dash {
		start += len("- ")
	} else if key, _, ok := cutKey(s.text[start:end]); ok {
		if !plural || classify(key) != "" || end-start < len(key)+len(": ")+8 {
			return v, false
		}

		start += len(key) + 1
	} else if !first {
		return v, false
	}

	for start < end && s.text[start] == ' ' {
		start++
	}

	if open := skipQuote(s.text, start); open > start && open < end {
		if closed := strings.LastIndexByte(s.text[open:end], s.text[open-1]); closed >= 0 {
			v.window, v.quoted = window{open, open + len(strings.TrimRight(s.text[open:open+closed], `\`))}, true

			return v, true
		}
	}

	v.window = window{start, s.plainEnd(start, v)}
	rest := strings.TrimSpace(s.text[min(v.end, end):end])

	// A line of several words is prose, and one with a colon is another mapping.
	return v, v.start < v.end && v.end <= end && (rest == "" || strings.HasPrefix(rest, "#")) && s.text[v.end-1] != ':'
}

// separated parses a,b,c.
func (s *scan) separated(at int) []value {
	var items []value

	for open := skipQuote(s.text, at); len(items) < mostItems; open++ {
		end := open
		for end < len(s.text) && end-open < longestItem && isRun(s.text[end]) && s.text[end] != '\\' {
			end++
		}

		if end == open {
			return items
		}

		items = append(items, value{window: window{open, end}, sign: equals})

		if end >= len(s.text) || s.text[end] != ',' {
			return items
		}

		open = end
	}

	return items
}
