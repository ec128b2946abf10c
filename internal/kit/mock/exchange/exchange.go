// Package exchange is what the virtual APIs have in common: one HTTP request that a script answers, in one piece or as
// a stream, with the faults that the script plans. It knows no API's form; the packages beside it do, and hand in an
// Encoder. What was exchanged is an Entry of the server's journal.
package exchange

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
)

// Route is one operation of an API: a pattern of http.ServeMux and what answers it.
type Route struct {
	Pattern string
	Handle  func(x *Exchange)
}

// Exchange is one request under way. It belongs to the goroutine of its request, and with all its buffers to another
// request after that.
type Exchange struct {
	Writer  http.ResponseWriter
	Request *http.Request
	// Body is all of the request's body.
	Body []byte
	// Script answers calls of models.
	Script *script.Script
	// Models are the models that there are; if it is empty, an API names those that people know.
	Models []string
	// Entry is what the journal keeps of the exchange.
	Entry *Entry
	// Signature is what the script's answer wants back, known before its first chunk; "" for none.
	Signature string
	// Usage is the scripted usage of the answer, known before its first chunk; nil if it is not scripted.
	Usage *llm.UsageChunk

	cfg       *Config
	entry     Entry
	buf       []byte
	collector llm.Collector
	// sent tells that some of the answer is in flight, over that the exchange is written down.
	sent, over bool
}

// Encoder puts one answer into an API's form. Its methods append to buf and return it.
type Encoder interface {
	// Whole is the answer in one piece.
	Whole(buf []byte, answer llm.Response) []byte
	// Begin, Chunk and End are the answer as a stream, framing included. Usage and end, which are chunks too, are handed
	// to End.
	Begin(buf []byte) []byte
	Chunk(buf []byte, chunk llm.Chunk) []byte
	End(buf []byte, usage llm.UsageChunk, end llm.EndChunk) []byte
	// Failure is an error in the middle of a stream, Error the body of one instead of an answer.
	Failure(buf []byte, e *llm.Error) []byte
	Error(buf []byte, e *llm.Error) []byte
}

// Call is a call of a model, read from the request.
type Call struct {
	Request *llm.Request
	// Stream tells that the caller wants a stream, of this content type.
	Stream      bool
	ContentType string
	// Event names malformed events, for APIs whose clients skip events without a name.
	Event   string
	Encoder Encoder
}

// Store is what the API keeps between exchanges.
func (x *Exchange) Store() *Store { return &x.cfg.Store }

// Answer lets the script answer a call.
func (x *Exchange) Answer(call Call) {
	x.Entry.Model, x.Entry.Stream = call.Request.Model, call.Stream

	answer := x.Script.Answer(x.Request.Context(), script.Incoming{
		Request: call.Request, Header: x.Request.Header, BeforeWait: x.flush,
		Matched: func(m script.Matched) {
			x.Entry.Route, x.Entry.Reply, x.Signature, x.Usage = m.Route, m.Reply, m.Signature, m.Usage
		},
	})

	if !call.Stream {
		response, err := x.collector.Collect(answer, func(llm.Chunk) error {
			x.Entry.Chunks++

			return nil
		})
		x.whole(call, response, err)

		return
	}

	x.stream(call, answer)
}

// whole sends an answer in one piece.
func (x *Exchange) whole(call Call, response llm.Response, err error) {
	fault, faulty := errors.AsType[*script.Fault](err)

	switch {
	case err != nil && !faulty:
		x.fail(call.Encoder, err)

		return
	case faulty && fault.Kind == script.FaultDrop:
		x.abort(err)
	}

	x.Writer.Header()["Content-Type"] = jsonType
	x.buf = call.Encoder.Whole(x.buf, response)

	if faulty {
		x.Entry.Error = err.Error()

		const half = 2

		x.buf = x.buf[:len(x.buf)/half]
		if fault.Kind == script.FaultMalformed {
			x.buf = append(x.buf, malformed...)
		}
	}

	x.end(http.StatusOK)
}

