package mask

import "strings"

// sign is what separates a name from its value.
type sign int

const (
	noSign sign = iota
	equals
	colon
	element // <name>value</name>
	gap     // --name value
	call    // setName("value")
	is      // "the password is …", PASSWORD '…'
	word    // a word after the name
	pair    // name: NAME, value: VALUE
	tuple   // ("name", "value")
)

// Many programs escape < and > like this in JSON.
const (
	escapedLess    = `\u003c`
	escapedGreater = `\u003e`
)

// signAfter returns where the value of a name begins, and the sign before it.
func (s *scan) signAfter(name window) (int, sign) {
	text, at := s.text, name.end

	// Checksums of secrets are public.
	if strings.HasSuffix(text[:name.start], "checksum/") {
		return 0, noSign
	}

	at = skipQuote(text, at)
	if at > name.end && at < len(text) && text[at] == ']' {
		at++
	}

	closed := at
	if strings.HasPrefix(text[at:], "**") {
		at += len("**")
	}

	if at = skipRemark(text, skipSpaces(text, at)); at >= len(text) {
		return 0, noSign
	}

	switch text[at] {
	case '=':
		return afterEquals(text, at)
	case '!':
		if strings.HasPrefix(text[at:], "!=") {
			return afterComparison(text, at+1)
		}
	case ':':
		return s.afterColon(name, at)
	case '>':
		if opensElement(text, name, closed) {
			return at + 1, element
		}

		return 0, noSign
	case '\\':
		if strings.HasPrefix(text[at:], escapedGreater) && strings.HasSuffix(text[:name.start], escapedLess) {
			return at + len(escapedGreater), element
		}
	}

	if value, by := s.rareSign(name, closed, at); by != noSign {
		return value, by
	}

	if value := formValue(text, name.start, closed); value > 0 {
		return value, pair
	}

	if value := pairedValue(text, closed); value > 0 {
		return value, pair
	}

	return s.looseSign(name, closed, at)
}

// rareSign finds values in property lists, psql records, prose with arrows and dashes, and tuples. closed is the end of the name with
// its quote; at is the first character after it that is not a space.
func (s *scan) rareSign(name window, closed, at int) (int, sign) {
	text, apart := s.text, at > closed

	switch text[at] {
	case '<':
		if value := listedValue(text, at); value > 0 {
			return value, element
		}
	case '|':
		// As in prose, the value must look like a secret: in some tables, the cell after the name of a column is its type.
		if (s.first(name.start) && apart || s.firstCell(name.start)) && strings.HasPrefix(text[at:], "| ") {
			return at + len("| "), is
		}
	case '-':
		if apart && strings.HasPrefix(text[at:], "-> ") {
			return at + len("-> "), gap
		}

		if apart && closed == name.end && strings.HasPrefix(text[at:], "- ") {
			return at + len("- "), is
		}
	case ',':
		if value := tupleValue(text, name, at); value > 0 {
			return value, tuple
		}
	default:
		if value := attributed(text, name.start, at); apart && value > 0 {
			return value, element
		}
	}

	return 0, noSign
}

// firstCell reports whether a name is the first cell of a table's row.
func (s *scan) firstCell(at int) bool {
	before := strings.TrimRight(s.text[max(0, at-8):at], " ")

	return strings.HasSuffix(before, "|") && s.first(max(0, at-8)+len(before)-1)
}

// looseSign finds values without a sign between them and their name: flags, arguments of calls and prose. closed is the end of the name
// with its quote; at is the first character after it that is not a space.
func (s *scan) looseSign(name window, closed, at int) (int, sign) {
	text := s.text
	flag := isFlag(text, name)

	switch {
	case flag && at > closed && closed == name.end:
		if next := skipItem(text, at); next > 0 {
			return next, gap
		}

		return at, gap
	case flag:
		if next := skipItem(text, closed); next > 0 {
			return next, gap
		}
	case text[at] == '(' && at == name.end && skipQuote(text, at+1) > at+1:
		return at + 1, call
	case at > closed && closed == name.end:
		return spacedSign(text, name, at)
	}

	return 0, noSign
}

// spacedSign finds a value after a name and spaces.
func spacedSign(text string, name window, at int) (int, sign) {
	switch {
	case skipQuote(text, at) > at:
		// In SQL, the word in capitals is part of the statement.
		if text[name.start:name.end] == "PASSWORD" {
			return at, call
		}

		return at, is
	case strings.HasPrefix(text[at:], "is ") || strings.HasPrefix(text[at:], "is: "):
		return skipSpaces(text, strings.IndexByte(text[at:], ' ')+at), is
	case isRun(text[at]):
		return at, word
	default:
		return 0, noSign
	}
}

