package mask

import "strings"

// sign is what stands between a name and its value.
type sign int

const (
	noSign sign = iota
	equals
	colon
	element // <name>value</name>
	gap     // --name value
	call    // setName("value")
	is      // "the password is …", PASSWORD '…'
	word    // a word that follows
	pair    // name: NAME, value: VALUE
)

// In JSON, many programs write < and > like this.
const (
	escapedLess    = `\u003c`
	escapedGreater = `\u003e`
)

// signAfter returns where the value of a name begins, and by which sign.
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
	if at = skipSpaces(text, at); at >= len(text) {
		return 0, noSign
	}

	switch text[at] {
	case '=':
		return afterEquals(text, at)
	case ':':
		return s.afterColon(name, at)
	case '>':
		if name.start > 0 && text[name.start-1] == '<' {
			return at + 1, element
		}

		return 0, noSign
	case '\\':
		if strings.HasPrefix(text[at:], escapedGreater) && strings.HasSuffix(text[:name.start], escapedLess) {
			return at + len(escapedGreater), element
		}
	}

	if value := pairedValue(text, closed); value > 0 {
		return value, pair
	}

	return s.looseSign(name, closed, at)
}

// looseSign finds values that no sign joins to their name: flags, arguments of calls and what people say. The name is closed
// at a position, with its quote; at is the first character after it that is no space.
func (s *scan) looseSign(name window, closed, at int) (int, sign) {
	text := s.text
	flag := strings.HasPrefix(text[name.start:], "--")

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
	case at > closed && closed == name.end && skipQuote(text, at) > at:
		return at, is
	case at > closed && closed == name.end && strings.HasPrefix(text[at:], "is "):
		return at + len("is "), is
	case at > closed && closed == name.end && isRun(text[at]):
		return at, word
	}

	return 0, noSign
}

// skipItem goes from one argument to the next, in a list in JSON or YAML; or returns 0.
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
	if strings.HasPrefix(text[at:], "://") || strings.HasPrefix(text[at:], "::") {
		return 0, noSign
	}

	// Names between colons are parts of one longer name, such as an ARN.
	if name.start > 0 && text[name.start-1] == ':' && at+1 < len(text) && isName(text[at+1]) {
		return 0, noSign
	}

	if strings.HasPrefix(text[at:], ":=") {
		at++
	}

	return at + 1, colon
}

func afterEquals(text string, at int) (int, sign) {
	if strings.HasPrefix(text[at:], "==") || at > 0 && strings.IndexByte("!<>~", text[at-1]) >= 0 {
		return 0, noSign
	}

	if strings.HasPrefix(text[at:], "=>") {
		at++
	} else if strings.HasPrefix(text[at:], "="+escapedGreater) {
		at += len(escapedGreater)
	}

	return at + 1, equals
}

// skipSpaces passes the spaces that may stand around a sign.
func skipSpaces(text string, at int) int {
	for n := 0; n < 16 && at < len(text) && (text[at] == ' ' || text[at] == '\t'); n++ {
		at++
	}

	return at
}

// skipQuote passes a closing quote, however deep it is escaped.
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

	const value = "value"
	if len(text)-at < len(value) || !strings.EqualFold(text[at:at+len(value)], value) {
		return 0
	}

	// In XML it is an attribute: <add key="X" value="Y"/>.
	at = skipQuote(text, at+len(value))
	if at < len(text) && (text[at] == ':' || text[at] == '=') {
		return at + 1
	}

	return 0
}

// skipBlank passes spaces and line breaks, also escaped ones.
func skipBlank(text string, at int) int {
	for n := 0; n < 64 && at < len(text); n++ {
		switch {
		case isSpace(text[at]):
			at++
		case strings.HasPrefix(text[at:], `\n`):
			at += 2
		default:
			return at
		}
	}

	return at
}
