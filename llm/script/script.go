// Package script implements an llm.Client that answers from a script: it replaces a model in the demo, in tests and behind
// virtual servers. It knows the llm contract and a clock, but not agents, sessions or the test that uses it. A call without a
// scripted answer gets an explicit error, never a default.
package script

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/jonboulle/clockwork"

	"tarsy.dev/tarsy/llm"
)

// ErrNoReply is the error of a call for which the script has no reply left.
var ErrNoReply = errors.New("the script has no reply")

// ErrRefused is the error of a call whose request was rejected by the reply's Expect.
var ErrRefused = errors.New("the request is not what the script expects")

// Options are the settings of a script; the zero value streams without waiting and records every call.
type Options struct {
	Pace Pace
	// Faults affect calls at random, but reproducibly.
	Faults Faults
	// Clock times the pace and the record of calls; nil is the real clock.
	Clock clockwork.Clock
	// Forget disables the record of calls, for a script that runs for a long time.
	Forget bool
	// Keep is how many of the latest calls are recorded; zero means all.
	Keep int
}

// Script answers calls with the replies that were added to it. It is safe for concurrent use, including additions.
//
// A call takes the next reply of the first matching route that has one left; if there is none, the result of the first matching
// RouteFunc; if none matches, the next reply of the sequence. A call whose context has ended before it begins takes none.
type Script struct {
	pace   Pace
	clock  clockwork.Clock
	forget bool
	keep   int
	faults *faults
	count  atomic.Int64

	mu       sync.Mutex
	sequence queue
	// routes and functions only grow: a copy of the slice made under the lock can be read without it.
	routes    []*route
	index     index
	functions []*function
	agents    map[string]*route
	names     map[string]int
	gates     map[string]*Gate

	records    []*record
	unexpected []string
}

var _ llm.Client = (*Script)(nil)

// New returns an empty script.
func New(options Options) *Script {
	clock := options.Clock
	if clock == nil {
		clock = clockwork.NewRealClock()
	}

	return &Script{
		pace: options.Pace, clock: clock, forget: options.Forget, keep: options.Keep, faults: newFaults(options.Faults),
		sequence: queue{name: "sequence"}, agents: map[string]*route{}, names: map[string]int{}, gates: map[string]*Gate{},
	}
}

// Add appends replies to the sequence, which answers, in order, the calls that no route takes.
func (s *Script) Add(replies ...Reply) {
	ready := prepareAll(replies)

	s.mu.Lock()
	defer s.mu.Unlock()

	s.sequence.add(ready)
}

// Route appends replies for calls whose Request.Agent is exactly agent. It is like On for that agent, except that all replies
// for one agent are one route, which has the place of the first.
func (s *Script) Route(agent string, replies ...Reply) {
	ready := prepareAll(replies)

	s.mu.Lock()
	defer s.mu.Unlock()

	r, ok := s.agents[agent]
	if !ok {
		r = &route{conditions: []condition{{of: ofAgent, want: pattern{exact: true, equals: agent}}}}
		s.agents[agent] = r
		s.addRoute(r, agentRoute(agent))
	}

	r.add(ready)
}

// On adds a route: replies for calls that match. Routes are tried in the order in which they were added; a route whose replies
// are used up no longer matches. If the match or a reply is invalid, On returns an error and adds nothing.
func (s *Script) On(match Match, replies ...Reply) error {
	conditions, err := match.compile()
	if err != nil {
		return fmt.Errorf("add a route to a script: %w", err)
	}

	ready := prepareAll(replies)

	for i, reply := range ready {
		if reply.err != nil {
			return fmt.Errorf("add a route to a script: reply %d: %w", i+1, reply.err)
		}
	}

	name := match.Name
	if name == "" {
		name = nameOf(conditions)
	}

	s.mu.Lock()
	defer s.mu.Unlock()

	r := &route{conditions: conditions}
	r.add(ready)
	s.addRoute(r, name)

	return nil
}

// addRoute gives a route a unique name and its place. The caller holds the lock.
func (s *Script) addRoute(r *route, name string) {
	s.names[name]++
	if n := s.names[name]; n > 1 {
		name += " (" + strconv.Itoa(n) + ")"
	}

	r.name, r.place = name, len(s.routes)
	s.routes = append(s.routes, r)
	s.index.add(r)
}

// nameOf names a route by its conditions.
func nameOf(conditions []condition) string {
	if len(conditions) == 0 {
		return "any call"
	}

	names := make([]string, len(conditions))
	for i := range conditions {
		names[i] = conditions[i].String()
	}

	return strings.Join(names, ", ")
}

func agentRoute(agent string) string { return "agent " + agent }

// RouteFunc answers every call that match accepts with the result of reply, which gets the number of calls that the route took
// before. Both are called concurrently and must not modify the request.
func (s *Script) RouteFunc(match func(*llm.Request) bool, reply func(*llm.Request, int) Reply) {
	s.mu.Lock()
	defer s.mu.Unlock()

	s.functions = append(s.functions, &function{match: match, reply: reply})
}

// Routed reports whether Route or On added a route that takes such a call, even if its replies are used up.
func (s *Script) Routed(req *llm.Request) bool {
	f := &facts{req: req}

	s.mu.Lock()
	lists := s.index.find(f, nil)
	s.mu.Unlock()

	for r := next(lists); r != nil; r = next(lists) {
		if r.takes(f) {
			return true
		}
	}

	return false
}

// Gate returns the script's gate of this name, creating it on first use.
func (s *Script) Gate(name string) *Gate {
	s.mu.Lock()
	defer s.mu.Unlock()

	gate, ok := s.gates[name]
	if !ok {
		gate = NewGate()
		s.gates[name] = gate
	}

	return gate
}
