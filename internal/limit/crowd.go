package limit

import "container/list"

// kind is what a connection does, as far as that decides which one gives way.
type kind int

const (
	// protected connections answer callers who have proven who they are. They never give way.
	protected kind = iota
	// idle connections wait for another request.
	idle
	// silent connections have not sent the head of their first request.
	silent
	// unproven connections have a request of somebody who has not proven who they are.
	unproven
	// streaming connections are the same with an answer that lasts.
	streaming
	// working connections wait for the server, not the server for them. They do not give way either.
	working

	kinds
)

// crowd is a number of connections with one limit. It belongs to the lock of its listener.
type crowd struct {
	open  int
	kinds [kinds]list.List // of *conn, the one that is longest in the kind first
}

// weakest is the connection that gives way to a new one, or nil. Nothing is lost with one that is idle. Otherwise it is one of
// the kind of which there are most: whoever opens many opens them alike, so they push out each other before they reach
// somebody who does something else, or who has just come.
func (c *crowd) weakest() *conn {
	from := &c.kinds[idle]

	if from.Len() == 0 {
		for _, other := range []kind{silent, unproven, streaming} {
			if c.kinds[other].Len() > from.Len() {
				from = &c.kinds[other]
			}
		}
	}

	if oldest := from.Front(); oldest != nil {
		weakest, _ := oldest.Value.(*conn)

		return weakest
	}

	return nil
}
