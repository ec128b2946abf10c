package postgres

import (
	"context"
	"fmt"

	"tarsy.dev/tarsy"
)

// Verdict returns the verdict of a session; nil if it has none.
func (db *DB) Verdict(ctx context.Context, sessionID string) (*tarsy.Verdict, error) {
	found, err := collect[tarsy.Verdict](ctx, db.front, verdictsTable.selectWhere(`session_id = $1`), sessionID)
	if err != nil {
		return nil, fmt.Errorf("read verdict: %w", err)
	}

	if len(found) == 0 {
		return nil, nil //nolint:nilnil // a session without a verdict is an answer, not an error
	}

	return &found[0], nil
}
