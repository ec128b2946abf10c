package postgres

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"tarsy.dev/tarsy"
)

// OpenApproval is a call that can be decided.
type OpenApproval struct {
	ID        string
	SessionID string
}

// OpenApprovalsToAnnounce returns up to limit open approvals that have not been announced in all of the channels, ordered by id,
// from the first after the given id, which may be empty.
func (db *DB) OpenApprovalsToAnnounce(ctx context.Context, channels []tarsy.AnnouncementChannel, after string, limit int) ([]OpenApproval, error) {
	if after == "" {
		after = uuid.Nil.String()
	}

	found, err := collect[OpenApproval](ctx, db.front, openApprovals(`c.id, c.session_id`, "$1")+`
  AND EXISTS (SELECT FROM unnest($2::text[]) AS wanted (channel)
    WHERE NOT EXISTS (SELECT FROM announcements n WHERE n.approval_id = c.id AND n.channel = wanted.channel AND n.subject = 'approval'))
  AND c.id > $3 ORDER BY c.id LIMIT $4`, db.clock.Now(), channels, after, limit)
	if err != nil {
		return nil, fmt.Errorf("read approvals to announce: %w", err)
	}

	return found, nil
}
