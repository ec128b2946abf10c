package exchange

import (
	"encoding/json"
	"net/http"

	"tarsy.dev/tarsy/llm"
)

// Fail sends an error; body encodes it in the API's format.
func (x *Exchange) Fail(body func(buf []byte, e *llm.Error) []byte, e *llm.Error) {
	x.Entry.Error = e.Message

	if e.RetryAfter > 0 {
		x.Writer.Header().Set("Retry-After", seconds(e.RetryAfter))
	}

	x.Writer.Header()["Content-Type"] = jsonType
	x.buf = body(x.buf[:0], e)
	x.end(e.Status)
}

// JSON sends a value.
func (x *Exchange) JSON(value any) {
	body, err := json.Marshal(value)
	if err != nil {
		panic("exchange: an answer does not marshal: " + err.Error())
	}

	x.buf = append(x.buf, body...)
	x.Writer.Header()["Content-Type"] = jsonType
	x.end(http.StatusOK)
}

// Header values that all answers share; they must not be modified.
var (
	jsonType = []string{"application/json"}
	noCache  = []string{"no-cache"}
)

// Pass immediately sends a piece of an answer that is not the script's. The first piece sends the status and the headers.
func (x *Exchange) Pass(status int, piece []byte) {
	x.buf = append(x.buf[:0], piece...)
	x.send(status)
	x.push()
}

// Last is Pass for the piece that ends the answer.
func (x *Exchange) Last(status int, piece []byte) {
	x.buf = append(x.buf[:0], piece...)
	x.end(status)
}

// Break closes the connection without ending the answer.
func (x *Exchange) Break(err error) { x.abort(err) }

// flush sends the part of the answer that is in the buffer.
func (x *Exchange) flush() {
	if len(x.buf) == 0 {
		return
	}

	x.send(http.StatusOK)
	x.push()
}

// push flushes what was sent to the network. A caller that has left is noticed at the next check of the request's context.
func (x *Exchange) push() {
	if flusher, ok := x.Writer.(http.Flusher); ok {
		flusher.Flush()
	}
}

func (x *Exchange) send(status int) {
	x.answered(status)

	_, _ = x.Writer.Write(x.buf)
	x.buf = x.buf[:0]
}

// end records the exchange and sends the last piece of the answer.
func (x *Exchange) end(status int) {
	x.note(status)
	x.finish()
	x.send(status)
}

// answered sends the status before the first piece.
func (x *Exchange) answered(status int) {
	if !x.sent {
		x.sent = true
		x.note(status)
		x.Writer.WriteHeader(status)
	}
}

// note records the time and the status of the first piece.
func (x *Exchange) note(status int) {
	if x.Entry.Status == 0 {
		x.Entry.Status, x.Entry.FirstByte = status, x.cfg.Now().Sub(x.Entry.Start)
	}
}

// abort closes the connection without ending the answer.
func (x *Exchange) abort(err error) {
	x.Entry.Error = err.Error()

	panic(http.ErrAbortHandler)
}

// Problem answers with problem details.
func (x *Exchange) Problem(status int, body any) {
	x.Writer.Header().Set("Content-Type", "application/problem+json")

	text, err := json.Marshal(body)
	if err != nil {
		panic("exchange: a problem does not marshal: " + err.Error())
	}

	x.Last(status, text)
}
