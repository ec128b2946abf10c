package limit

import "container/list"

// kind is the state of a connection, which decides whether it can be evicted.
type kind int

const (
	// protected connections serve authenticated callers. They are never evicted.
	protected kind = iota
	// idle connections wait for the next request.
	idle
	// silent connections have not sent the header of their first request.
	silent
	// unproven connections have a request of a caller that is not authenticated.
	unproven
	// streaming connections are unproven connections with a streaming response.
	streaming
	// working connections wait for the server rather than the client. They are not evicted either.
	working

	kinds
)

// connSet is a set of connections with a common limit. It is guarded by the listener's lock.
type connSet struct {
	open  int
	kinds [kinds]list.List // of *conn, longest in this kind first
}

// victim returns the connection to evict for a new one, or nil. An idle connection is preferred, because nothing is lost with
// it. Otherwise it is the oldest connection of the most frequent kind: a client that opens many connections opens them alike,
// so they evict each other before they affect connections of another kind or new ones.
func (c *connSet) victim() *conn {
	from := &c.kinds[idle]

	if from.Len() == 0 {
		for _, other := range []kind{silent, unproven, streaming} {
			if c.kinds[other].Len() > from.Len() {
				from = &c.kinds[other]
			}
		}
	}

	if oldest := from.Front(); oldest != nil {
		victim, _ := oldest.Value.(*conn)

		return victim
	}

	return nil
}
