package llm

import (
	"bytes"
	"errors"
	"io"
	"net/http"
)

// errEventTooLong is the error of a stream in which one event does not end.
var errEventTooLong = errors.New("an event of the answer's stream is too long")

const (
	maxErrorBody = 64 << 10
	maxEvent     = 32 << 20
)

// BoundBody keeps what a server answers within bounds, whatever it sends: of an error the beginning is read, and a stream
// breaks off whose event does not end. Clients put it between their SDK, which reads all, and the wire.
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

// eventReader reads a stream of events, which an empty line ends.
type eventReader struct {
	source io.Reader
	// size is how long the event is so far; blank tells that its last line is empty so far.
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
