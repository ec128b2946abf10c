package api

import (
	"bufio"
	"context"
	"net"
	"net/http"
	"sync"
	"time"

	"tarsy.dev/tarsy/internal/limit"
)

const (
	// defaultWriteTimeout is how long a client can take to read the next piece of a response.
	defaultWriteTimeout = 20 * time.Second
	// pieceSize is the size of a piece in bytes: a client that reads each piece in time can take any time for the whole response.
	pieceSize = 32 << 10
)

// pacedWriter ends a response that its client does not read. Each piece has a deadline, so that a slow client still gets all of a long
// response. A handler that sets its own write deadline, as streams do, is left alone.
type pacedWriter struct {
	http.ResponseWriter

	control *http.ResponseController
	timeout time.Duration
	// answer is called when there is something for the client to read.
	answer func()
	// foreign means that the handler sets the deadlines.
	foreign bool
}

// newPacedWriter starts without a deadline: nothing has to be written while the handler works.
func newPacedWriter(ctx context.Context, w http.ResponseWriter, timeout time.Duration) *pacedWriter {
	paced := &pacedWriter{
		ResponseWriter: w, control: http.NewResponseController(w), timeout: timeout, answer: sync.OnceFunc(func() { limit.Answer(ctx) }),
	}
	paced.end()

	return paced
}

func (w *pacedWriter) Write(text []byte) (written int, err error) {
	// Write an empty piece, too: it begins the response.
	for begun := false; err == nil && (!begun || written < len(text)); begun = true {
		var n int

		piece := text[written:min(written+pieceSize, len(text))]

		w.begin()
		n, err = w.ResponseWriter.Write(piece)
		written += n
	}

	w.end()

	return written, err
}

// FlushError is what http.ResponseController calls to flush.
func (w *pacedWriter) FlushError() error {
	w.begin()
	defer w.end()

	return w.control.Flush()
}

// SetWriteDeadline lets a handler take over the deadlines.
func (w *pacedWriter) SetWriteDeadline(deadline time.Time) error {
	w.foreign = true

	return w.control.SetWriteDeadline(deadline)
}

// Hijack takes over the connection, as for a WebSocket.
func (w *pacedWriter) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	w.foreign = true

	return w.control.Hijack()
}

// finish sets the deadline for what is still buffered: the HTTP server writes it after the handler returns.
func (w *pacedWriter) finish() { w.begin() }

// begin sets the deadline for a piece. A writer without deadlines, as in a test without a socket, has no slow client.
func (w *pacedWriter) begin() {
	w.answer()

	if !w.foreign {
		_ = w.control.SetWriteDeadline(time.Now().Add(w.timeout))
	}
}

// end clears the deadline: in HTTP/2 it would end the response even when nothing is being written.
func (w *pacedWriter) end() {
	if !w.foreign {
		_ = w.control.SetWriteDeadline(time.Time{})
	}
}

// Unwrap gives http.ResponseController the underlying writer.
func (w *pacedWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
