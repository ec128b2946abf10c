package agent

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/progress"
	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
)

// concluding returns the step that told the model to conclude.
func (b *bench) concluding() progress.Step {
	for _, step := range b.ledger.steps {
		for _, e := range step.Executions {
			if e.ForcedConclusion != tarsy.NotForced && !e.Status.Terminal() {
				return step
			}
		}
	}

	require.FailNow(b.t, "nobody was told to conclude")

	return progress.Step{}
}

func TestConclusionStepRecordsItsReason(t *testing.T) {
	t.Parallel()

	for name, test := range map[string]struct {
		in     time.Duration
		reason tarsy.ForcedConclusion
		text   string
	}{
		"no iteration is left":                   {time.Hour, tarsy.ForcedIterations, "You have used all 1 iterations, and tools"},
		"the deadline has come":                  {time.Millisecond, tarsy.ForcedDeadline, "Time is almost up, and tools"},
		"the deadline has passed":                {0, tarsy.ForcedDeadline, "Time is almost up, and tools"},
		"both: the deadline is what is told of":  {2 * time.Millisecond, tarsy.ForcedDeadline, "Time is almost up, and tools"},
		"there is no deadline, only a far later": {1000 * time.Hour, tarsy.ForcedIterations, "You have used all 1 iterations"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			b := newBench(t)
			b.spec.MaxIterations = 1
			b.task.ConcludeAt = b.clock.Now().Add(test.in)
			b.tools.during = func(context.Context, Call) (Result, error) {
				b.clock.Advance(time.Millisecond)

				return Result{Content: "seen"}, nil
			}
			replies := []script.Reply{{ToolCalls: []llm.ToolCall{toolCall("a", "look", "{}")}}, {Text: "as far as I can tell"}}

			if test.in == 0 {
				replies = replies[1:]
			}

			b.answers(replies...)
			require.Equal(t, test.reason, b.finish().ForcedConclusion)
			require.JSONEq(t, `{"forced_conclusion": true, "reason": "`+string(test.reason)+`", "max_iterations": 1}`,
				string(b.events(tarsy.EventFinalAnalysis)[0].Metadata))

			step := b.concluding()
			require.Equal(t, test.reason, step.Executions[0].ForcedConclusion)
			require.Equal(t, tarsy.StatusActive, step.Executions[0].Status)

			last := step.Messages[len(step.Messages)-1]
			require.Equal(t, tarsy.RoleUser, last.Role)
			require.Contains(t, last.Content, test.text)
			require.Contains(t, last.Content, "Give your final analysis now")
			require.NotContains(t, last.Content, "Final Answer")

			call := b.model.Calls()[len(b.model.Calls())-1].Request
			require.Equal(t, "forced_conclusion", call.Purpose)
			require.Empty(t, call.Tools)
		})
	}
}

func TestNoDeadlineIsNeverNear(t *testing.T) {
	t.Parallel()

	now := time.Now()
	require.False(t, isLate(time.Time{}, now))
	require.False(t, isLate(now.Add(1), now))
	require.True(t, isLate(now, now))
	require.True(t, isLate(now.Add(-1), now))
}

func TestExecutionStartedLateOnlyConcludes(t *testing.T) {
	t.Parallel()

	b := newBench(t)
	b.task.ConcludeAt = b.clock.Now()
	b.answers(script.Reply{Text: "from the alert alone"})
	require.Equal(t, tarsy.ForcedDeadline, b.finish().ForcedConclusion)
	require.Equal(t, "from the alert alone", b.analysis())
	require.Zero(t, b.tools.opened, "tools that nobody will call were opened")

	var roles []tarsy.Role
	for _, m := range b.ledger.state.Messages {
		roles = append(roles, m.Role)
	}

	require.Equal(t, []tarsy.Role{tarsy.RoleSystem, tarsy.RoleUser, tarsy.RoleUser, tarsy.RoleAssistant}, roles)
	require.Len(t, b.model.Calls(), 1)
}

