package outbox

import (
	"context"
	"fmt"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/postgres"
)

// Verdict returns the verdict of a session; nil if it has none.
func (s *Store) Verdict(ctx context.Context, sessionID string) (*tarsy.Verdict, error) {
	found, err := postgres.Collect[tarsy.Verdict](ctx, s.db.Front(), postgres.VerdictsTable.SelectWhere(`session_id = $1`), sessionID)
	if err != nil {
		return nil, fmt.Errorf("read verdict: %w", err)
	}

	if len(found) == 0 {
		return nil, nil //nolint:nilnil // a session without a verdict is an answer, not an error
	}

	return &found[0], nil
}
