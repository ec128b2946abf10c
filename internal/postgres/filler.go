package postgres

import (
	"context"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"tarsy.dev/tarsy/internal/background"
)

// Sessions from before search existed are listed but have no words: indexing a million sessions takes minutes, and in a migration
// it would block all writes. Servers index them in the background, newest first. The same holds for the agents, models and cost
// that are recorded per session.
const (
	lockUnfilledSQL = `SELECT session_id FROM session_list WHERE words IS NULL ORDER BY created_at DESC LIMIT $1 FOR UPDATE SKIP LOCKED`
	// fillSQL is a separate statement after the lock, so that it sees what the previous holder of the row wrote.
	fillSQL = `
UPDATE session_list l
SET words = session_words(session_title(s.alert_type || ' ' || s.title, s.cause || ' ' || s.executive_summary, s.error_code, s.error_message), s.alert_data, s.final_analysis)
    || label_words(s.labels)
FROM sessions s WHERE s.id = l.session_id AND l.session_id = ANY($1)`

	lockUnmeasuredSQL = `SELECT session_id FROM session_quality WHERE agents IS NULL ORDER BY completed_at DESC LIMIT $1 FOR UPDATE SKIP LOCKED`
	measureSQL        = `SELECT record_quality($1)`

	// fillBatch is small because the end of a session waits for the batch that has its row.
	fillBatch = 50
	// fillRetry is how long a filler waits after an error.
	fillRetry = 10 * time.Second
)

// filler completes the rows of old sessions, then ends. Several servers may run it concurrently.
type filler struct {
	background.Task

	pool *pgxpool.Pool
	// lock selects and locks incomplete rows, and complete completes them.
	lock, complete string
	// outage logs when the database becomes unavailable and available again.
	outage background.Outage
}

// newFiller returns a filler that adds words to sessions without any.
func newFiller(pool *pgxpool.Pool, logger *slog.Logger) *filler {
	return &filler{pool: pool, lock: lockUnfilledSQL, complete: fillSQL, outage: background.Outage{
		Failing: "could not index old sessions for search; trying again", Over: "indexing old sessions again", Level: slog.LevelWarn, Logger: logger,
	}}
}

// newMeasurer returns a filler that adds agents, models and cost to the records of session quality.
func newMeasurer(pool *pgxpool.Pool, logger *slog.Logger) *filler {
	return &filler{pool: pool, lock: lockUnmeasuredSQL, complete: measureSQL, outage: background.Outage{
		Failing: "could not measure old sessions; trying again", Over: "measuring old sessions again", Level: slog.LevelWarn, Logger: logger,
	}}
}

func (f *filler) run(ctx context.Context) {
	for {
		began := time.Now()
		filled, err := f.fill(ctx)
		if ctx.Err() != nil {
			return
		}

		// Leave half of the time to others.
		pause := time.Since(began)

		switch {
		case err == nil && filled == 0:
			return
		case err != nil:
			pause = fillRetry
		}

		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
	}
}

func (f *filler) fill(ctx context.Context) (filled int, err error) {
	err = pgx.BeginFunc(ctx, f.pool, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, f.lock, fillBatch)
		if err != nil {
			return err
		}

		ids, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil || len(ids) == 0 {
			return err
		}

		filled = len(ids)
		_, err = tx.Exec(ctx, f.complete, ids)

		return err
	})

	if ctx.Err() == nil {
		f.outage.Note(ctx, err)
	}

	return filled, err
}
