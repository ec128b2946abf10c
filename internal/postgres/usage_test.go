package postgres_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/postgres"
	"tarsy.dev/tarsy/internal/postgres/storetest"
	"tarsy.dev/tarsy/internal/progress"
)

// priced returns a usage of n tokens that cost n/8 USD and whose counts all differ. Eighths add up exactly.
func priced(n int) tarsy.Usage {
	usage := tokens(n)
	usage.CostUSD, usage.UnpricedTokens = float64(n)/8, 7*n

	return usage
}

// uses commits an execution with LLM calls of these sizes and this many tool calls, all at one minute.
func uses(t *testing.T, db *postgres.DB, claim postgres.Claim, stage tarsy.Stage, agent, minute, toolCalls int, sizes ...int) tarsy.Execution {
	t.Helper()

	return usesOf(t, db, claim, stage, agent, minute, toolCalls, func(*tarsy.LLMInteraction) {}, sizes...)
}

// usesOf is uses with a function that changes the LLM calls before they are committed.
func usesOf(t *testing.T, db *postgres.DB, claim postgres.Claim, stage tarsy.Stage, agent, minute, toolCalls int, change func(*tarsy.LLMInteraction), sizes ...int) tarsy.Execution {
	t.Helper()

	execution := storetest.NewExecution(stage, agent, storetest.Epoch())
	step := progress.Step{Stages: []tarsy.Stage{stage}, Executions: []tarsy.Execution{execution}}

	for _, n := range sizes {
		call := storetest.NewLLMInteraction(claim.SessionID, &execution, priced(n), minute)
		change(&call)
		step.LLMInteractions = append(step.LLMInteractions, call)
	}

	for i := range toolCalls {
		step.MCPInteractions = append(step.MCPInteractions, storetest.NewMCPInteraction(execution, fmt.Sprintf("call-%d", i), minute))
	}

	commit(t, db, claim, step)

	return execution
}

func TestSessionStagesAndExecutionsReportUsage(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.Server(t)

	other := f.Hold(t, db)
	uses(t, db, other, storetest.NewStage(other.SessionID, 1, storetest.Epoch()), 1, 1, 5, 1024)

	idle := f.Hold(t, db)

	claim := f.Hold(t, db)
	look, next := storetest.NewStage(claim.SessionID, 1, storetest.Epoch()), storetest.NewStage(claim.SessionID, 2, storetest.Epoch())
	uses(t, db, claim, look, 1, 1, 2, 1, 2)
	uses(t, db, claim, look, 2, 1, 0, 4)
	uses(t, db, claim, next, 1, 2, 1)
	commit(t, db, claim, progress.Step{LLMInteractions: []tarsy.LLMInteraction{storetest.NewLLMInteraction(claim.SessionID, nil, priced(8), 3)}})

	detail, err := db.SessionDetail(t.Context(), claim.SessionID)
	require.NoError(t, err)
	require.Equal(t, tarsy.Spend{Usage: priced(15), ToolCalls: 3}, detail.Spend, "the executive summary is the session's own")
	require.Equal(t, tarsy.Spend{Usage: priced(7), ToolCalls: 2}, detail.Stages[0].Spend)
	require.Equal(t, tarsy.Spend{Usage: priced(3), ToolCalls: 2}, detail.Stages[0].Executions[0].Spend)
	require.Equal(t, tarsy.Spend{Usage: priced(4)}, detail.Stages[0].Executions[1].Spend)
	require.Equal(t, tarsy.Spend{ToolCalls: 1}, detail.Stages[1].Spend)

	trace := storetest.WholeTrace(t, db, claim.SessionID)
	require.Equal(t, detail.Usage, trace.Usage, "the trace tells the same")

	items, err := db.Sessions(t.Context(), tarsy.SessionFilter{Limit: 10})
	require.NoError(t, err)

	listed := map[string]tarsy.Spend{}
	for _, item := range items {
		listed[item.ID] = tarsy.Spend{Usage: item.Usage, ToolCalls: item.ToolCalls}
	}

	require.Equal(t, map[string]tarsy.Spend{
		claim.SessionID: detail.Spend, idle.SessionID: {}, other.SessionID: {Usage: priced(1024), ToolCalls: 5},
	}, listed)
}

