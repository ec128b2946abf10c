package script

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync/atomic"
	"time"

	"tarsy.dev/tarsy/llm"
)

// Call is what the script remembers of one call.
type Call struct {
	// Request is a copy that nobody else holds. That of a call over the wire names the agent that was made out.
	Request llm.Request
	// Route is "agent <name>", the name of another route, "function <n>" or "sequence", and Reply the number of the
	// reply in it from zero. A call for which there was no reply has "" and -1; one that met with a fault instead of a
	// reply has "fault <kind>" and -1.
	Route string
	Reply int
	Start time.Time
	// End is zero while the call runs.
	End time.Time
	// Chunks counts what was passed on.
	Chunks int
	Err    error
	// Cancelled says that the consumer stopped reading, or that the call's context ended, before the reply did.
	Cancelled bool
}

// record is a Call that still changes: under the script's lock, but for the count of chunks.
type record struct {
	call   Call
	number int64
	sent   atomic.Int64
}

// chunk writes down that one was passed on.
func (r *record) chunk() {
	if r != nil {
		r.sent.Add(1)
	}
}

// Calls returns every call that is remembered in the order in which they came, also those that still run.
func (s *Script) Calls() []Call {
	s.mu.Lock()
	defer s.mu.Unlock()

	calls := make([]Call, len(s.records))

	for i, rec := range s.records {
		calls[i] = rec.call
		calls[i].Request = copyRequest(&rec.call.Request)
		calls[i].Chunks = int(rec.sent.Load())
	}

	return calls
}

// CallCount is the number of calls so far, counted also by a script that forgets them.
func (s *Script) CallCount() int { return int(s.count.Load()) }

// Unused describes each reply that was not used as often as its Times say; one that may be used any number of times is unused
// until its first.
func (s *Script) Unused() []string {
	unused, _ := s.left(math.MaxInt)

	return unused
}

// left describes the first replies that are unused, and counts all of them.
func (s *Script) left(limit int) (texts []string, all int) {
	s.mu.Lock()
	defer s.mu.Unlock()

	in := func(q *queue) {
		q.left(func(i int) {
			if all++; all <= limit {
				texts = append(texts, q.describe(i))
			}
		})
	}

	in(&s.sequence)

	for _, r := range s.routes {
		in(&r.queue)
	}

	return texts, all
}

// Unexpected describes each call that is remembered for which there was no reply, or whose request was refused by Expect.
func (s *Script) Unexpected() []string {
	s.mu.Lock()
	defer s.mu.Unlock()

	return slices.Clone(s.unexpected)
}

// begin writes down that a call came. A script that forgets has no record of it: nil.
func (s *Script) begin(req *llm.Request) *record {
	if s.forget {
		s.count.Add(1)

		return nil
	}

	rec := &record{call: Call{Request: copyRequest(req), Reply: -1}}

	s.mu.Lock()
	defer s.mu.Unlock()

	rec.call.Start = s.clock.Now()
	rec.number = s.count.Add(1)
	s.records = latest(append(s.records, rec), s.keep)

	return rec
}

// found writes down what answers a call.
func (s *Script) found(rec *record, route string, reply int) {
	if rec == nil {
		return
	}

	s.mu.Lock()
	defer s.mu.Unlock()

	rec.call.Route, rec.call.Reply = route, reply
}

// end writes down how a call went.
func (s *Script) end(rec *record, err error, cancelled bool) {
	if rec == nil {
		return
	}

	s.mu.Lock()
	defer s.mu.Unlock()

	rec.call.End, rec.call.Err, rec.call.Cancelled = s.clock.Now(), err, cancelled
	if errors.Is(err, ErrNoReply) || errors.Is(err, ErrRefused) {
		s.unexpected = latest(append(s.unexpected, fmt.Sprintf("call %d: %s", rec.number, err)), s.keep)
	}
}

// latest are the last n of what there is, or all for n = 0. What it drops is collected now, and its place when append moves the
// rest to a new array.
func latest[T any](all []T, n int) []T {
	if n <= 0 || len(all) <= n {
		return all
	}

	clear(all[:len(all)-n])

	return all[len(all)-n:]
}

func copyRequest(req *llm.Request) llm.Request {
	copied := *req
	copied.Messages = slices.Clone(req.Messages)
	copied.Tools = slices.Clone(req.Tools)
	copied.Stop = slices.Clone(req.Stop)
	copied.ResponseSchema = bytes.Clone(req.ResponseSchema)

	for i := range copied.Messages {
		copied.Messages[i].ToolCalls = slices.Clone(copied.Messages[i].ToolCalls)
	}

	for i := range copied.Tools {
		copied.Tools[i].Schema = bytes.Clone(copied.Tools[i].Schema)
	}

	return copied
}
