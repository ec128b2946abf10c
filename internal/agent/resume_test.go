package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
)

// play is everything that determines an execution.
type play struct {
	spec    Spec
	task    Input
	replies []script.Reply
	summary script.Reply
	downAt  *int
}

// drawPlay draws an execution of any strategy, with or without a question or summaries of results, and possibly with a provider that
// fails in the middle of it, and a fallback.
func drawPlay(t *rapid.T) play {
	strategy := rapid.SampledFrom([]Strategy{"", FunctionCalling, React, React, Synthesis}).Draw(t, "strategy")
	p := play{spec: newBench(t).spec}
	p.spec.Strategy = strategy
	p.spec.MaxIterations = rapid.IntRange(1, 4).Draw(t, "max iterations")

	// Everything is over the threshold, or nothing is: the text for an interrupted call is longer than a result.
	if threshold := rapid.SampledFrom([]int{0, 1, 1000}).Draw(t, "threshold"); threshold > 0 {
		p.spec.Digests = map[string]Digest{"box": {Threshold: threshold, MaxTokens: 10}}
	}

	if at := rapid.IntRange(-2, 3).Draw(t, "down at"); at >= 0 {
		p.downAt = &at
		p.spec.Fallbacks = rapid.SampledFrom([][]Fallback{nil, {{Provider: "second"}}, {{Provider: "second"}, {Provider: "third"}}}).Draw(t, "fallbacks")
	}

	p.summary = rapid.SampledFrom([]script.Reply{
		{Thinking: "hm", Text: "in a few words"}, {}, {Text: "in a", Err: errors.New("overloaded"), AfterChunks: 1},
	}).Draw(t, "summary")

	if rapid.Bool().Draw(t, "question") {
		question := sessionOf()
		p.task.Question = &question
	}

	if strategy == React {
		p.replies = drawTexts(t)
	} else {
		p.replies = drawReplies(t)
	}

	return p
}

// drawReplies draws a conversation: some answers with tool calls, then one that ends it.
func drawReplies(t *rapid.T) []script.Reply {
	var replies []script.Reply

	text := rapid.SampledFrom([]string{"", "", "some text here"})

	for i := range rapid.IntRange(0, 3).Draw(t, "iterations") {
		reply := script.Reply{Thinking: text.Draw(t, "thinking"), Text: text.Draw(t, "text")}

		for c := range rapid.IntRange(1, 3).Draw(t, "calls") {
			name := rapid.SampledFrom([]string{"look", "look", "change", "broken", "no_such_tool"}).Draw(t, "tool")
			id := rapid.SampledFrom([]string{"", "same", fmt.Sprintf("c%d%d", i, c)}).Draw(t, "id")
			reply.ToolCalls = append(reply.ToolCalls, toolCall(id, name, fmt.Sprintf(`{"i":%d,"c":%d}`, i, c)))
		}

		replies = append(replies, reply)
	}

	return append(replies, script.Reply{Thinking: text.Draw(t, "thinking"), Text: rapid.SampledFrom([]string{"", "the end", "the end [call 1.2.1], [call 1.2.3, 6.6.6]"}).Draw(t, "end")})
}

// drawTexts draws a conversation in the text protocol: actions, inventions and mistakes, then an answer.
func drawTexts(t *rapid.T) []script.Reply {
	var replies []script.Reply

	for i := range rapid.IntRange(0, 4).Draw(t, "iterations") {
		tool := rapid.SampledFrom([]string{"box.look", "box__look", "box.change", "box.broken", "no such tool"}).Draw(t, "tool")
		action := fmt.Sprintf("Thought: so\nAction: %s\nAction Input: {\"i\":%d}", tool, i)
		replies = append(replies, script.Reply{
			Thinking: rapid.SampledFrom([]string{"", "hm"}).Draw(t, "thinking"),
			Text: rapid.SampledFrom([]string{
				action, action, action + "\nObservation: I made this up", "I forgot the form.", "Thought: and nothing else", "Final Answer:",
			}).Draw(t, "text"),
		})
	}

	return append(replies, script.Reply{Text: rapid.SampledFrom([]string{"Final Answer: the end [call 1.2.2]", "Thought: x\nFinal Answer: the end", "no form", ""}).Draw(t, "end")})
}

// bench returns a new bench set up with this play.
func (p play) bench(t *rapid.T) *bench {
	b := newBench(t)
	b.spec, b.task, b.summary, b.downAt = p.spec, p.task, p.summary, p.downAt
	b.answers(p.replies...)

	return b
}

// outcome is how an execution ended.
type outcome struct {
	Status   tarsy.Status
	Code     string
	Provider string
	Forced   tarsy.ForcedConclusion
	Analysis []string
	// Calls are the numbers of the calls and their tools; Citations are those of the analysis.
	Calls     []string
	Citations []string
	Messages  []string
	LLM       int
	MCP       int
	Timeline  []tarsy.EventType
}

