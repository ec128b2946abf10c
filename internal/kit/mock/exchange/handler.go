package exchange

import (
	"errors"
	"io"
	"net/http"
	"sync"
	"time"

	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
)

const (
	// maxBody limits the body of a request.
	maxBody = 64 << 20
	// maxKept limits the buffers kept for the next exchange.
	maxKept = 256 << 10
)

// API is a provider's API: its operations and its error format.
type API struct {
	Name   string
	Routes []Route
	Error  func(buf []byte, e *llm.Error) []byte
}

// Config configures a Handler.
type Config struct {
	// Lane returns the lane of a request, and the script that answers it.
	Lane func(r *http.Request) (name string, s *script.Script, err *llm.Error)
	// Models, if not nil, returns the models of the exchanges.
	Models func() []string
	// Store is what the APIs keep between exchanges.
	Store Store
	// Done receives each finished exchange before its last byte is sent: a caller that has an answer finds it in the
	// journal.
	Done func(x *Exchange)
	Now  func() time.Time
}

// Handler turns an operation of an API into an HTTP handler.
func (c *Config) Handler(api API, handle func(x *Exchange)) http.Handler {
	pool := &sync.Pool{New: func() any { return &Exchange{} }}

	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		x, _ := pool.Get().(*Exchange)
		x.begin(c, api.Name, w, r)

		returned := false

		// After a panic, the exchange is recorded and not reused; otherwise it may already belong to another request.
		defer func() {
			if !returned {
				x.finish()
			}
		}()

		c.serve(x, api, handle)
		x.finish()

		returned = true

		if cap(x.buf) <= maxKept && cap(x.Body) <= maxKept {
			pool.Put(x)
		}
	})
}

func (c *Config) serve(x *Exchange, api API, handle func(x *Exchange)) {
	if err := x.read(); err != nil {
		x.Fail(api.Error, err)

		return
	}

	lane, answering, err := c.Lane(x.Request)
	x.Entry.Lane, x.Script = lane, answering

	if err != nil {
		x.Entry.Unexpected = true
		x.Fail(api.Error, err)

		return
	}

	handle(x)
}

// begin prepares an exchange for a request, whatever it was used for before.
func (x *Exchange) begin(c *Config, api string, w http.ResponseWriter, r *http.Request) {
	x.entry = Entry{API: api, Method: r.Method, Path: r.URL.Path, Reply: -1, Start: c.Now()}
	x.Writer, x.Request, x.Script, x.Models, x.Entry, x.Signature, x.Usage = w, r, nil, nil, &x.entry, "", nil
	if c.Models != nil {
		x.Models = c.Models()
	}

	x.Body, x.buf = x.Body[:0], x.buf[:0]
	x.cfg, x.sent, x.over = c, false, false
}

// finish records the exchange, once.
func (x *Exchange) finish() {
	if x.over {
		return
	}

	x.over = true
	x.Entry.Duration = x.cfg.Now().Sub(x.Entry.Start)
	x.Entry.Cancelled = x.Request.Context().Err() != nil
	x.cfg.Done(x)
}

// read reads the request's body.
func (x *Exchange) read() *llm.Error {
	if size := x.Request.ContentLength; size > int64(cap(x.Body)) && size <= maxBody {
		// One byte more, so that reading the end does not grow the buffer.
		x.Body = make([]byte, 0, size+1)
	}

	for len(x.Body) <= maxBody {
		if len(x.Body) == cap(x.Body) {
			x.Body = append(x.Body, 0)[:len(x.Body)]
		}

		n, err := x.Request.Body.Read(x.Body[len(x.Body):cap(x.Body)])
		x.Body = x.Body[:len(x.Body)+n]

		if errors.Is(err, io.EOF) {
			return nil
		}

		if err != nil {
			return &llm.Error{Status: http.StatusBadRequest, Class: llm.ClassInvalid, Message: "read the request's body: " + err.Error()}
		}
	}

	return &llm.Error{Status: http.StatusRequestEntityTooLarge, Class: llm.ClassInvalid, Message: "the request's body has more than 64 MiB"}
}
