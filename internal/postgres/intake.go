package postgres

import (
	"context"
	"encoding/json"
	"fmt"

	"tarsy.dev/tarsy"
)

// CreateSession stores a new session, runnable at once, with the first events of its journal. When it returns
// without error the session is durable and claimers have been woken.
func (db *DB) CreateSession(ctx context.Context, session tarsy.Session, events ...tarsy.Event) error {
	// A copy, for the caller's events are the caller's, and none of them must be an empty array, not null.
	events = append([]tarsy.Event{}, events...)
	for i := range events {
		events[i].SessionID, events[i].Seq = session.ID, int64(i+1)
	}

	row, err := json.Marshal(session)
	if err != nil {
		return fmt.Errorf("encode session: %w", err)
	}

	eventRows, err := json.Marshal(events)
	if err != nil {
		return fmt.Errorf("encode events: %w", err)
	}

	_, err = db.pool.Exec(ctx, `
WITH created AS (
    INSERT INTO sessions (`+sessionColumns+`, runnable_at, last_seq)
    SELECT `+sessionColumns+`, created_at, $3 FROM jsonb_populate_record(NULL::sessions, $1)
)
INSERT INTO events SELECT * FROM jsonb_populate_recordset(NULL::events, $2)`,
		json.RawMessage(row), json.RawMessage(eventRows), int64(len(events)))
	if err != nil {
		return fmt.Errorf("store session: %w", err)
	}

	db.signals.moved(session.ID, int64(len(events)))
	db.signals.raise(topicQueue, "")

	return nil
}
