package postgres_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/postgres"
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

	session := newSession(f.clock.Now())
	require.NoError(t, db.CreateSession(t.Context(), session, postgres.Terms{
		EngineVersion: 1, Recipe: &progress.Recipe{Hash: hash, Needs: needs, Body: body},
	}))

	return session
}

// claimHaving claims as a server does that has these names configured.
func (f *fixture) claimHaving(t *testing.T, db *postgres.DB, abandon time.Time, has ...string) []string {
	t.Helper()

	claims, err := db.Claim(t.Context(), postgres.ClaimParams{
		ServerID: serverA, Slots: 10, MaxSessions: noLimit, Cancels: 10, Chats: 10, Lease: lease, Version: 1, Has: has, AbandonBefore: abandon,
	})
	require.NoError(t, err)

	return sessionIDs(claims)
}

func TestServerClaimsOnlySessionsItCanRun(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.server(t)
	logs, both, none := f.needing(t, db, "mcp:logs"), f.needing(t, db, "llm:big", "mcp:logs"), f.needing(t, db)
	plain := f.create(t, db) // from a release without recipes

	require.Equal(t, []string{none.ID}, f.claimHaving(t, db, time.Time{}, "mcp:metrics", "llm:big", "chain:other"))
	require.Equal(t, []string{plain.ID}, f.claimHaving(t, db, time.Time{}, "chain:chain"))
	require.ElementsMatch(t, []string{logs.ID, both.ID}, f.claimHaving(t, db, time.Time{}, "mcp:logs", "llm:big", "mcp:metrics"))
	require.Empty(t, f.claimHaving(t, db, time.Time{}, "mcp:logs", "llm:big", "mcp:metrics", "chain:chain"))
}

