package outbox

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/postgres"
)

var (
	// Skip rows that another server is queueing.
	queueAnnouncementsSQL = `
UPDATE announcements SET due_at = $3 WHERE id IN (
    SELECT id FROM announcements WHERE channel = ANY($1) AND state = 'pending' AND due_at <= $2
    ORDER BY due_at, id LIMIT $4 FOR UPDATE SKIP LOCKED
) RETURNING ` + announcementColumns

	sessionColumns = postgres.ColumnsOf[tarsy.Session]().List()
)

// QueueAnnouncements passes due, pending announcements of the channels to add, and makes them due again after the given time. add
// inserts the jobs that send them, in the same transaction; if a job is lost, its announcement is found again. It returns the
// number of announcements.
func (s *Store) QueueAnnouncements(
	ctx context.Context, channels []tarsy.AnnouncementChannel, again time.Duration, limit int, add func(tx pgx.Tx, due []tarsy.Announcement) error,
) (int, error) {
	var due []tarsy.Announcement

	err := pgx.BeginFunc(ctx, s.db.Jobs(), func(tx pgx.Tx) error {
		now := s.db.Clock().Now()

		rows, err := tx.Query(ctx, queueAnnouncementsSQL, channels, now, now.Add(again), limit)
		if err != nil {
			return err
		}

		if due, err = pgx.CollectRows(rows, pgx.RowToStructByName[tarsy.Announcement]); err != nil || len(due) == 0 {
			return err
		}

		return add(tx, due)
	})
	if err != nil {
		return 0, fmt.Errorf("queue announcements: %w", err)
	}

	return len(due), nil
}

// Announcement returns an announcement; nil if it was removed, as those of purged sessions are.
func (s *Store) Announcement(ctx context.Context, id string) (*tarsy.Announcement, error) {
	found, err := postgres.Collect[tarsy.Announcement](ctx, s.db.Front(), `SELECT `+announcementColumns+` FROM announcements WHERE id = $1`, id)
	if err != nil {
		return nil, fmt.Errorf("read announcement: %w", err)
	}

	if len(found) == 0 {
		return nil, nil //nolint:nilnil // a removed announcement is an answer, not an error
	}

	return &found[0], nil
}

// Session returns the row of a session.
func (s *Store) Session(ctx context.Context, id string) (*tarsy.Session, error) {
	return postgres.SessionRow[tarsy.Session](ctx, s.db, id, `SELECT `+sessionColumns+` FROM sessions WHERE id = $1 AND deleted_at IS NULL`)
}
