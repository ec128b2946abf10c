package engine

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/progress"
	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
)

func spend(tokens int, cost float64, toolCalls int) tarsy.Spend {
	return tarsy.Spend{Usage: tarsy.Usage{TotalTokens: tokens, CostUSD: cost}, ToolCalls: toolCalls}
}

func TestCapIsReachedWhenSpendingEqualsIt(t *testing.T) {
	t.Parallel()

	all := Budget{MaxTokens: 10_000, MaxCostUSD: 1.5, MaxToolCalls: 3}

	for name, test := range map[string]struct {
		budget Budget
		spent  tarsy.Spend
		want   string
	}{
		"nothing is capped":         {Budget{}, spend(1<<40, 1e9, 1e9), ""},
		"nothing is spent":          {all, spend(0, 0, 0), ""},
		"almost all is spent":       {all, spend(9_999, 1.4999, 2), ""},
		"tokens":                    {all, spend(12_000, 0, 0), "session tokens: 12,000 of 10,000"},
		"exactly as many tokens":    {Budget{MaxTokens: 999}, spend(999, 0, 0), "session tokens: 999 of 999"},
		"cost":                      {all, spend(0, 1.5, 0), "session cost: $1.5000 of $1.5000"},
		"much cost":                 {Budget{MaxCostUSD: 1000}, spend(0, 1234.567, 0), "session cost: $1234.57 of $1000.00"},
		"tool calls":                {all, spend(0, 0, 3), "session tool calls: 3 of 3"},
		"several: the first counts": {all, spend(1_234_567, 9, 9), "session tokens: 1,234,567 of 10,000"},
		"only what is capped":       {Budget{MaxToolCalls: 1}, spend(1e9, 1e9, 0), ""},
	} {
		got, reached := test.budget.reached("session", test.spent)
		require.Equal(t, test.want, got, name)
		require.Equal(t, test.want != "", reached, name)
	}
}

// runWith returns a session with LLM calls of the given token counts, and toolCalls tool calls.
func runWith(engine *Engine, toolCalls int, tokens ...int) *sessionRun {
	state := &progress.State{MCPInteractions: make([]tarsy.MCPInteraction, toolCalls)}
	for _, n := range tokens {
		state.LLMInteractions = append(state.LLMInteractions, tarsy.LLMInteraction{Usage: tarsy.Usage{TotalTokens: n, CostUSD: float64(n) / 8}})
	}

	r := &sessionRun{engine: engine}
	r.memory.load(state, nil)

	return r
}

func TestSessionSpendingIsSumOfItsCalls(t *testing.T) {
	t.Parallel()

	for name, test := range map[string]struct {
		budget Budget
		want   string
	}{
		"no cap":          {Budget{}, ""},
		"tokens left":     {Budget{MaxTokens: 8}, ""},
		"no tokens left":  {Budget{MaxTokens: 7}, "session tokens: 7 of 7"},
		"cost left":       {Budget{MaxCostUSD: 0.88}, ""},
		"no cost left":    {Budget{MaxCostUSD: 0.875}, "session cost: $0.8750 of $0.8750"},
		"calls left":      {Budget{MaxToolCalls: 3}, ""},
		"no calls left":   {Budget{MaxToolCalls: 2}, "session tool calls: 2 of 2"},
		"more than there": {Budget{MaxTokens: 1}, "session tokens: 7 of 1"},
	} {
		r := runWith(New(Config{Settings: Settings{Budgets: Budgets{Session: test.budget}}}), 2, 1, 2, 4)
		why, got := r.budgetReached(t.Context())
		require.Equal(t, test.want, got, name)
		require.Equal(t, test.want != "", why == tarsy.ForcedBudget, name)
	}
}

// budgetFixture is a ledger over a fake database.
type budgetFixture struct {
	*ledger

	cap   Budget
	clock *clockwork.FakeClock
	mu    sync.Mutex
	froms []time.Time
	// holds is the result of the database, during is called during the query.
	holds  tarsy.Spend
	err    error
	during func()
}

func newBudgetFixture(budget Budget) *budgetFixture {
	b := &budgetFixture{cap: budget, clock: clockwork.NewFakeClockAt(time.Date(2026, 3, 1, 23, 59, 0, 0, time.UTC))}
	b.ledger = &ledger{budget: func() Budget { return b.cap }, clock: b.clock, logger: slog.New(slog.DiscardHandler), read: func(_ context.Context, from time.Time) (tarsy.Spend, error) {
		b.mu.Lock()
		defer b.mu.Unlock()

		b.froms = append(b.froms, from)
		if b.during != nil {
			b.during()
		}

		return b.holds, b.err
	}}

	return b
}

