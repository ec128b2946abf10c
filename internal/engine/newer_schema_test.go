package engine

import (
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/kit/wait"
)

// A migration of a newer release added a constraint that this release's step violates.
func TestStepRefusedByNewerSchemaIsHandedOver(t *testing.T) {
	t.Parallel()

	h := newFixture(t)
	h.investigate()
	h.exec(`INSERT INTO schema_additions (version, name) VALUES (9999, '9999_future.sql')`)
	h.exec(`ALTER TABLE mcp_interactions ADD CONSTRAINT newer CHECK (status <> 'completed') NOT VALID`)

	s := h.start("one", nil)
	id := s.submit()

	wait.Until(t, "the session to be left to others", func() bool {
		var deferred bool

		require.NoError(t, h.sql.QueryRow(h.ctx,
			`SELECT lease_until IS NULL AND fence = 1 AND runnable_at > now() + interval '10 seconds' FROM sessions WHERE id = $1`, id).Scan(&deferred))

		return deferred
	})

	require.Equal(t, tarsy.SessionInProgress, s.detail(id).Status)
	require.Equal(t, 1, h.tools.made("look"), "the first refusal is enough")

	// The newer release continues the session.
	h.exec(`ALTER TABLE mcp_interactions DROP CONSTRAINT newer`)
	h.exec(`UPDATE sessions SET runnable_at = created_at WHERE id = $1`, id)
	s.completes(id)
	h.requireWhole(id)
}
