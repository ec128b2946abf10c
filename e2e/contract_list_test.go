package e2e

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/llm/script"
	"tarsy.dev/tarsy/tarsytest"
)

func (c *contracts) list(t *testing.T) {
	app, worker, sessionID := investigated(t)
	worker.Script.Route("Optimist", script.Reply{Err: errors.New("no quota")})
	worker.Script.Route("Pessimist", script.Reply{Err: errors.New("no quota")})
	failed := app.Run("test", "fail")

	page := get(t, app, "/api/v1/sessions?limit=1")
	cursor, _ := page["next_cursor"].(string)
	c.require(t, "SessionList", page, map[string]is{"sessions": list(1), "next_cursor": that(func(any) bool { return cursor != "" })})

	first := map[string]is{
		"id": equal(failed.ID), "alert_type": equal("test"), "chain_id": equal("test"), "status": equal("failed"),
		"author": equal("alertmanager"), "rerun_of": isNull, "stage_count": equal(2.0), "match": isAbsent,
		"pod_id": equal(worker.ServerID), "current_stage_index": equal(1.0), "executive_summary": equal(""),
		"outcome": equal(""), "cause": equal(""), "rating": equal(""), "handling": isNull,
		"error_code": equal(failed.ErrorCode), "error_message": equal(failed.ErrorMessage), "concluded_early": equal(""),
		"created_at": minute(2), "started_at": minute(2), "completed_at": minute(2), "version": equal(float64(failed.Version)),
		"usage": usage(0, 0, 0, 0, 0), "tool_calls": equal(0.0), "waiting_approvals": equal(0.0),
	}
	maps.Copy(first, someFacts())
	c.require(t, "SessionItem", within(t, page, "sessions", 0), first)

	page = get(t, app, "/api/v1/sessions?limit=1&cursor="+cursor)
	c.require(t, "SessionList", page, map[string]is{"sessions": list(1), "next_cursor": isAbsent})

	second := maps.Clone(first)
	second["id"], second["status"], second["executive_summary"] = equal(sessionID), equal("completed"), equal("Well.")
	second["error_code"], second["error_message"], second["current_stage_index"] = equal(""), equal(""), equal(2.0)
	second["created_at"], second["started_at"], second["outcome"] = minute(0), minute(1), equal("inconclusive")
	second["usage"], second["tool_calls"] = usage(100, 22, 3, 2, 75), equal(1.0)
	second["version"] = equal(float64(app.Session(sessionID).Version))
	c.require(t, "SessionItem", within(t, page, "sessions", 0), second)

	found := within(t, get(t, app, "/api/v1/sessions?search=wel"), "sessions", 0)
	c.requireSome(t, "SessionItem", found, map[string]is{"id": equal(sessionID), "match": isObject})
	c.require(t, "SearchMatch", within(t, found, "match"), map[string]is{"field": equal("executive_summary"), "snippet": list(2)})
	c.require(t, "SnippetPart", within(t, found, "match", "snippet", 0), map[string]is{"text": equal("Wel"), "match": equal(true)})
	c.require(t, "SnippetPart", within(t, found, "match", "snippet", 1), map[string]is{"text": equal("l."), "match": equal(false)})
}

func (c *contracts) active(t *testing.T) {
	options := everything()
	options.Config += "queue: {worker_count: 1, max_concurrent_sessions: 1}\n"
	app := tarsytest.New(t, options)
	gate := script.NewGate()
	app.Script.Add(script.Reply{Text: "Analysed.", Gate: gate}, says("Summed up."), says("Analysed."), says("Summed up."))

	running := app.Submit("test", "one")
	app.WaitGate(gate)
	// The model is called while the session's beginning is being stored.
	app.WaitFor(running, tarsy.SessionInProgress)

	waiting := app.Submit("test", "two")

	body := get(t, app, "/api/v1/sessions/active")
	c.require(t, "ActiveSessions", body, map[string]is{"active": list(1), "queued": list(1), "active_total": equal(1.0), "queued_total": equal(1.0)})
	c.requireSome(t, "SessionItem", within(t, body, "active", 0), map[string]is{"id": equal(running), "status": equal("in_progress")})
	c.requireSome(t, "SessionItem", within(t, body, "queued", 0), map[string]is{"id": equal(waiting), "status": equal("pending")})
	c.requireSome(t, "Health", get(t, app, "/health"), map[string]is{"queue": equal(map[string]any{"waiting": 1.0, "leased": 1.0})})

	c.require(t, "FilterOptions", get(t, app, "/api/v1/sessions/filter-options"), map[string]is{
		"alert_types": equal([]any{"test"}), "chain_ids": equal([]any{"test"}), "authors": equal([]any{"api-client"}),
		"services": list(0), "namespaces": list(0), "clusters": list(0), "teams": list(0),
		"severities":      equal([]any{"critical", "high", "warning", "info"}),
		"statuses":        equal([]any{"pending", "in_progress", "cancelling", "completed", "failed", "cancelled", "timed_out"}),
		"outcomes":        equal([]any{"cause_found", "probable_cause", "inconclusive", "false_alarm", "needs_human"}),
		"handling_states": equal([]any{"open", "acknowledged", "resolved"}), "assignees": list(0), "tags": list(0),
	})

	sessions, _ := get(t, app, "/api/v1/sessions?order=attention")["sessions"].([]any)
	require.Len(t, sessions, 2)

	gate.Open()
	app.WaitFor(running, tarsy.SessionCompleted)
	app.WaitFor(waiting, tarsy.SessionCompleted)
	require.Equal(t, map[string]any{"active": []any{}, "queued": []any{}, "active_total": 0.0, "queued_total": 0.0}, get(t, app, "/api/v1/sessions/active"))
}