func (b *budgetFixture) reads() int {
	b.mu.Lock()
	defer b.mu.Unlock()

	return len(b.froms)
}

func used(tokens int) progress.Step {
	return progress.Step{LLMInteractions: []tarsy.LLMInteraction{{Usage: tarsy.Usage{TotalTokens: tokens}}}}
}

func requireSpent(t *testing.T, b *budgetFixture, want string) {
	t.Helper()

	got, reached := b.spent(t.Context())
	require.Equal(t, want, got)
	require.Equal(t, want != "", reached)
}

func TestDailySpendingIsQueriedAboutOnceASecond(t *testing.T) {
	t.Parallel()

	b := newBudgetFixture(Budget{MaxTokens: 100})
	for range 50 {
		requireSpent(t, b, "")
	}

	require.Equal(t, []time.Time{time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)}, b.froms)

	b.clock.Advance(ledgerFresh - 1)
	requireSpent(t, b, "")
	require.Equal(t, 1, b.reads())

	b.holds = spend(100, 0, 0) // another server
	requireSpent(t, b, "")
	b.clock.Advance(1)
	requireSpent(t, b, "daily tokens: 100 of 100")
	require.Equal(t, 2, b.reads())

	b.clock.Advance(30 * time.Second)
	requireSpent(t, b, "daily tokens: 100 of 100")
	require.Equal(t, 2, b.reads(), "what is spent stays spent")
}

func TestSlowSpendingQueryRunsLessOften(t *testing.T) {
	t.Parallel()

	b := newBudgetFixture(Budget{MaxTokens: 100})
	b.during = func() { b.clock.Advance(500 * time.Millisecond) }

	requireSpent(t, b, "")
	b.clock.Advance(9 * time.Second)
	requireSpent(t, b, "")
	require.Equal(t, 1, b.reads())
	b.clock.Advance(time.Second)
	requireSpent(t, b, "")
	require.Equal(t, 2, b.reads())
}

func TestOwnCommitsCountImmediately(t *testing.T) {
	t.Parallel()

	b := newBudgetFixture(Budget{MaxTokens: 100, MaxToolCalls: 3})
	requireSpent(t, b, "")

	b.add(used(60))
	requireSpent(t, b, "")
	require.Equal(t, 1, b.reads(), "60 of 100 leave something")

	b.holds = spend(120, 0, 0)
	b.add(used(60))
	requireSpent(t, b, "daily tokens: 120 of 100")
	require.Equal(t, 2, b.reads(), "a cap is reached when the database says so")
}

func TestCallIsCountedOnceForRepeatedWrites(t *testing.T) {
	t.Parallel()

	b := newBudgetFixture(Budget{MaxToolCalls: 2})
	requireSpent(t, b, "")

	for _, c := range []tarsy.MCPInteraction{
		{Status: tarsy.CallStarted, Attempt: 1}, {Status: tarsy.CallStarted, Attempt: 2}, {Status: tarsy.CallCompleted, Attempt: 2},
	} {
		b.add(progress.Step{MCPInteractions: []tarsy.MCPInteraction{c}})
	}

	requireSpent(t, b, "")
	require.Equal(t, 1, b.reads())
}

func TestPossiblyDoubleCountedStepEndsNoSession(t *testing.T) {
	t.Parallel()

	b := newBudgetFixture(Budget{MaxTokens: 100})
	b.holds = spend(60, 0, 0)
	b.during = func() {
		b.during = nil
		b.add(used(60)) // committed just before the query's snapshot, added just after
	}

	requireSpent(t, b, "")
	requireSpent(t, b, "")
	require.Equal(t, 2, b.reads(), "60 and 60 look like too much, so it is asked again")
	requireSpent(t, b, "")
	require.Equal(t, 2, b.reads())
}

