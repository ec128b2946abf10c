package postgres

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"tarsy.dev/tarsy"
)

// countEvery is how old the count of waiting sessions may be.
const countEvery = time.Second

// backlog knows how many sessions wait, closely enough to refuse alerts beyond a limit. Counting with every alert would cost
// more the longer the queue is, so the count is taken at most once in a while, along with a statement that stores alerts;
// what this server stores in between is added. The real time is meant: it only says how old the count is.
type backlog struct {
	// limit is how many sessions may wait; 0 means any number.
	limit int
	every time.Duration

	mu      sync.Mutex
	waiting int
	counted time.Time
}

// countWaitingSQL counts waiting sessions from their index, and no further than it must. Those that wait for an approval are no work yet.
const countWaitingSQL = `SELECT count(*) FROM
    (SELECT 1 FROM sessions s WHERE ` + waitingSQL + ` AND s.runnable_at <= $2 LIMIT $1) AS waiting`

// due reports whether it is time to count again.
func (b *backlog) due() bool {
	b.mu.Lock()
	defer b.mu.Unlock()

	return b.limit > 0 && time.Since(b.counted) >= b.every
}

// unknown reports whether nobody has counted yet.
func (b *backlog) unknown() bool {
	b.mu.Lock()
	defer b.mu.Unlock()

	return b.counted.IsZero()
}

// admit is for how many of n more sessions there is room, as far as is known.
func (b *backlog) admit(n int) int {
	b.mu.Lock()
	defer b.mu.Unlock()

	if b.limit == 0 {
		return n
	}

	return max(0, min(n, b.limit-b.waiting))
}

// full reports whether the limit was reached when the count was last fresh, and that is not long ago.
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

// CheckBacklog returns an error with CodeOverloaded if so many sessions wait that CreateSession would refuse another one. It
// asks nobody: a caller that is refused here is spared the work in between.
func (db *DB) CheckBacklog() error {
	if db.intake.backlog.full() {
		return errBacklog(db.intake.backlog.limit)
	}

	return nil
}

func errBacklog(limit int) error {
	return tarsy.Errorf(tarsy.CodeOverloaded, "The limit of waiting sessions is reached (queue.max_waiting_sessions: %d). Try again later.", limit)
}

// admit refuses the arrivals for which there is no room, and returns the others.
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

// querier is a pool, or a transaction.
type querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// room is for how many of n sessions there is room. Where the count says that there is none and is not fresh, it counts first:
// sessions may have been claimed since. The first alert of a server is counted for as well.
func (i *intake) room(ctx context.Context, q querier, n int) (int, error) {
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
