package mcp

import (
	"bytes"
	"encoding/json"
	"slices"
)

const (
	// maxOutlineDepth limits the open objects and lists of an outline.
	maxOutlineDepth = 500
	// maxOutlineText limits the keys and values that an outline keeps.
	maxOutlineText = 256
)

// An outline parses the JSON of one message byte by byte, in bounded memory. It finds what is needed to respond to a call without the
// rest of the message, and where the JSON could be cut.
type outline struct {
	// begin is the offset of the message; what precedes it is not JSON.
	begin, offset int
	frames        []frame
	// over is true after the end of the message, and broken if it is not a JSON object.
	over, broken bool

	inString, isKey bool
	// text is the current string, without its quotes.
	text []byte
	// escape is how many bytes are missing from an escape sequence that began at escapeAt.
	escape, escapeAt int
	// safe is the offset after the last complete value, and safeDepth how many frames were open there.
	safe, safeDepth int

	// id is the JSON of the message's id.
	id []byte
	// isRequest is true if the message has a method, and isError if its result means that the tool failed.
	isRequest, isError bool
	failed             []byte
}

// frame is an open object or list.
type frame struct {
	object, wantsKey bool
	// key is the key of the current value; empty if it is long.
	key string
}

// selector is the value of outline.escape before the byte that determines the kind of an escape sequence.
const selector = 5

func (o *outline) write(data []byte) {
	for i := 0; i < len(data) && !o.over && !o.broken; {
		n := 1
		switch {
		case !o.inString:
			o.readOther(data[i])
		case o.escape == 0 && len(o.text) > maxOutlineText:
			// The rest of a long string is most of an oversized message.
			if n = bytes.IndexAny(data[i:], `"\\`); n < 0 {
				n = len(data) - i
			}
			if n == 0 {
				n = 1
				o.readString(data[i])
			}
		default:
			o.readString(data[i])
		}
		i += n
		o.offset += n
	}
}

func (o *outline) readString(b byte) {
	switch {
	case o.escape == selector && b == 'u':
		o.escape--
	case o.escape == selector:
		o.escape = 0
	case o.escape > 0:
		o.escape--
	case b == '\\':
		o.escape, o.escapeAt = selector, o.offset
	case b == '"':
		o.endString()

		return
	}
	if len(o.text) <= maxOutlineText {
		o.text = append(o.text, b)
	}
}

func (o *outline) endString() {
	o.inString = false
	if !o.isKey {
		if o.at("id") {
			o.id = slices.Concat([]byte{'"'}, o.text, []byte{'"'})
		}
		o.endValue()

		return
	}
	top := &o.frames[len(o.frames)-1]
	top.wantsKey, top.key = false, ""
	if len(o.text) <= maxOutlineText {
		top.key = string(o.text)
	}
	if o.at("id") {
		o.id = nil
	}
	o.isRequest = o.isRequest || o.at("method")
}

// endValue records that the JSON can be cut after this byte.
func (o *outline) endValue() { o.safe, o.safeDepth = o.offset+1, len(o.frames) }

func (o *outline) readOther(b byte) {
	if len(o.frames) == 0 && b != '{' {
		o.broken = b == '['

		return
	}
	switch b {
	case '{', '[':
		if len(o.frames) == 0 {
			o.begin = o.offset
		}
		o.broken = len(o.frames) == maxOutlineDepth
		o.frames = append(o.frames, frame{object: b == '{', wantsKey: b == '{'})
	case '}', ']':
		last := len(o.frames) - 1
		o.broken = o.frames[last].object != (b == '}')
		o.frames = o.frames[:last]
		o.over = last == 0
		o.endValue()
	case '"':
		top := o.frames[len(o.frames)-1]
		o.inString, o.isKey, o.text = true, top.wantsKey, o.text[:0]
	case ',':
		top := &o.frames[len(o.frames)-1]
		top.wantsKey = top.object
	case ':', ' ', '\t', '\r', '\n':
	default:
		o.readLiteral(b)
	}
}

// readLiteral parses a byte of a number, true, false or null.
func (o *outline) readLiteral(b byte) {
	switch {
	case o.at("id") && len(o.id) <= maxOutlineText:
		o.id = append(o.id, b)
	case o.at("result", "isError") && len(o.failed) <= maxOutlineText:
		o.failed = append(o.failed, b)
		o.isError = string(o.failed) == "true"
	}
}

// at reports whether the current value has exactly these keys, from the outermost.
func (o *outline) at(keys ...string) bool { return len(o.frames) == len(keys) && o.below(keys...) }

// below is like at, but also accepts every value inside that one.
func (o *outline) below(keys ...string) bool {
	if len(o.frames) < len(keys) {
		return false
	}
	for i, key := range keys {
		if o.frames[i].key != key {
			return false
		}
	}

	return true
}

// closed converts data, which has been read so far, to valid JSON: it ends an open string where it is, and cuts anything else after the
// last complete value. It returns nil if there is none.
func (o *outline) closed(data []byte) []byte {
	end, depth, closing := o.safe, o.safeDepth, ""
	if o.inString && !o.isKey {
		end, depth, closing = len(data), len(o.frames), `"`
		if o.escape > 0 {
			end = o.escapeAt
		}
	}
	if o.broken || end == 0 {
		return nil
	}
	text := append(slices.Clone(data[o.begin:end]), closing...)
	for _, open := range slices.Backward(o.frames[:depth]) {
		if open.object {
			text = append(text, '}')
		} else {
			text = append(text, ']')
		}
	}
	if !json.Valid(text) {
		return nil
	}

	return text
}
