package mask

import "strings"

// braced parses text in braces (JSON, and YAML and Python in that style) wherever a brace opens in a text. At an unexpected character
// it discards what it has parsed, and continues with the next brace after it: it never reads a character twice.
type braced struct {
	text  string
	depth int
	at    int
	open  []frame
	spans []span
}

func (b *braced) read() {
	for b.at < len(b.text) {
		if len(b.open) == 0 {
			if !b.next() {
				return
			}

			continue
		}

		if c := b.text[b.at]; isSpace(c) {
			b.at++
		} else if !b.token(c) {
			b.giveUp()
		}
	}

	b.giveUp()
}

// next moves to the next brace.
func (b *braced) next() bool {
	brace := strings.IndexByte(b.text[b.at:], '{')
	if brace < 0 {
		return false
	}

	b.at += brace

	if slashes := b.escapedAt(b.at + 1); slashes > 0 {
		b.escaped(slashes)
	} else {
		b.push(false)
	}

	return true
}

// escapedAt returns how deep the first quote after a brace is escaped.
func (b *braced) escapedAt(at int) int {
	at = skipBlank(b.text, at)

	slashes := 0
	for at+slashes < len(b.text) && slashes < 16 && b.text[at+slashes] == '\\' {
		slashes++
	}

	if at+slashes < len(b.text) && b.text[at+slashes] == '"' {
		return slashes
	}

	return 0
}

// escaped parses an object within a string: up to the quote that ends the string, or the end of the line.
func (b *braced) escaped(depth int) {
	start, slashes := b.at, 0

	for ; b.at < len(b.text); b.at++ {
		c := b.text[b.at]
		if c == '\n' || c == '"' && slashes < depth {
			break
		}

		if c == '\\' {
			slashes++
		} else {
			slashes = 0
		}
	}

	b.spans = append(b.spans, inner(b.text[start:b.at], start, b.depth)...)
}

// token parses one token; it returns false if the token is not allowed there.
func (b *braced) token(c byte) bool {
	top := b.top()

	switch c {
	case '{', '[':
		if top.state != wantValue || len(b.open) >= mostOpen {
			return false
		}

		b.push(c == '[')
	case '}', ']':
		if top.list != (c == ']') || top.state == wantColon {
			return false
		}

		b.at++
		b.pop()
	case ',':
		if top.state != wantComma {
			return false
		}

		b.at++
		top.state = wantKey

		if top.list {
			top.state = wantValue
		}
	case ':':
		if top.state != wantColon {
			return false
		}

		b.at++
		top.state = wantValue
	default:
		return b.scalar(c)
	}

	return true
}

// scalar parses a string, number or word.
func (b *braced) scalar(c byte) bool {
	top := b.top()
	if top.state != wantKey && top.state != wantValue {
		return false
	}

	var (
		start = b.at
		end   int
		whole = true
	)

	if c == '"' || c == '\'' {
		start++
		end, whole = b.stringEnd(start, c)
		b.at = end + 1
	} else {
		end = b.wordEnd(start)
		b.at = end

		if end == start {
			return false
		}
	}

	b.at = min(b.at, len(b.text))

	if top.state == wantKey {
		top.key, top.state = b.text[start:end], wantColon

		return whole
	}

	top.state = wantComma
	b.value(top, start, end)

	return whole
}

func (b *braced) value(top *frame, start, end int) {
	text := b.text[start:end]

	switch {
	case top.owner >= 0:
		b.hide(top.owner, start, end)
	case top.list:
		b.spans = append(b.spans, inner(text, start, b.depth)...)
	case top.key == "kind":
		top.kind = text
	case isDataKey(top.key):
		b.hide(len(b.open)-1, start, end)
	default:
		b.spans = append(b.spans, inner(text, start, b.depth)...)
	}
}

func (b *braced) hide(owner, start, end int) {
	if text := b.text[start:end]; text != "" && text != "null" && !bare(text) {
		b.open[owner].values = append(b.open[owner].values, span{start, end, secretData})
	}
}

// stringEnd returns the end of a string's content. A string does not span lines.
func (b *braced) stringEnd(at int, quote byte) (end int, whole bool) {
	for ; at < len(b.text); at++ {
		switch b.text[at] {
		case '\\':
			at++
		case '\n':
			return at, false
		case quote:
			if quote == '\'' && at+1 < len(b.text) && b.text[at+1] == quote {
				at++

				continue
			}

			return at, true
		}
	}

	return len(b.text), false
}

// wordEnd returns the end of an unquoted word.
func (b *braced) wordEnd(at int) int {
	start := at

	for ; at < len(b.text); at++ {
		c := b.text[at]
		if strings.IndexByte(",{}[]\"\n", c) >= 0 {
			break
		}

		if c == ':' && (at+1 == len(b.text) || isSpace(b.text[at+1])) {
			break
		}
	}

	for at > start && isSpace(b.text[at-1]) {
		at--
	}

	return at
}
