package mask

import "strings"

// reversed finds the value of a name that precedes the name: {value: Y, name: X} in YAML, JSON, HCL or XML.
func (s *scan) reversed(name window) {
	key, ok := keyOf(s.text, name.start)
	if !ok {
		return
	}

	class := classify(s.text[name.start:name.end])

	pattern := s.patternOf(class)
	if pattern == "" {
		return
	}

	from := max(0, key-longestDoubt)

	at := from + strings.LastIndex(s.text[from:key], "alue")
	if at <= from || s.text[at-1]|' ' != 'v' || at > 1 && isWord(s.text[at-2]) && !s.afterEscape(at-1) {
		return
	}

	open := skipSpaces(s.text, skipQuote(s.text, at+len("alue")))
	if open >= key || s.text[open] != ':' && s.text[open] != '=' {
		return
	}

	// Nothing after the key is read, so that many names cost no more than their distance.
	near := &scan{text: s.text[:key]}
	v := near.valueAt(open+1, pair, window{at - 1, at + len("alue")})

	if v.start < v.end && leadsTo(s.text, v, key) && plausible(class, v.content(s.text), v) {
		s.hide(v.start, v.end, pattern)
	}
}

// leadsTo reports whether a key follows a value, with at most two short fields between them.
func leadsTo(text string, v value, key int) bool {
	at := v.end
	if v.quoted {
		at = skipQuote(text, at)
	}

	if at = skipBlank(text, at); at < key && text[at] == ',' {
		at = skipBlank(text, at+1)
	}

	at = skipQuote(text, at)
	for n := 0; n < 2 && at > 0 && at < key; n++ {
		at = skipField(text, at)
	}

	return at == key
}

// keyOf returns the start of the key of the value at a position, if the key means that the value is a name.
func keyOf(text string, at int) (int, bool) {
	before := strings.TrimRight(text[max(0, at-longestName):at], `"'\`)
	before = strings.TrimRight(before, " ")

	if !strings.HasSuffix(before, ":") && !strings.HasSuffix(before, "=") {
		return 0, false
	}

	before = strings.TrimRight(strings.TrimRight(before[:len(before)-1], " "), `"'\`)
	for _, key := range []string{"name", "key"} {
		if start := len(before) - len(key); start >= 0 && strings.EqualFold(before[start:], key) {
			return max(0, at-longestName) + start, true
		}
	}

	return 0, false
}
