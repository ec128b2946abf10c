package outbox

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/postgres"
)

var (
	announcementColumns = postgres.ColumnsOf[tarsy.Announcement]().List()

	dueAnnouncementsSQL = `SELECT ` + announcementColumns + ` FROM announcements
WHERE channel = $1 AND state = 'pending' AND due_at <= $2 ORDER BY due_at, id LIMIT $3`
)

// AddAnnouncement stores an announcement that is not part of a step. It returns false if the message that it replies to already
// has a reply.
func (s *Store) AddAnnouncement(ctx context.Context, a tarsy.Announcement) (bool, error) {
	added, err := s.db.Front().Exec(ctx, `
INSERT INTO announcements (id, session_id, channel, subject, stage_id, target, reply_to, due_at, created_at, approval_id)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ON CONFLICT DO NOTHING`,
		a.ID, a.SessionID, a.Channel, a.Subject, a.StageID, a.Target, a.ReplyTo, a.DueAt, a.CreatedAt, a.ApprovalID)
	if err != nil {
		return false, fmt.Errorf("store announcement: %w", err)
	}

	return added.RowsAffected() == 1, nil
}

// RemoveAnnouncement removes an announcement that has not been sent, not even in part.
func (s *Store) RemoveAnnouncement(ctx context.Context, id string) error {
	if _, err := s.db.Front().Exec(ctx, `DELETE FROM announcements WHERE id = $1`, id); err != nil {
		return fmt.Errorf("remove announcement: %w", err)
	}

	return nil
}

// DueAnnouncements returns the pending announcements of a channel whose next attempt is due, oldest first.
func (s *Store) DueAnnouncements(ctx context.Context, channel tarsy.AnnouncementChannel, limit int) ([]tarsy.Announcement, error) {
	due, err := postgres.Collect[tarsy.Announcement](ctx, s.db.Front(), dueAnnouncementsSQL, channel, s.db.Clock().Now(), limit)
	if err != nil {
		return nil, fmt.Errorf("read announcements: %w", err)
	}

	return due, nil
}

// UpdateAnnouncement records the progress of a pending announcement. Others stay unchanged, except that a failed one can still
// become sent.
func (s *Store) UpdateAnnouncement(ctx context.Context, a tarsy.Announcement) error {
	_, err := s.db.Front().Exec(ctx, `
UPDATE announcements SET state = $2, attempts = $3, due_at = $4, message_ids = $5, thread_id = $6, error = $7, sent_at = $8
WHERE id = $1 AND (state = 'pending' OR state = 'failed' AND $2 = 'sent')`,
		a.ID, a.State, a.Attempts, a.DueAt, a.MessageIDs, a.ThreadID, a.Error, a.SentAt)
	if err != nil {
		return fmt.Errorf("update announcement: %w", err)
	}

	return nil
}

// AnnouncedSession returns the session whose end a message announced, or an empty string. A Discord thread has the id of the
// message that it belongs to, and that id is recorded before the thread exists, so a lookup never comes too early.
func (s *Store) AnnouncedSession(ctx context.Context, channel tarsy.AnnouncementChannel, messageID string) (string, error) {
	var id string

	err := s.db.Front().QueryRow(ctx, `
SELECT session_id FROM announcements WHERE channel = $1 AND subject = 'end' AND message_ids[1] = $2 LIMIT 1`, channel, messageID).Scan(&id)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return "", fmt.Errorf("look up announcement: %w", err)
	}

	return id, nil
}

// ThreadSession returns the session discussed in a thread under the announcement of its end or of an approval; an empty string
// for any other thread.
func (s *Store) ThreadSession(ctx context.Context, channel tarsy.AnnouncementChannel, threadID string) (string, error) {
	found, err := postgres.Collect[struct{ SessionID string }](ctx, s.db.Front(), `
SELECT session_id FROM announcements WHERE channel = $1 AND subject = 'end' AND message_ids[1] = $2
UNION ALL
SELECT session_id FROM announcements WHERE channel = $1 AND subject = 'approval' AND message_ids[1] = $2
LIMIT 1`, channel, threadID)
	if err != nil {
		return "", fmt.Errorf("look up thread: %w", err)
	}

	if len(found) == 0 {
		return "", nil
	}

	return found[0].SessionID, nil
}

