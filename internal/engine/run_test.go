package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/agent"
	"tarsy.dev/tarsy/internal/chain"
	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
)

// investigate scripts a session that reads, changes something and concludes.
func (h *fixture) investigate(gates ...*script.Gate) {
	replies := []script.Reply{
		{Thinking: "let me look", ToolCalls: []llm.ToolCall{call("1", "look", `{"n":1}`)}},
		{Text: "I change it.", ToolCalls: []llm.ToolCall{call("2", "change", `{"n":2}`), call("3", "look", `{"n":3}`)}},
		{Text: "the root cause"},
	}

	for i, g := range gates {
		replies[i].Gate = g
	}

	h.forAgent("investigator", replies...)
	h.summary(script.Reply{Text: "in short"})
}

func TestSessionRunsFromAlertToSummary(t *testing.T) {
	t.Parallel()

	h := newFixture(t)
	h.investigate()

	s := h.start("one", nil)
	id := s.submit()
	require.Equal(t, []string{"pending", "in_progress", "completed"}, s.ended(id))

	detail := s.detail(id)
	require.Equal(t, "the root cause", detail.FinalAnalysis)
	require.Equal(t, "in short", detail.ExecutiveSummary)
	require.Empty(t, detail.ExecutiveSummaryError)
	require.Len(t, detail.Stages, 1)
	require.Equal(t, 1, detail.CurrentStageIndex)
	require.Equal(t, tarsy.StatusCompleted, detail.Stages[0].Executions[0].Status)
	h.requireWhole(id)
	require.Equal(t, 2, h.tools.made("look"))
	require.Equal(t, 1, h.tools.made("change"))
	require.Empty(t, h.model.Unexpected())
}

func TestLaterStagesSeeEarlierResults(t *testing.T) {
	t.Parallel()

	h := newFixture(t)
	h.recipe = recipeOf([]string{"a", "b"}, []string{"c"})
	h.forAgent("a", script.Reply{Text: "found by a"})
	h.forAgent("b", script.Reply{Text: "found by b"})
	h.forAgent("c", script.Reply{Text: "all of it", Expect: func(r *llm.Request) error {
		if text := r.Messages[1].Content; !strings.Contains(text, "found by both") || strings.Contains(text, "found by a") {
			return fmt.Errorf("a synthesis speaks for its agents, but there is %q", text)
		}

		return nil
	}})
	h.forAgent("synthesizer", script.Reply{Text: "found by both", Expect: func(r *llm.Request) error {
		if text := r.Messages[1].Content; !strings.Contains(text, "found by a") || !strings.Contains(text, "found by b") {
			return fmt.Errorf("the synthesis reads what its agents found, but there is %q", text)
		}

		return nil
	}})
	h.summary(script.Reply{Text: "in short"})

	s := h.start("one", nil)
	require.Equal(t, "all of it", s.completes(s.submit()).FinalAnalysis)
}

func TestFailedSummaryLeavesSessionCompleted(t *testing.T) {
	t.Parallel()

	h := newFixture(t)
	h.forAgent("investigator", script.Reply{Text: "the root cause"})
	h.summary(script.Reply{Err: errors.New("no more \x00 tokens")})

	s := h.start("one", nil)
	id := s.submit()
	detail := s.completes(id)
	require.Equal(t, "the root cause", detail.FinalAnalysis)
	require.Empty(t, detail.ExecutiveSummary)
	require.Equal(t, "no more  tokens", detail.ExecutiveSummaryError)
	h.requireWhole(id)
}

func TestFailedStageFailsSessionAndSkipsLaterStages(t *testing.T) {
	t.Parallel()

	h := newFixture(t)
	h.recipe = recipeOf([]string{"a", "b"}, []string{"c"})
	h.forAgent("a", script.Reply{Text: "found by a"})
	h.forAgent("b", script.Reply{Err: errors.New("overloaded")})

	s := h.start("one", nil)
	id := s.submit()
	require.Equal(t, []string{"pending", "in_progress", "failed"}, s.ended(id))

	detail := s.detail(id)
	require.Len(t, detail.Stages, 1)
	require.Equal(t, "stage_failed", detail.ErrorCode)
	require.Equal(t, `stage "stage of a": b (failed): overloaded`, detail.ErrorMessage)
	h.requireWhole(id)
}

// fault makes the nth write to a table fail, once. The counter is a sequence, which is not rolled back.
func (h *fixture) fault(table string, n int, what string) {
	h.t.Helper()
	h.exec(`DROP SEQUENCE IF EXISTS writes`)
	h.exec(`DROP FUNCTION IF EXISTS fault CASCADE`)
	h.exec(`CREATE SEQUENCE writes`)
	h.exec(fmt.Sprintf(`CREATE FUNCTION fault() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF nextval('writes') = %d THEN %s; END IF; RETURN NEW; END $$`, n, what))
	h.exec(`CREATE TRIGGER fault BEFORE INSERT OR UPDATE ON ` + table + ` FOR EACH ROW EXECUTE FUNCTION fault()`)
}

