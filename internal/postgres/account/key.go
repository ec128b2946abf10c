package account

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/audit"
	"tarsy.dev/tarsy/internal/postgres"
)

// keyColumns are the columns of tarsy.APIKey; a statement must name api_keys without an alias.
const keyColumns = `api_keys.id, api_keys.name, api_keys.prefix, api_keys.scopes, api_keys.created_at, api_keys.last_used_at, api_keys.revoked_at,
	(SELECT expires_at FROM api_key_expiries WHERE key_id = api_keys.id) AS expires_at,
	coalesce((SELECT teams FROM api_key_teams WHERE key_id = api_keys.id), '{}') AS teams`

// activeKey is the condition that a key is valid at the time $1.
const activeKey = `api_keys.revoked_at IS NULL AND NOT EXISTS (SELECT 1 FROM api_key_expiries WHERE key_id = api_keys.id AND expires_at <= $1)`

// CreateKey stores a key with the hash of its secret.
func (s *Store) CreateKey(ctx context.Context, key tarsy.APIKey, hash []byte) error {
	audit.Target(ctx, key.ID)
	audit.Detail(ctx, "name", key.Name)
	audit.Detail(ctx, "prefix", key.Prefix)
	audit.Detail(ctx, "scopes", listed(key.Scopes))

	if len(key.Teams) > 0 {
		audit.Detail(ctx, "teams", listed(key.Teams))
	}

	if key.ExpiresAt != nil {
		audit.Detail(ctx, "expires_at", key.ExpiresAt.UTC().Format(time.RFC3339))
	}

	err := audit.Change(ctx, s.db.Front(), func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `WITH key AS (
	INSERT INTO api_keys (id, name, prefix, hash, scopes, created_at) VALUES ($1, $2, $3, $4, $5, $6) RETURNING id
), limits AS (
	INSERT INTO api_key_teams (key_id, teams) SELECT id, $8 FROM key WHERE cardinality($8::text[]) > 0
)
INSERT INTO api_key_expiries (key_id, expires_at) SELECT id, $7 FROM key WHERE $7::timestamptz IS NOT NULL`,
			key.ID, key.Name, key.Prefix, hash, key.Scopes, key.CreatedAt, key.ExpiresAt, key.Teams)

		return err
	})
	if err != nil {
		return fmt.Errorf("store key: %w", err)
	}

	return nil
}

// listed joins names in sorted order.
func listed[S ~string](names []S) string {
	texts := make([]string, len(names))
	for i, name := range slices.Sorted(slices.Values(names)) {
		texts[i] = string(name)
	}

	return strings.Join(texts, ", ")
}

// Keys lists all keys, oldest first.
func (s *Store) Keys(ctx context.Context) ([]tarsy.APIKey, error) {
	keys, err := postgres.Collect[tarsy.APIKey](ctx, s.db.Front(), `SELECT `+keyColumns+` FROM api_keys ORDER BY created_at, id`)
	if err != nil {
		return nil, fmt.Errorf("list keys: %w", err)
	}

	return keys, nil
}

// KeyByHash returns a key, even if it was revoked or has expired; nil if there is none.
func (s *Store) KeyByHash(ctx context.Context, hash []byte) (*tarsy.APIKey, error) {
	keys, err := postgres.Collect[tarsy.APIKey](ctx, s.db.Front(),
		`SELECT `+keyColumns+` FROM api_keys WHERE hash = $1`, hash)
	if err != nil {
		return nil, fmt.Errorf("look up key: %w", err)
	}

	if len(keys) == 0 {
		return nil, nil //nolint:nilnil // no key is an answer, not an error
	}

	return &keys[0], nil
}

// TouchKey records the use of a key.
func (s *Store) TouchKey(ctx context.Context, id string, at time.Time) error {
	if _, err := s.db.Front().Exec(ctx, `UPDATE api_keys SET last_used_at = $2 WHERE id = $1`, id, at); err != nil {
		return fmt.Errorf("record the use of a key: %w", err)
	}

	return nil
}

// RevokeKey revokes a key by id or prefix. Revoking it again keeps the first time.
func (s *Store) RevokeKey(ctx context.Context, idOrPrefix string, at time.Time) (*tarsy.APIKey, error) {
	var key *tarsy.APIKey

	err := audit.Change(ctx, s.db.Front(), func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, `UPDATE api_keys SET revoked_at = $2 WHERE (id::text = $1 OR prefix = $1) AND revoked_at IS NULL RETURNING `+keyColumns, idOrPrefix, at)
		if err != nil {
			return err
		}

		key, err = pgx.CollectExactlyOneRow(rows, pgx.RowToAddrOfStructByName[tarsy.APIKey])
		if errors.Is(err, pgx.ErrNoRows) {
			return readKey(ctx, tx, idOrPrefix, &key)
		}

		if err != nil {
			return err
		}

		audit.Target(ctx, key.ID)
		audit.Detail(ctx, "name", key.Name)
		audit.Detail(ctx, "prefix", key.Prefix)

		return nil
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, tarsy.Errorf(tarsy.CodeKeyNotFound, "there is no key %q", idOrPrefix)
	}

	if err != nil {
		return nil, fmt.Errorf("revoke key: %w", err)
	}

	return key, nil
}

// readKey reads a key that has already been revoked.
func readKey(ctx context.Context, tx pgx.Tx, idOrPrefix string, into **tarsy.APIKey) error {
	keys, err := postgres.Collect[tarsy.APIKey](ctx, tx, `SELECT `+keyColumns+` FROM api_keys WHERE id::text = $1 OR prefix = $1`, idOrPrefix)

	switch {
	case err != nil:
		return err
	case len(keys) == 0:
		return pgx.ErrNoRows
	}

	*into = &keys[0]

	return audit.ErrUnchanged
}

// HasKeys reports whether there is an active key.
func (s *Store) HasKeys(ctx context.Context) (bool, error) {
	var has bool

	err := s.db.Front().QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM api_keys WHERE `+activeKey+`)`, s.db.Clock().Now()).Scan(&has)
	if err != nil {
		return false, fmt.Errorf("look for keys: %w", err)
	}

	return has, nil
}
