package mask

import "strings"

// mostOpen is how deep objects may be nested; a text that goes deeper is no manifest.
const mostOpen = 256

// flow reads JSON, and YAML and Python in the same style, wherever a brace opens in a text. It fails where no such text
// can go on, and goes on behind that place with the next brace: it never looks at a character twice.
type flow struct {
	text  string
	depth int
	at    int
	open  []frame
	spans []span
}

// frame is an object or list that is open.
type frame struct {
	manifest

	list bool
	key  string
	// state is what may come next.
	state state
	// owner is the frame whose data this is a part of, or -1.
	owner int
}

type state int

const (
	wantKey state = iota
	wantColon
	wantValue
	wantComma
)

func (f *flow) read() {
	for f.at < len(f.text) {
		if len(f.open) == 0 {
			if !f.next() {
				return
			}

			continue
		}

		if c := f.text[f.at]; isSpace(c) {
			f.at++
		} else if !f.token(c) {
			f.give()
		}
	}

	f.give()
}

// next goes to the next brace.
func (f *flow) next() bool {
	brace := strings.IndexByte(f.text[f.at:], '{')
	if brace < 0 {
		return false
	}

	f.at += brace

	if slashes := f.escapedAt(f.at + 1); slashes > 0 {
		f.escaped(slashes)
	} else {
		f.push(false)
	}

	return true
}

// escapedAt returns how deep the first quote behind a brace is escaped.
func (f *flow) escapedAt(at int) int {
	at = skipBlank(f.text, at)

	slashes := 0
	for at+slashes < len(f.text) && slashes < 16 && f.text[at+slashes] == '\\' {
		slashes++
	}

	if at+slashes < len(f.text) && f.text[at+slashes] == '"' {
		return slashes
	}

	return 0
}

// escaped reads an object within a string: up to the quote that ends the string, or the end of the line.
func (f *flow) escaped(depth int) {
	start, slashes := f.at, 0

	for ; f.at < len(f.text); f.at++ {
		c := f.text[f.at]
		if c == '\n' || c == '"' && slashes < depth {
			break
		}

		if c == '\\' {
			slashes++
		} else {
			slashes = 0
		}
	}

	f.spans = append(f.spans, inner(f.text[start:f.at], start, f.depth)...)
}

func (f *flow) top() *frame { return &f.open[len(f.open)-1] }

// token reads one token; false means that it cannot stand there.
func (f *flow) token(c byte) bool {
	top := f.top()

	switch c {
	case '{', '[':
		if top.state != wantValue || len(f.open) >= mostOpen {
			return false
		}

		f.push(c == '[')
	case '}', ']':
		if top.list != (c == ']') || top.state == wantColon {
			return false
		}

		f.at++
		f.pop()
	case ',':
		if top.state != wantComma {
			return false
		}

		f.at++
		top.state = wantKey

		if top.list {
			top.state = wantValue
		}
	case ':':
		if top.state != wantColon {
			return false
		}

		f.at++
		top.state = wantValue
	default:
		return f.scalar(c)
	}

	return true
}

func (f *flow) push(list bool) {
	opened := frame{list: list, owner: -1}

	if list {
		opened.state = wantValue
	}

	if len(f.open) > 0 {
		top := f.top()
		opened.owner = top.owner

		if !top.list && isDataKey(top.key) && top.owner < 0 {
			opened.owner = len(f.open) - 1
		}

		top.state = wantComma
	}

	f.open = append(f.open, opened)
	f.at++
}

// pop closes what is open last. Values of an object without a kind are left to the list that it is an item of.
func (f *flow) pop() {
	closed := *f.top()
	f.open = f.open[:len(f.open)-1]
	f.spans = append(f.spans, closed.secrets()...)

	if len(f.open) == 0 {
		return
	}

	switch top := f.top(); {
	case closed.list && top.key == "items":
		top.items = append(top.items, closed.items...)
	case !closed.list && closed.kind == "" && top.list:
		top.items = append(top.items, closed.values...)
	}
}

// give closes everything, for what was read so far may be a Secret that was cut off.
func (f *flow) give() {
	for len(f.open) > 0 {
		f.pop()
	}
}

// scalar reads a string, number or word.
func (f *flow) scalar(c byte) bool {
	top := f.top()
	if top.state != wantKey && top.state != wantValue {
		return false
	}

	var (
		start = f.at
		end   int
		whole = true
	)

	if c == '"' || c == '\'' {
		start++
		end, whole = f.stringEnd(start, c)
		f.at = end + 1
	} else {
		end = f.wordEnd(start)
		f.at = end

		if end == start {
			return false
		}
	}

	f.at = min(f.at, len(f.text))

	if top.state == wantKey {
		top.key, top.state = f.text[start:end], wantColon

		return whole
	}

	top.state = wantComma
	f.value(top, start, end)

	return whole
}

func (f *flow) value(top *frame, start, end int) {
	text := f.text[start:end]

	switch {
	case top.owner >= 0:
		f.hide(top.owner, start, end)
	case top.list:
		f.spans = append(f.spans, inner(text, start, f.depth)...)
	case top.key == "kind":
		top.kind = text
	case isDataKey(top.key):
		f.hide(len(f.open)-1, start, end)
	default:
		f.spans = append(f.spans, inner(text, start, f.depth)...)
	}
}

func (f *flow) hide(owner, start, end int) {
	if text := f.text[start:end]; text != "" && text != "null" && !bare(text) {
		f.open[owner].values = append(f.open[owner].values, span{start, end, secretData})
	}
}

// stringEnd returns the end of a string's content. A string does not go on in the next line.
func (f *flow) stringEnd(at int, quote byte) (end int, whole bool) {
	for ; at < len(f.text); at++ {
		switch f.text[at] {
		case '\\':
			at++
		case '\n':
			return at, false
		case quote:
			if quote == '\'' && at+1 < len(f.text) && f.text[at+1] == quote {
				at++

				continue
			}

			return at, true
		}
	}

	return len(f.text), false
}

// wordEnd returns the end of what stands without quotes.
func (f *flow) wordEnd(at int) int {
	start := at

	for ; at < len(f.text); at++ {
		c := f.text[at]
		if strings.IndexByte(",{}[]\"\n", c) >= 0 {
			break
		}

		if c == ':' && (at+1 == len(f.text) || isSpace(f.text[at+1])) {
			break
		}
	}

	for at > start && isSpace(f.text[at-1]) {
		at--
	}

	return at
}