func TestCommitErrorReloadsSessionWithOneEffect(t *testing.T) {
	t.Parallel()

	// The number of the session's writes to each table; the fault is tested at each of them.
	for name, test := range map[string]struct {
		fault  string
		writes map[string]int
	}{
		"a statement is refused": {
			`RAISE EXCEPTION 'refused by the test'`,
			map[string]int{"stages": 2, "executions": 2, "messages": 8, "llm_interactions": 4, "mcp_interactions": 6},
		},
		"the connection breaks": {`PERFORM pg_terminate_backend(pg_backend_pid())`, map[string]int{"messages": 8}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			h := newFixture(t)
			h.investigate()

			s := h.start("one", nil)

			for table, writes := range test.writes {
				for n := range writes {
					where := fmt.Sprintf("write %d to %s", n+1, table)
					h.fault(table, n+1, test.fault)
					h.tools.forget()

					reloaded := s.logged.watch("a step failed; reloading the session")
					id := s.submit()
					detail := s.completes(id)

					h.wait(reloaded, where)
					require.Equal(t, "the root cause", detail.FinalAnalysis, where)
					require.Equal(t, "in short", detail.ExecutiveSummary, where)
					require.Len(t, detail.Stages, 1, where)
					require.Len(t, detail.Stages[0].Executions, 1, where)
					h.requireWhole(id)
					require.LessOrEqual(t, h.tools.made("change"), 1, where)
					require.LessOrEqual(t, h.tools.made("look"), 3, where)
					require.Equal(t, 4, query[int](h, `SELECT count(*) FROM llm_interactions WHERE session_id = $1`, id), where)
					require.Equal(t, 3, query[int](h, `SELECT count(*) FROM mcp_interactions WHERE session_id = $1`, id), where)
					require.Equal(t, int64(1), query[int64](h, `SELECT fence FROM sessions WHERE id = $1`, id), "the session stayed with its holder")
				}
			}
		})
	}
}

// steal makes another server the holder of the session.
func (h *fixture) steal(id string) {
	h.t.Helper()
	h.exec(`UPDATE sessions SET fence = fence + 1, pod_id = 'thief', lease_until = $2 WHERE id = $1`, id, h.clock.Now().Add(time.Hour))
}

func TestServerWithStaleFenceWritesNothing(t *testing.T) {
	t.Parallel()

	for name, duringTool := range map[string]bool{"during an LLM call": false, "during a tool call": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			h := newFixture(t)
			gate, inTool, leaveTool := script.NewGate(), make(chan struct{}), make(chan struct{})

			if duringTool {
				h.investigate()

				h.tools.during = func(context.Context, agent.Call) error {
					close(inTool)
					<-leaveTool

					return nil
				}
			} else {
				h.investigate(nil, gate)
			}

			s := h.start("one", nil)
			lost := s.logged.watch("lost the lease; another server continues")
			id := s.submit()

			if duringTool {
				h.wait(inTool, "the tool call")
			} else {
				h.wait(gate.Reached(), "the LLM call")
			}

			h.settled(s)
			h.steal(id)

			before, calls, tools := h.footprint(id), len(h.model.Calls()), len(h.tools.calls)

			gate.Open()
			close(leaveTool)
			h.wait(lost, "the loss to be noticed")
			s.stop()

			require.Equal(t, before, h.footprint(id))
			require.Equal(t, "thief", query[string](h, `SELECT pod_id FROM sessions WHERE id = $1`, id))
			require.Len(t, h.model.Calls(), calls)
			require.Len(t, h.tools.calls, tools)
		})
	}
}

// settled waits until everything that the server's sessions have submitted is committed.
func (h *fixture) settled(s *server) {
	for _, r := range s.running() {
		r.memory.waitCommitted(h.ctx)
	}
}

func TestRenewalFindingLeaseLostInterruptsWork(t *testing.T) {
	t.Parallel()

	h := newFixture(t)
	clock := h.fakeClock()
	h.investigate()

	inTool := make(chan struct{})
	h.tools.during = func(ctx context.Context, _ agent.Call) error {
		close(inTool)
		<-ctx.Done()

		return context.Cause(ctx)
	}

	s := h.start("one", nil)
	lost := s.logged.watch("lost the lease; another server continues")
	id := s.submit()
	h.wait(inTool, "the tool call")
	h.steal(id)

	before := h.footprint(id)

	clock.Advance(s.RenewEvery)
	h.wait(lost, "the loss to be noticed")
	s.stop()
	require.Equal(t, before, h.footprint(id))
}

