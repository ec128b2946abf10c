package e2e

import (
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/postgres/pgtest"
	"tarsy.dev/tarsy/tarsytest"
)

// PostgreSQL JIT-compiles statements that look expensive, which took seconds for statements that run in milliseconds. This
// database compiles everything unless a connection disables it. The server creates the schema, so that the connections of
// migrations are checked too.
func TestEveryConnectionSwitchesCompilationOff(t *testing.T) {
	t.Parallel()

	database := pgtest.Empty(t)
	compileEverything(t, database)

	through := newWire(t, database)
	app := tarsytest.New(t, tarsytest.Options{Database: through.URL})
	app.Database = database
	app.Script.Add(says("Analysed."), says("Summed up."))
	app.Script.Route(tarsytest.NoteExtractor, tarsytest.Extracts())
	app.Run("test", "an alert")
	app.CaptureAndProcess("Nothing to do.")
	app.Sessions("search=alert")
	notify(app, fires("DiskFull", "shop", "a").resolved())
	app.Stop()

	for _, used := range []string{
		"CREATE TABLE sessions", "LISTEN tarsy", "LISTEN pgjournal", `LISTEN "public.river_insert"`, "WITH RECURSIVE paused", "INSERT INTO notes", "INSERT INTO deliveries",
		"FROM session_list",
	} {
		require.True(t, through.seen(used), "no connection was used for %q", used)
	}

	for _, c := range through.connections() {
		var first string

		for _, s := range c.statements {
			if kind := statementKind(s.sql); kind != "SET" && kind != "EMPTY" && kind != "BEGIN" {
				first = oneLine(s.sql)

				break
			}
		}

		if c.settings["jit"] != "off" {
			t.Errorf("a connection leaves jit on. Its first statement is\n  %.150s\nEvery connection of a server has the settings of internal/postgres/settings.go.", first)
		}
	}
}

// compileEverything makes PostgreSQL compile each statement of new connections to a database.
func compileEverything(t *testing.T, database string) {
	t.Helper()

	conn, err := pgx.Connect(t.Context(), database)
	require.NoError(t, err)

	name := pgx.Identifier{conn.Config().Database}.Sanitize()

	for _, setting := range []string{"jit = on", "jit_above_cost = 0", "jit_inline_above_cost = 0", "jit_optimize_above_cost = 0"} {
		_, err := conn.Exec(t.Context(), "ALTER DATABASE "+name+" SET "+setting)
		require.NoError(t, err)
	}

	require.NoError(t, conn.Close(t.Context()))
}
