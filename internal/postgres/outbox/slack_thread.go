package outbox

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/internal/postgres"
)

// SlackThread is a thread in Slack: the announcements of one alert in one channel.
type SlackThread struct {
	ID          string
	Channel     string
	Fingerprint string
	// SessionID is the newest session announced in the thread.
	SessionID string
	// AnnouncementID is the announcement that posts the first message.
	AnnouncementID string
	// TS identifies the first message; empty until it is posted.
	TS        string `db:"ts"`
	CreatedAt time.Time
}

const slackThreadColumns = `t.id, t.channel, t.fingerprint, t.session_id, t.announcement_id, t.ts, t.created_at`

const (
	retireSlackThreadsSQL = `
UPDATE slack_threads SET current = false WHERE channel = $1 AND fingerprint = $2 AND fingerprint <> '' AND current AND created_at <= $3`

	addSlackThreadSQL = `
INSERT INTO slack_threads (id, channel, fingerprint, session_id, announcement_id, created_at) VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING`

	// Ids grow with time, so the newest session has the greatest. If the announcement that was to post the first message no
	// longer will, this one takes over.
	joinSlackThreadSQL = `
UPDATE slack_threads t SET session_id = greatest(t.session_id, $3::uuid), announcement_id = CASE
    WHEN t.ts = '' AND NOT EXISTS (SELECT 1 FROM announcements a WHERE a.id = t.announcement_id AND a.state = 'pending') THEN $4::uuid
    ELSE t.announcement_id END
WHERE t.channel = $1 AND t.fingerprint = $2 AND t.current AND (t.fingerprint <> '' OR t.session_id = $3::uuid)
RETURNING ` + slackThreadColumns
)

// JoinSlackThread returns the thread that an announcement belongs to, and adds one if none began less than maxAge ago. Of
// announcements that race, the one that the thread names posts the first message.
func (s *Store) JoinSlackThread(ctx context.Context, a tarsy.Announcement, fingerprint string, maxAge time.Duration) (SlackThread, error) {
	var thread SlackThread

	err := pgx.BeginFunc(ctx, s.db.Front(), func(tx pgx.Tx) error {
		now := s.db.Clock().Now()

		if _, err := tx.Exec(ctx, retireSlackThreadsSQL, a.Target, fingerprint, now.Add(-maxAge)); err != nil {
			return err
		}

		if _, err := tx.Exec(ctx, addSlackThreadSQL, ident.New(), a.Target, fingerprint, a.SessionID, a.ID, now); err != nil {
			return err
		}

		rows, err := tx.Query(ctx, joinSlackThreadSQL, a.Target, fingerprint, a.SessionID, a.ID)
		if err != nil {
			return err
		}

		thread, err = pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[SlackThread])

		return err
	})
	if err != nil {
		return SlackThread{}, fmt.Errorf("join Slack thread: %w", err)
	}

	return thread, nil
}

// StartPending reports whether the start of a session is still to be announced in a channel.
func (s *Store) StartPending(ctx context.Context, channel tarsy.AnnouncementChannel, sessionID string) (bool, error) {
	var pending bool

	if err := s.db.Front().QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM announcements
WHERE session_id = $1 AND channel = $2 AND subject = 'start' AND state = 'pending')`, sessionID, channel).Scan(&pending); err != nil {
		return false, fmt.Errorf("look up announcement of start: %w", err)
	}

	return pending, nil
}

// SetSlackThread records the first message of a thread, posted by an announcement.
func (s *Store) SetSlackThread(ctx context.Context, announcementID, ts string) error {
	if _, err := s.db.Front().Exec(ctx, `UPDATE slack_threads SET ts = $2 WHERE announcement_id = $1 AND ts = ''`, announcementID, ts); err != nil {
		return fmt.Errorf("record Slack thread: %w", err)
	}

	return nil
}

// EndSlackThread keeps further announcements out of a thread that somebody deleted.
func (s *Store) EndSlackThread(ctx context.Context, id string) error {
	if _, err := s.db.Front().Exec(ctx, `UPDATE slack_threads SET current = false WHERE id = $1`, id); err != nil {
		return fmt.Errorf("end Slack thread: %w", err)
	}

	return nil
}

// SlackThreadSession returns the session discussed in a thread; an empty string if the thread is not ours. beginning reports
// whether the thread may be one whose first message, which began at a time, has been posted but not recorded yet.
func (s *Store) SlackThreadSession(ctx context.Context, channel, ts string, began time.Time) (sessionID string, beginning bool, err error) {
	err = s.db.Front().QueryRow(ctx, `
