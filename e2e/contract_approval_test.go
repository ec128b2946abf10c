package e2e

import (
	"testing"

	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
	"tarsy.dev/tarsy/tarsytest"
)

// approvals checks a session with a call that waits for a person.
func (c *contracts) approvals(t *testing.T) {
	options := everything()
	options.Clock = clockwork.NewFakeClockAt(beginning())
	app := tarsytest.New(t, options)
	app.Script.Add(script.Reply{ToolCalls: []llm.ToolCall{{Name: "kubernetes__get_pods", Arguments: `{"restart":"yes"}`}}},
		says("Analysed."), says("Summed up."))

	sessionID := app.Submit("test", "an alert")
	waiting := waitApproval(app, app.Watch(sessionID))

	asked := map[string]any{
		"status": "waiting", "scope": "call", "rule": "approvals.rules[0]", "expires_at": "2030-03-01T13:00:00Z",
	}
	shown := eventOf(t, app, sessionID, "llm_tool_call")
	request := map[string]is{
		"id": equal(waiting.ID), "session_id": equal(sessionID), "execution_id": isID, "timeline_event_id": equal(shown["id"]),
		"alert_type": equal("test"), "title": equal(app.Session(sessionID).Title), "severity": equal(""), "team": equal(""),
		"agent_name": equal("Investigator"), "call": equal("1.1.1"), "server_name": equal("kubernetes"), "tool_name": equal("get_pods"),
		"tool_arguments": equal(map[string]any{"restart": "yes"}), "approval": equal(asked), "created_at": minute(0),
	}

	open := get(t, app, "/api/v1/approvals")
	c.require(t, "ApprovalList", open, map[string]is{"approvals": list(1)})
	c.require(t, "ApprovalRequest", within(t, open, "approvals", 0), request)
	c.require(t, "ApprovalRequest", get(t, app, "/api/v1/approvals/"+waiting.ID), request)
	c.requireSome(t, "SessionItem", within(t, get(t, app, "/api/v1/sessions?approvals=waiting"), "sessions", 0), map[string]is{
		"id": equal(sessionID), "waiting_approvals": equal(1.0), "status": equal("in_progress"),
	})
	c.requireSome(t, "SessionDetail", get(t, app, "/api/v1/sessions/"+sessionID), map[string]is{"waiting_approvals": equal(1.0)})
	c.requireSome(t, "TimelineItem", shown, map[string]is{
		"metadata": equal(map[string]any{
			"call": "1.1.1", "server_name": "kubernetes", "tool_name": "get_pods", "arguments": map[string]any{"restart": "yes"},
			"approval_id": waiting.ID, "approval": asked,
		}),
	})

	decide(t, app, waiting.ID, "approve", map[string]any{"reason": "fine"})
	app.WaitFor(sessionID, tarsy.SessionCompleted)

	decided := get(t, app, "/api/v1/approvals/"+waiting.ID)
	author := app.Session(sessionID).Author
	require.Equal(t, map[string]any{
		"status": "approved", "scope": "call", "rule": "approvals.rules[0]", "expires_at": "2030-03-01T13:00:00Z",
		"decided_by": author, "decided_at": "2030-03-01T12:00:00Z", "reason": "fine", "started_at": "2030-03-01T12:00:00Z",
	}, decided["approval"])
	require.Empty(t, get(t, app, "/api/v1/approvals")["approvals"])
}
