package outbox

import (
	"context"
	"fmt"
	"time"

	"tarsy.dev/tarsy"
)

// takeChannelSQL takes a free channel, or renews the server's own lease.
const takeChannelSQL = `
INSERT INTO channel_leases AS l (channel, server_id, lease_until) VALUES ($1, $2, $4)
ON CONFLICT (channel) DO UPDATE SET server_id = excluded.server_id, lease_until = excluded.lease_until
WHERE l.server_id = excluded.server_id OR l.lease_until <= $3`

// TakeChannel acquires or renews a server's lease on a channel. It returns false while another server holds the channel. The
// lease is a row and not an advisory lock, because those end with the connection, which a pooler may share.
func (s *Store) TakeChannel(ctx context.Context, channel tarsy.AnnouncementChannel, serverID string, lease time.Duration) (bool, error) {
	now := s.db.Clock().Now()

	taken, err := s.db.Front().Exec(ctx, takeChannelSQL, channel, serverID, now, now.Add(lease))
	if err != nil {
		return false, fmt.Errorf("take channel %s: %w", channel, err)
	}

	return taken.RowsAffected() == 1, nil
}

// LeaveChannel releases a channel, so that another server can take it immediately.
func (s *Store) LeaveChannel(ctx context.Context, channel tarsy.AnnouncementChannel, serverID string) error {
	_, err := s.db.Front().Exec(ctx, `DELETE FROM channel_leases WHERE channel = $1 AND server_id = $2`, channel, serverID)
	if err != nil {
		return fmt.Errorf("leave channel %s: %w", channel, err)
	}

	return nil
}
