package postgres_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/postgres"
	"tarsy.dev/tarsy/internal/postgres/storetest"
)

// recipes returns the hashes of the stored recipes.
func (f *fixture) recipes(t *testing.T) []string {
	t.Helper()

	return storetest.Value[[]string](t, f.Admin, `SELECT coalesce(array_agg(hash ORDER BY hash), '{}') FROM recipes`)
}

// purgeSession removes a session permanently, with everything else that is due.
func (f *fixture) purgeSession(t *testing.T, db *postgres.DB, id string) postgres.Swept {
	t.Helper()

	f.Exec(t, `UPDATE sessions SET completed_at = $2, status = 'completed', deleted_at = $2, runnable_at = NULL WHERE id = $1`, id, f.Clock.Now())
	f.Clock.Advance(time.Second)

	return f.purgeDue(t, db)
}

func (f *fixture) purgeDue(t *testing.T, db *postgres.DB) postgres.Swept {
	t.Helper()

	swept, err := db.PurgeSessions(t.Context(), f.Clock.Now(), 10, nothing)
	require.NoError(t, err)

	return swept
}

func TestPurgeRemovesRecipesThatNoSessionFollows(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.Server(t)
	gone, kept := f.needing(t, db, "mcp:gone"), f.needing(t, db, "mcp:kept")

	require.Equal(t, postgres.Swept{Sessions: 1}, f.purgeSession(t, db, gone.ID))
	require.Equal(t, []string{"needs: mcp:gone", "needs: mcp:kept"}, f.recipes(t), "it was used a moment ago")

	f.Clock.Advance(25 * time.Hour)
	require.Equal(t, postgres.Swept{Recipes: 1}, f.purgeDue(t, db))
	require.Equal(t, []string{"needs: mcp:kept"}, f.recipes(t))

	// A session that has been deleted but not purged still has its recipe.
	f.Exec(t, `UPDATE sessions SET deleted_at = $2 WHERE id = $1`, kept.ID, f.Clock.Now())
	require.Zero(t, f.purgeDue(t, db))
	require.Equal(t, []string{"needs: mcp:kept"}, f.recipes(t))
}

// A server does not store a recipe with every session. One that was removed in the meantime has to be stored again.
func TestSessionAfterTheRemovalOfItsRecipeHasOne(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	taker, purger := f.Server(t), f.Server(t)

	require.Equal(t, postgres.Swept{Sessions: 1}, f.purgeSession(t, purger, f.needing(t, taker, "mcp:logs").ID))
	f.Clock.Advance(25 * time.Hour)
	require.Equal(t, postgres.Swept{Recipes: 1}, f.purgeDue(t, purger))

	next := f.needing(t, taker, "mcp:logs")
	recipe, err := taker.SessionRecipe(t.Context(), next.ID)
	require.NoError(t, err)
	require.JSONEq(t, `{"needs": ["mcp:logs"]}`, string(recipe))
}

// A recipe in use is kept even while it has no sessions: a server may be storing the next one.
func TestRecipeInUseIsKeptWithoutSessions(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.Server(t)

	for range 30 {
		require.Equal(t, postgres.Swept{Sessions: 1}, f.purgeSession(t, db, f.needing(t, db, "mcp:logs").ID))
		f.Clock.Advance(time.Hour)
		require.Zero(t, f.purgeDue(t, db))
	}

	require.Equal(t, []string{"needs: mcp:logs"}, f.recipes(t))
}
