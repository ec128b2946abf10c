package postgres_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/postgres"
	"tarsy.dev/tarsy/internal/postgres/storetest"
	"tarsy.dev/tarsy/internal/progress"
)

// needing stores a session whose recipe needs these names.
func (f *fixture) needing(t *testing.T, db *postgres.DB, needs ...string) tarsy.Session {
	t.Helper()

	hash := "needs:"
	for _, n := range needs {
		hash += " " + n
	}

	body, err := json.Marshal(map[string]any{"needs": needs})
	require.NoError(t, err)

	session := storetest.NewSession(f.Clock.Now())
	require.NoError(t, db.CreateSession(t.Context(), session, postgres.Terms{
		EngineVersion: 1, Recipe: &progress.Recipe{Hash: hash, Needs: needs, Body: body},
	}))

	return session
}

// claimHaving claims as a server does that has these names configured.
func (f *fixture) claimHaving(t *testing.T, db *postgres.DB, abandon time.Time, has ...string) []string {
	t.Helper()

	claims, err := db.Claim(t.Context(), postgres.ClaimParams{
		ServerID: storetest.ServerA, Slots: 10, MaxSessions: storetest.NoLimit, Cancels: 10, Chats: 10, Lease: storetest.Lease, Version: 1, Has: has, AbandonBefore: abandon,
	})
	require.NoError(t, err)

	return sessionIDs(claims)
}

func TestServerClaimsOnlySessionsItCanRun(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.Server(t)
	logs, both, none := f.needing(t, db, "mcp:logs"), f.needing(t, db, "llm:big", "mcp:logs"), f.needing(t, db)
	plain := f.Create(t, db) // from a release without recipes

	require.Equal(t, []string{none.ID}, f.claimHaving(t, db, time.Time{}, "mcp:metrics", "llm:big", "chain:other"))
	require.Equal(t, []string{plain.ID}, f.claimHaving(t, db, time.Time{}, "chain:chain"))
	require.ElementsMatch(t, []string{logs.ID, both.ID}, f.claimHaving(t, db, time.Time{}, "mcp:logs", "llm:big", "mcp:metrics"))
	require.Empty(t, f.claimHaving(t, db, time.Time{}, "mcp:logs", "llm:big", "mcp:metrics", "chain:chain"))
}

func TestClaimReturnsRecipeHash(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.Server(t)
	f.needing(t, db, "mcp:logs")

	claims, err := db.Claim(t.Context(), postgres.ClaimParams{
		ServerID: storetest.ServerA, Slots: 1, MaxSessions: storetest.NoLimit, Lease: storetest.Lease, Version: 1, Has: []string{"mcp:logs"},
	})
	require.NoError(t, err)
	require.Len(t, claims, 1)

	recipes, err := db.Recipes(t.Context(), []string{claims[0].RecipeHash, "no such recipe"})
	require.NoError(t, err)
	require.Len(t, recipes, 1)
	require.JSONEq(t, `{"needs": ["mcp:logs"]}`, string(recipes[claims[0].RecipeHash]))

	recipe, err := db.SessionRecipe(t.Context(), claims[0].SessionID)
	require.NoError(t, err)
	require.JSONEq(t, `{"needs": ["mcp:logs"]}`, string(recipe))

	require.Empty(t, f.Hold(t, db).RecipeHash)
}

func TestRecipeIsStoredOnceByConcurrentServers(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	for range 2 {
		db := f.Server(t)
		for range 3 {
			f.needing(t, db, "mcp:logs")
			f.needing(t, db, "mcp:metrics")
		}
	}

	require.Equal(t, 2, storetest.Value[int](t, f.Admin, `SELECT count(*) FROM recipes`))
	require.Equal(t, 12, storetest.Value[int](t, f.Admin, `SELECT count(*) FROM sessions s JOIN recipes r ON r.hash = s.recipe_hash`))
}

func TestUnrunnableSessionsDoNotBlockOthers(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.Server(t)

	for range 30 {
		f.needing(t, db, "mcp:gone")
		f.Clock.Advance(time.Second)
	}

	var want []string

	for _, need := range []string{"mcp:logs", "mcp:metrics", "mcp:logs", "mcp:metrics"} {
		want = append(want, f.needing(t, db, need).ID)
		f.Clock.Advance(time.Second)
	}

	var got []string

	for range want {
		claims, err := db.Claim(t.Context(), postgres.ClaimParams{
			ServerID: storetest.ServerA, Slots: 1, MaxSessions: storetest.NoLimit, Lease: storetest.Lease, Version: 1, Has: []string{"mcp:logs", "mcp:metrics"},
		})
		require.NoError(t, err)

		got = append(got, sessionIDs(claims)...)
	}

	require.Equal(t, want, got, "the oldest first, whatever they need")
}