func TestCallsOlderThanPricesAreCounted(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.Server(t)
	claim := f.Hold(t, db)
	uses(t, db, claim, storetest.NewStage(claim.SessionID, 1, storetest.Epoch()), 1, 1, 0, 3)
	f.Exec(t, `TRUNCATE usage_buckets`)
	f.Exec(t, `
WITH old AS (DELETE FROM llm_interactions RETURNING id, session_id, execution_id, interaction_type, usage, created_at)
INSERT INTO llm_interactions (id, session_id, execution_id, interaction_type, usage, created_at)
SELECT id, session_id, execution_id, interaction_type, usage - 'cost_usd' - 'unpriced_tokens', created_at FROM old`)

	detail, err := db.SessionDetail(t.Context(), claim.SessionID)
	require.NoError(t, err)
	require.Equal(t, tokens(3), detail.Usage)

	spent, err := db.SpentSince(t.Context(), storetest.Epoch())
	require.NoError(t, err)
	require.Equal(t, tokens(3), spent.Usage)
}

func TestSpendingSinceTimeIsSummedOverSessions(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.Server(t)

	spent, err := db.SpentSince(t.Context(), storetest.Epoch())
	require.NoError(t, err)
	require.Zero(t, spent)

	for minute, n := range []int{1, 2, 4} {
		claim := f.Hold(t, db)
		uses(t, db, claim, storetest.NewStage(claim.SessionID, 1, storetest.Epoch()), 1, minute, minute, n)
	}

	for minute, want := range []tarsy.Spend{
		{Usage: priced(7), ToolCalls: 3}, {Usage: priced(6), ToolCalls: 3}, {Usage: priced(4), ToolCalls: 2}, {},
	} {
		spent, err = db.SpentSince(t.Context(), storetest.Epoch().Add(time.Duration(minute)*time.Minute))
		require.NoError(t, err)
		require.Equal(t, want, spent, "from minute %d on", minute)
	}
}

