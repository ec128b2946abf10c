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

// Call is the script's record of one call.
type Call struct {
	// Request is a copy that is not shared. For a call over the wire, it contains the agent that was identified.
	Request llm.Request
	// Route is "agent <name>", the name of another route, "function <n>" or "sequence", and Reply the number of the reply in it
	// from zero. A call without a reply has "" and -1; one that got a fault instead of a reply has "fault <kind>" and -1.
	Route string
	Reply int
	Start time.Time
	// End is zero while the call runs.
	End time.Time
	// Chunks counts the chunks that were passed on.
	Chunks int
	Err    error
	// Cancelled reports whether the consumer stopped reading, or the call's context ended, before the reply did.
	Cancelled bool
}

// record is a Call that still changes. It is guarded by the script's lock, except for the count of chunks.
type record struct {
	call   Call
	number int64
	sent   atomic.Int64
}

// chunk counts a chunk that was passed on.
func (r *record) chunk() {
	if r != nil {
		r.sent.Add(1)
	}
}

// Calls returns all recorded calls in order of arrival, including those still running.
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

// CallCount returns the number of calls so far, including those that were not recorded.
func (s *Script) CallCount() int { return int(s.count.Load()) }

// Unused describes each reply that was not used as often as its Times requires; one that can be used any number of times is
// unused until its first use.
func (s *Script) Unused() []string {
	unused, _ := s.left(math.MaxInt)

	return unused
}

// left describes the first unused replies, and counts all of them.
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

// Unexpected describes each recorded call for which there was no reply, or whose request was rejected by Expect.
func (s *Script) Unexpected() []string {
	s.mu.Lock()
	defer s.mu.Unlock()

	return slices.Clone(s.unexpected)
}

// begin records the start of a call. It returns nil if the script does not record calls.
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

// found records what answers a call.
func (s *Script) found(rec *record, route string, reply int) {
	if rec == nil {
		return
	}

	s.mu.Lock()
	defer s.mu.Unlock()

	rec.call.Route, rec.call.Reply = route, reply
}

// end records the outcome of a call.
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

// latest returns the last n elements, or all for n = 0. What it drops can be collected immediately, and its place when append
// moves the rest to a new array.
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
