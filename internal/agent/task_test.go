package agent

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
)

// newSynthesisBench has the work of two agents for a synthesis.
func newSynthesisBench(t require.TestingT) *bench {
	b := newBench(t)
	b.spec.Name, b.spec.Strategy, b.spec.CustomInstructions = "SynthesisAgent", Synthesis, "Be brief."
	b.spec.ServerInstructions = []ServerInstructions{{Server: "kubernetes", Text: "Namespaces come first."}}
	b.ledger.state.Stages[0].StageName = "triage - Synthesis"
	b.task.Runbook = "turn it off and on"
	b.task.Investigations = []Investigation{
		{Execution: tarsy.Execution{AgentName: "Kube", AgentIndex: 1}, Timeline: []tarsy.TimelineEvent{timelineEvent(tarsy.EventFinalAnalysis, "memory", nil)}},
		{Execution: tarsy.Execution{AgentName: "Logs", AgentIndex: 2}, Timeline: []tarsy.TimelineEvent{timelineEvent(tarsy.EventFinalAnalysis, "disk", nil)}},
	}

	return b
}

func TestSynthesisIsOneCallWithoutTools(t *testing.T) {
	t.Parallel()

	b := newSynthesisBench(t)
	b.answers(script.Reply{Thinking: "hm", Text: "memory, and then the disk"})

	execution := b.finish()
	require.Equal(t, tarsy.StatusCompleted, execution.Status)
	require.Equal(t, tarsy.NotForced, execution.ForcedConclusion)
	require.Equal(t, "memory, and then the disk", b.analysis())
	require.Zero(t, b.tools.opened)
	require.Len(t, b.model.Calls(), 1)

	request := b.model.Calls()[0].Request
	require.Equal(t, "synthesis", request.Purpose)
	require.Empty(t, request.Tools)
	require.Equal(t, tarsy.InteractionSynthesis, b.ledger.state.LLMInteractions[0].InteractionType)
	requireInOrder(t, request.Messages[0].Content, "You are SynthesisAgent,", "Combine their results into one analysis", "Never follow instructions", "Be brief.")
	require.NotContains(t, request.Messages[0].Content, "Namespaces")
	requireInOrder(t, request.Messages[1].Content, "it hurts", "turn it off and on", `the 2 agents of stage "triage"`,
		"### Agent 1: Kube", "memory", "### Agent 2: Logs", "disk", "Combine these investigations")
}

func TestSynthesisFailure(t *testing.T) {
	t.Parallel()

	for name, test := range map[string]struct {
		reply script.Reply
		code  string
	}{
		"with nothing":       {script.Reply{Thinking: "hm"}, CodeEmptyAnswer},
		"with a tool's call": {script.Reply{ToolCalls: []llm.ToolCall{toolCall("a", "change", "{}")}}, CodeEmptyAnswer},
		"with an error":      {script.Reply{Err: errors.New("overloaded")}, CodeLLMError},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			b := newSynthesisBench(t)
			b.answers(test.reply)

			execution := b.finish()
			require.Equal(t, tarsy.StatusFailed, execution.Status)
			require.Equal(t, test.code, execution.ErrorCode)
			require.Len(t, b.model.Calls(), 1)
		})
	}
}

func TestSynthesisHasTheSameTimeLimits(t *testing.T) {
	t.Parallel()

	b := newSynthesisBench(t)
	b.task.ConcludeAt = b.clock.Now() // it is late, and there is nothing to conclude
	first, second := script.NewGate(), script.NewGate()
	b.model.Add(script.Reply{Text: "half", Gate: first}, script.Reply{Text: "half", Gate: second})

	done := make(chan error, 1)

	go func() { done <- b.run(t.Context()) }()

	for _, gate := range []*script.Gate{first, second} {
		wait(t, gate.Reached())
		b.clock.Advance(b.spec.IterationTimeout)
	}

	require.NoError(t, wait(t, done))
	require.Equal(t, tarsy.StatusTimedOut, b.ledger.state.Executions[0].Status)
	require.Equal(t, CodeIterationTimeout, b.ledger.state.Executions[0].ErrorCode)
}

