package postgres

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"tarsy.dev/tarsy"
)

// A timeline as a list. The length of a content is counted here, and what a preview leaves out is cut off row by row:
// that is quicker than asking the database for it. Only contents that are much longer than any preview stay there.
var (
	wholeTimelineSQL = `SELECT ` + columnsOf[tarsy.TimelineItem]().with(map[string]string{"content_length": "0", "truncated": "false"}) + `
FROM timeline_events WHERE session_id = $1 ORDER BY sequence_number`

	// In UTF-16, characters beyond the first 65,536 are two units.
	previewSQL = `SELECT ` + columnsOf[tarsy.TimelineItem]().with(map[string]string{
		"content": `CASE WHEN octet_length(content) > 65536 THEN left(content, $2) ELSE content END`,
		"content_length": `CASE WHEN octet_length(content) > 65536
    THEN length(content) + regexp_count(content, '[\U00010000-\U0010FFFF]') ELSE 0 END`,
		"metadata":  `CASE WHEN large THEN metadata - 'arguments' ELSE metadata END`,
		"truncated": `large`,
	}) + `
FROM timeline_events, LATERAL (SELECT COALESCE(length((metadata -> 'arguments')::text) > $2, false)) AS arguments (large)
WHERE session_id = $1 ORDER BY sequence_number`
)

// Timeline returns a session's timeline in order, and the number of the last journal event that it includes. A preview
// above zero is how many UTF-16 units of each event's content are wanted; arguments whose JSON is longer are left out.
func (db *DB) Timeline(ctx context.Context, sessionID string, preview int) ([]tarsy.TimelineItem, int64, error) {
	if !tarsy.ValidID(sessionID) {
		return nil, 0, sessionNotFound(sessionID)
	}

	var (
		version int64
		items   []tarsy.TimelineItem
	)

	sql, args := wholeTimelineSQL, []any{sessionID}
	if preview > 0 {
		sql, args = previewSQL, []any{sessionID, preview}
	}

	err := pgx.BeginTxFunc(ctx, db.pool, snapshot, func(tx pgx.Tx) error {
		batch := traceBatch(sessionID, &version)
		batch.Queue(sql, args...).Query(func(rows pgx.Rows) (err error) {
			items, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (tarsy.TimelineItem, error) {
				item, err := pgx.RowToStructByName[tarsy.TimelineItem](row)

				return previewed(item, preview), err
			})

			return err
		})

		return tx.SendBatch(ctx, batch).Close()
	})
	if err != nil {
		return nil, 0, fmt.Errorf("read timeline: %w", err)
	}

	return items, version, nil
}

// previewed is an event with the length of its content, which is cut if it is longer than a preview above zero.
func previewed(item tarsy.TimelineItem, preview int) tarsy.TimelineItem {
	if item.ContentLength == 0 {
		item.ContentLength = tarsy.UTF16Len(item.Content)
	}

	if preview > 0 && item.ContentLength > preview {
		// A copy, so that the rest is forgotten.
		item.Content, item.Truncated = strings.Clone(tarsy.CutUTF16(item.Content, preview)), true
	}

	return item
}

// TimelineEvent returns one event of a session's timeline in full.
func (db *DB) TimelineEvent(ctx context.Context, sessionID, id string) (*tarsy.TimelineItem, error) {
	if !tarsy.ValidID(sessionID) {
		return nil, sessionNotFound(sessionID)
	}

	var found []tarsy.TimelineEvent

	err := pgx.BeginTxFunc(ctx, db.pool, snapshot, func(tx pgx.Tx) (err error) {
		found, err = interaction[tarsy.TimelineEvent](ctx, tx, sessionID, id, timelineTable.selectWhere(`id = $1`))

		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read timeline event: %w", err)
	}

	if len(found) == 0 || found[0].SessionID != sessionID {
		return nil, tarsy.Errorf(tarsy.CodeEventNotFound, "session %s has no timeline event %q", sessionID, id)
	}

	item := previewed(tarsy.TimelineItem{TimelineEvent: found[0]}, 0)

	return &item, nil
}