func TestDayStartsAtMidnightUTC(t *testing.T) {
	t.Parallel()

	b := newBudgetFixture(Budget{MaxTokens: 100})
	b.holds = spend(100, 0, 0)
	requireSpent(t, b, "daily tokens: 100 of 100")

	b.clock.Advance(59*time.Second + 999*time.Millisecond)
	requireSpent(t, b, "daily tokens: 100 of 100")

	b.holds = spend(10, 0, 0)
	b.clock.Advance(time.Millisecond)
	requireSpent(t, b, "")
	require.Equal(t, []time.Time{time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC), time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)}, b.froms)
}

func TestDayMayChangeDuringSpendingQuery(t *testing.T) {
	t.Parallel()

	b := newBudgetFixture(Budget{MaxTokens: 100})
	b.holds = spend(100, 0, 0)
	b.during = func() {
		b.during = nil
		b.clock.Advance(time.Minute)
		b.snapshot(false)
	}

	requireSpent(t, b, "")

	b.holds = spend(1, 0, 0)
	requireSpent(t, b, "")
	require.Equal(t, 2, b.reads())
	require.Equal(t, time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC), b.froms[1])
}

func TestUnresponsiveDatabaseKeepsKnownSpending(t *testing.T) {
	t.Parallel()

	b := newBudgetFixture(Budget{MaxTokens: 100})
	b.err = errors.New("gone")

	requireSpent(t, b, "")
	b.add(used(60))
	requireSpent(t, b, "")
	require.Equal(t, 1, b.reads(), "it is not asked again at once")

	b.clock.Advance(ledgerFresh)
	b.add(used(60))
	requireSpent(t, b, "daily tokens: 120 of 100")
}

// One failed query must not end all sessions until midnight.
func TestDoubleCountIsCorrectedWhenDatabaseResponds(t *testing.T) {
	t.Parallel()

	b := newBudgetFixture(Budget{MaxTokens: 100})
	b.holds = spend(60, 0, 0)
	b.during = func() {
		b.during = nil
		b.add(used(60)) // committed just before the query's snapshot, added just after
	}

	requireSpent(t, b, "")

	b.err = errors.New("gone")
	requireSpent(t, b, "daily tokens: 120 of 100")

	b.err = nil
	requireSpent(t, b, "")
}

func TestCancelledCallerDoesNotBlockOtherCallers(t *testing.T) {
	t.Parallel()

	b := newBudgetFixture(Budget{MaxTokens: 100})
	b.err = context.Canceled
	gone, cancel := context.WithCancel(t.Context())
	cancel()

	_, reached := b.spent(gone)
	require.False(t, reached)

	b.holds, b.err = spend(100, 0, 0), nil
	requireSpent(t, b, "daily tokens: 100 of 100")
}

func TestConcurrentCallersShareOneQuery(t *testing.T) {
	t.Parallel()

	b := newBudgetFixture(Budget{MaxTokens: 100})
	b.holds = spend(99, 0, 0)

	var group sync.WaitGroup
	for range 50 {
		group.Go(func() {
			if _, reached := b.spent(t.Context()); reached {
				t.Error("nothing is reached")
			}
		})
	}

	group.Wait()
	require.Equal(t, 1, b.reads())
}

func TestNoQueryWithoutCap(t *testing.T) {
	t.Parallel()

	b := newBudgetFixture(Budget{})
	b.add(used(5))

	_, reached := b.spent(t.Context())
	require.False(t, reached)
	require.Zero(t, b.reads())
}

func TestChangedDailyBudgetHoldsAtOnce(t *testing.T) {
	t.Parallel()

	b := newBudgetFixture(Budget{MaxTokens: 10})
	b.holds = spend(12, 0, 0)

	text, reached := b.spent(t.Context())
	require.True(t, reached)
	require.Equal(t, "daily tokens: 12 of 10", text)

	b.cap.MaxTokens = 20
	_, reached = b.spent(t.Context())
	require.False(t, reached)

	b.cap.MaxTokens = 11
	text, reached = b.spent(t.Context())
	require.True(t, reached)
	require.Equal(t, "daily tokens: 12 of 11", text)
}

// The executive summary is committed with the end of its session, and counts like every other call.
func TestSummaryCountsImmediately(t *testing.T) {
	t.Parallel()

	h := newFixture(t)
	h.forAgent("investigator", script.Reply{Text: "the root cause", Usage: &llm.UsageChunk{InputTokens: 10}})
	h.summary(script.Reply{Text: "in short", Usage: &llm.UsageChunk{InputTokens: 95}})

	s := h.start("one", func(c *Config) { c.Budgets.Daily.MaxTokens = 1000 })
	s.completes(s.submit())
	s.stop()

	known := s.ledger.held
	known.Add(s.ledger.since)
	require.Equal(t, 105, known.Usage.TotalTokens)
}

