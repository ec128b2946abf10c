package message_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/notify/message"
)

func approvalMessage(arguments string) message.Message {
	_, session := endOf(tarsy.SessionCompleted)
	expires := time.Date(2026, 11, 16, 14, 0, 0, 0, time.FixedZone("", 3600))

	return message.NewApproval(tarsy.Announcement{ID: "a1", Subject: tarsy.SubjectApproval}, session, tarsy.ApprovalRequest{
		ID: "c1", Call: "1.1.2", AgentName: "Fixer", ServerName: "cluster", ToolName: "scale", ToolArguments: json.RawMessage(arguments),
		Approval: tarsy.Approval{ExpiresAt: expires}, CreatedAt: expires.Add(-time.Hour),
	}, "https://tarsy.example.org/sessions/s1")
}

func TestMessageOfAnApprovalHasTheExactCall(t *testing.T) {
	t.Parallel()

	m := approvalMessage("{\"replicas\": 12345678901234567890, \"note\": \"\u202ex\"}")
	require.JSONEq(t, `{"id": "c1", "call": "1.1.2", "agent": "Fixer", "server": "cluster", "tool": "scale", "arguments": {"replicas": 12345678901234567890, "note": "\u202ex"},
		"requested_at": "2026-11-16T12:00:00Z", "expires_at": "2026-11-16T13:00:00Z"}`, render(t, `{{json .Approval}}`, m))
	require.Contains(t, render(t, `{{.Approval.Arguments}}`, m), `"note": "\u202ex"}`, "what is invisible is shown")
	require.Equal(t, message.ApprovalNeeded, m.Event)
	require.Equal(t, tarsy.SessionInProgress, m.Status, "however late it is sent")
	require.Empty(t, m.Summary)

	a, session := endOf(tarsy.SessionCompleted)
	require.NotContains(t, render(t, message.DefaultBody, message.New(a, session, nil, "")), `"approval"`, "other messages stay as they were")
	require.Contains(t, render(t, message.DefaultNote, m), "TARSy needs an approval: Disk full\n\nThe agent Fixer wants to call cluster.scale:\n{\"replicas\"")
}

func TestDefaultMailIsReadable(t *testing.T) {
	t.Parallel()

	a, session, verdict := endWith()
	m := message.New(a, session, verdict, "https://tarsy.example.org/sessions/s1")
	m.Service = "shop"

	require.Equal(t, "[TARSy] Probable cause: Disk full", render(t, message.DefaultSubject, m))
	require.Equal(t, `Disk full

Severity: high
Service: shop
Status: completed

Probable cause (medium confidence)
Cause: The "cache" has no bound
Impact: Orders fail.

Next steps (proposed by a model; check them first):
- Restart it
  kubectl get pods
- Look again

A <leak>.

https://tarsy.example.org/sessions/s1
`, render(t, message.DefaultEmail, m))

	m = approvalMessage(`{"replicas": 3}`)
	require.Equal(t, "[TARSy] Approval needed: Disk full", render(t, message.DefaultSubject, m))
	require.Equal(t, `Disk full

Severity: high
Status: in_progress

The agent Fixer wants to call cluster.scale (call 1.1.2) with these arguments:

{"replicas": 3}

The request expires at 2026-11-16T13:00:00Z. Without a decision, the agent continues without the call.

Decide here: https://tarsy.example.org/sessions/s1
`, render(t, message.DefaultEmail, m))

	_, failed := endOf(tarsy.SessionTimedOut)
	require.Equal(t, "[TARSy] Investigation timed out: Disk full", render(t, message.DefaultSubject, message.New(a, failed, nil, "")))
}
