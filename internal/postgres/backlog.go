package postgres

import (
	"context"
	"fmt"
	"sync"
	"time"

	"tarsy.dev/tarsy"
)

// countEvery is the maximum age of the count of waiting sessions.
const countEvery = time.Second

// backlog estimates the number of waiting sessions, closely enough to refuse alerts beyond a limit. Counting for every alert
// would cost more the longer the queue is, so they are counted at most once per interval, when alerts are stored; what this
// server stores in between is added. It uses the real time, which only determines the age of the count.
type backlog struct {
	// limit is the maximum number of waiting sessions; 0 means unlimited.
	limit int
	every time.Duration

	mu      sync.Mutex
	waiting int
	counted time.Time
}

// countWaitingSQL counts waiting sessions from their index, up to a limit. Sessions that wait for an approval are no work yet and
// do not count.
const countWaitingSQL = `SELECT count(*) FROM
    (SELECT 1 FROM sessions s WHERE ` + waitingSQL + ` AND s.runnable_at <= $2 LIMIT $1) AS waiting`

// due reports whether it is time to count again.
func (b *backlog) due() bool {
	b.mu.Lock()
	defer b.mu.Unlock()

	return b.limit > 0 && time.Since(b.counted) >= b.every
}

// unknown reports whether nothing has been counted yet.
func (b *backlog) unknown() bool {
	b.mu.Lock()
	defer b.mu.Unlock()

	return b.counted.IsZero()
}

// admit returns how many of n more sessions fit, according to the last count.
func (b *backlog) admit(n int) int {
	b.mu.Lock()
	defer b.mu.Unlock()

	if b.limit == 0 {
		return n
	}

	return max(0, min(n, b.limit-b.waiting))
}

// full reports whether the limit is reached, according to a count that is still fresh.
func (b *backlog) full() bool { return b.admit(1) == 0 && !b.due() }

func (b *backlog) set(waiting int) {
	b.mu.Lock()
	defer b.mu.Unlock()

	b.waiting, b.counted = waiting, time.Now()
}

func (b *backlog) add(stored int) {
	b.mu.Lock()
	defer b.mu.Unlock()

	b.waiting += stored
}

// CheckBacklog returns an error with CodeOverloaded if so many sessions are waiting that CreateSession would refuse another one.
// It does not query the database: a caller that is refused here is spared the work before CreateSession.
func (db *DB) CheckBacklog() error {
	if db.intake.backlog.full() {
		return errBacklog(db.intake.backlog.limit)
	}

	return nil
}

func errBacklog(limit int) error {
	return tarsy.Errorf(tarsy.CodeOverloaded, "The limit of waiting sessions is reached (queue.max_waiting_sessions: %d). Try again later.", limit)
}

// admit refuses the arrivals that exceed the limit, and returns the others.
func (i *intake) admit(ctx context.Context, group []*arrival) []*arrival {
	room, err := i.room(ctx, i.pool, len(group))
	if err != nil {
		for _, a := range group {
			a.finish(err)
		}

		return nil
	}

	for _, a := range group[room:] {
		a.finish(errBacklog(i.backlog.limit))
	}

	return group[:room]
}

// room returns how many of n sessions fit. If the count is out of date and leaves too little room, it counts first, because
// sessions may have been claimed since. It also counts before the first alert of a server.
func (i *intake) room(ctx context.Context, q Querier, n int) (int, error) {
	room := i.backlog.admit(n)

	if i.backlog.due() && (room < n || i.backlog.unknown()) {
		var waiting int
		if err := q.QueryRow(ctx, countWaitingSQL, i.backlog.limit, i.clock.Now()).Scan(&waiting); err != nil {
			return 0, fmt.Errorf("count waiting sessions: %w", err)
		}

		i.backlog.set(waiting)
		room = i.backlog.admit(n)
	}

	return room, nil
}
