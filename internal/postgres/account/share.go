package account

import (
	"context"
	"fmt"
	"time"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/audit"
	"tarsy.dev/tarsy/internal/postgres"
)

var (
	shareColumns = postgres.ColumnsOf[tarsy.Share]()

	// createShareSQL creates a share if the session has fewer than $6 usable ones. Two concurrent calls may both get the last place.
	createShareSQL = `
INSERT INTO session_shares (id, session_id, hash, author, created_at, expires_at)
SELECT $1, s.id, $3, $4, $5, $7 FROM sessions s WHERE s.id = $2 AND s.deleted_at IS NULL
  AND $6 > (SELECT count(*) FROM session_shares o WHERE o.session_id = s.id AND o.revoked_at IS NULL AND o.expires_at > $5)
RETURNING ` + shareColumns.List()

	useShareSQL = `
UPDATE session_shares h SET uses = h.uses + 1, last_used_at = $2 FROM sessions s
WHERE h.hash = $1 AND h.revoked_at IS NULL AND h.expires_at > $2 AND s.id = h.session_id AND s.deleted_at IS NULL
RETURNING ` + shareColumns.Of("h")
)

// CreateShare stores a share with the hash of its secret. An error with CodeConflict means that the session has too many.
func (s *Store) CreateShare(ctx context.Context, share tarsy.Share, hash []byte) error {
	audit.Detail(ctx, "share_id", share.ID)
	audit.Detail(ctx, "expires_at", share.ExpiresAt.UTC().Format(time.RFC3339))
	audit.Target(ctx, share.SessionID)

	created, err := postgres.Decide[tarsy.Share](ctx, s.db.Front(), createShareSQL,
		share.ID, share.SessionID, hash, share.Author, share.CreatedAt, tarsy.MaxShares, share.ExpiresAt)
	if err != nil {
		return fmt.Errorf("store share: %w", err)
	}

	if len(created) > 0 {
		return nil
	}

	if _, err := s.db.RequestTarget(ctx, share.SessionID); err != nil {
		return err
	}

	return tarsy.Errorf(tarsy.CodeConflict, "The session already has %d shares. Revoke one that is no longer needed.", tarsy.MaxShares)
}

// Shares lists the shares of a session, newest first, including expired and revoked ones.
func (s *Store) Shares(ctx context.Context, sessionID string) ([]tarsy.Share, error) {
	shares, err := postgres.Collect[tarsy.Share](ctx, s.db.Readers(),
		`SELECT `+shareColumns.List()+` FROM session_shares WHERE session_id = $1 ORDER BY created_at DESC, id DESC LIMIT 1000`, sessionID)
	if err != nil {
		return nil, fmt.Errorf("list shares: %w", err)
	}

	for i := range shares {
		shares[i] = utcShare(shares[i])
	}

	return shares, nil
}

// RevokeShare revokes a share of a session and returns it. Revoking it again keeps the first time; nil means that there is no such share.
func (s *Store) RevokeShare(ctx context.Context, sessionID, id string, now time.Time) (*tarsy.Share, error) {
	audit.Detail(ctx, "share_id", id)
	audit.Target(ctx, sessionID)

	revoked, err := postgres.Decide[tarsy.Share](ctx, s.db.Front(),
		`UPDATE session_shares SET revoked_at = $3 WHERE id = $2 AND session_id = $1 AND revoked_at IS NULL RETURNING `+shareColumns.List(), sessionID, id, now)
	if err == nil && len(revoked) == 0 {
		revoked, err = postgres.Collect[tarsy.Share](ctx, s.db.Front(), `SELECT `+shareColumns.List()+` FROM session_shares WHERE id = $2 AND session_id = $1`, sessionID, id)
	}

	if err != nil {
		return nil, fmt.Errorf("revoke share: %w", err)
	}

	if len(revoked) == 0 {
		return nil, nil //nolint:nilnil // none is an answer
	}

	return new(utcShare(revoked[0])), nil
}

// UseShare finds the share whose secret has this hash, and counts the use. It returns nil if there is none, if it has expired or
// been revoked, or if its session is deleted.
func (s *Store) UseShare(ctx context.Context, hash []byte, now time.Time) (*tarsy.Share, error) {
	used, err := postgres.Collect[tarsy.Share](ctx, s.db.Front(), useShareSQL, hash, now)
	if err != nil {
		return nil, fmt.Errorf("use share: %w", err)
	}

	if len(used) == 0 {
		return nil, nil //nolint:nilnil // none is an answer
	}

	return new(utcShare(used[0])), nil
}

func utcShare(s tarsy.Share) tarsy.Share {
	s.CreatedAt, s.ExpiresAt = s.CreatedAt.UTC(), s.ExpiresAt.UTC()

	for _, at := range []**time.Time{&s.RevokedAt, &s.LastUsedAt} {
		if *at != nil {
			*at = new((*at).UTC())
		}
	}

	return s
}