func (b *bench) outcome() outcome {
	o := outcome{
		Status: b.ledger.state.Executions[0].Status, Code: b.ledger.state.Executions[0].ErrorCode,
		Forced: b.ledger.state.Executions[0].ForcedConclusion, Provider: b.ledger.state.Executions[0].LLMProvider,
		LLM: len(b.ledger.state.LLMInteractions), MCP: len(b.ledger.state.MCPInteractions),
	}

	for _, e := range b.events(tarsy.EventFinalAnalysis) {
		o.Analysis = append(o.Analysis, e.Content)
		o.Citations = append(o.Citations, b.citations(e)...)
	}

	for _, e := range b.events(tarsy.EventToolCall) {
		o.Calls = append(o.Calls, callHeader(e)+" "+CallOf(e))
	}

	for i, m := range b.ledger.state.Messages {
		require.Equal(b.t, i+1, m.SequenceNumber)

		content := m.Content
		if m.ToolCallID != "" {
			content = b.mark(m) // the rest may be "unknown" after a kill
		}

		o.Messages = append(o.Messages, fmt.Sprintf("%s %q %d", m.Role, content, len(m.ToolCalls)))
	}

	for _, e := range b.ledger.state.Timeline {
		o.Timeline = append(o.Timeline, e.EventType)
	}

	slices.Sort(o.Timeline)

	return o
}

// mark returns the prefix of a result with the number of its call; a call that was not made has none.
func (b *bench) mark(result tarsy.Message) string {
	for _, i := range b.ledger.state.MCPInteractions {
		if i.ToolCallID == result.ToolCallID {
			prefix := b.spec.resultPrefix(callNumber(b.ledger.state.Timeline, i.TimelineEventID))
			require.Contains(b.t, prefix, "[call 1.2.")
			require.Equal(b.t, prefix, result.Content[:min(len(prefix), len(result.Content))], "a result stands under its call's number")

			return prefix
		}
	}

	require.NotContains(b.t, result.Content, "[call")

	return ""
}

// resumeFrom returns a bench with what another server finds after the first n steps, at the time of the last of them.
func (b *bench) resumeFrom(t *rapid.T, p play, n int) *bench {
	again := p.bench(t)
	again.fence = b.fence + 1

	for i, step := range b.ledger.steps[:n] {
		again.ledger.state.Apply(step)
		again.clock.Advance(b.ledger.times[i].Sub(again.clock.Now()))
	}

	for _, e := range again.ledger.state.Timeline {
		again.ledger.sequence = max(again.ledger.sequence, e.SequenceNumber)
	}

	return again
}

func TestResumeFromAnyPrefixEndsTheSameWithoutRepeats(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := drawPlay(t)
		whole := p.bench(t)
		whole.finish()

		for n := range len(whole.ledger.steps) { // the last step ends the execution: nothing resumes after it
			b := whole.resumeFrom(t, p, n)
			before, forced := b.ledger.state, b.ledger.state.Executions[0].ForcedConclusion
			before.MCPInteractions, before.Timeline = slices.Clone(before.MCPInteractions), slices.Clone(before.Timeline)

			b.finish()
			require.Equal(t, whole.outcome(), b.outcome(), "from step %d of %d", n, len(whole.ledger.steps))
			require.Len(t, b.model.Calls(), len(whole.ledger.state.LLMInteractions)-len(before.LLMInteractions), "LLM calls after step %d", n)

			if forced != tarsy.NotForced {
				require.Zero(t, b.tools.opened, "tools that nobody will call were opened")
			}

			made := map[string]int{}
			for _, c := range b.tools.calls {
				made[c.ID]++
			}

			for _, i := range before.MCPInteractions {
				checkCall(t, b, i, made[i.ID])
			}

			for id, count := range made {
				require.Equal(t, 1, count, "call %s was made %d times by one run", id, count)
			}

			for _, e := range before.Timeline {
				require.Zero(t, b.journalCount(e.ID, tarsy.TypeTimelineCreated), "%s was created again", e.EventType)

				if e.Status == tarsy.EventStreaming {
					require.Equal(t, 1, b.journalCount(e.ID, tarsy.TypeTimelineCompleted), "%s that was left streaming is not ended", e.EventType)
				}
			}
		}
	})
}

// checkCall checks a call that was recorded before the kill.
func checkCall(t *rapid.T, b *bench, before tarsy.MCPInteraction, made int) {
	after := b.ledger.state.MCPInteractions[slices.IndexFunc(b.ledger.state.MCPInteractions,
		func(i tarsy.MCPInteraction) bool { return i.ID == before.ID })]
	message := b.ledger.state.Messages[slices.IndexFunc(b.ledger.state.Messages,
		func(m tarsy.Message) bool { return m.ToolCallID == before.ToolCallID })]

	switch {
	case before.Status != tarsy.CallStarted:
		require.Zero(t, made, "a finished call was made again")

		before.Summary = after.Summary // it may have come later
		require.Equal(t, before, after)
	case before.ReadOnly:
		require.Equal(t, 1, made, "a cut-off call that reads is made again")
		require.Equal(t, 2, after.Attempt)
	default:
		require.Zero(t, made, "a cut-off call that may write was made again")
		require.Equal(t, tarsy.CallUnknown, after.Status)

		if after.Summary == "" {
			require.Equal(t, b.spec.resultPrefix(callNumber(b.ledger.state.Timeline, before.TimelineEventID))+unknownOutcome, message.Content)
		}
	}
}

