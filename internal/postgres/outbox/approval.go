package outbox

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/postgres"
)

// OpenApproval is a call that can be decided.
type OpenApproval struct {
	ID        string
	SessionID string
}

// OpenApprovalsToAnnounce returns up to limit open approvals that have not been announced in all of the channels, ordered by id,
// from the first after the given id, which may be empty.
func (s *Store) OpenApprovalsToAnnounce(ctx context.Context, channels []tarsy.AnnouncementChannel, after string, limit int) ([]OpenApproval, error) {
	if after == "" {
		after = uuid.Nil.String()
	}

	found, err := postgres.Collect[OpenApproval](ctx, s.db.Front(), postgres.OpenApprovals(`c.id, c.session_id`, "$1")+`
  AND EXISTS (SELECT FROM unnest($2::text[]) AS wanted (channel)
    WHERE NOT EXISTS (SELECT FROM announcements n WHERE n.approval_id = c.id AND n.channel = wanted.channel AND n.subject = 'approval'))
  AND c.id > $3 ORDER BY c.id LIMIT $4`, s.db.Clock().Now(), channels, after, limit)
	if err != nil {
		return nil, fmt.Errorf("read approvals to announce: %w", err)
	}

	return found, nil
}

// UnannouncedApproval is an open approval that has not been announced in a channel.
type UnannouncedApproval struct {
	ID        string
	SessionID string
	// Team and Severity are those of the session.
	Team     string
	Severity tarsy.Severity
	// ThreadID is the first thread of the session in the channel; empty if there is none.
	ThreadID string
}

// UnannouncedApprovals returns up to 100 open approvals that have not been announced in a channel, oldest first.
func (s *Store) UnannouncedApprovals(ctx context.Context, channel tarsy.AnnouncementChannel) ([]UnannouncedApproval, error) {
	found, err := postgres.Collect[UnannouncedApproval](ctx, s.db.Front(), postgres.OpenApprovals(`c.id, c.session_id, s.team, s.severity,
    coalesce((SELECT a.thread_id FROM announcements a WHERE a.session_id = s.id AND a.channel = $2 AND a.thread_id <> '' ORDER BY a.id LIMIT 1), '') AS thread_id`, "$1")+`
  AND NOT EXISTS (SELECT FROM announcements a WHERE a.approval_id = c.id AND a.channel = $2 AND a.subject = 'approval')
ORDER BY c.id LIMIT 100`, s.db.Clock().Now(), channel)
	if err != nil {
		return nil, fmt.Errorf("read approvals to announce: %w", err)
	}

	return found, nil
}