// isFlag recognizes --name and -name. Flags of one letter are not found by their names.
func isFlag(text string, name window) bool {
	if strings.HasPrefix(text[name.start:], "--") {
		return true
	}

	return strings.HasPrefix(text[name.start:name.end], "-") && (name.start == 0 || strings.IndexByte(" \t\n\"',[", text[name.start-1]) >= 0)
}

// opensElement recognizes <name>, <x:name> and <property name="name">. closed is the end of the name with its quote.
func opensElement(text string, name window, closed int) bool {
	return isElement(text, name.start) || closed > name.end && strings.HasSuffix(strings.TrimRight(text[max(0, name.start-8):name.start], `"'\`), "=")
}

// isElement reports whether an element's name, possibly with a namespace prefix, begins at a position.
func isElement(text string, at int) bool {
	before := text[max(0, at-16):at]
	if prefix, ok := strings.CutSuffix(before, ":"); ok {
		before = strings.TrimRight(prefix, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
	}

	return strings.HasSuffix(before, "<")
}

// attributed finds the value of an element with attributes: <name a="b">VALUE</name>.
func attributed(text string, name, at int) int {
	if !isElement(text, name) {
		return 0
	}

	end := strings.IndexAny(text[at:min(len(text), at+longestName)], "<>\n")
	if end < 1 || text[at+end] != '>' || text[at+end-1] == '/' {
		return 0
	}

	return at + end + 1
}

// listedValue finds the value of a name in a list or a table: <key>NAME</key><string>VALUE</string>.
func listedValue(text string, at int) int {
	for _, tags := range [][2]string{{"</key>", "<string>"}, {"</td>", "<td>"}, {"</th>", "<td>"}, {"</dt>", "<dd>"}} {
		if !strings.HasPrefix(text[at:], tags[0]) {
			continue
		}

		if next := skipBlank(text, at+len(tags[0])); strings.HasPrefix(text[next:], tags[1]) {
			return next + len(tags[1])
		}
	}

	return 0
}

// formValue finds the value of a field in a multipart form: name="NAME", an empty line, and the value.
func formValue(text string, name, closed int) int {
	if !strings.HasSuffix(strings.TrimRight(text[max(0, name-16):name], `"\`), "; name=") {
		return 0
	}

	first := breakAt(text, closed)
	if second := breakAt(text, closed+first); first > 0 && second > 0 {
		return closed + first + second
	}

	return 0
}

// skipRemark skips a remark in parentheses, as in: password (temporary): ….
func skipRemark(text string, at int) int {
	if !strings.HasPrefix(text[at:], "(") {
		return at
	}

	near := text[at:min(len(text), at+40)]
	if end := strings.Index(near, "):"); end > 0 && !strings.ContainsAny(near[:end], "\"'\n=") {
		return at + end + 1
	}

	return at
}

// tupleValue finds the second argument of a call or item of a tuple whose first one is the name, provided that there is no third.
func tupleValue(text string, name window, at int) int {
	if before := strings.TrimRight(text[max(0, name.start-8):name.start], `"'\`); !strings.HasSuffix(before, "(") || before == text[max(0, name.start-8):name.start] {
		return 0
	}

	value := skipSpaces(text, at+1)
	open := skipQuote(text, value)

	if open == value {
		return 0
	}

	end := strings.IndexByte(text[open:min(len(text), open+longestDoubt)], text[open-1])
	if end <= 0 || !strings.HasPrefix(text[open+end+1:], ")") {
		return 0
	}

	return value
}

// skipItem moves to the next argument in a list in JSON or YAML; it returns 0 if there is none.
func skipItem(text string, at int) int {
	next := skipBlank(text, at)

	switch {
	case strings.HasPrefix(text[next:], ","):
		next = skipBlank(text, next+1)
		if skipQuote(text, next) > next {
			return next
		}
	case next > at && strings.HasPrefix(text[next:], "- ") && !strings.HasPrefix(text[next:], "- -"):
		return next + len("- ")
	}

	return 0
}

func (s *scan) afterColon(name window, at int) (int, sign) {
	text := s.text

	// In LDIF, base64 follows a double colon.
	if strings.HasPrefix(text[at:], ":: ") && at == name.end && s.first(name.start) {
		return at + len(":: "), colon
	}

	if strings.HasPrefix(text[at:], "://") || strings.HasPrefix(text[at:], "::") {
		return 0, noSign
	}

	// Names between colons are parts of a longer name, such as an ARN.
	if name.start > 0 && text[name.start-1] == ':' && at+1 < len(text) && isName(text[at+1]) {
		return 0, noSign
	}

	if strings.HasPrefix(text[at:], ":=") {
		at++
	}

	if value := typedValue(text, at+1); value > 0 {
		return value, equals
	}

	return at + 1, colon
}

// typedValue finds the value after a type, as in: password: &str = "…".
func typedValue(text string, at int) int {
	near := text[at:min(len(text), at+40)]

	kind, _, ok := strings.Cut(near, "=")
	if !ok || strings.ContainsAny(kind, "\"'\n\\,;{}(") {
		return 0
	}

	// The type must be one word, and the value quoted: otherwise a value that contains a sign would be cut.
	end := at + len(kind) + 1
	if value := skipSpaces(text, end); len(strings.Fields(kind)) == 1 && strings.HasSuffix(kind, " ") && skipQuote(text, value) > value {
		return value
	}

	return 0
}

func afterEquals(text string, at int) (int, sign) {
	if strings.HasPrefix(text[at:], "==") || at > 0 && strings.IndexByte("!<>~", text[at-1]) >= 0 {
		return afterComparison(text, at)
	}

	if strings.HasPrefix(text[at:], "=>") {
		at++
	} else if strings.HasPrefix(text[at:], "="+escapedGreater) {
		at += len(escapedGreater)
	}

	return at + 1, equals
}

// afterComparison finds the text that a program compares with. Anything without quotes is a variable.
func afterComparison(text string, at int) (int, sign) {
	for n := 0; n < len("==") && at < len(text) && text[at] == '='; n++ {
		at++
	}

	if at = skipSpaces(text, at); skipQuote(text, at) > at {
		return at, tuple
	}

	return 0, noSign
}

// skipSpaces skips the spaces around a sign.
func skipSpaces(text string, at int) int {
	for n := 0; n < 16 && at < len(text) && (text[at] == ' ' || text[at] == '\t'); n++ {
		at++
	}

	return at
}

// skipQuote skips a quote, at any depth of escaping.
func skipQuote(text string, at int) int {
	end := at
	for end < len(text) && end-at < 8 && text[end] == '\\' {
		end++
	}

	if end < len(text) && (text[end] == '"' || text[end] == '\'') {
		return end + 1
	}

	return at
}

// pairedValue finds the value of a name that is itself a value: {name: X, value: Y} in YAML or JSON.
func pairedValue(text string, at int) int {
	at = skipBlank(text, at)

	switch {
	case strings.HasPrefix(text[at:], ","):
		at = skipQuote(text, skipBlank(text, at+1))
	case at > 0 && text[at-1] != ' ' && text[at-1] != '\n' && !strings.HasSuffix(text[:at], `\n`):
		return 0
	}

	// Up to two other fields can be between them.
	for range 3 {
		if value := valueOfPair(text, at); value > 0 {
			return value
		}

		if at = skipField(text, at); at == 0 {
			return 0
		}
	}

	return 0
}

// valueOfPair returns where the value of the key at a position begins, or 0 if it is not the key of a value.
func valueOfPair(text string, at int) int {
	for _, key := range []string{"value", "parametervalue", "option_value", "val"} {
		if len(text)-at < len(key) || !strings.EqualFold(text[at:at+len(key)], key) {
			continue
		}

		// In XML it is an attribute: <add key="X" value="Y"/>.
		end := skipSpaces(text, skipQuote(text, at+len(key)))
		if end < len(text) && (text[end] == ':' || text[end] == '=') {
			return end + 1
		}
	}

	return 0
}

// skipField skips a short field in JSON, such as "type": "text", and returns where the next key begins, or 0.
func skipField(text string, at int) int {
	near := text[at:min(len(text), at+48)]

	end := strings.IndexByte(near, ',')
	if end < 0 || strings.ContainsAny(near[:end], "{}[]\n") || !strings.Contains(near[:end], `":`) {
		return 0
	}

	next := skipBlank(text, at+end+1)
	if open := skipQuote(text, next); open > next {
		return open
	}

	return 0
}

// skipBlank skips spaces and line breaks, also escaped ones.
func skipBlank(text string, at int) int {
	for n := 0; n < 64 && at < len(text); n++ {
		switch {
		case isSpace(text[at]):
			at++
		case text[at] == '\\' && escapedSpace(text, at) > 0:
			at += escapedSpace(text, at)
		default:
			return at
		}
	}

	return at
}

// escapedSpace returns the length of an escaped line break or tab, or 0.
func escapedSpace(text string, at int) int {
	if size := breakAt(text, at); size > 0 {
		return size
	}

	end := at
	for end < len(text) && end-at < mostSlashes && text[end] == '\\' {
		end++
	}

	if end < len(text) && text[end] == 't' {
		return end + 1 - at
	}

	return 0
}
