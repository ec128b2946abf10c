package script

import (
	"fmt"
	"sync/atomic"

	"tarsy.dev/tarsy/llm"
)

// queue holds replies that are used in order, each as often as its Times. It is guarded by the script's lock.
type queue struct {
	name    string
	entries []entry
	next    int
	// answered counts calls; dry reports without the lock that nothing is left.
	answered int
	dry      atomic.Bool
}

type entry struct {
	reply *prepared
	used  int
}

// route is a queue for calls that meet its conditions.
type route struct {
	queue

	conditions []condition
	// place is its index among the routes.
	place int
}

// function is a route that generates its replies.
type function struct {
	match func(*llm.Request) bool
	reply func(*llm.Request, int) Reply
	next  int
}

func (r *route) takes(f *facts) bool {
	for i := range r.conditions {
		if !r.conditions[i].holds(f) {
			return false
		}
	}

	return true
}

func (q *queue) add(replies []*prepared) {
	for _, reply := range replies {
		q.entries = append(q.entries, entry{reply: reply})
	}

	q.dry.Store(q.next == len(q.entries))
}

// take returns the next reply and its number, if there is one, and uses it up unless peek.
func (q *queue) take(peek bool) (*prepared, int, bool) {
	i := q.next
	if i == len(q.entries) {
		return nil, 0, false
	}

	taken := &q.entries[i]
	if peek {
		return taken.reply, i, true
	}

	taken.used++
	q.answered++

	if times := taken.reply.times(); times > 0 && taken.used >= times {
		q.next++
		q.dry.Store(q.next == len(q.entries))
	}

	return taken.reply, i, true
}

// left calls each for the replies that were not used as often as they should be. One that can be used any number of times
// should be used once.
func (q *queue) left(each func(i int)) {
	for i := q.next; i < len(q.entries); i++ {
		e := &q.entries[i]

		if e.reply.times() > 0 || e.used == 0 {
			each(i)
		}
	}
}

// describe describes a reply and how often it was used.
func (q *queue) describe(i int) string {
	e := &q.entries[i]

	text := fmt.Sprintf("%s, reply %d of %d: %s", q.name, i+1, len(q.entries), e.reply.describe())
	if e.used > 0 {
		text += fmt.Sprintf(", used %d of %d times", e.used, e.reply.times())
	}

	return text
}
