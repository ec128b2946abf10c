// Package script is an llm.Client that answers from a script: it stands in for a model in the demo, in tests and
// behind virtual servers. It knows the llm contract and a clock, and nothing of agents, sessions or the test that
// uses it. What it was not told to answer is an error that says so, never a default.
package script

import (
	"context"
	"errors"
	"iter"
	"slices"
	"sync"

	"github.com/jonboulle/clockwork"

	"tarsy.dev/tarsy/llm"
)

// ErrNoReply is the error of a call for which the script has no reply left.
var ErrNoReply = errors.New("the script has no reply")

// ErrRefused is the error of a call whose request the reply's Expect did not like.
var ErrRefused = errors.New("the request is not what the script expects")

// Options are the settings of a script; the zero value streams without waiting and records every call.
type Options struct {
	Pace Pace
	// Clock times the pace and the record of calls; nil is the real one.
	Clock clockwork.Clock
	// Forget keeps no record of calls, for a script that serves for long.
	Forget bool
}

// Script answers calls from what was added to it. It is safe for concurrent use, also while it is added to.
//
// A call takes the next reply of the route for its agent; when there is none, what the first matching RouteFunc
// makes; when none matches, the next reply of the sequence. A call whose context is over before it begins takes none.
type Script struct {
	pace   Pace
	clock  clockwork.Clock
	forget bool

	mu         sync.Mutex
	sequence   queue
	agents     map[string]*queue
	functions  []*function
	count      int
	records    []*record
	unexpected []string
}

// queue holds replies that are used once each, in order.
type queue struct {
	replies []Reply
	next    int
}

// function is a route that makes its replies.
type function struct {
	match func(*llm.Request) bool
	reply func(*llm.Request, int) Reply
	next  int
}

var _ llm.Client = (*Script)(nil)

// New returns an empty script.
func New(options Options) *Script {
	clock := options.Clock
	if clock == nil {
		clock = clockwork.NewRealClock()
	}

	return &Script{pace: options.Pace, clock: clock, forget: options.Forget, agents: map[string]*queue{}}
}

// Add appends replies to the sequence, which calls that no route takes use up in order.
func (s *Script) Add(replies ...Reply) {
	s.mu.Lock()
	defer s.mu.Unlock()

	s.sequence.replies = append(s.sequence.replies, replies...)
}

// Route appends replies for calls whose Request.Agent is exactly agent.
func (s *Script) Route(agent string, replies ...Reply) {
	s.mu.Lock()
	defer s.mu.Unlock()

	route, ok := s.agents[agent]
	if !ok {
		route = &queue{}
		s.agents[agent] = route
	}

	route.replies = append(route.replies, replies...)
}

// RouteFunc answers every call that match accepts by what reply makes of it; reply is told how many calls the route
// took before. Both are called from many goroutines at once and must leave the request as it is.
func (s *Script) RouteFunc(match func(*llm.Request) bool, reply func(*llm.Request, int) Reply) {
	s.mu.Lock()
	defer s.mu.Unlock()

	s.functions = append(s.functions, &function{match: match, reply: reply})
}

// Generate implements llm.Client. The call is made when the sequence is read; reading it twice makes two calls.
func (s *Script) Generate(ctx context.Context, req *llm.Request) iter.Seq2[llm.Chunk, error] {
	return func(yield func(llm.Chunk, error) bool) {
		if ctx.Err() != nil {
			yield(nil, context.Cause(ctx))

			return
		}

		rec := s.begin(req)

		reply, err := s.dispatch(req, rec)
		if err == nil {
			p := player{reply: reply, pacer: s.pace.start(s.clock, req), sent: &rec.sent, yield: yield}
			err = p.play(ctx, req)
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

// dispatch finds the reply to req and notes where it came from. Functions of the caller run without the lock.
func (s *Script) dispatch(req *llm.Request, rec *record) (Reply, error) {
	if reply, ok := s.takeRouted(req.Agent, rec); ok {
		return reply, nil
	}

	s.mu.Lock()
	functions := slices.Clone(s.functions)
	s.mu.Unlock()

	for i, f := range functions {
		if f.match(req) {
			return f.reply(req, s.takeFunction(i, f, rec)), nil
		}
	}

	if reply, ok := s.takeNext(rec); ok {
		return reply, nil
	}

	return Reply{}, s.missing(req)
}

func (s *Script) takeRouted(agent string, rec *record) (Reply, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()

	route, ok := s.agents[agent]
	if !ok {
		return Reply{}, false
	}

	return route.take(agentRoute(agent), rec)
}

func (s *Script) takeFunction(i int, f *function, rec *record) int {
	s.mu.Lock()
	defer s.mu.Unlock()

	rec.call.Route, rec.call.Reply = functionRoute(i), f.next
	f.next++

	return rec.call.Reply
}

func (s *Script) takeNext(rec *record) (Reply, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()

	return s.sequence.take("sequence", rec)
}

// take uses up the next reply, if there is one.
func (q *queue) take(route string, rec *record) (Reply, bool) {
	if q.next == len(q.replies) {
		return Reply{}, false
	}

	rec.call.Route, rec.call.Reply = route, q.next
	q.next++

	return q.replies[rec.call.Reply], true
}
