package watch

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/client"
	"tarsy.dev/tarsy/internal/client/live"
)

// approval returns the updates of a tool call that waits for an approval, and those of the decision.
func (s *story) approval(decision tarsy.Approval) (waits, decided []client.Update) {
	approval := tarsy.Approval{Status: tarsy.ApprovalWaiting, Scope: tarsy.ScopeCall, Rule: "approvals.rules[0]", ExpiresAt: at(3600)}
	call := timeline("tool", tarsy.EventToolCall, tarsy.EventStreaming, "", 3)
	metadata := tarsy.ToolCallMetadata{
		Call: "1.1.1", ServerName: "cluster", ToolName: "scale", Arguments: json.RawMessage(`{"replicas":12345678901234567890}`),
		ApprovalID: "01a1dd6b-e57b-71ff-adf3-94e9e51a62a9", Approval: &approval,
	}
	call.Metadata = tarsy.NewMetadata(metadata)
	interaction := tarsy.MCPInteraction{
		ID: metadata.ApprovalID, SessionID: sessionID, StageID: "stage", ExecutionID: "run", TimelineEventID: "tool", ServerName: "cluster", ToolName: "scale",
		ToolArguments: metadata.Arguments, Approval: &approval,
	}
	waits = []client.Update{s.event(tarsy.TimelineCreated(call)), s.event(tarsy.ApprovalChanged(interaction, at(3)))}
	interaction.Approval = &decision

	return waits, []client.Update{s.event(tarsy.ApprovalChanged(interaction, at(60)))}
}

func TestScreenShowsWaitingCallWithCommandsAndDecision(t *testing.T) {
	t.Parallel()

	var s story

	decision := tarsy.Approval{Status: tarsy.ApprovalRejected, DecidedBy: "ana", Reason: "not\x1b[31m now", ExpiresAt: at(3600)}
	waits, decided := s.approval(decision)

	m := screen(&fake{})
	play(m, s.begin()...)
	play(m, waits...)
	m.Update(tickMsg(at(60)))
	m.Update(tea.WindowSizeMsg{Width: 80, Height: 30})

	got := show(m)
	for _, want := range []string{
		"! 1.1.1 cluster.scale", `"replicas": 12345678901234567890`, "waits for approval, expires in 59m", "tarsy approvals approve 94e9e51a62a9",
		"tarsy approvals reject 94e9e51a62a9 --reason TEXT",
	} {
		require.Contains(t, got, want)
	}

	m.Update(tickMsg(at(3601)))
	require.Contains(t, show(m), "waits for approval, expired")

	play(m, decided...)

	call := timeline("tool", tarsy.EventToolCall, tarsy.EventCompleted, "The call was rejected: not now", 61)
	call.Metadata = tarsy.NewMetadata(tarsy.ToolCallResult{IsError: true})
	play(m, s.event(tarsy.TimelineCompleted(call)))
	play(m, waits[1]) // the journal is read a second time

	got = show(m)
	require.Contains(t, got, "rejected by ana: not now")
	require.Contains(t, got, "not made")
	require.NotContains(t, got, "tarsy approvals")
	require.NotContains(t, got, "\x1b[31m")
}

func TestLinesShowWaitingCallWithCommandsAndDecision(t *testing.T) {
	t.Parallel()

	var (
		s   story
		out strings.Builder
	)

	waits, decided := s.approval(tarsy.Approval{
		Status: tarsy.ApprovalApproved, DecidedBy: "ana", Arguments: json.RawMessage(`{"replicas":1}`), Reason: "one is enough", ExpiresAt: at(3600),
	})

	l := NewLines(&out, live.NewSession(detail()))

	for _, update := range append(append(s.begin(), waits...), decided...) {
		l.Take(update)
	}

	require.Contains(t, out.String(), "approval  1.1.1 cluster.scale waits for approval until ")
	require.Contains(t, out.String(), `"replicas": 12345678901234567890`)
	require.Contains(t, out.String(), "tarsy approvals reject 94e9e51a62a9 --reason TEXT")
	require.Contains(t, out.String(), "approval  1.1.1 cluster.scale → approved by ana with changed arguments: one is enough")
}

func TestWaitingCallIsApprovedOnScreenOnlyAfterConfirmation(t *testing.T) {
	t.Parallel()

	var s story

	f := &fake{}
	m := screen(f)
	play(m, s.begin()...)
	require.NotContains(t, show(m), "a approve")

	f.calls = nil

	press(m, "a", "y")
	require.Empty(t, f.calls, "nothing waits")

	waits, _ := s.approval(tarsy.Approval{})
	play(m, waits...)
	m.Update(tickMsg(at(60)))
	require.Contains(t, show(m), "a approve  r reject")

	press(m, "a")
	require.Contains(t, show(m), "Approve 1.1.1 cluster.scale? y yes")
	press(m, "n")
	require.Empty(t, f.calls)

	press(m, "a", "y")
	require.Equal(t, []string{"approve 01a1dd6b-e57b-71ff-adf3-94e9e51a62a9"}, f.calls)
	require.Contains(t, show(m), "approved 1.1.1 cluster.scale")

	f.err = errors.New("ana has already\x1b[2J rejected this call")

	press(m, "a", "y")
	require.Contains(t, show(m), "not decided: ana has already rejected this call")

	m.Update(tickMsg(at(3601)))

	f.calls = nil

	press(m, "a", "y")
	require.Empty(t, f.calls, "it has expired")
}

func TestWaitingCallIsRejectedOnScreenOnlyWithReason(t *testing.T) {
	t.Parallel()

	var s story

	f := &fake{}
	m := screen(f)
	play(m, s.begin()...)

	waits, _ := s.approval(tarsy.Approval{})
	play(m, waits...)
	m.Update(tickMsg(at(60)))

	f.calls = nil

	press(m, "r", "enter", "n", "o", "t", "esc")
	require.Empty(t, f.calls, "without a reason, or given up")

	press(m, "r", "n", "o", "t")
	m.Update(tea.PasteMsg{Content: " now, q"})
	require.Contains(t, show(m), "Reason: not now, q")
	require.Contains(t, show(m), "Reject 1.1.1 cluster.scale: enter sends the reason")

	press(m, "enter")
	require.Equal(t, []string{"reject 01a1dd6b-e57b-71ff-adf3-94e9e51a62a9 not now, q"}, f.calls)
	require.Contains(t, show(m), "rejected 1.1.1 cluster.scale")
}
