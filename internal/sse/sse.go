// Package sse reads server-sent events. It knows the format only: what an event means, how long to wait for the next and
// whether to connect again is the caller's business. It imports nothing of this module.
package sse

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// ErrTooLong is the error of a stream with an event beyond the reader's limit.
var ErrTooLong = errors.New("an event of the stream is too long")

// Event is one server-sent event.
type Event struct {
	// ID and Name are empty where the event has no such field. An id is not carried over to the events that follow.
	ID   string
	Name string
	// Data is the lines of data, joined by line feeds; nil if there are none. It is valid until the next event is read.
	Data []byte
}

// Reader reads events from a stream. It is not safe for concurrent use.
type Reader struct {
	source *bufio.Reader
	limit  int
	// begun tells that the first line was read, before which a byte order mark may stand.
	begun bool
	// line holds a line that is longer than the source's buffer, data the data of the event; both are used again.
	line, data []byte
}

// NewReader returns a Reader. Limit bounds a line, and the data of an event, in bytes; zero means no bound.
func NewReader(source io.Reader, limit int) *Reader {
	return &Reader{source: bufio.NewReader(source), limit: limit}
}

// Next returns the next event that has a name or data. The error is io.EOF at the end of the stream: an event that no
// empty line ends is incomplete, and dropped as the standard demands.
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

// take takes one field of an event, and reports whether it is data. Fields that are not known, and comments, which are
// fields without a name, are ignored.
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

// readLine returns the next line without its end, which is a line feed or a carriage return and a line feed. A line that
// the stream breaks off is no line. It is valid until the next line is read.
func (r *Reader) readLine() ([]byte, error) {
	line, err := r.source.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		line, err = r.readLongLine(line)
	}

	// A carriage return alone, of which the stream breaks off the line feed, is a line too.
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

// readLongLine reads the rest of a line of which the source's buffer holds no more than the beginning.
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