func TestSessionNoServerCanRunIsClaimedAfterTimeout(t *testing.T) {
	t.Parallel()

	const patience = time.Minute

	f := newFixture(t)
	db := f.Server(t)
	announce := func(has ...string) {
		t.Helper()
		require.NoError(t, db.Announce(t.Context(), postgres.Announcement{ServerID: has[0], Version: 1, Has: has}, time.Time{}))
	}

	announce("other", "mcp:logs", "mcp:metrics")

	waiting := f.needing(t, db, "mcp:logs")
	require.Empty(t, f.claimHaving(t, db, f.Clock.Now().Add(-patience), "mcp:metrics"), "it has just come")

	f.Clock.Advance(patience)
	announce("other", "mcp:logs", "mcp:metrics")
	require.Empty(t, f.claimHaving(t, db, f.Clock.Now().Add(-patience), "mcp:metrics"), "a server that could run it is there, but busy")

	f.Clock.Advance(patience - time.Second)
	require.Empty(t, f.claimHaving(t, db, f.Clock.Now().Add(-patience), "mcp:metrics"), "that server was there a moment ago")

	f.Clock.Advance(time.Second)
	announce("mine", "mcp:metrics")
	require.Empty(t, f.claimHaving(t, db, time.Time{}, "mcp:metrics"), "this server has just started")
	require.Equal(t, []string{waiting.ID}, f.claimHaving(t, db, f.Clock.Now().Add(-patience), "mcp:metrics"))
}

func TestExpiredLeaseIsLeftToCapableServers(t *testing.T) {
	t.Parallel()

	const patience = time.Minute

	f := newFixture(t)
	db := f.Server(t)
	session := f.needing(t, db, "mcp:logs")
	require.Equal(t, []string{session.ID}, f.claimHaving(t, db, time.Time{}, "mcp:logs"))

	f.Clock.Advance(storetest.Lease + patience - time.Second)
	require.Empty(t, f.claimHaving(t, db, f.Clock.Now().Add(-patience), "mcp:metrics"))

	f.Clock.Advance(time.Second)
	require.Equal(t, []string{session.ID}, f.claimHaving(t, db, f.Clock.Now().Add(-patience), "mcp:metrics"), "nobody can")

	f.Clock.Advance(storetest.Lease)
	require.Equal(t, []string{session.ID}, f.claimHaving(t, db, time.Time{}, "mcp:logs"), "whoever can takes over at once")
}

func TestSessionOfNewerEngineIsLeftToNewerServers(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.Server(t)
	newer := storetest.NewSession(f.Clock.Now())
	require.NoError(t, db.CreateSession(t.Context(), newer, postgres.Terms{EngineVersion: 2}))
	f.Clock.Advance(time.Hour)
	require.Empty(t, f.claimHaving(t, db, f.Clock.Now(), storetest.DefaultCapabilities()...), "however long it waits")

	claims, err := db.Claim(t.Context(), postgres.ClaimParams{
		ServerID: storetest.ServerB, Slots: 1, MaxSessions: storetest.NoLimit, Lease: storetest.Lease, Version: 2, Has: storetest.DefaultCapabilities(),
	})
	require.NoError(t, err)
	require.Equal(t, []string{newer.ID}, sessionIDs(claims))

	f.Clock.Advance(storetest.Lease + time.Hour)
	require.Empty(t, f.claimHaving(t, db, f.Clock.Now(), storetest.DefaultCapabilities()...), "also when its server has died")
}

func TestCancelsAreClaimedByAnyServerAndQuestionsByEngineVersion(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.Server(t)

	finished := f.Finished(t, db, tarsy.SessionCompleted)
	f.Exec(t, `UPDATE sessions SET recipe_hash = 'gone', engine_version = 1 WHERE id = $1`, finished.ID)
	f.Question(t, db, finished.ID)
	require.Equal(t, []string{finished.ID}, f.claimHaving(t, db, time.Time{}), "a question needs nothing configured")

	newer := f.Finished(t, db, tarsy.SessionCompleted)
	f.Exec(t, `UPDATE sessions SET engine_version = 2 WHERE id = $1`, newer.ID)
	f.Question(t, db, newer.ID)
	require.Empty(t, f.claimHaving(t, db, time.Time{}), "but the engine")

	cancelled := storetest.NewSession(f.Clock.Now())
	require.NoError(t, db.CreateSession(t.Context(), cancelled, postgres.Terms{
		EngineVersion: 2, Recipe: &progress.Recipe{Hash: "h", Needs: []string{"mcp:gone"}, Body: json.RawMessage(`{}`)},
	}))

	ok, err := storetest.AddRequest(db, context.Background(), storetest.NewRequest(cancelled.ID, tarsy.RequestCancel, f.Clock.Now()))
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, []string{cancelled.ID}, f.claimHaving(t, db, time.Time{}), "any server can cancel")
}

func TestLongUnseenServersAreForgotten(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.Server(t)

	for _, id := range []string{"first", "second"} {
		require.NoError(t, db.Announce(t.Context(), postgres.Announcement{ServerID: id, Version: 1}, f.Clock.Now().Add(-time.Hour)))
		f.Clock.Advance(2 * time.Hour)
	}

	require.Equal(t, "second", storetest.Value[string](t, f.Admin, `SELECT id FROM servers`))
}
