package agent

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
)

// waitForPerson runs an execution until its only writing call waits for an approval.
func waitForPerson(t *testing.T) *bench {
	t.Helper()

	b := newBench(t)
	b.spec.Approvals = Approvals{Rules: []ApprovalRule{{Name: "rule", Server: "box", Policy: PolicyAsk}}, ExpiresAfter: time.Hour}
	b.answers(script.Reply{ToolCalls: []llm.ToolCall{toolCall("1", "change", `{"pod":"web-1"}`)}}, script.Reply{Text: "done"})
	require.ErrorIs(t, b.run(t.Context()), ErrWaiting)
	require.Empty(t, b.tools.calls)

	return b
}

// decide applies a person's decision as the engine does.
func (b *bench) decide(status tarsy.ApprovalStatus) {
	now := b.clock.Now()
	approval := b.ledger.state.MCPInteractions[0].Approval
	approval.Status, approval.DecidedBy, approval.DecidedAt, approval.Reason = status, "ann", &now, "too risky"
}

// Every decision is applied in time, after the agent had to conclude, and after it expired.
func TestDecisionIsAppliedByItsTime(t *testing.T) {
	t.Parallel()

	const inTime, late, expired = "in time", "when it must conclude", "after it expired"

	for _, c := range []struct {
		when     string
		decision tarsy.ApprovalStatus
		want     tarsy.ApprovalStatus
		calls    int
		result   string
	}{
		{inTime, tarsy.ApprovalApproved, tarsy.ApprovalApproved, 1, `box__change says {"pod":"web-1"}`},
		{late, tarsy.ApprovalApproved, tarsy.ApprovalApproved, 0, approvalWithdrawn},
		{expired, tarsy.ApprovalApproved, tarsy.ApprovalApproved, 1, `box__change says {"pod":"web-1"}`},
		{inTime, tarsy.ApprovalRejected, tarsy.ApprovalRejected, 0, approvalRejected + "too risky"},
		{late, tarsy.ApprovalRejected, tarsy.ApprovalRejected, 0, approvalRejected + "too risky"},
		{expired, tarsy.ApprovalRejected, tarsy.ApprovalRejected, 0, approvalRejected + "too risky"},
		{late, tarsy.ApprovalWaiting, tarsy.ApprovalWithdrawn, 0, approvalWithdrawn},
		{expired, tarsy.ApprovalWaiting, tarsy.ApprovalExpired, 0, approvalExpired},
	} {
		t.Run(string(c.decision)+" "+c.when, func(t *testing.T) {
			t.Parallel()

			b := waitForPerson(t)
			if c.decision != tarsy.ApprovalWaiting {
				b.decide(c.decision)
			}

			switch c.when {
			case late:
				b.clock.Advance(59 * time.Minute)
				b.task.ConcludeAt, b.task.Deadline = b.clock.Now(), b.clock.Now().Add(time.Hour)
			case expired:
				b.clock.Advance(time.Hour)
			}

			b.finish()

			record := b.ledger.state.MCPInteractions[0]
			require.Equal(t, c.want, record.Approval.Status)
			require.Len(t, b.tools.calls, c.calls)
			require.Equal(t, c.calls == 1, record.Approval.StartedAt != nil)
			require.Equal(t, c.result, record.ToolResult)
			require.Contains(t, b.ledger.state.Messages[3].Content, c.result)
		})
	}
}

// Time may run out while the tools are connected, after the execution was resumed.
func TestApprovedCallIsNotMadeOnceAgentMustConclude(t *testing.T) {
	t.Parallel()

	b := waitForPerson(t)
	b.decide(tarsy.ApprovalApproved)
	b.task.ConcludeAt, b.task.Deadline = b.clock.Now().Add(time.Second), b.clock.Now().Add(time.Hour)
	b.tools.whileListing = func() { b.clock.Advance(time.Second) }
	execution := b.finish()

	require.Equal(t, tarsy.ForcedDeadline, execution.ForcedConclusion)
	require.Empty(t, b.tools.calls)
	require.Equal(t, approvalWithdrawn, b.ledger.state.MCPInteractions[0].ToolResult)
}

// The hours of waiting for an approval do not count as part of the call.
func TestCallTakesNoLongerForWaiting(t *testing.T) {
	t.Parallel()

	for decision, want := range map[tarsy.ApprovalStatus]int64{tarsy.ApprovalApproved: 7000, tarsy.ApprovalRejected: 0} {
		b := waitForPerson(t)
		b.tools.during = func(ctx context.Context, _ Call) (Result, error) {
			b.clock.Advance(7 * time.Second)

			return Result{Content: "changed"}, ctx.Err()
		}
		b.clock.Advance(30 * time.Minute)
		b.decide(decision)
		b.finish()

		require.Equal(t, want, b.ledger.state.MCPInteractions[0].DurationMs, decision)
	}
}
