// Package sse reads server-sent events. It knows the format only: the meaning of events, timeouts and reconnecting are up to
// the caller. It imports nothing of this module.
package sse

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// ErrTooLong is returned for an event that exceeds the reader's limit.
var ErrTooLong = errors.New("an event of the stream is too long")

// Event is one server-sent event.
type Event struct {
	// ID and Name are empty if the event has no such field. An ID does not carry over to the following events.
	ID   string
	Name string
	// Data is the data lines, joined by line feeds; nil if there are none. It is valid until the next event is read.
	Data []byte
}

// Reader reads events from a stream. It is not safe for concurrent use.
type Reader struct {
	source *bufio.Reader
	limit  int
	// begun means that the first line was read, which may start with a byte order mark.
	begun bool
	// line holds a line that is longer than the source's buffer, data the data of the event; both are reused.
	line, data []byte
}

// NewReader returns a Reader. Limit is the maximum length of a line, and of the data of an event, in bytes; zero means no
// limit.
func NewReader(source io.Reader, limit int) *Reader {
	return &Reader{source: bufio.NewReader(source), limit: limit}
}

// Next returns the next event that has a name or data. At the end of the stream it returns io.EOF: an event without a
// terminating empty line is incomplete, and is dropped as the standard requires.
func (r *Reader) Next() (Event, error) {
	var (
		event   Event
		hasData bool
	)

	r.data = r.data[:0]

	for {
		line, err := r.readLine()

		switch {
		case err != nil:
			return Event{}, err
		case len(line) > 0:
			hasData = r.take(&event, line) || hasData
		case hasData:
			event.Data = r.data[:len(r.data)-1]

			return event, nil
		case event.Name != "":
			return event, nil
		default:
			event = Event{}
		}

		if r.limit > 0 && len(r.data) > r.limit {
			return Event{}, ErrTooLong
		}
	}
}

// take adds one field to an event, and reports whether it is data. Unknown fields are ignored, and so are comments, which are
// fields without a name.
func (r *Reader) take(event *Event, line []byte) (data bool) {
	name, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))

	switch string(name) {
	case "id":
		event.ID = string(value)
	case "event":
		event.Name = string(value)
	case "data":
		r.data = append(append(r.data, value...), '\n')

		return true
	}

	return false
}

// readLine returns the next line without its terminator, which is LF or CRLF. A line that the end of the stream cuts off is not
// returned. The line is valid until the next one is read.
func (r *Reader) readLine() ([]byte, error) {
	line, err := r.source.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		line, err = r.readLongLine(line)
	}

	// A lone carriage return at the end of the stream, whose line feed is missing, ends a line too.
	if err != nil && (!errors.Is(err, io.EOF) || string(line) != "\r") {
		return nil, err
	}

	line = bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))

	if !r.begun {
		r.begun = true
		line = bytes.TrimPrefix(line, []byte("\uFEFF"))
	}

	return line, nil
}

// readLongLine reads the rest of a line that exceeds the source's buffer.
func (r *Reader) readLongLine(part []byte) ([]byte, error) {
	r.line = append(r.line[:0], part...)

	for {
		if r.limit > 0 && len(r.line) > r.limit {
			return nil, ErrTooLong
		}

		part, err := r.source.ReadSlice('\n')
		r.line = append(r.line, part...)

		if !errors.Is(err, bufio.ErrBufferFull) {
			return r.line, err
		}
	}
}
