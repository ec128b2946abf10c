package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/audit"
)

// intakeLock is held in shared mode by every transaction that stores alerts. A pause of intake takes it exclusively: when the
// pause is acknowledged, no transaction is left that did not see it. claimLock does the same for claims.
const intakeLock = 0x7461727379_04

var (
	pauseColumns = ColumnsOf[tarsy.Pause]()

	// pauseSQL starts a pause, or changes the active one.
	pauseSQL = `
INSERT INTO pauses AS p (` + pauseColumns.List() + `) VALUES (@kind, @reason, @author, @now, @ends)
ON CONFLICT (kind) DO UPDATE SET reason = excluded.reason, author = excluded.author, ends_at = excluded.ends_at,
    paused_at = CASE WHEN p.ends_at <= excluded.paused_at THEN excluded.paused_at ELSE p.paused_at END
RETURNING ` + pauseColumns.Of("p")
)

// pausedSQL selects the pause of a kind that is active at a time, given as a parameter.
func pausedSQL(kind tarsy.PauseKind, now string) string {
	return `SELECT ` + pauseColumns.List() + ` FROM pauses WHERE kind = '` + string(kind) + `' AND (ends_at IS NULL OR ends_at > ` + now + `)`
}

// queueIntakeLock keeps a pause of intake from being acknowledged until the transaction of a batch ends. Statements after it see
// every acknowledged pause.
func queueIntakeLock(batch *pgx.Batch) {
	batch.Queue(`SELECT pg_advisory_xact_lock_shared($1)`, int64(intakeLock))
}

// QueueIntakeCheck adds two statements to the batch of a transaction that is about to store alerts. They read the pause of
// intake, which cannot change before the transaction ends. After the batch, refused returns the error that the transaction must
// end with, if there is a pause.
func QueueIntakeCheck(batch *pgx.Batch, now time.Time) (refused func() error) {
	var paused []tarsy.Pause

	queueIntakeLock(batch)
	QueueRows(batch, &paused, pausedSQL(tarsy.PauseIntake, "$1"), now)

	return func() error { return intakePaused(paused, now) }
}

// pauseRetry is when a sender should try again, unless the pause ends earlier.
const pauseRetry = time.Minute

// intakePaused returns the error for alerts received during a pause; nil if there is none.
func intakePaused(paused []tarsy.Pause, now time.Time) error {
	if len(paused) == 0 {
		return nil
	}

	p, until, reason := paused[0], "until it is resumed", ""
	retry := pauseRetry

	if p.EndsAt != nil {
		until = "until " + p.EndsAt.UTC().Format(time.RFC3339)
		retry = min(retry, p.EndsAt.Sub(now))
	}

	if p.Reason != "" {
		reason = " Reason: " + p.Reason
	}

	e := tarsy.Errorf(tarsy.CodeIntakePaused, "%s paused intake %s. Send the alert again later.%s", p.Author, until, reason)
	e.RetryAfter = retry

	return e
}

// Pause starts a pause on all servers, or changes the active one of its kind, and returns it. When it has returned, no server
// accepts an alert or claims a session against the pause; what was accepted or claimed before is not affected.
func (db *DB) Pause(ctx context.Context, p tarsy.Pause) (tarsy.Pause, error) {
	lock := int64(intakeLock)
	if p.Kind == tarsy.PauseClaiming {
		lock = claimLock
	}

	args := pgx.NamedArgs{"kind": string(p.Kind), "reason": p.Reason, "author": p.Author, "now": p.PausedAt, "ends": p.EndsAt}

	err := audit.Change(ctx, db.front, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock($1)`, lock); err != nil {
			return err
		}

		rows, err := tx.Query(ctx, pauseSQL, args)
		if err != nil {
			return err
		}

		p, err = pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[tarsy.Pause])
		if err != nil {
			return err
		}

		audit.Detail(ctx, "reason", p.Reason)

		if p.EndsAt != nil {
			audit.Detail(ctx, "ends_at", p.EndsAt.UTC().Format(time.RFC3339))
		}

		return nil
	})
	if err != nil {
		return p, fmt.Errorf("pause %s: %w", p.Kind, err)
	}

	return utcPause(p), nil
}

// Resume ends a pause, and reports whether one was active. It signals servers that there may be work.
func (db *DB) Resume(ctx context.Context, kind tarsy.PauseKind) (bool, error) {
	removed, err := Decide[tarsy.Pause](ctx, db.front, `DELETE FROM pauses WHERE kind = $1 RETURNING `+pauseColumns.List(), string(kind))
	if err != nil {
		return false, fmt.Errorf("resume %s: %w", kind, err)
	}

	if kind == tarsy.PauseClaiming {
		db.signals.raise(topicRequests, "") // for servers without a free worker: a question needs none
		db.signals.raise(topicQueue, "")
	}

	return len(removed) > 0 && removed[0].Active(db.clock.Now()), nil
}

// Pauses returns the active pauses.
func (db *DB) Pauses(ctx context.Context) ([]tarsy.Pause, error) {
	pauses, err := Collect[tarsy.Pause](ctx, db.front,
		`SELECT `+pauseColumns.List()+` FROM pauses WHERE ends_at IS NULL OR ends_at > $1 ORDER BY kind DESC`, db.clock.Now())
	if err != nil {
		return nil, fmt.Errorf("read pauses: %w", err)
	}

	for i := range pauses {
		pauses[i] = utcPause(pauses[i])
	}

	return pauses, nil
}

func utcPause(p tarsy.Pause) tarsy.Pause {
	p.PausedAt = p.PausedAt.UTC()

	if p.EndsAt != nil {
		p.EndsAt = new(p.EndsAt.UTC())
	}

	return p
}