func TestRepeatedKillsEndTheSameAndWriteOnce(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := drawPlay(t)
		whole := p.bench(t)
		whole.finish()

		b := p.bench(t)

		for kills := 0; ; kills++ {
			b.ledger.left = rapid.IntRange(0, 4).Draw(t, "steps until the kill")
			if kills > 2*len(whole.ledger.steps) {
				b.ledger.left = -1
			}

			err := b.run(context.Background())
			if err == nil {
				break
			}

			require.ErrorIs(t, err, errKilled)
		}

		require.Equal(t, whole.outcome(), b.outcome())
		requireNoNUL(t, b.ledger.steps)

		made := map[string]int{}
		for _, c := range b.tools.calls {
			made[c.ID]++
		}

		for _, i := range b.ledger.state.MCPInteractions {
			if !i.ReadOnly {
				require.LessOrEqual(t, made[i.ID], 1, "%s was made more than once", i.ToolName)
			}
		}

		for _, e := range b.ledger.state.Timeline {
			require.Equal(t, 1, b.journalCount(e.ID, tarsy.TypeTimelineCreated))
		}
	})
}

func TestResumeFromAnyPrefixPastDeadlineConcludes(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := drawPlay(t)
		// Each answer of the model takes a millisecond.
		p.task.ConcludeAt = newBench(t).clock.Now().Add(time.Duration(rapid.IntRange(0, 8).Draw(t, "milliseconds")) * time.Millisecond)
		whole := p.bench(t)
		whole.finish()
		whole.checkConversation()

		for n := range len(whole.ledger.steps) {
			b := whole.resumeFrom(t, p, n)
			forced := b.ledger.state.Executions[0].ForcedConclusion
			late := isLate(p.task.ConcludeAt, b.clock.Now())
			b.finish()
			b.checkConversation()

			if forced != tarsy.NotForced {
				require.Equal(t, whole.outcome(), b.outcome(), "what was told to conclude ends the same from step %d", n)
			}

			if late {
				require.Empty(t, b.tools.calls, "a call was made after the time was up")
				require.Zero(t, b.tools.opened)
			}

			if late && forced == tarsy.NotForced && p.spec.Strategy != Synthesis {
				require.NotEqual(t, tarsy.ForcedIterations, b.ledger.state.Executions[0].ForcedConclusion)
			}
		}
	})
}

// checkConversation checks that a provider would accept the conversation, and that nothing is left undone.
func (b *bench) checkConversation() {
	asked, answered := map[string]int{}, map[string]int{}

	for i, m := range b.ledger.state.Messages {
		require.Equal(b.t, i+1, m.SequenceNumber)

		if last := i == len(b.ledger.state.Messages)-1; !last { // calls of the last answer need no result
			for _, c := range m.ToolCalls {
				asked[c.ID]++
			}
		}

		if m.ToolCallID != "" {
			answered[m.ToolCallID]++
		}
	}

	require.Equal(b.t, asked, answered, "each call has one result")

	for _, i := range b.ledger.state.MCPInteractions {
		require.NotEqual(b.t, tarsy.CallStarted, i.Status)
	}
}

func TestInterruptedStreamRestartsUnderItsOwnID(t *testing.T) {
	t.Parallel()

	b := newBench(t)
	b.answers(script.Reply{Thinking: "hm", Text: "the whole answer"})
	b.ledger.left = 3 // the messages, and the two texts when they begin

	require.ErrorIs(t, b.run(t.Context()), errKilled)
	require.Len(t, b.ledger.state.Timeline, 2)

	thinking, response := b.events(tarsy.EventThinking)[0], b.events(tarsy.EventResponse)[0]
	b.ledger.left, b.fence = -1, 7
	b.shown = &shown{}
	b.finish()

	require.Equal(t, []string{thinking.ID, response.ID}, b.shown.opened)
	require.Equal(t, []int64{7, 7}, b.shown.fences, "a new fence resets what readers have")
	require.Equal(t, "the whole answer", b.shown.text[response.ID])
	require.Equal(t, "the whole answer", b.events(tarsy.EventResponse)[0].Content)
	require.Equal(t, response.SequenceNumber, b.events(tarsy.EventResponse)[0].SequenceNumber)
	require.Equal(t, 1, b.journalCount(response.ID, tarsy.TypeTimelineCreated))
	require.Len(t, b.model.Calls(), 2)
}

func TestInterruptedStreamThatIsNotNeededIsClosed(t *testing.T) {
	t.Parallel()

	b := newBench(t)
	b.model.Add(script.Reply{Thinking: "hm", Text: "I "}, script.Reply{ToolCalls: []llm.ToolCall{toolCall("a", "look", "{}")}}, script.Reply{Text: "done"})
	b.ledger.left = 3
	require.ErrorIs(t, b.run(t.Context()), errKilled)

	b.ledger.left = -1
	b.finish()
	require.Len(t, b.events(tarsy.EventThinking), 1)
	require.Len(t, b.events(tarsy.EventResponse), 2, "the first text was closed, the last answer has its own")
}
