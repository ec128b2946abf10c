package postgres_test

import (
	"context"
	"net/url"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/internal/postgres"
	"tarsy.dev/tarsy/internal/postgres/account"
	"tarsy.dev/tarsy/internal/postgres/pgtest"
	"tarsy.dev/tarsy/internal/postgres/storetest"
	"tarsy.dev/tarsy/internal/progress"
)

// emptyDatabase returns the address of a database without a schema.
func emptyDatabase(t *testing.T) string {
	t.Helper()

	server := pgtest.Server(t)

	conn, err := pgx.Connect(t.Context(), server)
	require.NoError(t, err)

	name := "empty_" + strings.ReplaceAll(ident.New(), "-", "")
	_, err = conn.Exec(t.Context(), "CREATE DATABASE "+name+" TEMPLATE template0")
	require.NoError(t, err)

	t.Cleanup(func() {
		_, err := conn.Exec(context.Background(), "DROP DATABASE "+name+" WITH (FORCE)")
		require.NoError(t, err)
		require.NoError(t, conn.Close(context.Background()))
	})

	address, err := url.Parse(server)
	require.NoError(t, err)

	address.Path = "/" + name

	return address.String()
}

func TestTenServersMigrateConcurrently(t *testing.T) {
	t.Parallel()

	address := emptyDatabase(t)

	var group errgroup.Group
	for range 10 {
		group.Go(func() error { return postgres.Migrate(context.Background(), address) })
	}

	require.NoError(t, group.Wait())
	require.NoError(t, postgres.Migrate(t.Context(), address), "again is no error")

	conn, err := pgx.Connect(t.Context(), address)
	require.NoError(t, err)

	defer conn.Close(context.Background())

	var applied, newest int

	require.NoError(t, conn.QueryRow(t.Context(), `SELECT count(*), max(version) FROM schema_migrations`).Scan(&applied, &newest))
	require.Equal(t, newest, applied, "every migration ran once")
	require.Positive(t, applied)

	require.NoError(t, conn.QueryRow(t.Context(), `SELECT count(*), max(version) FROM river_migration`).Scan(&applied, &newest))
	require.Equal(t, newest, applied, "every migration of River ran once")
	require.Equal(t, postgres.RiverVersion, newest)
}

func TestRiverIsMigratedToNewestKnownVersion(t *testing.T) {
	t.Parallel()

	known := postgres.RiverVersions()
	require.Equal(t, postgres.RiverVersion, known[len(known)-1], "River was updated: have its migrations applied")
}

// A server that died between two of River's migrations, and one whose River was older.
func TestRiverIsMigratedFromAnyVersion(t *testing.T) {
	t.Parallel()

	address := emptyDatabase(t)
	require.NoError(t, postgres.Migrate(t.Context(), address))

	conn, err := pgx.Connect(t.Context(), address)
	require.NoError(t, err)

	defer conn.Close(context.Background())

	for version := range postgres.RiverVersion {
		require.NoError(t, postgres.DowngradeRiver(t.Context(), conn, version))
		require.NoError(t, postgres.Migrate(t.Context(), address), "from version %d", version)

		var newest int

		require.NoError(t, conn.QueryRow(t.Context(), `SELECT max(version) FROM river_migration`).Scan(&newest))
		require.Equal(t, postgres.RiverVersion, newest)
	}
}

// While another server migrates, a server whose database is up to date starts; it would show as waiting if it took the lock.
func TestRestartWithNothingToApplyTakesNoLock(t *testing.T) {
	t.Parallel()

	f := newFixture(t)

	conn, err := f.Admin.Acquire(t.Context())
	require.NoError(t, err)

	defer conn.Release()

	_, err = conn.Exec(t.Context(), `SELECT pg_advisory_lock($1)`, postgres.MigrateLock)
	require.NoError(t, err)

	ctx, cancel := context.WithTimeout(t.Context(), storetest.Patience)
	defer cancel()

	require.NoError(t, postgres.Migrate(ctx, f.URL))

	_, err = conn.Exec(t.Context(), `SELECT pg_advisory_unlock($1)`, postgres.MigrateLock)
	require.NoError(t, err)
}

