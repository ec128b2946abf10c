package agent

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/agent/react"
	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
)

func newReactBench(t *testing.T) *bench {
	t.Helper()

	b := newBench(t)
	b.spec.Strategy = React

	return b
}

func TestReactLoopRunsFromActionsToFinalAnswer(t *testing.T) {
	t.Parallel()

	const asked = "Thought: let me see\nAction: box.look\nAction Input: {\"pod\":\"x\"}"

	b := newReactBench(t)
	b.answers(script.Reply{Text: asked}, script.Reply{Text: "Thought: I know\nFinal Answer: the **root** cause"})
	require.Equal(t, tarsy.StatusCompleted, b.finish().Status)
	require.Equal(t, "the **root** cause", b.analysis(), "the analysis is the answer alone")
	require.Nil(t, b.events(tarsy.EventFinalAnalysis)[0].Metadata)

	messages := b.ledger.state.Messages
	require.Len(t, messages, 5)
	require.Equal(t, asked, messages[2].Content)
	require.Len(t, messages[2].ToolCalls, 1)

	call := messages[2].ToolCalls[0]
	require.Equal(t, "box.look", call.Name)
	require.Equal(t, `{"pod":"x"}`, call.Arguments) //nolint:testifylint // the very text
	require.NotEmpty(t, call.ID)
	require.Equal(t, tarsy.RoleUser, messages[3].Role)
	require.Equal(t, react.Observation+firstCall+`box.look says {"pod":"x"}`, messages[3].Content)
	require.Equal(t, []string{call.ID, "box.look"}, []string{messages[3].ToolCallID, messages[3].ToolName})

	interaction := b.ledger.state.MCPInteractions[0]
	require.Equal(t, []string{"box", "look"}, []string{interaction.ServerName, interaction.ToolName})
	require.True(t, interaction.ReadOnly)
	require.Equal(t, `box.look says {"pod":"x"}`, interaction.ToolResult, "people read what the tool said")
	require.Equal(t, interaction.ToolResult, b.events(tarsy.EventToolCall)[0].Content)

	for _, made := range b.model.Calls() {
		require.Empty(t, made.Request.Tools, "a model without functions is bound none")

		for _, m := range made.Request.Messages {
			require.Empty(t, m.ToolCalls)
			require.Empty(t, m.ToolCallID)
			require.Empty(t, m.ToolName)
			require.NotEqual(t, llm.RoleTool, m.Role)
		}
	}

	require.Equal(t, "iteration", b.model.Calls()[1].Request.Purpose)
	require.Len(t, b.model.Calls()[1].Request.Messages, 4)
}

func TestReactPromptListsToolsAndFormat(t *testing.T) {
	t.Parallel()

	b := newReactBench(t)
	b.spec.CustomInstructions = "Look at the queue first."
	b.tools.list = []Tool{
		{Server: "box", Name: "look", Description: "Looks at\na pod.", Schema: json.RawMessage(`{"type":"object","properties":{
			"pod":{"type":"string","description":"its name"},"deep":{"type":["boolean","null"]},"kind":{"enum":["a","b"]},
			"labels":{"type":"array","items":{"type":"string"}},"where":{"type":"object","properties":{"zone":{"type":"string"}}}
		},"required":["pod"]}`)},
		{Server: "box", Name: "list"},
	}
	b.answers(script.Reply{Text: "Final Answer: done"})
	b.finish()

	system := b.ledger.state.Messages[0].Content
	requireInOrder(t, system, "You are Investigator,", `after "Final Answer:"`, "Look at the queue first.", "## Tools",
		"box.look: Looks at a pod.",
		`arguments: {pod: string, required (its name); deep: boolean or null; kind: one of "a", "b"; labels: array of string; where: {zone: string}}`,
		"box.list\n  arguments: unknown",
		"Thought: ", "Action: ", "Action Input: ", "Final Answer: ", "Never write an Observation yourself")
	require.NotContains(t, system, "without calling a tool")
}

func TestReactPromptWithoutToolsHasNoActions(t *testing.T) {
	t.Parallel()

	b := newReactBench(t)
	b.tools = nil
	b.answers(script.Reply{Text: "Final Answer: done"})
	b.finish()

	system := b.ledger.state.Messages[0].Content
	require.Contains(t, system, "You have no tools")
	require.NotContains(t, system, "Action:")
}

