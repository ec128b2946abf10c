package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/calendar"
	"tarsy.dev/tarsy/internal/ident"
)

// Export returns everything that users can see of a session, from one snapshot.
func (db *DB) Export(ctx context.Context, id string) (*tarsy.Export, error) {
	if !ident.Valid(id) {
		return nil, SessionNotFound(id)
	}

	var (
		session  detailRows
		trace    traceRows
		timeline []tarsy.TimelineEvent
	)

	err := InSnapshot(ctx, db.readers, func(tx pgx.Tx) error {
		batch := traceBatch(id, &trace.version)
		session.queue(batch, id, db.clock.Now())
		trace.queue(batch, id, tarsy.TraceQuery{})
		QueueRows(batch, &timeline, TimelineTable.SelectWhere(`session_id = $1 ORDER BY sequence_number`), id)

		return tx.SendBatch(ctx, batch).Close()
	})
	if err != nil {
		return nil, fmt.Errorf("export session: %w", err)
	}

	return &tarsy.Export{
		ExportedAt: calendar.Time(db.clock.Now()), Session: *session.detail(), Timeline: append([]tarsy.TimelineEvent{}, timeline...),
		Trace: *trace.trace(id),
	}, nil
}
