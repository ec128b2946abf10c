package postgres

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"tarsy.dev/tarsy"
)

// OpenApproval is a call that somebody can decide about.
type OpenApproval struct {
	ID        string
	SessionID string
}

// OpenApprovalsToAnnounce returns the open approvals that at least one of the channels has not been told of: those with an id after the given one, which
// may be empty, in the order of their ids.
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