func TestUnusableReplyIsAnsweredWithItsProblem(t *testing.T) {
	t.Parallel()

	for name, test := range map[string]struct {
		text     string
		messages int
		wrong    string
	}{
		"only text":                 {"The pod is down.", 5, `neither an "Action:" nor a "Final Answer:"`},
		"nothing, which is not put": {"", 4, "it was empty"},
		"an invented observation":   {"Observation: fine\nFinal Answer: fine", 5, "it contains an Observation"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			b := newReactBench(t)
			b.model.Add(script.Reply{Text: test.text}, script.Reply{Text: "Final Answer: done"})
			require.Equal(t, tarsy.StatusCompleted, b.finish().Status)
			require.Equal(t, "done", b.analysis())

			messages := b.ledger.state.Messages
			require.Len(t, messages, test.messages)

			correction := messages[len(messages)-2]
			require.Equal(t, tarsy.RoleUser, correction.Role)
			require.Empty(t, correction.ToolCallID)
			require.Contains(t, correction.Content, test.wrong)
			require.Contains(t, correction.Content, "Action Input: its arguments, as a JSON object")

			for _, m := range messages {
				require.NotEmpty(t, m.Content)
			}
		})
	}
}

func TestUnusableRepliesCountAsIterations(t *testing.T) {
	t.Parallel()

	b := newReactBench(t)
	b.spec.MaxIterations = 2
	b.answers(script.Reply{Text: "hm"}, script.Reply{Text: "hm"}, script.Reply{Text: "it is what it is"})
	require.Equal(t, tarsy.ForcedIterations, b.finish().ForcedConclusion)
	require.Equal(t, "it is what it is", b.analysis(), "a conclusion without its heading is taken as it is")

	last := b.model.Calls()[2].Request
	require.Equal(t, "forced_conclusion", last.Purpose)
	require.Contains(t, last.Messages[len(last.Messages)-1].Content, "Final Answer: ")
	require.Contains(t, last.Messages[len(last.Messages)-1].Content, "Do not write another Action")
}

func TestReactConclusionIsFinalAnswerOnly(t *testing.T) {
	t.Parallel()

	b := newReactBench(t)
	b.task.ConcludeAt = b.clock.Now()
	b.answers(script.Reply{Text: "Thought: no time\nFinal Answer: likely memory"})
	require.Equal(t, tarsy.ForcedDeadline, b.finish().ForcedConclusion)
	require.Equal(t, "likely memory", b.analysis())
	require.Equal(t, "Thought: no time\nFinal Answer: likely memory", b.ledger.state.Messages[3].Content)
}

func TestInventedObservationIsDropped(t *testing.T) {
	t.Parallel()

	const asked = "Thought: look\nAction: box.look\nAction Input: {}"

	b := newReactBench(t)
	b.answers(script.Reply{Text: asked + "\nObservation: all pods are green\nFinal Answer: all is well"}, script.Reply{Text: "Final Answer: it is not"})
	b.finish()
	require.Equal(t, "it is not", b.analysis())
	require.Equal(t, asked, b.ledger.state.Messages[2].Content)
	require.Equal(t, asked, b.events(tarsy.EventResponse)[0].Content)
	require.Contains(t, string(b.ledger.state.LLMInteractions[0].LLMResponse), "all pods are green", "the trace keeps what was said")

	for _, m := range b.model.Calls()[1].Request.Messages {
		require.NotContains(t, m.Content, "green")
	}
}

func TestToolRefusalBecomesObservation(t *testing.T) {
	t.Parallel()

	b := newReactBench(t)
	b.answers(script.Reply{Text: "Action: restart the pod\nAction Input: now"}, script.Reply{Text: "Final Answer: done"})

	b.tools.during = func(_ context.Context, call Call) (Result, error) {
		return Result{Content: "There is no tool " + call.Name + ", given " + call.Arguments, IsError: true}, nil
	}
	b.finish()
	require.Equal(t, react.Observation+firstCall+"There is no tool restart the pod, given now", b.ledger.state.Messages[3].Content)
	require.Equal(t, tarsy.CallFailed, b.ledger.state.MCPInteractions[0].Status)
	require.False(t, b.ledger.state.MCPInteractions[0].ReadOnly)
}

func TestUnstartedActionAtTimeUpIsObservedAsNotRun(t *testing.T) {
	t.Parallel()

	b := newReactBench(t)
	b.task.ConcludeAt = b.clock.Now().Add(time.Millisecond)
	b.answers(script.Reply{Text: "Action: box.change\nAction Input: {}"}, script.Reply{Text: "Final Answer: done"})
	b.finish()
	require.Empty(t, b.tools.calls)
	require.Equal(t, react.Observation+notMade, b.ledger.state.Messages[3].Content)
	require.NotEmpty(t, b.ledger.state.Messages[3].ToolCallID)
}
