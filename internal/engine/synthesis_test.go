package engine

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
)

func TestSynthesisIsItsOwnStageAndReplacesAnalyses(t *testing.T) {
	t.Parallel()

	h := newFixture(t)
	h.recipe = recipeOf([]string{"a", "b"})
	h.forAgent("a", script.Reply{Text: "found by a"})
	h.forAgent("b", script.Reply{Text: "found by b"})
	h.forAgent("synthesizer", script.Reply{Text: "found by both"})
	h.summary(script.Reply{Text: "in short"})

	s := h.start("one", nil)
	id := s.submit()
	detail := s.completes(id)
	require.Equal(t, "found by both", detail.FinalAnalysis)
	require.Len(t, detail.Stages, 2)
	require.Equal(t, 2, detail.CurrentStageIndex)

	synthesis := detail.Stages[1]
	require.Equal(t, "stage of a - Synthesis", synthesis.StageName)
	require.Equal(t, tarsy.StageSynthesis, synthesis.StageType)
	require.Equal(t, 2, synthesis.StageIndex)
	require.Nil(t, synthesis.ParallelType)
	require.Equal(t, "synthesis", synthesis.Executions[0].IterationStrategy)
	require.Equal(t, tarsy.ParallelMultiAgent, *detail.Stages[0].ParallelType)
	h.requireWhole(id)
}

func TestSynthesisFailureFailsSession(t *testing.T) {
	t.Parallel()

	h := newFixture(t)
	h.recipe = recipeOf([]string{"a", "b"}, []string{"c"})
	h.forAgent("a", script.Reply{Text: "found by a"})
	h.forAgent("b", script.Reply{Text: "found by b"})
	h.forAgent("synthesizer", script.Reply{Err: errors.New("overloaded")})

	s := h.start("one", nil)
	id := s.submit()
	require.Equal(t, []string{"pending", "in_progress", "failed"}, s.ended(id))

	detail := s.detail(id)
	require.Len(t, detail.Stages, 2, "no later stage begins")
	require.Equal(t, tarsy.StatusCompleted, detail.Stages[0].Status)
	require.Equal(t, `stage "stage of a - Synthesis": overloaded`, detail.ErrorMessage)
	require.Empty(t, detail.FinalAnalysis)
	h.requireWhole(id)
}

func TestSingleCompletedAgentIsSynthesisedUnderPolicyAnyOnly(t *testing.T) {
	t.Parallel()

	for policy, want := range map[tarsy.SuccessPolicy]tarsy.SessionStatus{
		tarsy.PolicyAny: tarsy.SessionCompleted, tarsy.PolicyAll: tarsy.SessionFailed,
	} {
		t.Run(string(policy), func(t *testing.T) {
			t.Parallel()

			h := newFixture(t)
			h.recipe = recipeOf([]string{"a", "b"})
			h.recipe.Stages[0].Policy = policy
			h.forAgent("a", script.Reply{Err: errors.New("overloaded")})
			h.forAgent("b", script.Reply{Text: "found by b"})
			h.forAgent("synthesizer", script.Reply{Text: "found by b, as far as I can see"})
			h.summary(script.Reply{Text: "in short"})

			s := h.start("one", nil)
			id := s.submit()
			s.ended(id)

			detail := s.detail(id)
			require.Equal(t, want, detail.Status, detail.ErrorMessage)
			h.requireWhole(id)

			if want == tarsy.SessionFailed {
				require.Len(t, detail.Stages, 1)

				return
			}

			require.Len(t, detail.Stages, 2)
			require.Equal(t, "found by b, as far as I can see", detail.FinalAnalysis)
		})
	}
}

func TestSynthesisOfShortenedChainFailsWithClearError(t *testing.T) {
	t.Parallel()

	h := newFixture(t)
	h.noRecipes = true
	h.recipe = recipeOf([]string{"first"}, []string{"a", "b"})
	h.forAgent("first", script.Reply{Text: "found first"})
	h.forAgent("a", script.Reply{Text: "found by a"})

	gate := script.NewGate()
	h.forAgent("b", script.Reply{Text: "found by b", Gate: gate})

	s := h.start("one", nil)
	id := s.submit()
	h.wait(gate.Reached(), "the last agent")
	h.configure(func() { h.recipe = recipeOf([]string{"first"}) })
	gate.Open()
	s.ended(id)

	detail := s.detail(id)
	require.Equal(t, tarsy.SessionFailed, detail.Status)
	require.Equal(t, "unknown_agent", detail.ErrorCode)
	require.Equal(t, "SynthesisAgent", detail.Stages[2].Executions[0].AgentName)
	h.requireWhole(id)
}

func TestStageNoLongerParallelIsStillSynthesised(t *testing.T) {
	t.Parallel()

	h := newFixture(t)
	h.recipe = recipeOf([]string{"a", "b"})
	h.forAgent("a", script.Reply{Text: "found by a"})

	gate := script.NewGate()
	h.forAgent("b", script.Reply{Text: "found by b", Gate: gate})
	h.forAgent("synthesizer", script.Reply{Text: "found by both"})
	h.summary(script.Reply{Text: "in short"})

	s := h.start("one", nil)
	id := s.submit()
	h.wait(gate.Reached(), "the second agent")
	h.configure(func() { h.recipe = recipeOf([]string{"a"}) })
	gate.Open()
	require.Equal(t, "found by both", s.completes(id).FinalAnalysis)
	h.requireWhole(id)
}

func TestDeadlineConclusionIsReportedAndUnchangedByQuestion(t *testing.T) {
	t.Parallel()

	for name, late := range map[string]bool{"the investigation was late": true, "only the answer is late": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			h := newFixture(t)
			clock := h.fakeClock()
			inTool, leaveTool := make(chan struct{}), make(chan struct{})
			h.tools.during = duringCall(inTool, leaveTool)

			h.recipe.Stages[0].Agents[0].Spec.IterationTimeout = 24 * time.Hour
			h.forAgent("investigator", script.Reply{ToolCalls: []llm.ToolCall{call("1", "look", `{}`)}}, script.Reply{Text: "as far as I can see"})
			h.summary(script.Reply{Text: "in short"})
			h.chat(script.Reply{ToolCalls: []llm.ToolCall{call("1", "look", `{}`)}}, script.Reply{Text: "because"})

			s := h.start("one", func(c *Config) { c.RenewEvery, c.Lease = 48*time.Hour, 96*time.Hour })
			require.Equal(t, 3*time.Minute, s.settings.Load().WrapUp)

			id := s.submit()
			h.wait(inTool, "the tool call")

			if late {
				clock.Advance(s.settings.Load().SessionTimeout - s.settings.Load().WrapUp)
			}

			leaveTool <- struct{}{}

			detail := s.completes(id)

			want := tarsy.NotForced
			if late {
				want = tarsy.ForcedDeadline
			}

			require.Equal(t, string(want), detail.ConcludedEarly)
			require.Equal(t, want, detail.Stages[0].Executions[0].ForcedConclusion)

			question := s.ask(id, "why?")
			h.wait(inTool, "the tool call of the answer")
			clock.Advance(s.settings.Load().SessionTimeout - s.settings.Load().WrapUp)
			leaveTool <- struct{}{}

			stage := s.answered(id, question)
			require.Equal(t, tarsy.StatusCompleted, stage.Status)
			require.Equal(t, tarsy.ForcedDeadline, stage.Executions[0].ForcedConclusion)
			require.Equal(t, string(want), s.detail(id).ConcludedEarly)
		})
	}
}
