// Package exchange is what the virtual APIs have in common: one HTTP request that a script answers, whole or as a stream,
// with the faults that the script plans. It knows no API's format; the packages beside it do, and provide an Encoder. Each
// exchange has an Entry in the server's journal.
package exchange

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
)

// Route is one operation of an API: a pattern of http.ServeMux and its handler.
type Route struct {
	Pattern string
	Handle  func(x *Exchange)
}

// Exchange is one request in progress. It belongs to the goroutine of its request, and is then reused with all its buffers
// for another request.
type Exchange struct {
	Writer  http.ResponseWriter
	Request *http.Request
	// Body is the whole body of the request.
	Body []byte
	// Script answers model calls.
	Script *script.Script
	// Models are the available models; if it is empty, an API lists well-known ones.
	Models []string
	// Entry is the exchange's entry in the journal.
	Entry *Entry
	// Signature is what the script's answer expects to be sent back, known before its first chunk; "" for none.
	Signature string
	// Usage is the scripted usage of the answer, known before its first chunk; nil if it is not scripted.
	Usage *llm.UsageChunk

	cfg       *Config
	entry     Entry
	buf       []byte
	collector llm.Collector
	// sent means that part of the answer has been sent, over that the exchange has been recorded.
	sent, over bool
}

// Encoder encodes one answer in an API's format. Its methods append to buf and return it.
type Encoder interface {
	// Whole encodes the answer in one piece.
	Whole(buf []byte, answer llm.Response) []byte
	// Begin, Chunk and End encode the answer as a stream, including framing. Usage and end, which are chunks too, are
	// passed to End.
	Begin(buf []byte) []byte
	Chunk(buf []byte, chunk llm.Chunk) []byte
	End(buf []byte, usage llm.UsageChunk, end llm.EndChunk) []byte
	// Failure encodes an error in the middle of a stream, Error the body of an error instead of an answer.
	Failure(buf []byte, e *llm.Error) []byte
	Error(buf []byte, e *llm.Error) []byte
}

// Call is a model call, parsed from the request.
type Call struct {
	Request *llm.Request
	// Stream means that the caller wants a stream, with this content type.
	Stream      bool
	ContentType string
	// Event is the name of malformed events, for APIs whose clients skip events without a name.
	Event   string
	Encoder Encoder
}

// Store returns what the API keeps between exchanges.
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

// malformed is not JSON, wherever it is inserted.
const malformed = "{\"oops\": <not json>"

// stream sends an answer as it is produced. Chunks without a wait between them are sent in one piece.
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
			x.endBrokenStream(call, begun, begin, err)

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

// endBrokenStream ends a stream that did not complete.
func (x *Exchange) endBrokenStream(call Call, begun bool, begin func(), err error) {
	x.abortIfDisconnected()

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

// fail sends an error instead of an answer.
func (x *Exchange) fail(encoder Encoder, err error) {
	x.abortIfDisconnected()

	x.Entry.Unexpected = errors.Is(err, script.ErrNoReply) || errors.Is(err, script.ErrRefused)
	x.Fail(encoder.Error, wireError(err))
}

// abortIfDisconnected aborts the exchange if the caller left or the server is being stopped: an incomplete answer must not
// look complete.
func (x *Exchange) abortIfDisconnected() {
	if ctx := x.Request.Context(); ctx.Err() != nil {
		x.abort(context.Cause(ctx))
	}
}

// wireError returns the error that is sent to the caller. An error that the script did not plan is for the caller to fix,
// so it is a bad request, which SDKs do not retry.
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
