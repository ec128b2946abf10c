package agent

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
)

// drawReplies makes a conversation: some answers with tool calls, then one that ends it.
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

	return append(replies, script.Reply{Thinking: text.Draw(t, "thinking"), Text: rapid.SampledFrom([]string{"", "the end", "the end"}).Draw(t, "end")})
}

// scripted is a fresh bench with this conversation.
func scripted(t *rapid.T, replies []script.Reply, iterations int) *bench {
	b := newBench(t)
	b.spec.MaxIterations = iterations
	b.answers(replies...)

	return b
}

// outcome is how an execution ended.
type outcome struct {
	Status   tarsy.Status
	Code     string
	Analysis []string
	Messages []string
	LLM      int
	MCP      int
	Timeline []tarsy.EventType
}

func (b *bench) outcome() outcome {
	o := outcome{
		Status: b.ledger.state.Executions[0].Status, Code: b.ledger.state.Executions[0].ErrorCode,
		LLM: len(b.ledger.state.LLMInteractions), MCP: len(b.ledger.state.MCPInteractions),
	}

	for _, e := range b.events(tarsy.EventFinalAnalysis) {
		o.Analysis = append(o.Analysis, e.Content)
	}

	for i, m := range b.ledger.state.Messages {
		require.Equal(b.t, i+1, m.SequenceNumber)

		content := m.Content
		if m.Role == tarsy.RoleTool {
			content = "" // may be "unknown" after a kill
		}

		o.Messages = append(o.Messages, fmt.Sprintf("%s %q %d", m.Role, content, len(m.ToolCalls)))
	}

	for _, e := range b.ledger.state.Timeline {
		o.Timeline = append(o.Timeline, e.EventType)
	}

	slices.Sort(o.Timeline)

	return o
}

// resumeFrom is what another server finds after the first n steps.
func (b *bench) resumeFrom(t *rapid.T, replies []script.Reply, n int) *bench {
	again := scripted(t, replies, b.spec.MaxIterations)
	again.fence = b.fence + 1
	again.clock.Advance(b.clock.Now().Sub(again.clock.Now()))

	for _, step := range b.ledger.steps[:n] {
		again.ledger.state.Apply(step)
	}

	for _, e := range again.ledger.state.Timeline {
		again.ledger.sequence = max(again.ledger.sequence, e.SequenceNumber)
	}

	return again
}

func TestFromEveryPrefixARunEndsTheSameAndRepeatsNothingThatFinished(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		replies := drawReplies(t)
		whole := scripted(t, replies, rapid.IntRange(1, 4).Draw(t, "max iterations"))
		whole.finish()

		for n := range len(whole.ledger.steps) { // the last step ends the execution: nothing resumes after it
			b := whole.resumeFrom(t, replies, n)
			before := b.ledger.state
			before.MCPInteractions, before.Timeline = slices.Clone(before.MCPInteractions), slices.Clone(before.Timeline)

			b.finish()
			require.Equal(t, whole.outcome(), b.outcome(), "from step %d of %d", n, len(whole.ledger.steps))
			require.Len(t, b.model.Calls(), len(whole.ledger.state.LLMInteractions)-len(before.LLMInteractions), "LLM calls after step %d", n)

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
				require.Zero(t, b.told(e.ID, tarsy.TypeTimelineCreated), "%s was created again", e.EventType)

				if e.Status == tarsy.EventStreaming {
					require.Equal(t, 1, b.told(e.ID, tarsy.TypeTimelineCompleted), "%s that was left streaming is not ended", e.EventType)
				}
			}
		}
	})
}

// checkCall checks what became of a call that was written down before the kill.
func checkCall(t *rapid.T, b *bench, before tarsy.MCPInteraction, made int) {
	after := b.ledger.state.MCPInteractions[slices.IndexFunc(b.ledger.state.MCPInteractions,
		func(i tarsy.MCPInteraction) bool { return i.ID == before.ID })]
	message := b.ledger.state.Messages[slices.IndexFunc(b.ledger.state.Messages,
		func(m tarsy.Message) bool { return m.Role == tarsy.RoleTool && m.ToolCallID == before.ToolCallID })]

	switch {
	case before.Status != tarsy.CallStarted:
		require.Zero(t, made, "a finished call was made again")
		require.Equal(t, before, after)
	case before.ReadOnly:
		require.Equal(t, 1, made, "a cut-off call that reads is made again")
		require.Equal(t, 2, after.Attempt)
	default:
		require.Zero(t, made, "a cut-off call that may write was made again")
		require.Equal(t, tarsy.CallUnknown, after.Status)
		require.Equal(t, unknownOutcome, message.Content)
	}
}

func TestHoweverOftenItIsKilledARunEndsTheSameAndWritesOnce(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		replies := drawReplies(t)
		iterations := rapid.IntRange(1, 4).Draw(t, "max iterations")
		whole := scripted(t, replies, iterations)
		whole.finish()

		b := scripted(t, replies, iterations)

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
			require.Equal(t, 1, b.told(e.ID, tarsy.TypeTimelineCreated))
		}
	})
}

func TestATextLeftStreamingIsBegunAnewUnderItsOwnID(t *testing.T) {
	t.Parallel()

	b := newBench(t)
	b.answers(script.Reply{Thinking: "hm", Text: "the whole answer"})
	b.ledger.left = 3 // the messages, and the two texts as they begin

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
	require.Equal(t, 1, b.told(response.ID, tarsy.TypeTimelineCreated))
	require.Len(t, b.model.Calls(), 2)
}

func TestATextLeftStreamingThatIsNotNeededIsClosed(t *testing.T) {
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
