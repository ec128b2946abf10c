package e2e

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/postgres/private"
	"tarsy.dev/tarsy/llm/script"
	"tarsy.dev/tarsy/tarsytest"
)

// The PostgreSQL process ends while a note is being extracted, and another one starts on the same data. The test has its
// own PostgreSQL server, because others share theirs.
func TestNotesSurviveRestartOfPostgreSQL(t *testing.T) {
	t.Parallel()

	dir := t.TempDir()
	start := func() *private.Server {
		server, err := private.Open(t.Context(), private.Config{Dir: dir})
		require.NoError(t, err)

		return server
	}

	server := start()

	t.Cleanup(func() { require.NoError(t, private.Remove(context.WithoutCancel(t.Context()), dir)) })
	t.Cleanup(func() { require.NoError(t, server.Stop(context.WithoutCancel(t.Context()))) })

	app := tarsytest.New(t, tarsytest.Options{Database: server.URL()})
	project := app.Project("Machines")
	gate := script.NewGate()
	answerItems(app.Script, project.ID, func(string) *script.Gate { return gate })

	held, address := app.Capture(item(1)), server.URL()
	waiting := app.Capture(item(2))

	app.WaitGate(gate)
	require.NoError(t, server.Stop(t.Context()))
	gate.Open() // the results cannot be stored now

	server = start()
	require.Equal(t, address, server.URL())
	require.False(t, server.Adopted(), "it is another process")

	for _, id := range []string{held.ID, waiting.ID} {
		done := app.WaitOrganized(id)
		require.Len(t, done.Entities, 1, "also if the first attempt was stored in the end")
		require.Equal(t, &project.ID, done.Entities[0].ProjectID)
	}
}
