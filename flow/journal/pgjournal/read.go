package pgjournal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"tarsy.dev/tarsy/flow/journal"
)

// pageSize is how many records a reader fetches at once.
const pageSize = 200

// page is some records and the state of the journal when they were read.
type page struct {
	head, trimmed journal.Position
	rows          []row
}

type row struct {
	seq   journal.Position
	at    time.Time
	entry []byte
}

// read returns rows of the journal and, from the same snapshot, its head and trimmed position. The condition can refer to j,
// the journal's row, and to $2. A pool can return connections that the server has closed (after a restart or a failover), so a
// read that failed on its connection is retried once, on a new one.
func (c *core) read(ctx context.Context, condition string, from journal.Position) (page, error) {
	found, err := c.query(ctx, condition, from)

	if err != nil && ctx.Err() == nil && disconnected(err) {
		c.pool.Reset()
		found, err = c.query(ctx, condition, from)
	}

	if err != nil {
		return page{}, failure(ctx, "read the journal", err)
	}

	return found, nil
}

func (c *core) query(ctx context.Context, condition string, from journal.Position) (page, error) {
	var found page

	rows, err := c.pool.Query(ctx, `
		SELECT j.head, j.trimmed, coalesce(e.seq, 0), coalesce(e.at, 'epoch'), e.entry
		FROM pgjournal_journals j LEFT JOIN LATERAL (
			SELECT seq, at, entry FROM pgjournal_entries WHERE journal_id = $1 AND `+condition+fmt.Sprintf(` LIMIT %d`, pageSize)+`
		) e ON true
		WHERE j.id = $1`, c.id, from)
	if err != nil {
		return found, err
	}

	var r row

	_, err = pgx.ForEachRow(rows, []any{&found.head, &found.trimmed, &r.seq, &r.at, &r.entry}, func() error {
		if r.seq > 0 {
			found.rows = append(found.rows, row{seq: r.seq, at: r.at, entry: append([]byte(nil), r.entry...)})
		}

		return nil
	})

	return found, err
}

// disconnected reports whether a statement failed on its connection: without a response, or because the server closed it.
func disconnected(err error) bool {
	const adminShutdown = "57P01"

	answer, answered := errors.AsType[*pgconn.PgError](err)

	return !answered || answer.Code == adminShutdown
}

func decode[E any](r row) (journal.Record[E], error) {
	record := journal.Record[E]{Position: r.seq, At: r.at.UTC()}

	if err := json.Unmarshal(r.entry, &record.Entry); err != nil {
		return journal.Record[E]{}, fmt.Errorf("decode journal record %d: %w", r.seq, err)
	}

	return record, nil
}

// Tail implements journal.Reader: it reads pages until there are no more records, then waits to be woken. Close ends it with
// journal.ErrClosed.
func (j *Journal[E]) Tail(ctx context.Context, after journal.Position) iter.Seq2[journal.Record[E], error] {
	return func(yield func(journal.Record[E], error) bool) {
		after := max(after, 0)

		for {
			err := j.core.check(ctx)

			var found page
			if err == nil {
				found, err = j.core.read(ctx, `seq > greatest($2, j.trimmed) ORDER BY seq`, after)
			}

			if err == nil && after < found.trimmed {
				err = &journal.TrimmedError{First: found.trimmed + 1}
			}

			if err != nil {
				yield(journal.Record[E]{}, err)

				return
			}

			for _, r := range found.rows {
				if ctx.Err() != nil {
					break
				}

				record, err := decode[E](r)
				if !yield(record, err) || err != nil {
					return
				}

				after = r.seq
			}

			if ctx.Err() == nil && len(found.rows) < pageSize {
				j.core.waitFor(ctx, after)
			}
		}
	}
}

// waitFor waits until the journal has records after the position, is closed, or ctx ends.
func (c *core) waitFor(ctx context.Context, after journal.Position) {
	for {
		c.mu.Lock()
		head, closed, grown := c.head, c.closed, c.grown
		c.mu.Unlock()

		if head > after || closed {
			return
		}

		select {
		case <-ctx.Done():
			return
		case <-grown:
		}
	}
}

// Backward implements journal.Reader.
func (j *Journal[E]) Backward(ctx context.Context, before journal.Position) iter.Seq2[journal.Record[E], error] {
	return func(yield func(journal.Record[E], error) bool) {
		for {
			err := j.core.check(ctx)

			var found page
			if err == nil {
				found, err = j.core.read(ctx, `seq > j.trimmed AND ($2 = 0 OR seq < $2) ORDER BY seq DESC`, max(before, 0))
			}

			if err != nil {
				yield(journal.Record[E]{}, err)

				return
			}

			for _, r := range found.rows {
				if ctx.Err() != nil {
					yield(journal.Record[E]{}, context.Cause(ctx))

					return
				}

				record, err := decode[E](r)
				if !yield(record, err) || err != nil {
					return
				}

				before = r.seq
			}

			if len(found.rows) < pageSize {
				return
			}
		}
	}
}