func TestTimeUpBetweenCallsSkipsTheOthers(t *testing.T) {
	t.Parallel()

	b := newBench(t)
	b.task.ConcludeAt = b.clock.Now().Add(time.Minute)
	b.answers(
		script.Reply{ToolCalls: []llm.ToolCall{toolCall("a", "change", "1"), toolCall("b", "change", "2"), toolCall("c", "look", "3")}},
		script.Reply{Text: "done"},
	)

	b.tools.during = func(context.Context, Call) (Result, error) {
		b.clock.Advance(time.Hour)

		return Result{Content: "changed"}, nil
	}

	require.Equal(t, tarsy.ForcedDeadline, b.finish().ForcedConclusion)
	require.Len(t, b.tools.calls, 1)
	require.Len(t, b.ledger.state.MCPInteractions, 1, "a call that was not made is no interaction")
	require.Equal(t, tarsy.CallCompleted, b.ledger.state.MCPInteractions[0].Status, "the call under way finished")
	require.Len(t, b.events(tarsy.EventToolCall), 1)

	messages := b.ledger.state.Messages
	require.Equal(t, firstCall+"changed", messages[3].Content)

	for i, id := range []string{"b", "c"} {
		require.Equal(t, tarsy.RoleTool, messages[4+i].Role)
		require.Equal(t, id, messages[4+i].ToolCallID)
		require.Equal(t, notMade, messages[4+i].Content)
	}

	require.Equal(t, tarsy.RoleUser, messages[6].Role)
	require.Len(t, b.concluding().Messages, 3, "what is not made is answered in the step that asks for the conclusion")

	for i, m := range messages {
		require.Equal(t, i+1, m.SequenceNumber)
	}
}

func TestTimeUpDuringAnswerSkipsItsCalls(t *testing.T) {
	t.Parallel()

	b := newBench(t)
	b.task.ConcludeAt = b.clock.Now().Add(time.Millisecond) // the duration of the first answer
	b.answers(script.Reply{ToolCalls: []llm.ToolCall{toolCall("a", "change", "1")}}, script.Reply{Text: "done"})
	require.Equal(t, tarsy.ForcedDeadline, b.finish().ForcedConclusion)
	require.Empty(t, b.tools.calls)
	require.Empty(t, b.ledger.state.MCPInteractions)
	require.Equal(t, notMade, b.ledger.state.Messages[3].Content)
}

func TestInterruptedCallIsClosedPastDeadline(t *testing.T) {
	t.Parallel()

	for name, test := range map[string]struct {
		tool, content string
		status        tarsy.CallStatus
	}{
		"one that reads is not made again":   {"look", notRepeated, tarsy.CallFailed},
		"one that writes has nobody knowing": {"change", unknownOutcome, tarsy.CallUnknown},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			b := newBench(t)
			b.task.ConcludeAt = b.clock.Now().Add(time.Minute)
			b.answers(script.Reply{ToolCalls: []llm.ToolCall{toolCall("a", test.tool, "1"), toolCall("b", "look", "2")}}, script.Reply{Text: "done"})
			b.tools.during = func(context.Context, Call) (Result, error) {
				b.ledger.left = 0

				return Result{Content: "nobody hears this"}, nil
			}
			require.ErrorIs(t, b.run(t.Context()), errKilled)

			b.ledger.left = -1
			b.clock.Advance(time.Hour)
			b.tools.calls = nil
			require.Equal(t, tarsy.ForcedDeadline, b.finish().ForcedConclusion)
			require.Empty(t, b.tools.calls)
			require.Equal(t, test.status, b.ledger.state.MCPInteractions[0].Status)
			require.Equal(t, firstCall+test.content, b.ledger.state.Messages[3].Content)
			require.Equal(t, notMade, b.ledger.state.Messages[4].Content)
			require.Len(t, b.ledger.state.MCPInteractions, 1)
		})
	}
}

func TestYieldAfterCallIsRecordedStillRunsIt(t *testing.T) {
	t.Parallel()

	b := newBench(t)
	why := errors.New("this server is stopping")
	yield, stop := context.WithCancelCause(t.Context())
	b.yield = yield
	b.answers(script.Reply{ToolCalls: []llm.ToolCall{toolCall("a", "change", "1"), toolCall("b", "change", "2")}}, script.Reply{Text: "done"})

	// The server is told to stop while the second call is being recorded, together with the first one's result.
	b.ledger.after = func(step progress.Step) {
		if len(step.MCPInteractions) == 2 {
			stop(why)
		}
	}
	require.ErrorIs(t, b.run(t.Context()), why)
	require.Len(t, b.tools.calls, 2, "a call that was written down and not made cannot be told from one that was cut off")

	for _, i := range b.ledger.state.MCPInteractions {
		require.Equal(t, tarsy.CallCompleted, i.Status)
	}
}
