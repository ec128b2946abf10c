package postgres

import (
	"context"
	"fmt"
	"math"
	"time"

	"tarsy.dev/tarsy"
)

// BrowserSession is a browser that somebody logged in with a key. It lasts until ExpiresAt, or until the key is revoked.
type BrowserSession struct {
	tarsy.APIKey

	CSRFToken string
	ExpiresAt time.Time
}

// CreateBrowserSession stores a session under the hash of its secret, and forgets those that are past their time. Of
// one key it keeps the newest sessions, at most as many as given; 0 means all.
func (db *DB) CreateBrowserSession(
	ctx context.Context, hash []byte, keyID, csrfToken string, createdAt, expiresAt time.Time, most int,
) error {
	others := math.MaxInt32
	if most > 0 {
		others = most - 1
	}

	_, err := db.front.Exec(ctx, `WITH expired AS (DELETE FROM browser_sessions WHERE expires_at <= $4),
surplus AS (DELETE FROM browser_sessions WHERE expires_at > $4 AND hash IN (
	SELECT hash FROM browser_sessions WHERE key_id = $2 AND expires_at > $4 ORDER BY created_at DESC, hash OFFSET $6))
INSERT INTO browser_sessions (hash, key_id, csrf_token, created_at, expires_at) VALUES ($1, $2, $3, $4, $5)`,
		hash, keyID, csrfToken, createdAt, expiresAt, others)
	if err != nil {
		return fmt.Errorf("store browser session: %w", err)
	}

	return nil
}

// BrowserSession finds a session that is not past its time and whose key was not revoked; nil means that there is none.
func (db *DB) BrowserSession(ctx context.Context, hash []byte, now time.Time) (*BrowserSession, error) {
	sessions, err := collect[BrowserSession](ctx, db.front, `SELECT k.id, k.name, k.prefix, k.scopes, k.created_at, k.last_used_at, k.revoked_at,
	s.csrf_token, s.expires_at
FROM browser_sessions s JOIN api_keys k ON k.id = s.key_id
WHERE s.hash = $1 AND s.expires_at > $2 AND k.revoked_at IS NULL`, hash, now)
	if err != nil {
		return nil, fmt.Errorf("look up browser session: %w", err)
	}

	if len(sessions) == 0 {
		return nil, nil //nolint:nilnil // no session is an answer, not an error
	}

	return &sessions[0], nil
}

// DeleteBrowserSession forgets a session; one that is not there is forgotten already.
func (db *DB) DeleteBrowserSession(ctx context.Context, hash []byte) error {
	if _, err := db.front.Exec(ctx, `DELETE FROM browser_sessions WHERE hash = $1`, hash); err != nil {
		return fmt.Errorf("forget browser session: %w", err)
	}

	return nil
}
