package postgres

import (
	"context"
	"fmt"
	"time"
)

// ServerRow is what a server announces.
type ServerRow struct {
	ID            string
	EngineVersion int
	// Has is what the server can run: chains, MCP servers and LLM providers.
	Has    []string
	SeenAt time.Time
}

// Servers are the servers that use this database or did lately, the one that was seen last first.
func (db *DB) Servers(ctx context.Context) ([]ServerRow, error) {
	const most = 100

	found, err := collect[ServerRow](ctx, db.front, `SELECT id, engine_version, has, seen_at FROM servers ORDER BY seen_at DESC LIMIT $1`, most)
	if err != nil {
		return nil, fmt.Errorf("read the servers: %w", err)
	}

	return found, nil
}

// MigrationRow is a migration that was applied.
type MigrationRow struct {
	Version int
	Name    string
}

// AppliedMigrations are the migrations of the database, in order.
func (db *DB) AppliedMigrations(ctx context.Context) ([]MigrationRow, error) {
	found, err := collect[MigrationRow](ctx, db.front,
		`SELECT version, name FROM schema_migrations UNION SELECT version, name FROM schema_additions ORDER BY version`)
	if err != nil {
		return nil, fmt.Errorf("read the migrations: %w", err)
	}

	return found, nil
}