func (c *contracts) status(t *testing.T) {
	app, worker, sessionID := investigated(t)
	c.require(t, "SessionProgress", get(t, app, "/api/v1/sessions/"+sessionID+"/status"), map[string]is{
		"id": equal(sessionID), "status": equal("completed"), "stage_count": equal(2.0), "current_stage_index": equal(2.0),
		"error_code": equal(""), "error_message": equal(""), "version": equal(float64(len(app.Journal(sessionID)))),
	})
	c.require(t, "SessionSummary", get(t, app, "/api/v1/sessions/"+sessionID+"/summary"), map[string]is{
		"id": equal(sessionID), "status": equal("completed"), "executive_summary": equal("Well."), "final_analysis": equal("It is well."),
		"outcome": equal("inconclusive"), "cause": equal(""),
		"stage_count": equal(2.0), "duration_ms": equal(60_000.0), "usage": usage(100, 22, 3, 2, 75), "tool_calls": equal(1.0),
	})

	worker.Script.Route("Optimist", script.Reply{Err: errors.New("no quota")})
	worker.Script.Route("Pessimist", script.Reply{Err: errors.New("no quota")})
	failed := app.Run("test", "fail")
	require.NotEmpty(t, failed.ErrorMessage)
	c.requireSome(t, "SessionProgress", get(t, app, "/api/v1/sessions/"+failed.ID+"/status"), map[string]is{
		"status": equal("failed"), "error_code": equal(failed.ErrorCode), "error_message": equal(failed.ErrorMessage),
	})
}

// alert checks that each field that a client sends shows in the resulting session.
func (c *contracts) alert(t *testing.T) {
	options := everything()
	options.Config = strings.Replace(options.Config, "[kubernetes]}",
		"[kubernetes], native_tools: {google_search: true, code_execution: true, url_context: true}}", 1)
	app := tarsytest.New(t, options)
	app.Script.Add(says("Analysed."), says("Summed up."), says("Analysed."), says("Summed up."))

	every := decode[map[string]any]([]byte(`{
		"alert_type": "test", "data": {"severity": "high"}, "runbook": "Restart it.",
		"runbook_url": "https://github.com/shop/runbooks/1.md", "slack_message_fingerprint": "pod-down-1", "fingerprint": "pod-1",
		"mcp_selection": {
			"servers": [{"name": "kubernetes", "tools": ["get_pods"]}],
			"native_tools": {"google_search": true, "code_execution": true, "url_context": true}
		}
	}`))

	answer := app.Do(http.MethodPost, "/api/v1/alerts", every)
	require.Equal(t, http.StatusAccepted, answer.Status, "%s", answer.Body)

	accepted := decode[map[string]any](answer.Body)
	sessionID, _ := accepted["session_id"].(string)
	app.WaitFor(sessionID, tarsy.SessionCompleted)

	detail := get(t, app, "/api/v1/sessions/"+sessionID)
	c.require(t, "AlertAccepted", accepted, map[string]is{
		"session_id": equal(detail["id"]), "status": oneOf([]string{"pending", "in_progress", "completed"}), "message": equal("A new alert."),
		"alerts": list(1), "session_url": equal("https://tarsy.example/sessions/" + sessionID),
	})

	data, _ := detail["alert_data"].(string)
	c.require(t, "AlertRequest", every, map[string]is{
		"alert_type": equal(detail["alert_type"]), "data": equal(decode[any]([]byte(data))), "runbook": equal(detail["runbook"]),
		"runbook_url": equal(detail["runbook_url"]), "mcp_selection": equal(detail["mcp_selection"]), "mcp": isAbsent,
		"slack_message_fingerprint": equal(detail["slack_message_fingerprint"]),
		"fingerprint":               that(func(value any) bool { return detail["fingerprint"] == fmt.Sprint("api:", value) }),
	})

	tools := app.Script.Calls()[0].Request.Tools
	require.Len(t, tools, 1, "the tool that was selected")

	text := map[string]any{"alert_type": "test", "data": "the pod is down"}
	session := app.WaitFor(app.SubmitAlert(text), tarsy.SessionCompleted)
	require.Equal(t, "the pod is down", session.AlertData)
}
