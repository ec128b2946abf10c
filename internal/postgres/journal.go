package postgres

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/jackc/pgx/v5"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/flow/journal"
)

// journalPage is how many records a reader takes at once.
const journalPage = 200

// Journal reads a session's journal. Only the step commit appends to it.
func (db *DB) Journal(sessionID string) journal.Reader[tarsy.Event] {
	return &sessionJournal{db: db, sessionID: sessionID}
}

type sessionJournal struct {
	db        *DB
	sessionID string
}

// Tail implements journal.Reader: it reads pages until there is no more, then waits to be woken.
func (j *sessionJournal) Tail(ctx context.Context, after journal.Position) iter.Seq2[journal.Record[tarsy.Event], error] {
	return func(yield func(journal.Record[tarsy.Event], error) bool) {
		// The watch begins before the first read, so nothing falls between reading and waiting.
		watch := j.db.signals.WatchJournal(j.sessionID)
		defer watch.Close()

		for {
			page, err := j.page(ctx, `seq > $2 ORDER BY seq`, after)
			if err != nil {
				yield(journal.Record[tarsy.Event]{}, err)

				return
			}

			for _, e := range page {
				after = journal.Position(e.Seq)
				if !yield(record(e), nil) {
					return
				}
			}

			if len(page) == journalPage {
				continue
			}

			if err := j.wait(ctx, watch, after); err != nil {
				yield(journal.Record[tarsy.Event]{}, err)

				return
			}
		}
	}
}

// wait returns when the journal may have more than after.
func (j *sessionJournal) wait(ctx context.Context, watch *Watch, after journal.Position) error {
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-watch.C:
		}

		changes, _ := watch.Take()
		for _, c := range changes {
			if journal.Position(c.Version) > after {
				return nil
			}
		}
	}
}

// Backward implements journal.Reader.
func (j *sessionJournal) Backward(ctx context.Context, before journal.Position) iter.Seq2[journal.Record[tarsy.Event], error] {
	return func(yield func(journal.Record[tarsy.Event], error) bool) {
		for {
			page, err := j.page(ctx, `($2 = 0 OR seq < $2) ORDER BY seq DESC`, before)
			if err != nil {
				yield(journal.Record[tarsy.Event]{}, err)

				return
			}

			for _, e := range page {
				before = journal.Position(e.Seq)
				if !yield(record(e), nil) {
					return
				}
			}

			if len(page) < journalPage {
				return
			}
		}
	}
}

// Head implements journal.Reader. A session that does not exist is an error with CodeSessionNotFound.
func (j *sessionJournal) Head(ctx context.Context) (journal.Position, error) {
	if !tarsy.ValidID(j.sessionID) {
		return 0, sessionNotFound(j.sessionID)
	}

	var last journal.Position

	err := j.db.pool.QueryRow(ctx, `SELECT last_seq FROM sessions WHERE id = $1 AND deleted_at IS NULL`, j.sessionID).Scan(&last)
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, sessionNotFound(j.sessionID)
	}

	if err != nil {
		return 0, fmt.Errorf("read the journal's head: %w", err)
	}

	return last, nil
}

func (j *sessionJournal) page(ctx context.Context, where string, from journal.Position) ([]eventRow, error) {
	rows, err := collect[eventRow](ctx, j.db.pool,
		`SELECT seq, type, payload, created_at FROM events WHERE session_id = $1 AND `+where+fmt.Sprintf(" LIMIT %d", journalPage),
		j.sessionID, int64(from))
	if err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}

		return nil, fmt.Errorf("read the journal: %w", err)
	}

	for i := range rows {
		rows[i].sessionID = j.sessionID
	}

	return rows, nil
}

type eventRow struct {
	Seq       int64
	Type      string
	Payload   []byte
	CreatedAt time.Time

	sessionID string
}

func record(e eventRow) journal.Record[tarsy.Event] {
	return journal.Record[tarsy.Event]{
		Position: journal.Position(e.Seq),
		At:       e.CreatedAt,
		Entry:    tarsy.Event{SessionID: e.sessionID, Seq: e.Seq, Type: e.Type, Payload: e.Payload, CreatedAt: e.CreatedAt},
	}
}

func sessionNotFound(id string) error {
	return tarsy.Errorf(tarsy.CodeSessionNotFound, "there is no session %q", id)
}