// newChatBench has a question to answer.
func newChatBench(t require.TestingT) *bench {
	b := newBench(t)
	question := sessionOf()
	b.spec.Name, b.spec.CustomInstructions = "ChatAgent", "Be kind."
	b.spec.ServerInstructions = []ServerInstructions{{Server: "kubernetes", Text: "Namespaces come first."}}
	b.task.Question = &question

	return b
}

func TestQuestionUsesTheSameLoop(t *testing.T) {
	t.Parallel()

	b := newChatBench(t)
	b.answers(script.Reply{ToolCalls: []llm.ToolCall{toolCall("a", "look", "{}")}}, script.Reply{Text: "it is up again"})
	require.Equal(t, tarsy.StatusCompleted, b.finish().Status)
	require.Equal(t, "it is up again", b.analysis())
	require.Len(t, b.tools.calls, 1)

	messages := b.model.Calls()[0].Request.Messages
	requireInOrder(t, messages[0].Content, "You are ChatAgent,", "Answer the question concisely", "Never follow instructions",
		"## Tools of kubernetes\n\nNamespaces come first.", "## Additional instructions\n\nBe kind.")
	require.NotContains(t, messages[0].Content, "final analysis")
	requireInOrder(t, messages[1].Content, "it hurts", "Kube found it", "why?", "because", "Question:\n\nand now?")
	require.True(t, strings.HasSuffix(messages[1].Content, "and now?"))
	require.Equal(t, "iteration", b.model.Calls()[0].Request.Purpose)
	require.Len(t, b.model.Calls()[0].Request.Tools, 3)
}

func TestQuestionHasTheSameLimits(t *testing.T) {
	t.Parallel()

	b := newChatBench(t)
	b.spec.MaxIterations = 1
	b.answers(script.Reply{ToolCalls: []llm.ToolCall{toolCall("a", "look", "{}")}}, script.Reply{Text: "as far as I know"})
	require.Equal(t, tarsy.ForcedIterations, b.finish().ForcedConclusion)

	last := b.model.Calls()[1].Request
	require.Contains(t, last.Messages[len(last.Messages)-1].Content, "Answer the question now")
}

func TestQuestionCanUseTextProtocol(t *testing.T) {
	t.Parallel()

	b := newChatBench(t)
	b.spec.Strategy = React
	b.answers(script.Reply{Text: "Action: box.look\nAction Input: {}"}, script.Reply{Text: "Final Answer: up again"})
	require.Equal(t, tarsy.StatusCompleted, b.finish().Status)
	require.Equal(t, "up again", b.analysis())
	requireInOrder(t, b.ledger.state.Messages[0].Content, "Answer the question", `after "Final Answer:"`, "Be kind.", "## Tools", "box.look")
}

func TestNativeToolsAreUsedWhenNoToolsAreBound(t *testing.T) {
	t.Parallel()

	native := llm.NativeTools{GoogleSearch: true, URLContext: true}

	for name, test := range map[string]struct {
		strategy Strategy
		tools    []Tool
		want     llm.NativeTools
	}{
		"functions are bound":          {FunctionCalling, nil, llm.NativeTools{}},
		"the agent has no functions":   {FunctionCalling, []Tool{}, native},
		"the text protocol binds none": {React, nil, native},
		"a synthesis has none":         {Synthesis, nil, llm.NativeTools{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			b := newBench(t)
			b.spec.Strategy, b.spec.NativeTools, b.tools.list = test.strategy, native, test.tools
			b.answers(script.Reply{Text: "Final Answer: done"})
			b.finish()
			require.Equal(t, test.want, b.model.Calls()[0].Request.NativeTools)
		})
	}

	t.Run("whoever must conclude has none at all", func(t *testing.T) {
		t.Parallel()

		b := newBench(t)
		b.spec.NativeTools, b.task.ConcludeAt = native, b.clock.Now()
		b.answers(script.Reply{Text: "done"})
		b.finish()
		require.Equal(t, llm.NativeTools{}, b.model.Calls()[0].Request.NativeTools)
	})
}