func TestSummaryGroupsUsageByDayAlertTypeModelAndProvider(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.Server(t)

	const day = 24 * 60

	for _, call := range []struct {
		alertType, model, provider string
		minute, tokens, toolCalls  int
	}{
		{"disk", "small", "one", -1, 1024, 9},          // before
		{"disk", "small", "one", 0, 1, 1},              // the first moment
		{"disk", "large", "two", 12*60 - 1, 2, 0},      // the last minute of the first day, which begins at noon
		{"cpu", "large", "two", 12 * 60, 4, 2},         // midnight
		{"cpu", "other", "two", 2 * day, 8, 0},         // two days later
		{"cpu", "other", "two", 3 * day, 2048, 9},      // the end is exclusive
		{"nothing", "none", "none", 2*day + 1, 0, 3},   // tools only
		{"deleted", "small", "one", 2*day + 60, 16, 0}, // deleted since, but paid for all the same
	} {
		session := storetest.NewSession(f.Clock.Now())
		session.AlertType = call.alertType
		require.NoError(t, db.CreateSession(t.Context(), session, postgres.Terms{}))

		claim := f.Claim(t, db, storetest.ServerA, 1)[0]
		stage := storetest.NewStage(claim.SessionID, 1, storetest.Epoch())

		sizes := []int{call.tokens}
		if call.tokens == 0 {
			sizes = nil
		}

		usesOf(t, db, claim, stage, 1, call.minute, call.toolCalls, func(c *tarsy.LLMInteraction) { c.ModelName, c.Provider = call.model, call.provider }, sizes...)

		if call.alertType == "deleted" {
			f.Exec(t, `UPDATE sessions SET deleted_at = created_at WHERE id = $1`, claim.SessionID)
		}
	}

	from, to := storetest.Epoch(), storetest.Epoch().Add(3*day*time.Minute)
	summary, err := db.UsageSummary(t.Context(), from, to)
	require.NoError(t, err)

	share := func(name string, calls, n int) tarsy.UsageShare {
		usage := priced(n)

		return tarsy.UsageShare{Name: name, LLMCalls: calls, Usage: usage}
	}
	spend := func(name string, calls, n, toolCalls int) tarsy.SpendShare {
		return tarsy.SpendShare{UsageShare: share(name, calls, n), ToolCalls: toolCalls}
	}
	require.Equal(t, tarsy.UsageSummary{
		From: from, To: to, Total: spend("", 5, 31, 6),
		ByDay:       []tarsy.SpendShare{spend("2026-03-01", 2, 3, 1), spend("2026-03-02", 1, 4, 2), spend("2026-03-03", 2, 24, 3)},
		ByKind:      []tarsy.SpendShare{spend(tarsy.UsageSessions, 5, 31, 6)},
		ByAlertType: []tarsy.SpendShare{spend("deleted", 1, 16, 0), spend("cpu", 2, 12, 2), spend("disk", 2, 3, 1), spend("nothing", 0, 0, 3)},
		ByModel:     []tarsy.UsageShare{share("small", 2, 17), share("other", 1, 8), share("large", 2, 6)},
		ByProvider:  []tarsy.UsageShare{share("one", 2, 17), share("two", 3, 14)},
	}, summary)

	empty, err := db.UsageSummary(t.Context(), storetest.Epoch().AddDate(1, 0, 0), storetest.Epoch().AddDate(2, 0, 0))
	require.NoError(t, err)
	require.Zero(t, empty.Total)
	require.NotNil(t, empty.ByDay, "JSON shows an empty list")
	require.NotNil(t, empty.ByKind)
	require.NotNil(t, empty.ByAlertType)
	require.NotNil(t, empty.ByModel)
	require.NotNil(t, empty.ByProvider)
	require.Empty(t, empty.ByDay)
}

func TestNotesAreTheirOwnKindOfUsage(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.Server(t)
	claim := f.Hold(t, db)
	uses(t, db, claim, storetest.NewStage(claim.SessionID, 1, storetest.Epoch()), 1, 1, 2, 1)

	const day = 24 * 60

	// Within an hour and a day, at their beginnings, and outside of the period.
	for minute, n := range map[int]int{-1: 1024, 0: 2, 30: 4, 60: 8, day: 16, 2 * day: 32, 3*day - 1: 64, 3 * day: 2048} {
		f.Exec(t, `
INSERT INTO note_calls (id, note_id, purpose, provider, model_name, usage, created_at)
VALUES (gen_random_uuid(), gen_random_uuid(), 'note_extraction', 'one', 'small', $1, $2)`, priced(n), storetest.Epoch().Add(time.Duration(minute)*time.Minute))
	}

	share := func(name string, calls, n int) tarsy.SpendShare {
		return tarsy.SpendShare{UsageShare: tarsy.UsageShare{Name: name, LLMCalls: calls, Usage: priced(n)}}
	}

	for from, notes := range map[int]tarsy.SpendShare{0: share(tarsy.UsageNotes, 6, 126), 1: share(tarsy.UsageNotes, 5, 124), 31: share(tarsy.UsageNotes, 4, 120)} {
		summary, err := db.UsageSummary(t.Context(), storetest.Epoch().Add(time.Duration(from)*time.Minute), storetest.Epoch().Add(3*day*time.Minute))
		require.NoError(t, err)
		require.Equal(t, notes, summary.ByKind[0], "from minute %d", from)
		require.Contains(t, summary.ByModel, tarsy.UsageShare{Name: "small", LLMCalls: notes.LLMCalls, Usage: notes.Usage})

		var kinds, days tarsy.Usage

		for _, kind := range summary.ByKind {
			kinds.Add(kind.Usage)
		}

		for _, day := range summary.ByDay {
			days.Add(day.Usage)
		}

		require.Equal(t, summary.Total.Usage, kinds)
		require.Equal(t, summary.Total.Usage, days)

		for _, alertType := range summary.ByAlertType {
			require.Equal(t, 2, alertType.ToolCalls, "notes have no alert type")
		}
	}

	spent, err := db.SpentSince(t.Context(), storetest.Epoch())
	require.NoError(t, err)
	require.Equal(t, tarsy.Spend{Usage: priced(1), ToolCalls: 2}, spent, "the budget of a day is that of sessions")
}

