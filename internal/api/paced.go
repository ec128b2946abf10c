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
	// defaultWriteTimeout is how long a client may take for the next piece of an answer.
	defaultWriteTimeout = 20 * time.Second
	// pieceSize is how much of an answer is a piece, in bytes: a client that takes one in time may take as long as it likes for all.
	pieceSize = 32 << 10
)

// pacedWriter ends an answer that its client does not read. Each piece has to be taken in time, so that a slow client gets
// all of a long answer. A handler that sets a write deadline has a rule of its own, as streams do, and is left alone.
type pacedWriter struct {
	http.ResponseWriter

	control *http.ResponseController
	timeout time.Duration
	// answer is called when the client has something to read.
	answer func()
	// foreign tells that the handler sets the deadlines.
	foreign bool
}

// newPacedWriter is at the beginning of a request: nothing has to be written while the handler thinks.
func newPacedWriter(ctx context.Context, w http.ResponseWriter, timeout time.Duration) *pacedWriter {
	paced := &pacedWriter{
		ResponseWriter: w, control: http.NewResponseController(w), timeout: timeout, answer: sync.OnceFunc(func() { limit.Answer(ctx) }),
	}
	paced.end()

	return paced
}

func (w *pacedWriter) Write(text []byte) (written int, err error) {
	// An empty piece is written, too: it begins the answer.
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

// FlushError is what http.ResponseController flushes with.
func (w *pacedWriter) FlushError() error {
	w.begin()
	defer w.end()

	return w.control.Flush()
}

// SetWriteDeadline is how a handler takes over.
func (w *pacedWriter) SetWriteDeadline(deadline time.Time) error {
	w.foreign = true

	return w.control.SetWriteDeadline(deadline)
}

// Hijack gives the connection away, as for a WebSocket.
func (w *pacedWriter) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	w.foreign = true

	return w.control.Hijack()
}

// finish gives the client the time for what is still buffered: the HTTP server writes it after the handler.
func (w *pacedWriter) finish() { w.begin() }

// begin gives the client the time for a piece. A writer that knows no deadlines, as in a test without a socket, has no slow client.
func (w *pacedWriter) begin() {
	w.answer()

	if !w.foreign {
		_ = w.control.SetWriteDeadline(time.Now().Add(w.timeout))
	}
}

// end takes the deadline away: in HTTP/2 it ends the answer also when nothing is being written.
func (w *pacedWriter) end() {
	if !w.foreign {
		_ = w.control.SetWriteDeadline(time.Time{})
	}
}

// Unwrap gives http.ResponseController what is below.
func (w *pacedWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