// malformed is no JSON, wherever it stands.
const malformed = "{\"oops\": <not json>"

// stream sends an answer as it comes. What does not wait is sent in one piece.
func (x *Exchange) stream(call Call, answer func(yield func(llm.Chunk, error) bool)) {
	const enough = 32 << 10

	var (
		usage llm.UsageChunk
		end   llm.EndChunk
		begun bool
	)

	begin := func() {
		if begun {
			return
		}

		begun = true
		header := x.Writer.Header()
		header.Set("Content-Type", call.ContentType)
		header["Cache-Control"] = noCache
		x.buf = call.Encoder.Begin(x.buf)
	}

	for chunk, err := range answer {
		if reported, ok := chunk.(llm.ErrorChunk); ok && err == nil {
			err = reported
		}

		if err != nil {
			x.breakOff(call, begun, begin, err)

			return
		}

		x.Entry.Chunks++

		switch c := chunk.(type) {
		case llm.UsageChunk:
			usage = c
		case llm.EndChunk:
			end = c
		default:
			begin()
			x.buf = call.Encoder.Chunk(x.buf, chunk)
		}

		if len(x.buf) > enough {
			x.flush()
		}
	}

	begin()
	x.buf = call.Encoder.End(x.buf, usage, end)
	x.end(http.StatusOK)
}

// breakOff ends a stream that did not complete.
func (x *Exchange) breakOff(call Call, begun bool, begin func(), err error) {
	x.checkLeft()

	fault, faulty := errors.AsType[*script.Fault](err)

	switch {
	case !faulty && !begun:
		x.fail(call.Encoder, err)

		return
	case !faulty:
		x.Entry.Error = err.Error()
		x.buf = call.Encoder.Failure(x.buf, llm.AsError(err))
		x.end(http.StatusOK)

		return
	case fault.Kind == script.FaultDrop:
		if begun {
			x.flush()
		}

		x.abort(err)
	}

	begin()

	x.Entry.Error = err.Error()
	if fault.Kind == script.FaultMalformed {
		if call.Event != "" {
			x.buf = append(x.buf, "event: "+call.Event+"\n"...)
		}

		if strings.HasPrefix(call.ContentType, "text/event-stream") {
			x.buf = append(x.buf, "data: "...)
		}

		x.buf = append(x.buf, malformed+"\n\n"...)
	}

	x.end(http.StatusOK)
}

// fail answers with an error instead of an answer.
func (x *Exchange) fail(encoder Encoder, err error) {
	x.checkLeft()

	x.Entry.Unexpected = errors.Is(err, script.ErrNoReply) || errors.Is(err, script.ErrRefused)
	x.Fail(encoder.Error, wireError(err))
}

// checkLeft breaks the exchange off if the caller left, or the server is being stopped: what is not whole must not look so.
func (x *Exchange) checkLeft() {
	if ctx := x.Request.Context(); ctx.Err() != nil {
		x.abort(context.Cause(ctx))
	}
}

// wireError is what a caller is told of an error. One that a script did not plan is the caller's to mend, and SDKs do
// not try again what is a bad request.
func wireError(err error) *llm.Error {
	e := *llm.AsError(err)

	switch {
	case errors.Is(err, script.ErrNoReply):
		e.Status, e.Code = http.StatusBadRequest, "no_scripted_reply"
	case errors.Is(err, script.ErrRefused):
		e.Status, e.Code = http.StatusBadRequest, "unexpected_request"
	case e.Status != 0:
	case e.Class == llm.ClassAuth:
		e.Status = http.StatusUnauthorized
	case e.Class == llm.ClassQuota:
		e.Status = http.StatusTooManyRequests
	case e.Class == llm.ClassInvalid || e.Class == llm.ClassContextTooLong || e.Class == llm.ClassSafety:
		e.Status = http.StatusBadRequest
	default:
		e.Status = http.StatusInternalServerError
	}

	return &e
}