SELECT coalesce((SELECT session_id::text FROM slack_threads WHERE channel = $1 AND ts = $2 AND ts <> '' LIMIT 1), ''),
    EXISTS (SELECT 1 FROM slack_threads WHERE channel = $1 AND ts = '' AND current AND created_at <= $3)`, channel, ts, began).Scan(&sessionID, &beginning)
	if err != nil {
		return "", false, fmt.Errorf("look up Slack thread: %w", err)
	}

	return sessionID, sessionID == "" && beginning, nil
}

// SlackThreadState is what the first message of a thread shows about its alert.
type SlackThreadState struct {
	SlackThread

	// State changes whenever a field below changes; Shown is the state that the message shows, empty at first.
	State string
	Shown string
	// Status is that of the newest session, Sessions is how many were announced in the thread.
	Status   tarsy.SessionStatus
	Sessions int
	// Occurrences is how often the alert of the newest session was received, and ResolvedAt is nil while it fires.
	Occurrences int64
	ResolvedAt  *time.Time
}

const slackThreadStatesSQL = `
    SELECT ` + slackThreadColumns + `, t.shown, s.status, coalesce(d.occurrences, 1) AS occurrences, CASE WHEN NOT d.firing THEN d.resolved_at END AS resolved_at,
        (SELECT count(DISTINCT a.session_id) FROM announcements a WHERE a.channel = 'slack' AND a.target = t.channel AND a.thread_id = t.ts AND a.thread_id <> '') AS sessions
    FROM slack_threads t JOIN sessions s ON s.id = t.session_id LEFT JOIN session_alerts d ON d.session_id = t.session_id
    WHERE t.ts <> '' AND s.deleted_at IS NULL AND `

// slackState is an expression that identifies a state.
const slackState = `concat_ws(' ', x.session_id, x.status, x.sessions, x.occurrences, x.resolved_at IS NOT NULL)`

func (s *Store) slackStates(ctx context.Context, where, rest string, args ...any) ([]SlackThreadState, error) {
	found, err := postgres.Collect[SlackThreadState](ctx, s.db.Front(), `SELECT x.id, x.channel, x.fingerprint, x.session_id, x.announcement_id, x.ts, x.created_at,
x.shown, x.status, x.sessions, x.occurrences, x.resolved_at, `+slackState+` AS state FROM (`+slackThreadStatesSQL+where+`) x `+rest, args...)
	if err != nil {
		return nil, fmt.Errorf("read the state of Slack threads: %w", err)
	}

	return found, nil
}

// ChangedSlackThreads returns threads that began less than maxAge ago and whose first message is out of date.
func (s *Store) ChangedSlackThreads(ctx context.Context, maxAge time.Duration, limit int) ([]SlackThreadState, error) {
	return s.slackStates(ctx, `t.current AND t.created_at > $1`, `WHERE x.shown <> `+slackState+` ORDER BY x.id LIMIT $2`, s.db.Clock().Now().Add(-maxAge), limit)
}

// SlackThreadOf returns the state of the thread whose first message an announcement posts; nil if it posts none.
func (s *Store) SlackThreadOf(ctx context.Context, announcementID string) (*SlackThreadState, error) {
	found, err := s.slackStates(ctx, `t.announcement_id = $1`, `LIMIT 1`, announcementID)
	if err != nil || len(found) == 0 {
		return nil, err
	}

	return &found[0], nil
}

// ShowSlackThread records which state the first message of a thread shows.
func (s *Store) ShowSlackThread(ctx context.Context, id, state string) error {
	if _, err := s.db.Front().Exec(ctx, `UPDATE slack_threads SET shown = $2 WHERE id = $1`, id, state); err != nil {
		return fmt.Errorf("record the state of a Slack thread: %w", err)
	}

	return nil
}
