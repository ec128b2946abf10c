package script

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"tarsy.dev/tarsy/llm"
)

// Call is what the script remembers of one call.
type Call struct {
	// Request is a copy that nobody else holds.
	Request llm.Request
	// Route is "agent <name>", "function <n>" or "sequence", and Reply the number of the reply in it from zero; a call
	// for which there was no reply has "" and -1.
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
	call Call
	sent atomic.Int64
}

// Calls returns every call so far in the order in which they came, also those that still run.
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
func (s *Script) CallCount() int {
	s.mu.Lock()
	defer s.mu.Unlock()

	return s.count
}

// Unused describes each reply that no call has taken.
func (s *Script) Unused() []string {
	s.mu.Lock()
	defer s.mu.Unlock()

	unused := s.sequence.left("sequence")
	for _, agent := range slices.Sorted(maps.Keys(s.agents)) {
		unused = append(unused, s.agents[agent].left(agentRoute(agent))...)
	}

	return unused
}

// Unexpected describes each call for which there was no reply, or whose request was refused by Expect.
func (s *Script) Unexpected() []string {
	s.mu.Lock()
	defer s.mu.Unlock()

	return slices.Clone(s.unexpected)
}

// begin writes down that a call came.
func (s *Script) begin(req *llm.Request) *record {
	rec := &record{call: Call{Reply: -1, Start: s.clock.Now()}}
	if !s.forget {
		rec.call.Request = copyRequest(req)
	}

	s.mu.Lock()
	defer s.mu.Unlock()

	s.count++
	if !s.forget {
		s.records = append(s.records, rec)
	}

	return rec
}

// end writes down how a call went.
func (s *Script) end(rec *record, err error, cancelled bool) {
	s.mu.Lock()
	defer s.mu.Unlock()

	rec.call.End, rec.call.Err, rec.call.Cancelled = s.clock.Now(), err, cancelled
	if !s.forget && (errors.Is(err, ErrNoReply) || errors.Is(err, ErrRefused)) {
		s.unexpected = append(s.unexpected, fmt.Sprintf("call %d: %s", slices.Index(s.records, rec)+1, err))
	}
}

// missing is the error of a call that nothing answers. It says what was asked, and which replies wait for others.
func (s *Script) missing(req *llm.Request) error {
	left := "no reply is left elsewhere"
	if unused := s.Unused(); len(unused) > 0 {
		left = "left for others: " + strings.Join(unused, "; ")
	}

	return fmt.Errorf("%w to %s; %s", ErrNoReply, describe(req), left)
}

// describe names a request by what tells it from others.
func describe(req *llm.Request) string {
	last := "no messages"

	if n := len(req.Messages); n > 0 {
		message := req.Messages[n-1]
		last = fmt.Sprintf("message %d of %d from %s: %q", n, n, message.Role, short(message.Content, shortMessage))
	}

	return fmt.Sprintf("agent %q, purpose %q, %s", req.Agent, req.Purpose, last)
}

const (
	shortMessage = 120
	shortReply   = 40
)

// left describes the replies that nobody took.
func (q *queue) left(name string) []string {
	var left []string

	for i, reply := range q.replies[q.next:] {
		left = append(left, fmt.Sprintf("%s, reply %d of %d: %s", name, q.next+i+1, len(q.replies), reply.describe()))
	}

	return left
}

// describe names a reply by what a person would know it by.
func (r *Reply) describe() string {
	switch {
	case len(r.ToolCalls) > 0:
		names := make([]string, len(r.ToolCalls))
		for i, call := range r.ToolCalls {
			names[i] = call.Name
		}

		return "calls " + strings.Join(names, ", ")
	case r.Text != "":
		return fmt.Sprintf("text %q", short(r.Text, shortReply))
	case r.Chunks != nil:
		return fmt.Sprintf("%d chunks", len(r.Chunks))
	case r.Err != nil:
		return fmt.Sprintf("error %q", short(r.Err.Error(), shortReply))
	case r.Hang:
		return "hangs"
	default:
		return "empty"
	}
}

func agentRoute(agent string) string { return "agent " + agent }

func functionRoute(i int) string { return "function " + strconv.Itoa(i) }

func copyRequest(req *llm.Request) llm.Request {
	copied := *req
	copied.Messages = slices.Clone(req.Messages)
	copied.Tools = slices.Clone(req.Tools)

	for i := range copied.Messages {
		copied.Messages[i].ToolCalls = slices.Clone(copied.Messages[i].ToolCalls)
	}

	for i := range copied.Tools {
		copied.Tools[i].Schema = bytes.Clone(copied.Tools[i].Schema)
	}

	return copied
}