func TestLeaseIsCheckedBeforeExternalCalls(t *testing.T) {
	t.Parallel()

	const conclusion = 4 // the rounds are: create the stage, run it, finish it, conclude

	h := newFixture(t)
	h.noRecipes = true
	clock := h.fakeClock()

	for name, test := range map[string]struct {
		// round is the planning round in which the server freezes; 0 means while it lists tools.
		round int
		taken bool
		// Whether these are still reached.
		opens, iterates, summarises bool
	}{
		"frozen before tools are opened, nobody took it":   {round: 2, opens: true, iterates: true, summarises: true},
		"frozen before tools are opened, taken":            {round: 2, taken: true},
		"frozen before the first LLM call, nobody took it": {opens: true, iterates: true, summarises: true},
		"frozen before the first LLM call, taken":          {taken: true, opens: true},
		"frozen before the summary, nobody took it":        {round: conclusion, opens: true, iterates: true, summarises: true},
		"frozen before the summary, taken":                 {round: conclusion, taken: true, opens: true, iterates: true},
	} {
		// Not parallel, because they share the clock.
		t.Run(name, func(t *testing.T) {
			h.model, h.tools = script.New(script.Options{}), &toolbox{}
			h.forAgent("investigator", script.Reply{Text: "found"})
			h.summary(script.Reply{Text: "short"})

			var (
				s     *server
				id    string
				round int
			)

			freeze := func() {
				if test.taken {
					h.steal(id)
				}

				clock.Advance(s.Lease + time.Second)
			}

			s = h.open("one", func(c *Config) {
				c.RenewEvery = 24 * time.Hour
				c.Chain = func(string) (chain.Chain, bool) {
					if round++; round == test.round {
						freeze()
					}

					return h.recipe, true
				}
			})

			if test.round == 0 {
				h.tools.onList = freeze
			}

			lost := s.logged.watch("lost the lease; another server continues")
			id = s.submit()
			s.Start()

			if test.taken {
				h.wait(lost, "the loss to be noticed")
			} else {
				s.completes(id)
				h.requireWhole(id)
			}

			s.stop()

			purposes := map[string]bool{}
			for _, c := range h.model.Calls() {
				purposes[c.Request.Purpose] = true
			}

			require.Equal(t, test.opens, h.tools.opens > 0, "tools opened")
			require.Equal(t, test.iterates, purposes[string(tarsy.InteractionIteration)], "the model called")
			require.Equal(t, test.summarises, purposes[string(tarsy.InteractionExecutiveSummary)], "the summary written")
		})
	}
}

func TestUnclaimedExpiredLeaseIsRenewedBeforeCall(t *testing.T) {
	t.Parallel()

	h := newFixture(t)
	clock := h.fakeClock()
	gate := script.NewGate()
	h.investigate(gate)

	var until time.Time

	s := h.start("one", func(c *Config) { c.RenewEvery = 24 * time.Hour })
	id := s.submit()

	h.tools.during = func(_ context.Context, c agent.Call) error {
		if strings.HasSuffix(c.Name, "change") {
			until = query[time.Time](h, `SELECT lease_until FROM sessions WHERE id = $1`, id)
		}

		return nil
	}

	h.wait(gate.Reached(), "the LLM call")
	clock.Advance(s.Lease * 3 / 4)
	gate.Open()
	s.completes(id)
	require.WithinDuration(t, clock.Now().Add(s.Lease), until, time.Millisecond, "a quarter of the lease was left, so it was renewed")
	require.Equal(t, 1, h.tools.made("change"))
}

func TestSessionOfRemovedChainFailsWithClearError(t *testing.T) {
	t.Parallel()

	h := newFixture(t)
	h.noRecipes = true
	s := h.start("one", func(c *Config) { c.Chain = func(string) (chain.Chain, bool) { return chain.Chain{}, false } })
	id := s.submit()
	require.Equal(t, []string{"pending", "failed"}, s.ended(id))

	detail := s.detail(id)
	require.Equal(t, "not_configured", detail.ErrorCode)
	require.Equal(t, `no running server has configured chain "chain", which this session needs; add it to the configuration and re-run the alert`,
		detail.ErrorMessage)
	h.requireWhole(id)
}

func TestExecutionOfRemovedAgentFails(t *testing.T) {
	t.Parallel()

	h := newFixture(t)
	h.noRecipes = true
	round := 0
	s := h.start("one", func(c *Config) {
		c.Chain = func(string) (chain.Chain, bool) {
			if round++; round > 1 {
				return chain.Chain{ID: "chain"}, true
			}

			return h.recipe, true
		}
	})
	id := s.submit()
	s.ended(id)

	detail := s.detail(id)
	require.Equal(t, tarsy.SessionFailed, detail.Status)
	require.Equal(t, "unknown_agent", detail.ErrorCode)
	h.requireWhole(id)
}