// Receipt returns the announcement that confirmed the alert of a session; nil if the alert did not come from the channel.
func (s *Store) Receipt(ctx context.Context, channel tarsy.AnnouncementChannel, sessionID string) (*tarsy.Announcement, error) {
	found, err := postgres.Collect[tarsy.Announcement](ctx, s.db.Front(), `SELECT `+announcementColumns+` FROM announcements
WHERE session_id = $1 AND channel = $2 AND subject = 'receipt' ORDER BY id LIMIT 1`, sessionID, channel)
	if err != nil {
		return nil, fmt.Errorf("look up receipt: %w", err)
	}

	if len(found) == 0 {
		return nil, nil //nolint:nilnil // most alerts come from elsewhere
	}

	return &found[0], nil
}

// SessionOutcome is what an announcement reports about a session.
type SessionOutcome struct {
	AlertType        string
	Title            string
	Severity         tarsy.Severity
	Service          string
	Namespace        string
	ChainID          string
	Status           tarsy.SessionStatus
	ExecutiveSummary string
	FinalAnalysis    string
	ErrorMessage     string
	// Verdict is nil if there is none.
	Verdict *tarsy.Verdict `db:"-"`
}

// SessionOutcome returns the outcome of a session; nil if it was deleted.
func (s *Store) SessionOutcome(ctx context.Context, sessionID string) (*SessionOutcome, error) {
	found, err := postgres.Collect[SessionOutcome](ctx, s.db.Front(), `
SELECT alert_type, title, severity, service, namespace, chain_id, status, executive_summary, final_analysis, error_message FROM sessions
WHERE id = $1 AND deleted_at IS NULL`, sessionID)
	if err != nil {
		return nil, fmt.Errorf("read outcome of session: %w", err)
	}

	if len(found) == 0 {
		return nil, nil //nolint:nilnil // a deleted session is an answer, not an error
	}

	found[0].Verdict, err = s.Verdict(ctx, sessionID)
	if err != nil {
		return nil, err
	}

	return &found[0], nil
}

// Answer is the progress of the answer to a question.
type Answer struct {
	// Waiting means that the question has not been picked up yet.
	Waiting bool
	// Status is empty if there is no such stage.
	Status tarsy.Status
	Error  string
	Events []tarsy.TimelineEvent
}

// Answer returns the progress of the answer in a stage, from one snapshot.
func (s *Store) Answer(ctx context.Context, sessionID, stageID string) (*Answer, error) {
	var answer Answer

	err := postgres.InSnapshot(ctx, s.db.Front(), func(tx pgx.Tx) error {
		var batch pgx.Batch

		batch.Queue(`SELECT EXISTS (SELECT 1 FROM requests WHERE session_id = $1 AND status = 'open' AND payload ->> 'stage_id' = $2)`,
			sessionID, stageID).QueryRow(func(row pgx.Row) error { return row.Scan(&answer.Waiting) })
		batch.Queue(`SELECT status, error_message FROM stages WHERE session_id = $1 AND id = $2::uuid`,
			sessionID, stageID).Query(func(rows pgx.Rows) error {
			_, err := pgx.ForEachRow(rows, []any{&answer.Status, &answer.Error}, func() error { return nil })

			return err
		})
		batch.Queue(postgres.TimelineTable.SelectWhere(`session_id = $1 AND stage_id = $2::uuid ORDER BY sequence_number`),
			sessionID, stageID).Query(func(rows pgx.Rows) (err error) {
			answer.Events, err = pgx.CollectRows(rows, pgx.RowToStructByName[tarsy.TimelineEvent])

			return err
		})

		return tx.SendBatch(ctx, &batch).Close()
	})
	if err != nil {
		return nil, fmt.Errorf("read answer: %w", err)
	}

	return &answer, nil
}
