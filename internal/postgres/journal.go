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
	"tarsy.dev/tarsy/internal/ident"
)

// journalPage is how many records are read at a time.
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
		// Watch before the first read, so that nothing is missed between reading and waiting.
		watch := j.db.signals.WatchJournal(j.sessionID)
		defer watch.Close()

		for {
			page, err := j.page(ctx, `seq > $2 ORDER BY seq`, after)
			if err != nil {
				yield(journal.Record[tarsy.Event]{}, err)

				return
			}

			if err := j.trimmed(ctx, after, page); err != nil {
				yield(journal.Record[tarsy.Event]{}, err)

				return
			}

			for _, e := range page {
				after = journal.Position(e.Seq)
				if !yield(j.record(e), nil) {
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

// trimmed returns a TrimmedError if the record that should come next is gone. Journals have no gaps, so the first record of a
// page shows it; without one, the session's row does. The row is read after the page: what is gone by then was not in the page.
func (j *sessionJournal) trimmed(ctx context.Context, after journal.Position, page []eventRow) error {
	first := after + 1

	if len(page) > 0 {
		first = journal.Position(page[0].Seq)
	} else if ident.Valid(j.sessionID) {
		var trimmed journal.Position

		err := j.db.readers.QueryRow(ctx, `SELECT trimmed_seq FROM sessions WHERE id = $1`, j.sessionID).Scan(&trimmed)

		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil && !errors.Is(err, pgx.ErrNoRows):
			return fmt.Errorf("read where the journal begins: %w", err)
		}

		first = max(first, trimmed+1)
	}

	if first > max(after, 0)+1 {
		return &journal.TrimmedError{First: first}
	}

	return nil
}

// wait returns when the journal may have records after the given position.
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
				if !yield(j.record(e), nil) {
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
	if !ident.Valid(j.sessionID) {
		return 0, SessionNotFound(j.sessionID)
	}

	var last journal.Position

	err := j.db.readers.QueryRow(ctx, `SELECT last_seq FROM sessions WHERE id = $1 AND deleted_at IS NULL`, j.sessionID).Scan(&last)
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, SessionNotFound(j.sessionID)
	}

	if err != nil {
		return 0, fmt.Errorf("read the journal's head: %w", err)
	}

	return last, nil
}

// Status returns a session's status, for readers whose journal is too short to show it.
func (db *DB) Status(ctx context.Context, sessionID string) (tarsy.SessionStatus, error) {
	var status tarsy.SessionStatus

	err := db.readers.QueryRow(ctx, `SELECT status FROM sessions WHERE id = $1 AND deleted_at IS NULL`, sessionID).Scan(&status)
	if errors.Is(err, pgx.ErrNoRows) {
		return "", SessionNotFound(sessionID)
	}

	if err != nil {
		return "", fmt.Errorf("read a session's status: %w", err)
	}

	return status, nil
}

func (j *sessionJournal) page(ctx context.Context, where string, from journal.Position) ([]eventRow, error) {
	rows, err := Collect[eventRow](ctx, j.db.readers,
		`SELECT `+eventRowColumns.List()+` FROM events WHERE session_id = $1 AND `+where+fmt.Sprintf(" LIMIT %d", journalPage),
		j.sessionID, int64(from))
	if err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}

		return nil, fmt.Errorf("read the journal: %w", err)
	}

	return rows, nil
}

// eventRow is what is read of an event, whose session is known.
type eventRow struct {
	Seq       int64     `json:"seq"`
	Type      string    `json:"type"`
	Payload   []byte    `json:"payload"`
	CreatedAt time.Time `json:"created_at"`
}

var eventRowColumns = ColumnsOf[eventRow]()

func (j *sessionJournal) record(e eventRow) journal.Record[tarsy.Event] {
	return journal.Record[tarsy.Event]{
		Position: journal.Position(e.Seq),
		At:       e.CreatedAt,
		Entry:    tarsy.Event{SessionID: j.sessionID, Seq: e.Seq, Type: e.Type, Payload: e.Payload, CreatedAt: e.CreatedAt},
	}
}

// SessionNotFound returns the error for a session that does not exist or was deleted.
func SessionNotFound(id string) error {
	return tarsy.Errorf(tarsy.CodeSessionNotFound, "there is no session %q", id)
}
