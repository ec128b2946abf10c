package account

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/jackc/pgx/v5"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/audit"
	"tarsy.dev/tarsy/internal/postgres"
)

// BrowserSession is the session of a browser that was logged in with a key or as a user of an OpenID Connect issuer. It lasts
// until EndsAt, or until the key is revoked or expires.
type BrowserSession struct {
	// Exactly one of Key and User is set.
	Key  *tarsy.APIKey
	User *BrowserUser

	CSRFToken string
	EndsAt    time.Time
}

// BrowserUser is the user of a browser session without a key, as the issuer described them at login.
type BrowserUser struct {
	Issuer, Subject, Name string
	Groups, Teams         []string
}

// CreateBrowserSession stores a session under the hash of its secret, and deletes expired sessions and the replaced ones. Of the
// sessions of the key it keeps the newest, at most as many as given; 0 means all.
func (s *Store) CreateBrowserSession(
	ctx context.Context, hash []byte, keyID, csrfToken string, createdAt, expiresAt time.Time, maxSessions int, replaced ...[]byte,
) error {
	return s.storeSession(ctx, replaced, `WITH expired AS (DELETE FROM browser_sessions WHERE expires_at <= $4),
surplus AS (DELETE FROM browser_sessions WHERE expires_at > $4 AND hash IN (
	SELECT hash FROM browser_sessions WHERE key_id = $2 AND expires_at > $4 ORDER BY created_at DESC, hash OFFSET $6))
INSERT INTO browser_sessions (hash, key_id, csrf_token, created_at, expires_at) VALUES ($1, $2, $3, $4, $5)`,
		hash, keyID, csrfToken, createdAt, expiresAt, otherSessions(maxSessions))
}

// CreateUserSession is CreateBrowserSession for a user without a key.
func (s *Store) CreateUserSession(
	ctx context.Context, hash []byte, user BrowserUser, csrfToken string, createdAt, expiresAt time.Time, maxSessions int, replaced ...[]byte,
) error {
	return s.storeSession(ctx, replaced, `WITH expired AS (DELETE FROM browser_sessions WHERE expires_at <= $3),
surplus AS (DELETE FROM browser_sessions WHERE expires_at > $3 AND hash IN (
	SELECT hash FROM browser_sessions WHERE issuer = $5 AND subject = $6 AND expires_at > $3 ORDER BY created_at DESC, hash OFFSET $10))
INSERT INTO browser_sessions (hash, csrf_token, created_at, expires_at, issuer, subject, user_name, user_groups, user_teams)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
		hash, csrfToken, createdAt, expiresAt, user.Issuer, user.Subject, user.Name,
		append([]string{}, user.Groups...), append([]string{}, user.Teams...), otherSessions(maxSessions))
}

// storeSession stores a session with a statement, and deletes those that it replaces.
func (s *Store) storeSession(ctx context.Context, replaced [][]byte, sql string, args ...any) error {
	err := audit.Change(ctx, s.db.Front(), func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, sql, args...); err != nil || len(replaced) == 0 {
			return err
		}

		_, err := tx.Exec(ctx, deleteSessionsSQL, replaced)

		return err
	})
	if err != nil {
		return fmt.Errorf("store browser session: %w", err)
	}

	return nil
}

const deleteSessionsSQL = `DELETE FROM browser_sessions WHERE hash = ANY ($1)`

// otherSessions returns how many sessions may remain beside a new one.
func otherSessions(maxSessions int) int {
	if maxSessions > 0 {
		return maxSessions - 1
	}

	return math.MaxInt32
}

// keySession and userSession are the rows of the two kinds of sessions.
type (
	keySession struct {
		tarsy.APIKey

		CSRFToken string
		EndsAt    time.Time
	}
	userSession struct {
		BrowserUser

		CSRFToken string
		EndsAt    time.Time
	}
)

// BrowserSession returns a session that has not expired and whose key, if it has one, is active; nil if there is none.
func (s *Store) BrowserSession(ctx context.Context, hash []byte, now time.Time) (*BrowserSession, error) {
	withKey, err := postgres.Collect[keySession](ctx, s.db.Front(), `SELECT `+keyColumns+`, s.csrf_token, s.expires_at AS ends_at
FROM browser_sessions s JOIN api_keys ON api_keys.id = s.key_id
WHERE s.hash = $2 AND s.expires_at > $1 AND `+activeKey, now, hash)
	if err != nil {
		return nil, fmt.Errorf("look up browser session: %w", err)
	}

	if len(withKey) > 0 {
		found := withKey[0]

		return &BrowserSession{Key: &found.APIKey, CSRFToken: found.CSRFToken, EndsAt: found.EndsAt}, nil
	}

	withUser, err := postgres.Collect[userSession](ctx, s.db.Front(), `SELECT issuer, subject, user_name AS name, user_groups AS groups, user_teams AS teams,
	csrf_token, expires_at AS ends_at FROM browser_sessions WHERE hash = $2 AND expires_at > $1 AND key_id IS NULL`, now, hash)
	if err != nil {
		return nil, fmt.Errorf("look up browser session: %w", err)
	}

	if len(withUser) == 0 {
		return nil, nil //nolint:nilnil // no session is an answer, not an error
	}

	found := withUser[0]

	return &BrowserSession{User: &found.BrowserUser, CSRFToken: found.CSRFToken, EndsAt: found.EndsAt}, nil
}

// DeleteBrowserSession deletes a session. Deleting one that does not exist is not an error.
func (s *Store) DeleteBrowserSession(ctx context.Context, hash []byte) error {
	err := audit.Change(ctx, s.db.Front(), func(tx pgx.Tx) error {
		forgotten, err := tx.Exec(ctx, deleteSessionsSQL, [][]byte{hash})
		if err == nil && forgotten.RowsAffected() == 0 {
			return audit.ErrUnchanged
		}

		return err
	})
	if err != nil {
		return fmt.Errorf("delete browser session: %w", err)
	}

	return nil
}

// ActiveLogins returns which of these keys and browser sessions are valid at a time: the ids of keys, and the hex-encoded hashes
// of browser sessions.
func (s *Store) ActiveLogins(ctx context.Context, keyIDs []string, sessions [][]byte, now time.Time) ([]string, error) {
	rows, err := s.db.Front().Query(ctx, `SELECT id::text FROM api_keys WHERE id = ANY ($2) AND `+activeKey+`
UNION ALL
SELECT encode(s.hash, 'hex') FROM browser_sessions s JOIN api_keys ON api_keys.id = s.key_id
WHERE s.hash = ANY ($3) AND s.expires_at > $1 AND `+activeKey+`
UNION ALL
SELECT encode(hash, 'hex') FROM browser_sessions WHERE hash = ANY ($3) AND expires_at > $1 AND key_id IS NULL`, now, keyIDs, sessions)
	if err != nil {
		return nil, fmt.Errorf("look up logins: %w", err)
	}

	active, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return nil, fmt.Errorf("look up logins: %w", err)
	}

	return active, nil
}