func TestNewerSchemaIsRefused(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	f.Exec(t, `INSERT INTO schema_migrations (version, name) VALUES (9999, 'from the future')`)

	require.ErrorContains(t, postgres.Migrate(t.Context(), f.URL), "schema version 9999")
}

func TestNewerRiverIsRefused(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	f.Exec(t, `INSERT INTO river_migration (line, version) VALUES ('main', 9999)`)

	require.ErrorContains(t, postgres.Migrate(t.Context(), f.URL), "version 9999 of River's schema")
}

func TestSchemaRefusesInvalidStates(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.Server(t)
	claim := f.Hold(t, db)
	stage := storetest.NewStage(claim.SessionID, 1, storetest.Epoch())
	execution := storetest.NewExecution(stage, 1, storetest.Epoch())

	_, err := db.Hold(claim.Lease).Commit(t.Context(), progress.Step{
		Stages: []tarsy.Stage{stage}, Executions: []tarsy.Execution{execution},
		Timeline: []tarsy.TimelineEvent{storetest.NewTimelineEvent(claim.SessionID, 1, storetest.Epoch())},
		Messages: []tarsy.Message{storetest.NewMessage(execution, 1, "text", storetest.Epoch())},
		LLMInteractions: []tarsy.LLMInteraction{{
			ID: ident.New(), SessionID: claim.SessionID, InteractionType: tarsy.InteractionIteration, CreatedAt: storetest.Epoch(),
		}},
		MCPInteractions: []tarsy.MCPInteraction{{
			ID: ident.New(), SessionID: claim.SessionID, StageID: stage.ID, ExecutionID: execution.ID, TimelineEventID: ident.New(),
			ToolCallID: "call", Status: tarsy.CallStarted, CreatedAt: storetest.Epoch(),
		}},
		Events: storetest.NewEvents("event", 1),
	})
	require.NoError(t, err)

	ok, err := storetest.AddRequest(db, t.Context(), storetest.NewRequest(claim.SessionID, tarsy.RequestCancel, storetest.Epoch()))
	require.NoError(t, err)
	require.True(t, ok)
	require.NoError(t, account.New(db).CreateKey(t.Context(), storetest.NewKey("name", tarsy.ScopeRead), []byte("hash")))

	for _, change := range []string{
		`UPDATE sessions SET status = 'paused'`,
		`UPDATE sessions SET status = 'completed'`, // without the time
		`UPDATE sessions SET completed_at = created_at`,
		`UPDATE sessions SET concluded_early = 'bored'`,
		`UPDATE sessions SET open_requests = -1`,
		`UPDATE sessions SET trimmed_seq = last_seq + 1`,
		`UPDATE sessions SET fence = 0`, // with a lease
		`UPDATE stages SET status = 'started'`,
		`UPDATE stages SET stage_index = 0`,
		`UPDATE stages SET expected_agent_count = 0`,
		`UPDATE stages SET parallel_type = 'other'`,
		`UPDATE stages SET success_policy = 'most'`,
		`UPDATE executions SET status = 'started'`,
		`UPDATE executions SET agent_index = 0`,
		`UPDATE timeline_events SET status = 'active'`,
		`UPDATE timeline_events SET event_type = 'other'`,
		`UPDATE timeline_events SET sequence_number = 0`,
		`UPDATE messages SET role = 'developer'`,
		`UPDATE messages SET sequence_number = 0`,
		`UPDATE llm_interactions SET interaction_type = 'other'`,
		`UPDATE mcp_interactions SET status = 'running'`,
		`UPDATE events SET seq = 0`,
		`UPDATE requests SET status = 'pending'`,
		`UPDATE requests SET status = 'done'`, // without the time
		`UPDATE requests SET kind = 'other'`,
		`UPDATE api_keys SET name = ''`,
		`UPDATE api_keys SET scopes = '{root}'`,
		`UPDATE api_keys SET scopes = '{}'`,
	} {
		_, err := f.Admin.Exec(t.Context(), change)

		var refusal *pgconn.PgError

		require.ErrorAs(t, err, &refusal, change)
		require.Equal(t, "23514", refusal.Code, "%s: %s", change, refusal.Message)
	}
}
