package script

import (
	"strconv"
)

// found is the reply to a call and its origin, as in Call.
type found struct {
	reply  *prepared
	route  string
	number int
}

// dispatch finds the reply to a call, and uses it up unless peek. Conditions are checked, and functions of the caller run,
// without the lock, because texts can be long. A route that is used up in the meantime leaves the call to the next one.
func (s *Script) dispatch(f *facts, peek bool) (found, error) {
	var few [4][]*route

	s.mu.Lock()
	lists, functions := s.index.find(f, few[:0]), s.functions
	s.mu.Unlock()

	for r := next(lists); r != nil; r = next(lists) {
		if r.dry.Load() || !r.takes(f) {
			continue
		}

		if answer, ok := s.take(&r.queue, peek); ok {
			return answer, nil
		}
	}

	for i, fn := range functions {
		if fn.match(f.req) {
			n := s.takeFunction(fn, peek)

			return found{reply: prepare(fn.reply(f.req, n)), route: functionRoute(i), number: n}, nil
		}
	}

	if answer, ok := s.take(&s.sequence, peek); ok {
		return answer, nil
	}

	return found{number: -1}, s.explain(f)
}

func (s *Script) take(q *queue, peek bool) (found, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()

	reply, i, ok := q.take(peek)

	return found{reply: reply, route: q.name, number: i}, ok
}

func (s *Script) takeFunction(f *function, peek bool) int {
	s.mu.Lock()
	defer s.mu.Unlock()

	n := f.next
	if !peek {
		f.next++
	}

	return n
}

func functionRoute(i int) string { return "function " + strconv.Itoa(i) }
