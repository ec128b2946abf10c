package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"tarsy.dev/tarsy"
)

const keyColumns = `id, name, prefix, scopes, created_at, last_used_at, revoked_at`

// CreateKey stores a key with the hash of its secret.
func (db *DB) CreateKey(ctx context.Context, key tarsy.APIKey, hash []byte) error {
	_, err := db.front.Exec(ctx, `INSERT INTO api_keys (id, name, prefix, hash, scopes, created_at) VALUES ($1, $2, $3, $4, $5, $6)`,
		key.ID, key.Name, key.Prefix, hash, key.Scopes, key.CreatedAt)
	if err != nil {
		return fmt.Errorf("store key: %w", err)
	}

	return nil
}

// Keys lists all keys, oldest first.
func (db *DB) Keys(ctx context.Context) ([]tarsy.APIKey, error) {
	keys, err := collect[tarsy.APIKey](ctx, db.front, `SELECT `+keyColumns+` FROM api_keys ORDER BY created_at, id`)
	if err != nil {
		return nil, fmt.Errorf("list keys: %w", err)
	}

	return keys, nil
}

// KeyByHash finds a key that was not revoked; nil means that there is none.
func (db *DB) KeyByHash(ctx context.Context, hash []byte) (*tarsy.APIKey, error) {
	keys, err := collect[tarsy.APIKey](ctx, db.front,
		`SELECT `+keyColumns+` FROM api_keys WHERE hash = $1 AND revoked_at IS NULL`, hash)
	if err != nil {
		return nil, fmt.Errorf("look up key: %w", err)
	}

	if len(keys) == 0 {
		return nil, nil //nolint:nilnil // no key is an answer, not an error
	}

	return &keys[0], nil
}

// TouchKey notes that a key was used.
func (db *DB) TouchKey(ctx context.Context, id string, at time.Time) error {
	if _, err := db.front.Exec(ctx, `UPDATE api_keys SET last_used_at = $2 WHERE id = $1`, id, at); err != nil {
		return fmt.Errorf("note the use of a key: %w", err)
	}

	return nil
}

// RevokeKey revokes a key by id or prefix; revoking twice keeps the first time.
func (db *DB) RevokeKey(ctx context.Context, idOrPrefix string, at time.Time) (*tarsy.APIKey, error) {
	rows, err := db.front.Query(ctx, `UPDATE api_keys SET revoked_at = coalesce(revoked_at, $2)
WHERE id::text = $1 OR prefix = $1 RETURNING `+keyColumns, idOrPrefix, at)
	if err != nil {
		return nil, fmt.Errorf("revoke key: %w", err)
	}

	key, err := pgx.CollectExactlyOneRow(rows, pgx.RowToAddrOfStructByName[tarsy.APIKey])
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, tarsy.Errorf(tarsy.CodeKeyNotFound, "there is no key %q", idOrPrefix)
	}

	if err != nil {
		return nil, fmt.Errorf("revoke key: %w", err)
	}

	return key, nil
}

// HasKeys reports whether any key could log in.
func (db *DB) HasKeys(ctx context.Context) (bool, error) {
	var has bool
	if err := db.front.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM api_keys WHERE revoked_at IS NULL)`).Scan(&has); err != nil {
		return false, fmt.Errorf("look for keys: %w", err)
	}

	return has, nil
}
