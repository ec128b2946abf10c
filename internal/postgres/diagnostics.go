package postgres

import (
	"context"
	"fmt"
	"time"
)

// ServerRow is what a server announces about itself.
type ServerRow struct {
	ID            string
	EngineVersion int
	// Has is what the server can run: chains, MCP servers and LLM providers.
	Has    []string
	SeenAt time.Time
}

// Servers returns the servers that use this database or recently did, the last seen first, at most 100.
func (db *DB) Servers(ctx context.Context) ([]ServerRow, error) {
	const most = 100

	found, err := Collect[ServerRow](ctx, db.front, `SELECT id, engine_version, has, seen_at FROM servers ORDER BY seen_at DESC LIMIT $1`, most)
	if err != nil {
		return nil, fmt.Errorf("read the servers: %w", err)
	}

	return found, nil
}

// MigrationRow is an applied migration.
type MigrationRow struct {
	Version int
	Name    string
}

// AppliedMigrations returns the migrations that were applied to the database, in order.
func (db *DB) AppliedMigrations(ctx context.Context) ([]MigrationRow, error) {
	found, err := Collect[MigrationRow](ctx, db.front,
		`SELECT version, name FROM schema_migrations UNION SELECT version, name FROM schema_additions ORDER BY version`)
	if err != nil {
		return nil, fmt.Errorf("read the migrations: %w", err)
	}

	return found, nil
}