// Two servers share the daily cap: each sees what the other spends, even within a session, and so does a server that starts later.
func TestServersShareDailyCap(t *testing.T) {
	t.Parallel()

	h := newFixture(t)
	clock := clockwork.NewFakeClockAt(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	h.clock = clock
	capped := func(c *Config) {
		c.Budgets.Daily, c.RenewEvery, c.Lease = Budget{MaxTokens: 1000}, 48*time.Hour, 96*time.Hour
	}
	inTool, leaveTool := make(chan struct{}), make(chan struct{})
	h.tools.during = duringCall(inTool, leaveTool)
	h.model.RouteFunc(func(r *llm.Request) bool { return r.Agent == "investigator" }, func(r *llm.Request, _ int) script.Reply {
		if len(r.Tools) == 0 || r.Messages[len(r.Messages)-1].ToolCallID != "" {
			return script.Reply{Text: "as far as I can see", Usage: &llm.UsageChunk{}}
		}

		return script.Reply{
			ToolCalls: []llm.ToolCall{call("1", "look", `{}`)}, Usage: &llm.UsageChunk{InputTokens: 500, OutputTokens: 100},
		}
	})
	h.summary(script.Reply{Text: "in short", Usage: &llm.UsageChunk{}})

	one := h.start("one", capped)
	first := one.submit()
	h.wait(inTool, "the first session's tool call")
	one.stopClaiming()
	one.claiming.Wait()

	two := h.start("two", capped)
	second := two.submit()
	h.wait(inTool, "the second session's tool call")
	clock.Advance(ledgerFresh) // 600 and 600 are spent now

	leaveTool <- struct{}{}
	leaveTool <- struct{}{}

	for _, id := range []string{first, second} {
		detail := two.completes(id)
		require.Equal(t, string(tarsy.ForcedBudget), detail.ConcludedEarly, "each server saw what the other had spent")
		require.Equal(t, 600, detail.Usage.TotalTokens)
		require.Equal(t, 1, detail.ToolCalls)
	}

	one.stop()
	two.stop()

	three := h.start("three", capped)
	third := three.submit()
	require.Equal(t, string(tarsy.ForcedBudget), three.completes(third).ConcludedEarly, "a restart forgets nothing")

	clock.Advance(24 * time.Hour)

	fourth := three.submit()
	h.wait(inTool, "a new day starts again")
	leaveTool <- struct{}{}
	require.Empty(t, three.completes(fourth).ConcludedEarly)
}

// A session's spending is in its rows: neither another server nor a question about it starts from zero.
func TestSessionBudgetSurvivesRestart(t *testing.T) {
	t.Parallel()

	h := newFixture(t)
	capped := func(c *Config) { c.Budgets.Session.MaxTokens = 1000 }
	inTool, leaveTool := make(chan struct{}), make(chan struct{})
	h.tools.during = duringCall(inTool, leaveTool)

	var equipped []bool // whether the model was given tools, per call

	for _, name := range []string{"investigator", "answerer"} {
		h.model.RouteFunc(func(r *llm.Request) bool { return r.Agent == name }, func(r *llm.Request, _ int) script.Reply {
			equipped = append(equipped, len(r.Tools) > 0)
			if len(r.Tools) == 0 {
				return script.Reply{Text: "as far as I can see", Usage: &llm.UsageChunk{}}
			}

			return script.Reply{ToolCalls: []llm.ToolCall{call("1", "look", `{}`)}, Usage: &llm.UsageChunk{InputTokens: 1000}}
		})
	}

	h.summary(script.Reply{Text: "in short", Usage: &llm.UsageChunk{}})
	h.chat()

	one := h.start("one", capped)
	id := one.submit()
	h.wait(inTool, "the tool call")
	one.stop()

	two := h.start("two", capped)
	require.Equal(t, string(tarsy.ForcedBudget), two.completes(id).ConcludedEarly)

	stage := two.answers(id, "why?")
	require.Equal(t, tarsy.ForcedBudget, stage.Executions[0].ForcedConclusion)
	require.Equal(t, []bool{true, false, false}, equipped)
}
