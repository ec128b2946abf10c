// Package script is an llm.Client that answers from a script: it stands in for a model in the demo, in tests and
// behind virtual servers. It knows the llm contract and a clock, and nothing of agents, sessions or the test that
// uses it. What it was not told to answer is an error that says so, never a default.
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

// ErrRefused is the error of a call whose request the reply's Expect did not like.
var ErrRefused = errors.New("the request is not what the script expects")

// Options are the settings of a script; the zero value streams without waiting and records every call.
type Options struct {
	Pace Pace
	// Faults befall calls at random, in a way that repeats.
	Faults Faults
	// Clock times the pace and the record of calls; nil is the real one.
	Clock clockwork.Clock
	// Forget keeps no record of calls, for a script that serves for long.
	Forget bool
	// Keep is how many calls are remembered, the latest ones; zero means all.
	Keep int
}

// Script answers calls from what was added to it. It is safe for concurrent use, also while it is added to.
//
// A call takes the next reply of the first route that matches and has one left; when there is none, what the first
// matching RouteFunc makes; when none matches, the next reply of the sequence. A call whose context is over before it
// begins takes none.
type Script struct {
	pace   Pace
	clock  clockwork.Clock
	forget bool
	keep   int
	faults *faults
	count  atomic.Int64

	mu       sync.Mutex
	sequence queue
	// routes and functions only grow: a copy of the slice made under the lock may be read without it.
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

// Add appends replies to the sequence, which calls that no route takes use up in order.
func (s *Script) Add(replies ...Reply) {
	ready := prepareAll(replies)

	s.mu.Lock()
	defer s.mu.Unlock()

	s.sequence.add(ready)
}

// Route appends replies for calls whose Request.Agent is exactly agent. It is On for that agent, except that all replies
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

// On adds a route: replies for calls that match. Routes are tried in the order in which they were added; one whose replies are
// used up matches no more. An error says what is wrong with the match or with a reply, and then nothing was added.
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

// addRoute gives a route a name of its own and its place. It is called under the lock.
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

// RouteFunc answers every call that match accepts by what reply makes of it; reply is told how many calls the route
// took before. Both are called from many goroutines at once and must leave the request as it is.
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

// Gate returns the script's gate of this name; who asks first gets a new one.
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
