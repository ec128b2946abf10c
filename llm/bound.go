package llm

import (
	"bytes"
	"errors"
	"io"
	"net/http"
)

// errEventTooLong is the error of a stream with an event that exceeds maxEvent.
var errEventTooLong = errors.New("an event of the answer's stream is too long")

const (
	maxErrorBody = 64 << 10
	maxEvent     = 32 << 20
)

// BoundBody limits how much of a response is read, whatever the server sends: an error body is truncated, and a stream fails if
// an event does not end. Clients put it between the wire and their SDK, which reads everything.
func BoundBody(answer *http.Response) {
	if answer.StatusCode >= http.StatusBadRequest {
		answer.Body = body{Reader: io.LimitReader(answer.Body, maxErrorBody), Closer: answer.Body}

		return
	}

	answer.Body = body{Reader: &eventReader{source: answer.Body}, Closer: answer.Body}
}

type body struct {
	io.Reader
	io.Closer
}

// eventReader reads a stream of events, each of which ends with an empty line.
type eventReader struct {
	source io.Reader
	// size is the length of the current event so far; blank reports whether its last line is empty so far.
	size  int
	blank bool
}

// Read implements io.Reader.
func (r *eventReader) Read(p []byte) (int, error) {
	n, err := r.source.Read(p)

	for rest := p[:n]; len(rest) > 0; {
		end := bytes.IndexByte(rest, '\n')
		if end < 0 {
			r.size += len(rest)
			r.blank = r.blank && len(bytes.Trim(rest, "\r")) == 0

			break
		}

		r.size += end + 1
		if r.blank && len(bytes.Trim(rest[:end], "\r")) == 0 {
			r.size = 0
		}

		r.blank, rest = true, rest[end+1:]
	}

	if r.size > maxEvent {
		return 0, errEventTooLong
	}

	return n, err
}
