package agent

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/llm/script"
)

// runUntil runs the execution and calls the steps in order while it runs.
func (b *bench) runUntil(t *testing.T, steps ...func()) {
	t.Helper()

	done := make(chan error, 1)

	go func() { done <- b.run(t.Context()) }()

	for _, step := range steps {
		step()
	}

	require.NoError(t, wait(t, done))
}

func TestCallBeforeWrapUpIsCutToLeaveTimeForConclusion(t *testing.T) {
	t.Parallel()

	b := newBench(t)
	b.spec.IterationTimeout = 2 * time.Minute
	b.task.ConcludeAt = b.clock.Now().Add(time.Second)
	b.task.Deadline = b.task.ConcludeAt.Add(3 * time.Minute)
	first, second := script.NewGate(), script.NewGate()
	b.model.Add(script.Reply{Text: "I look", Gate: first}, script.Reply{Text: "concluded", Gate: second})

	b.runUntil(t, func() {
		wait(t, first.Reached())
		b.clock.Advance(31 * time.Second)
	}, func() {
		wait(t, second.Reached())
		b.clock.Advance(89 * time.Second) // a minute before the deadline
		second.Open()
	})

	execution := b.ledger.state.Executions[0]
	require.Equal(t, tarsy.StatusCompleted, execution.Status)
	require.Equal(t, tarsy.ForcedDeadline, execution.ForcedConclusion)
	require.Equal(t, "concluded", b.analysis())
	require.Equal(t, CodeDeadline, b.ledger.state.LLMInteractions[0].ErrorCode)
}

func TestConclusionIsCutAtDeadlineAndFails(t *testing.T) {
	t.Parallel()

	b := newBench(t)
	b.spec.IterationTimeout = 2 * time.Minute
	b.task.ConcludeAt = b.clock.Now().Add(-time.Minute) // a tool call took until now
	b.task.Deadline = b.task.ConcludeAt.Add(3 * time.Minute)
	gate := script.NewGate()
	b.model.Add(script.Reply{Text: "half", Gate: gate})

	b.runUntil(t, func() {
		wait(t, gate.Reached())
		b.clock.Advance(time.Minute)
	})

	execution := b.ledger.state.Executions[0]
	require.Equal(t, tarsy.StatusTimedOut, execution.Status)
	require.Equal(t, CodeDeadline, execution.ErrorCode)
	require.True(t, b.clock.Now().Before(b.task.Deadline))
}

func TestSynthesisOutOfTimeKeepsAgentAnalyses(t *testing.T) {
	t.Parallel()

	b := newSynthesisBench(t)
	b.spec.IterationTimeout = 2 * time.Minute
	b.task.ConcludeAt = b.clock.Now().Add(-2 * time.Minute)
	b.task.Deadline = b.task.ConcludeAt.Add(3 * time.Minute)
	gate := script.NewGate()
	b.model.Add(script.Reply{Text: "half", Gate: gate})

	b.runUntil(t, func() {
		wait(t, gate.Reached())
		b.clock.Advance(30 * time.Second)
	})

	require.Equal(t, tarsy.StatusCompleted, b.ledger.state.Executions[0].Status)
	require.Equal(t, "## Kube\n\nmemory\n\n## Logs\n\ndisk", b.analysis())
	require.Equal(t, noSynthesisTime, b.events(tarsy.EventError)[0].Content)
}

func TestSummaryIsCutAtDeadline(t *testing.T) {
	t.Parallel()

	b := newBench(t)
	in := summaryInput()
	in.Deadline = b.clock.Now()

	summary := Summarise(t.Context(), b.config(), in)
	require.ErrorIs(t, summary.Err, errNoSummaryTime)
	require.Empty(t, b.model.Calls())

	gate := script.NewGate()
	b.model.Add(script.Reply{Text: "late", Gate: gate})

	in.Deadline = b.clock.Now().Add(5 * time.Second)
	in.Models = append(in.Models, in.Models[0])
	done := make(chan Summary, 1)

	go func() { done <- Summarise(t.Context(), b.config(), in) }()

	wait(t, gate.Reached())
	b.clock.Advance(5 * time.Second)

	summary = wait(t, done)
	require.ErrorIs(t, summary.Err, errNoSummaryTime, "the next model is not asked either")
	require.Contains(t, summary.Interactions[0].ErrorMessage, "took longer than 5s")
}