func TestClaimReturnsRecipeHash(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.server(t)
	f.needing(t, db, "mcp:logs")

	claims, err := db.Claim(t.Context(), postgres.ClaimParams{
		ServerID: serverA, Slots: 1, MaxSessions: noLimit, Lease: lease, Version: 1, Has: []string{"mcp:logs"},
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

	require.Empty(t, f.hold(t, db).RecipeHash)
}

func TestRecipeIsStoredOnceByConcurrentServers(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	for range 2 {
		db := f.server(t)
		for range 3 {
			f.needing(t, db, "mcp:logs")
			f.needing(t, db, "mcp:metrics")
		}
	}

	require.Equal(t, 2, value[int](t, f, `SELECT count(*) FROM recipes`))
	require.Equal(t, 12, value[int](t, f, `SELECT count(*) FROM sessions s JOIN recipes r ON r.hash = s.recipe_hash`))
}

func TestUnrunnableSessionsDoNotBlockOthers(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.server(t)

	for range 30 {
		f.needing(t, db, "mcp:gone")
		f.clock.Advance(time.Second)
	}

	var want []string

	for _, need := range []string{"mcp:logs", "mcp:metrics", "mcp:logs", "mcp:metrics"} {
		want = append(want, f.needing(t, db, need).ID)
		f.clock.Advance(time.Second)
	}

	var got []string

	for range want {
		claims, err := db.Claim(t.Context(), postgres.ClaimParams{
			ServerID: serverA, Slots: 1, MaxSessions: noLimit, Lease: lease, Version: 1, Has: []string{"mcp:logs", "mcp:metrics"},
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
	db := f.server(t)
	announce := func(has ...string) {
		t.Helper()
		require.NoError(t, db.Announce(t.Context(), postgres.Announcement{ServerID: has[0], Version: 1, Has: has}, time.Time{}))
	}

	announce("other", "mcp:logs", "mcp:metrics")

	waiting := f.needing(t, db, "mcp:logs")
	require.Empty(t, f.claimHaving(t, db, f.clock.Now().Add(-patience), "mcp:metrics"), "it has just come")

	f.clock.Advance(patience)
	announce("other", "mcp:logs", "mcp:metrics")
	require.Empty(t, f.claimHaving(t, db, f.clock.Now().Add(-patience), "mcp:metrics"), "a server that could run it is there, but busy")

	f.clock.Advance(patience - time.Second)
	require.Empty(t, f.claimHaving(t, db, f.clock.Now().Add(-patience), "mcp:metrics"), "that server was there a moment ago")

	f.clock.Advance(time.Second)
	announce("mine", "mcp:metrics")
	require.Empty(t, f.claimHaving(t, db, time.Time{}, "mcp:metrics"), "this server has just started")
	require.Equal(t, []string{waiting.ID}, f.claimHaving(t, db, f.clock.Now().Add(-patience), "mcp:metrics"))
}

func TestExpiredLeaseIsLeftToCapableServers(t *testing.T) {
	t.Parallel()

	const patience = time.Minute

	f := newFixture(t)
	db := f.server(t)
	session := f.needing(t, db, "mcp:logs")
	require.Equal(t, []string{session.ID}, f.claimHaving(t, db, time.Time{}, "mcp:logs"))

	f.clock.Advance(lease + patience - time.Second)
	require.Empty(t, f.claimHaving(t, db, f.clock.Now().Add(-patience), "mcp:metrics"))

	f.clock.Advance(time.Second)
	require.Equal(t, []string{session.ID}, f.claimHaving(t, db, f.clock.Now().Add(-patience), "mcp:metrics"), "nobody can")

	f.clock.Advance(lease)
	require.Equal(t, []string{session.ID}, f.claimHaving(t, db, time.Time{}, "mcp:logs"), "whoever can takes over at once")
}

func TestSessionOfNewerEngineIsLeftToNewerServers(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.server(t)
	newer := newSession(f.clock.Now())
	require.NoError(t, db.CreateSession(t.Context(), newer, postgres.Terms{EngineVersion: 2}))
	f.clock.Advance(time.Hour)
	require.Empty(t, f.claimHaving(t, db, f.clock.Now(), defaultCapabilities()...), "however long it waits")

	claims, err := db.Claim(t.Context(), postgres.ClaimParams{
		ServerID: serverB, Slots: 1, MaxSessions: noLimit, Lease: lease, Version: 2, Has: defaultCapabilities(),
	})
	require.NoError(t, err)
	require.Equal(t, []string{newer.ID}, sessionIDs(claims))

	f.clock.Advance(lease + time.Hour)
	require.Empty(t, f.claimHaving(t, db, f.clock.Now(), defaultCapabilities()...), "also when its server has died")
}

func TestCancelsAreClaimedByAnyServerAndQuestionsByEngineVersion(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.server(t)

	finished := f.finished(t, db, tarsy.SessionCompleted)
	f.exec(t, `UPDATE sessions SET recipe_hash = 'gone', engine_version = 1 WHERE id = $1`, finished.ID)
	f.question(t, db, finished.ID)
	require.Equal(t, []string{finished.ID}, f.claimHaving(t, db, time.Time{}), "a question needs nothing configured")

	newer := f.finished(t, db, tarsy.SessionCompleted)
	f.exec(t, `UPDATE sessions SET engine_version = 2 WHERE id = $1`, newer.ID)
	f.question(t, db, newer.ID)
	require.Empty(t, f.claimHaving(t, db, time.Time{}), "but the engine")

	cancelled := newSession(f.clock.Now())
	require.NoError(t, db.CreateSession(t.Context(), cancelled, postgres.Terms{
		EngineVersion: 2, Recipe: &progress.Recipe{Hash: "h", Needs: []string{"mcp:gone"}, Body: json.RawMessage(`{}`)},
	}))

	ok, err := addRequest(db, context.Background(), newRequest(cancelled.ID, tarsy.RequestCancel, f.clock.Now()))
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, []string{cancelled.ID}, f.claimHaving(t, db, time.Time{}), "any server can cancel")
}

func TestLongUnseenServersAreForgotten(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.server(t)

	for _, id := range []string{"first", "second"} {
		require.NoError(t, db.Announce(t.Context(), postgres.Announcement{ServerID: id, Version: 1}, f.clock.Now().Add(-time.Hour)))
		f.clock.Advance(2 * time.Hour)
	}

	require.Equal(t, "second", value[string](t, f, `SELECT id FROM servers`))
}
