package engine

import (
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
)

func TestCommitErrorStopsOtherExecutionsOfStage(t *testing.T) {
	t.Parallel()

	h := newFixture(t)
	h.recipe = recipeOf([]string{"a", "b"})

	a, b := script.NewGate(), script.NewGate()
	h.forAgent("a", script.Reply{Gate: a, ToolCalls: []llm.ToolCall{call("1", "look", `{}`)}}, script.Reply{Text: "found by a"})
	h.forAgent("b", script.Reply{Gate: b, Text: "found by b"})
	h.forAgent("synthesizer", script.Reply{Text: "found by both"})
	h.summary(script.Reply{Text: "short"})
	h.fault("mcp_interactions", 1, `RAISE EXCEPTION 'refused by the test'`)

	s := h.start("one", nil)
	reloaded := s.logged.watch("a step failed; reloading the session")
	id := s.submit()

	h.wait(b.Reached(), "the other agent's LLM call")
	a.Open()
	h.wait(reloaded, "the session to be loaded again while the other agent waits for its model")
	b.Open()

	require.Equal(t, "found by both", s.completes(id).FinalAnalysis)
	h.requireWhole(id)
}
