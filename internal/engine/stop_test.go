package engine

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/agent"
	"tarsy.dev/tarsy/llm/script"
)

func TestStopIsSafeBeforeStartAndTwice(t *testing.T) {
	t.Parallel()

	h := newFixture(t)
	h.forAgent("investigator", script.Reply{Text: "found"})
	h.summary(script.Reply{Text: "short"})

	never := h.open("never", nil)
	never.Stop(h.ctx)
	never.Stop(h.ctx)
	never.Start()

	twice := h.start("twice", nil)
	id := twice.submit()
	twice.completes(id)
	twice.Stop(h.ctx)
	twice.Stop(h.ctx)
	require.Zero(t, twice.Running())

	waiting := twice.submit()
	require.Equal(t, tarsy.SessionPending, twice.detail(waiting).Status)
	require.Zero(t, query[int](h, `SELECT count(*) FROM sessions WHERE lease_until IS NOT NULL`), "a stopped server claimed")
}

func TestStopInterruptsLLMCallAndHandsSessionOver(t *testing.T) {
	t.Parallel()

	h := newFixture(t)
	gate := script.NewGate()
	h.investigate(nil, gate)

	s := h.start("one", nil)
	id := s.submit()
	h.wait(gate.Reached(), "the second LLM call")
	s.Stop(h.ctx)

	require.True(t, query[bool](h, `SELECT lease_until IS NULL AND runnable_at IS NOT NULL FROM sessions WHERE id = $1`, id))
	require.Equal(t, tarsy.SessionInProgress, s.detail(id).Status)
	gate.Open()

	other := h.start("two", nil)
	require.Equal(t, "the root cause", other.completes(id).FinalAnalysis)
	h.requireWhole(id)
	require.Len(t, h.model.Calls(), 5, "the cut-off call was made again, and no other")
	require.Equal(t, 1, h.tools.made("change"))
	require.Equal(t, 2, h.tools.made("look"))
	require.Equal(t, "two", other.detail(id).PodID)
}

func TestStopLetsToolCallFinishAndStartsNoOther(t *testing.T) {
	t.Parallel()

	h := newFixture(t)
	h.investigate()

	inTool, leaveTool := make(chan struct{}), make(chan struct{})
	h.tools.during = func(_ context.Context, c agent.Call) error {
		if c.Name == "box__change" {
			close(inTool)
			<-leaveTool
		}

		return nil
	}

	s := h.start("one", nil)
	id := s.submit()
	h.wait(inTool, "the tool call")

	run := s.running()[0]
	stopped := make(chan struct{})

	go func() {
		s.Stop(h.ctx)
		close(stopped)
	}()

	h.wait(run.soft.Done(), "the stop to be passed on")
	close(leaveTool)
	h.wait(stopped, "the server to stop")

	require.Equal(t, "completed", query[string](h, `SELECT status FROM mcp_interactions WHERE session_id = $1 AND tool_name = 'change'`, id))
	require.Equal(t, 1, h.tools.made("look"), "another call was begun")
	require.Equal(t, tarsy.SessionInProgress, s.detail(id).Status)

	h.tools.during = nil
	h.start("two", nil).completes(id)
	h.requireWhole(id)
	require.Equal(t, 1, h.tools.made("change"))
	require.Equal(t, 2, h.tools.made("look"))
}

func TestToolCallsAreInterruptedAfterGracePeriodAndWritesNotRepeated(t *testing.T) {
	t.Parallel()

	h := newFixture(t)
	clock := h.fakeClock()
	h.investigate()

	inTool := make(chan struct{})
	h.tools.during = func(ctx context.Context, c agent.Call) error {
		if c.Name != "box__change" {
			return nil
		}

		close(inTool)
		<-ctx.Done()

		return context.Cause(ctx)
	}

	s := h.start("one", nil)
	id := s.submit()
	h.wait(inTool, "the tool call")

	run := s.running()[0]
	stopped := make(chan struct{})

	go func() {
		s.Stop(h.ctx)
		close(stopped)
	}()

	h.wait(run.soft.Done(), "the stop to be passed on")

	// The renewal's ticker, the session's deadline and the grace period.
	const timers = 3

	require.NoError(t, clock.BlockUntilContext(h.ctx, timers))
	clock.Advance(s.Grace)
	h.wait(stopped, "the server to stop")
	require.True(t, query[bool](h, `SELECT lease_until IS NULL AND runnable_at IS NOT NULL FROM sessions WHERE id = $1`, id))

	h.start("two", nil).completes(id)
	h.requireWhole(id)
	require.Equal(t, 1, h.tools.made("change"))
	require.Equal(t, "unknown", query[string](h, `SELECT status FROM mcp_interactions WHERE session_id = $1 AND tool_name = 'change'`, id))
}
