package tarsytest_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
	"tarsy.dev/tarsy/tarsytest"
)

// Every time in the database must be one that the fake clock has shown.
func TestFakeClockControlsDatabase(t *testing.T) {
	t.Parallel()

	start := time.Date(1999, time.December, 31, 23, 59, 0, 0, time.UTC)
	clock := clockwork.NewFakeClockAt(start)
	kubernetes := tarsytest.NewMCPServer("kubernetes", tarsytest.Tool{Name: "get_pods", ReadOnly: true, Text: "pods"})
	app := tarsytest.New(t, tarsytest.Options{Clock: clock, MCP: []*tarsytest.MCPServer{kubernetes}})
	app.Key("somebody", tarsy.ScopeRead)

	held, never := script.NewGate(), script.NewGate()
	app.Script.Add(
		script.Reply{Thinking: "Hm.", ToolCalls: []llm.ToolCall{{Name: "kubernetes__get_pods", Arguments: "{}"}}},
		script.Reply{Text: "Analysed.", Gate: held}, script.Reply{Text: "Summed up."},
		script.Reply{Gate: never},
	)

	first := app.Submit("test", "an alert")
	app.WaitGate(held)
	clock.Advance(time.Minute)
	held.Open()
	app.WaitFor(first, tarsy.SessionCompleted)

	second := app.Submit("test", "to be cancelled")
	app.WaitGate(never)
	app.Cancel(second)
	app.WaitFor(second, tarsy.SessionCancelled)

	type column struct{ Table, Column string }

	columns := tarsytest.Rows[column](app, `
SELECT table_name AS table, column_name AS column FROM information_schema.columns
WHERE table_schema = 'public' AND data_type = 'timestamp with time zone' AND table_name NOT LIKE 'river%'
    AND table_name <> 'usage_buckets' -- the times of calls, cut to hours and days
    AND (table_name, column_name) <> ('pgjournal_journals', 'lease_until') -- by the database's clock, as documented`)

	found := map[string]bool{}

	for _, c := range columns {
		type value struct{ At time.Time }

		for _, v := range tarsytest.Rows[value](app, fmt.Sprintf(`SELECT %q AS at FROM %q WHERE %q IS NOT NULL`, c.Column, c.Table, c.Column)) {
			found[c.Table] = true
			require.Contains(t, []time.Time{start, start.Add(time.Minute)}, v.At.UTC(), "%s.%s", c.Table, c.Column)
		}
	}

	for _, table := range []string{
		"sessions", "stages", "executions", "timeline_events", "messages", "llm_interactions", "mcp_interactions",
		"events", "requests", "api_keys",
	} {
		require.True(t, found[table], "no times in %s", table)
	}
}
