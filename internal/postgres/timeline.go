package postgres

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/internal/plaintext"
)

// A timeline as a list. Content lengths are counted here, and what a preview leaves out is cut off row by row, which is faster
// than in the database. Only contents that are much longer than any preview are cut there.
var (
	wholeTimelineSQL = `SELECT ` + ColumnsOf[tarsy.TimelineItem]().With(map[string]string{"content_length": "0", "truncated": "false"}) + `
FROM timeline_events WHERE session_id = $1 AND sequence_number > $2 ORDER BY sequence_number LIMIT $3`

	// In UTF-16, characters beyond the first 65,536 are two units: all characters are counted twice, and those of one unit are
	// subtracted once. PostgreSQL 14 has no regexp_count.
	previewSQL = `SELECT ` + ColumnsOf[tarsy.TimelineItem]().With(map[string]string{
		"content": `CASE WHEN octet_length(content) > 65536 THEN left(content, $4) || right(content, $4) ELSE content END`,
		"content_length": `CASE WHEN octet_length(content) > 65536
    THEN 2 * length(content) - length(regexp_replace(content, '[\U00010000-\U0010FFFF]+', '', 'g')) ELSE 0 END`,
		"metadata":  `CASE WHEN large THEN metadata - 'arguments' ELSE metadata END`,
		"truncated": `large`,
	}) + `
FROM timeline_events, LATERAL (SELECT COALESCE(length((metadata -> 'arguments')::text) > $4, false)) AS arguments (large)
WHERE session_id = $1 AND sequence_number > $2 ORDER BY sequence_number LIMIT $3`
)

// pageBytes is the size of the contents after which a page of a timeline ends early.
const pageBytes = 8 << 20

// Timeline returns a page of a session's timeline. A preview omits arguments whose JSON is longer.
func (db *DB) Timeline(ctx context.Context, sessionID string, query tarsy.TimelineQuery) (*tarsy.TimelinePage, error) {
	if !ident.Valid(sessionID) {
		return nil, SessionNotFound(sessionID)
	}

	page := &tarsy.TimelinePage{}

	// One more than requested shows whether there is more.
	sql, args := wholeTimelineSQL, []any{sessionID, query.After, query.Limit + 1}
	if query.Preview > 0 {
		sql, args = previewSQL, append(args, query.Preview)
	}

	err := InSnapshot(ctx, db.readers, func(tx pgx.Tx) error {
		batch := traceBatch(sessionID, &page.Version)
		batch.Queue(sql, args...).Query(func(rows pgx.Rows) error { return collectPage(rows, query, page) })

		return tx.SendBatch(ctx, batch).Close()
	})
	if err != nil {
		return nil, fmt.Errorf("read timeline: %w", err)
	}

	return page, nil
}

// collectPage keeps the events of one page and drops the others.
func collectPage(rows pgx.Rows, query tarsy.TimelineQuery, page *tarsy.TimelinePage) error {
	defer rows.Close()

	size := 0

	for rows.Next() {
		if len(page.Events) == query.Limit || size >= pageBytes {
			page.More = true

			break
		}

		item, err := pgx.RowToStructByName[tarsy.TimelineItem](rows)
		if err != nil {
			return err
		}

		item = previewed(item, query.Preview)
		size += len(item.Content)
		page.Events = append(page.Events, item)
	}

	rows.Close()

	return rows.Err()
}

// previewed returns an event with the length of its content, which is cut if it is longer than a preview above zero.
func previewed(item tarsy.TimelineItem, preview int) tarsy.TimelineItem {
	if item.ContentLength == 0 {
		item.ContentLength = tarsy.UTF16Len(item.Content)
	}

	if preview > 0 && item.ContentLength > preview {
		// Cloned, so that the rest can be freed.
		item.Content, item.Truncated = strings.Clone(cutPreview(item, preview)), true
	}

	return item
}

// cutPreview cuts a content to the units of a preview. Tool results keep head and tail, as the model gets them; other texts keep
// their beginning, because what still streams continues from there. A preview with little space beyond the note is the beginning
// as well. Bytes are at least as many as units.
func cutPreview(item tarsy.TimelineItem, preview int) string {
	const least = 4 // notes that a preview must have space for

	note := fmt.Sprintf("\n[cut: about %d of %d characters left out]\n", item.ContentLength-preview, item.ContentLength)
	if item.EventType != tarsy.EventToolCall || item.Status == tarsy.EventStreaming || preview < least*len(note) {
		return tarsy.CutUTF16(item.Content, preview)
	}

	return plaintext.CutMiddle(item.Content, preview, note)
}

// TimelineEvent returns one event of a session's timeline in full.
func (db *DB) TimelineEvent(ctx context.Context, sessionID, id string) (*tarsy.TimelineItem, error) {
	if !ident.Valid(sessionID) {
		return nil, SessionNotFound(sessionID)
	}

	var found []tarsy.TimelineEvent

	err := InSnapshot(ctx, db.readers, func(tx pgx.Tx) (err error) {
		found, err = interaction[tarsy.TimelineEvent](ctx, tx, sessionID, id, TimelineTable.SelectWhere(`id = $1`))

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