func TestUsageSummaryReadsBucketsAndEdgeCalls(t *testing.T) {
	t.Parallel()

	db := newFixture(t).Server(t)
	at := storetest.Epoch()
	plan, err := db.UsagePlan(t.Context(), pgx.NamedArgs{"from": at, "hour_from": at, "day_from": at, "day_to": at, "hour_to": at, "to": at})
	require.NoError(t, err)

	for _, index := range []string{"usage_buckets_pkey", "llm_interactions_created", "mcp_interactions_created", "note_usage_buckets_pkey", "note_calls_created"} {
		require.Contains(t, plan, "using "+index, plan)
	}

	require.NotContains(t, plan, "Seq Scan", plan)
}

// The stored sums equal those of the calls, for any period, even if several committers write concurrently.
func TestUsageOfAnyPeriodEqualsItsCalls(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db, other := f.Server(t), f.Server(t)
	random := rand.New(rand.NewPCG(1, 2))

	type call struct{ minute, tokens, tools int }

	var (
		calls []call
		group errgroup.Group
	)

	for i := range 60 {
		c := call{minute: random.IntN(4 * 24 * 60), tokens: 1 + random.IntN(100), tools: random.IntN(3)}
		calls = append(calls, c)
		claim, server := f.Hold(t, db), []*postgres.DB{db, other}[i%2]

		group.Go(func() error {
			uses(t, server, claim, storetest.NewStage(claim.SessionID, 1, storetest.Epoch()), 1, c.minute, c.tools, c.tokens)

			return nil
		})
	}

	require.NoError(t, group.Wait())

	// Minutes with usage, and the boundaries of hours and days, are the interesting bounds.
	bounds := []int{0, 60, 12 * 60, 36 * 60, 59, 61, 4 * 24 * 60}
	for _, c := range calls[:10] {
		bounds = append(bounds, c.minute, c.minute+1)
	}

	for _, from := range bounds {
		for _, to := range bounds {
			if from >= to {
				continue
			}

			var want tarsy.Spend

			for _, c := range calls {
				if c.minute >= from && c.minute < to {
					want.Add(tarsy.Spend{Usage: priced(c.tokens), ToolCalls: c.tools})
				}
			}

			summary, err := db.UsageSummary(t.Context(), storetest.Epoch().Add(time.Duration(from)*time.Minute), storetest.Epoch().Add(time.Duration(to)*time.Minute))
			require.NoError(t, err)
			require.Equal(t, want, tarsy.Spend{Usage: summary.Total.Usage, ToolCalls: summary.Total.ToolCalls}, "from %d to %d", from, to)

			var days tarsy.Spend
			for _, day := range summary.ByDay {
				days.Add(tarsy.Spend{Usage: day.Usage, ToolCalls: day.ToolCalls})
			}

			require.Equal(t, want, days)
		}
	}
}

func TestUsageOutlivesPurgedSessions(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.Server(t)
	claim := f.Hold(t, db)
	uses(t, db, claim, storetest.NewStage(claim.SessionID, 1, storetest.Epoch()), 1, 1, 2, 3)
	f.Exec(t, `DELETE FROM sessions`)

	spent, err := db.SpentSince(t.Context(), storetest.Epoch())
	require.NoError(t, err)
	require.Equal(t, tarsy.Spend{Usage: priced(3), ToolCalls: 2}, spent)
}
