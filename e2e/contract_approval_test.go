package e2e

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
	"tarsy.dev/tarsy/tarsytest"
)

// ruleText is the rule of everything in words.
const ruleText = "A rule makes calls of the tool get_pods with restart matching yes wait for a person."

// approvals checks a session with a call that waits for a person.
func (c *contracts) approvals(t *testing.T) {
	options := everything()
	options.Clock, options.Config = clockwork.NewFakeClockAt(beginning()), options.Config+alertRules
	app := tarsytest.New(t, options)
	app.Script.Add(script.Reply{Text: "It hangs.", ToolCalls: []llm.ToolCall{{Name: "kubernetes__get_pods", Arguments: `{"restart":"yes"}`}}},
		says("Analysed."), says("Summed up."))

	sessionID := app.Submit("test", "an alert")
	waiting := waitApproval(app, app.Watch(sessionID))

	asked := map[string]any{
		"status": "waiting", "scope": "call", "rule": "approvals.rules[0]", "expires_at": "2030-03-01T13:00:00Z",
		"rule_text": ruleText,
	}
	shown := eventOf(t, app, sessionID, "llm_tool_call")
	request := map[string]is{
		"id": equal(waiting.ID), "session_id": equal(sessionID), "execution_id": isID, "timeline_event_id": equal(shown["id"]),
		"alert_type": equal("test"), "title": equal(app.Session(sessionID).Title), "severity": equal(""), "team": equal(""),
		"agent_name": equal("Investigator"), "call": equal("1.1.1"), "server_name": equal("kubernetes"), "tool_name": equal("get_pods"),
		"tool_arguments": equal(map[string]any{"restart": "yes"}), "statement": equal("It hangs."), "approval": equal(asked), "earlier": isAbsent, "created_at": minute(0),
	}

	open := get(t, app, "/api/v1/approvals")
	c.require(t, "ApprovalList", open, map[string]is{"approvals": list(1), "next_cursor": isAbsent})
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

	decide(t, app, waiting.ID, "approve", map[string]any{"reason": "fine", "arguments": map[string]any{"restart": "no"}})
	app.WaitFor(sessionID, tarsy.SessionCompleted)

	author := app.Session(sessionID).Author
	c.requireSome(t, "ApprovalRequest", get(t, app, "/api/v1/approvals/"+waiting.ID), map[string]is{
		"approval": equal(map[string]any{
			"status": "approved", "scope": "call", "rule": "approvals.rules[0]", "rule_text": ruleText, "expires_at": "2030-03-01T13:00:00Z",
			"arguments": map[string]any{"restart": "no"}, "decided_by": author, "decided_at": "2030-03-01T12:00:00Z", "reason": "fine",
			"started_at": "2030-03-01T12:00:00Z",
		}),
	})
	require.Empty(t, get(t, app, "/api/v1/approvals")["approvals"])

	c.earlierDecisions(t, app, author)
}

// earlierDecisions rejects a call after an approved one, and then checks what the next request shows.
func (c *contracts) earlierDecisions(t *testing.T, app *tarsytest.App, author string) {
	t.Helper()

	call := script.Reply{ToolCalls: []llm.ToolCall{{Name: "kubernetes__get_pods", Arguments: `{"restart":"yes"}`}}}
	app.Script.Add(call, says("Analysed."), says("Summed up."))

	_, delivered := deliver(t, app, fmt.Sprintf(slowCheckout, "firing", "firing", "11:59:00"))
	second := waitApproval(app, app.Watch(*delivered.SessionID))
	c.requireSome(t, "ApprovalRequest", get(t, app, "/api/v1/approvals/"+second.ID), map[string]is{
		"severity": equal("critical"), "team": equal("payments"),
	})
	decide(t, app, second.ID, "reject", map[string]any{"reason": "no"})
	app.WaitFor(*delivered.SessionID, tarsy.SessionCompleted)

	page := get(t, app, "/api/v1/approvals?status=decided&limit=1")
	c.require(t, "ApprovalList", page, map[string]is{"approvals": list(1), "next_cursor": isText})
	require.Equal(t, second.ID, within(t, page, "approvals", 0)["id"])

	app.Script.Add(call)

	third := waitApproval(app, app.Watch(app.Submit("test", "a third alert")))
	c.requireSome(t, "ApprovalRequest", get(t, app, "/api/v1/approvals/"+third.ID), map[string]is{
		"earlier": equal(map[string]any{
			"approved": 1.0, "rejected": 1.0, "last_status": "rejected", "last_by": author, "last_at": "2030-03-01T12:00:00Z",
		}),
	})
}

// audit checks a page of the audit log.
func (c *contracts) audit(t *testing.T) {
	app := tarsytest.New(t, tarsytest.Options{RequireKey: true, Clock: clockwork.NewFakeClockAt(beginning())})
	app.Token = app.Key("ann", tarsy.ScopeAdmin)

	for _, name := range []string{"first", "second"} {
		require.Equal(t, http.StatusCreated, app.Do(http.MethodPost, "/api/v1/keys", map[string]any{"name": name, "scopes": []any{"read"}}).Status)
	}

	page := get(t, app, "/api/v1/audit?actor=ann&action=key.create&limit=1")
	c.require(t, "AuditPage", page, map[string]is{"entries": list(1), "next_cursor": isText})
	c.require(t, "AuditEntry", within(t, page, "entries", 0), map[string]is{
		"id": that(func(value any) bool { number, ok := value.(float64); return ok && number > 0 }), "at": minute(0), "actor": equal("ann"), "actor_kind": equal("key"), "key_id": isID, "key_prefix": isText, "role": equal("admin"),
		"action": equal("key.create"), "target_type": equal("key"), "target_id": isID, "request_id": isText, "remote": isText, "outcome": equal("ok"),
		"details": isObject, "prev_hash": isText, "hash": isText,
	})
}
