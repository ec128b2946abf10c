package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/audit"
	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/internal/plaintext"
	"tarsy.dev/tarsy/internal/postgres"
)

var (
	silenceColumns = postgres.ColumnsOf[tarsy.Silence]().List()

	activeSilencesSQL = `SELECT ` + silenceColumns + ` FROM silences WHERE ends_at > $1 AND starts_at <= $1 ORDER BY created_at, id`

	// endSilenceSQL ends a silence immediately. A silence that has not started then never becomes active; one that has ended is
	// not changed.
	endSilenceSQL = `
UPDATE silences SET ends_at = greatest(starts_at, $2), ended_by = $3 WHERE id = $1 AND ends_at > $2 AND ends_at > starts_at`
)

// maxSilences limits a list of silences.
const maxSilences = "1000"

// Silences returns the active and future silences, or all, in descending order of their end.
func (db *DB) Silences(ctx context.Context, all bool, now time.Time) ([]tarsy.Silence, error) {
	found, err := collect[tarsy.Silence](ctx, db.read, `SELECT `+silenceColumns+` FROM silences WHERE $1 OR ends_at > $2 AND ends_at > starts_at
ORDER BY ends_at DESC, id DESC LIMIT `+maxSilences, all, now)
	if err != nil {
		return nil, fmt.Errorf("list silences: %w", err)
	}

	return found, nil
}

// AddSilence stores a silence.
func (db *DB) AddSilence(ctx context.Context, s tarsy.Silence) error {
	audit.Target(ctx, s.ID)
	audit.Detail(ctx, "ends_at", s.EndsAt.UTC().Format(time.RFC3339))

	err := audit.Change(ctx, db.write, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `INSERT INTO silences (`+silenceColumns+`)
SELECT `+silenceColumns+` FROM jsonb_populate_record(NULL::silences, to_jsonb($1::jsonb))`, s)

		return err
	})
	if err != nil {
		return fmt.Errorf("store silence: %w", err)
	}

	return nil
}

// EndSilence ends a silence early and returns it.
func (db *DB) EndSilence(ctx context.Context, id, author string, now time.Time) (tarsy.Silence, error) {
	missing := tarsy.Errorf(tarsy.CodeNotFound, "There is no silence %q.", plaintext.Cut(id, 40))

	if !ident.Valid(id) {
		return tarsy.Silence{}, missing
	}

	err := audit.Change(ctx, db.write, func(tx pgx.Tx) error {
		ended, err := tx.Exec(ctx, endSilenceSQL, id, now, author)
		if err == nil && ended.RowsAffected() == 0 {
			return audit.ErrUnchanged
		}

		return err
	})
	if err != nil {
		return tarsy.Silence{}, fmt.Errorf("end silence: %w", err)
	}

	found, err := collect[tarsy.Silence](ctx, db.write, `SELECT `+silenceColumns+` FROM silences WHERE id = $1`, id)

	switch {
	case err != nil:
		return tarsy.Silence{}, fmt.Errorf("read silence: %w", err)
	case len(found) == 0:
		return tarsy.Silence{}, missing
	}

	return found[0], nil
}
