package script

import (
	"context"
	"errors"
	"iter"
	"net/http"

	"tarsy.dev/tarsy/llm"
)

// Incoming is one call as received, from within the process or over the wire.
type Incoming struct {
	Request *llm.Request
	// Header is the header of the HTTP request; nil for a call from within the process.
	Header http.Header
	// BeforeWait, if not nil, is called before the script waits: what was passed on should be sent now.
	BeforeWait func()
	// Matched, if not nil, is called with the part of the script that answers, before the first chunk.
	Matched func(m Matched)
}

// Matched identifies the part of a script that answers a call.
type Matched struct {
	// Route and Reply are as in Call.
	Route string
	Reply int
	// Signature is the signature of the answer; the EndChunk has it too, but some wire forms need it before the end.
	Signature string
	// Usage is the scripted usage, for wire forms that report it before the end; nil if it is not scripted.
	Usage *llm.UsageChunk
}

// Generate implements llm.Client. The call is made when the sequence is read; reading it twice makes two calls.
func (s *Script) Generate(ctx context.Context, req *llm.Request) iter.Seq2[llm.Chunk, error] {
	return s.Answer(ctx, Incoming{Request: req})
}

// Answer is Generate for a call that may have come over the wire.
func (s *Script) Answer(ctx context.Context, in Incoming) iter.Seq2[llm.Chunk, error] {
	return func(yield func(llm.Chunk, error) bool) {
		if ctx.Err() != nil {
			yield(nil, context.Cause(ctx))

			return
		}

		req := identify(in.Request, in.Header)
		rec := s.begin(req)

		reply, drawn, err := s.find(in, req, rec)
		if err == nil {
			p := player{reply: reply, drawn: drawn, req: req, rec: rec, beforeWait: in.BeforeWait, yield: yield}
			err = p.play(ctx, s)
		}

		if errors.Is(err, errStopped) {
			s.end(rec, nil, true)

			return
		}

		// The record is complete before the consumer sees the end.
		s.end(rec, err, err != nil && ctx.Err() != nil && errors.Is(err, context.Cause(ctx)))

		if err != nil {
			yield(nil, err)
		}
	}
}

// find draws the call's fault, finds the reply to it and reports both.
func (s *Script) find(in Incoming, req *llm.Request, rec *record) (*prepared, drawnFault, error) {
	var (
		answer = found{number: -1}
		drawn  = s.faults.draw(req)
		err    error
	)

	if drawn.atOnce() {
		answer.route = drawn.route()
		err = (&Fault{Kind: drawn.kind}).failure()
	} else {
		answer, err = s.dispatch(&facts{req: req, header: in.Header}, drawn.kind != "")
	}

	s.found(rec, answer.route, answer.number)

	if in.Matched != nil {
		m := Matched{Route: answer.route, Reply: answer.number}
		if answer.reply != nil {
			m.Signature, m.Usage = answer.reply.signature, answer.reply.usage
		}

		in.Matched(m)
	}

	return answer.reply, drawn, err
}