func TestUnopenableToolsFailExecution(t *testing.T) {
	t.Parallel()

	h := newFixture(t)
	s := h.start("one", func(c *Config) {
		c.OpenTools = func(context.Context, string, []tarsy.MCPServerSelection, []agent.ToolRule) (agent.Tools, error) {
			return nil, errors.New("no such \x00 file")
		}
	})
	id := s.submit()
	s.ended(id)

	detail := s.detail(id)
	require.Equal(t, tarsy.SessionFailed, detail.Status)
	require.Equal(t, `stage "stage of investigator": open tools: no such  file`, detail.ErrorMessage)
	h.requireWhole(id)
}

func TestCancelStopsRunningSessionAndClosesEverything(t *testing.T) {
	t.Parallel()

	for name, duringTool := range map[string]bool{"during an LLM call": false, "during a tool call": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			h := newFixture(t)
			reached := make(chan struct{})

			h.tools.during = func(ctx context.Context, _ agent.Call) error {
				close(reached)
				<-ctx.Done()

				return context.Cause(ctx)
			}

			if duringTool {
				h.investigate()
			} else {
				gate := script.NewGate()
				h.forAgent("investigator", script.Reply{Text: "half of it and more", Gate: gate, GateAfter: 3})

				go func() {
					<-gate.Reached()
					close(reached)
				}()
			}

			s := h.start("one", nil)
			id := s.submit()
			h.wait(reached, "the call")
			s.cancel(id)
			require.Equal(t, []string{"pending", "in_progress", "cancelling", "cancelled"}, s.ended(id))

			detail := s.detail(id)
			require.Equal(t, "cancelled", detail.ErrorCode)
			require.Equal(t, tarsy.StatusCancelled, detail.Stages[0].Status)
			require.Equal(t, tarsy.StatusCancelled, detail.Stages[0].Executions[0].Status)
			h.requireWhole(id)

			if !duringTool {
				require.Equal(t, "half of it ", query[string](h, `SELECT content FROM timeline_events WHERE session_id = $1 AND status = 'cancelled'`, id))
			}
		})
	}
}

func TestSessionDeadlineHoldsAcrossServers(t *testing.T) {
	t.Parallel()

	h := newFixture(t)
	clock := h.fakeClock()
	h.recipe.Stages[0].Agents[0].Spec.IterationTimeout = 24 * time.Hour

	first, second := script.NewGate(), script.NewGate()
	h.forAgent("investigator", script.Reply{Text: "late", Gate: first})

	s := h.start("one", func(c *Config) { c.RenewEvery = 24 * time.Hour })
	id := s.submit()
	h.wait(first.Reached(), "the LLM call")
	clock.Advance(s.settings.Load().SessionTimeout - time.Minute)
	s.stop()

	h.model = script.New(script.Options{})
	h.forAgent("investigator", script.Reply{Text: "late", Gate: second})

	other := h.start("two", func(c *Config) { c.RenewEvery = 24 * time.Hour })
	h.wait(second.Reached(), "the LLM call on the other server")
	clock.Advance(time.Minute)
	require.Equal(t, []string{"pending", "in_progress", "timed_out"}, other.ended(id))

	detail := other.detail(id)
	require.Equal(t, "session_timeout", detail.ErrorCode)
	require.Equal(t, tarsy.StatusTimedOut, detail.Stages[0].Executions[0].Status)
	h.requireWhole(id)
}

func TestParallelAgentsCommitInterleaved(t *testing.T) {
	t.Parallel()

	h := newFixture(t)
	names := []string{"a", "b", "c"}
	h.recipe = recipeOf(names)

	for _, name := range names {
		h.forAgent(name,
			script.Reply{Thinking: "hm", ToolCalls: []llm.ToolCall{call("1", "look", `{}`), call("1", "change", `{}`), call("", "look", `{}`)}},
			script.Reply{Text: "again", ToolCalls: []llm.ToolCall{call("1", "look", `{}`)}},
			script.Reply{Thinking: "ah", Text: "found by " + name})
	}

	h.forAgent("synthesizer", script.Reply{Text: "found by all"})
	h.summary(script.Reply{Text: "short"})

	s := h.start("one", func(c *Config) { c.Workers = 8 })

	var ids []string
	for range 6 {
		ids = append(ids, s.submit())
	}

	for _, id := range ids {
		detail := s.completes(id)
		require.Equal(t, "found by all", detail.FinalAnalysis)
		require.Len(t, detail.Stages, 2)
		h.requireWhole(id)
		require.True(t, query[bool](h, `SELECT max(sequence_number) = count(*) FROM timeline_events WHERE session_id = $1`, id))
	}

	require.Equal(t, 6*3*3, h.tools.made("look"))
	require.Equal(t, 6*3, h.tools.made("change"))
}
