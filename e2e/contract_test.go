package e2e

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/api"
	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
	"tarsy.dev/tarsy/tarsytest"
)

// is checks one value of a JSON body.
type is func(value any) bool

func equal(want any) is { return func(value any) bool { return reflect.DeepEqual(want, value) } }

func isNull(value any) bool { return value == nil }

func isID(value any) bool {
	text, ok := value.(string)

	return ok && tarsy.ValidID(text)
}

// minute is a time of the fake clock.
func minute(n int) is { return equal(fmt.Sprintf("2030-03-01T12:%02d:00Z", n)) }

func list(length int) is {
	return func(value any) bool {
		items, ok := value.([]any)

		return ok && len(items) == length
	}
}

// jsonFields are the names under which a struct is encoded, embedded structs included.
func jsonFields(t reflect.Type) []string {
	var names []string

	for field := range t.Fields() {
		if field.Anonymous {
			names = append(names, jsonFields(field.Type)...)

			continue
		}

		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		names = append(names, name)
	}

	return names
}

// requireContract checks a body field by field. The table must have exactly the fields of the type, and the body
// exactly those of the table: a field that is added, renamed or left out anywhere is found.
func requireContract[T any](t *testing.T, body any, contract map[string]is) {
	t.Helper()
	require.ElementsMatch(t, jsonFields(reflect.TypeFor[T]()), slices.Collect(maps.Keys(contract)), "the table is not that of the type")
	requireFields(t, reflect.TypeFor[T]().Name(), body, contract)
}

func requireFields(t *testing.T, name string, body any, contract map[string]is) {
	t.Helper()

	object, ok := body.(map[string]any)
	require.True(t, ok, "%s is %T", name, body)
	require.ElementsMatch(t, slices.Collect(maps.Keys(contract)), slices.Collect(maps.Keys(object)), "the fields of %s", name)

	for field, holds := range contract {
		require.True(t, holds(object[field]), "%s.%s is %#v", name, field, object[field])
	}
}

// usage is what calls used and cost, at half a dollar a token of input and one a token of output.
func usage(input, output, thinking, cached, cost float64) is {
	return equal(map[string]any{
		"input_tokens": input, "output_tokens": output, "thinking_tokens": thinking, "cached_tokens": cached,
		"total_tokens": input + output + thinking, "cost_usd": cost, "unpriced_tokens": 0.0,
	})
}

// investigated is a session in which every field that can have a value has one, and every time its own: it came in
// at minute 0, began at minute 1 and was done at minute 2. Worker is the server that ran it; app is another.
func investigated(t *testing.T) (app, worker *tarsytest.App, sessionID string) {
	t.Helper()

	clock := clockwork.NewFakeClockAt(beginning())
	kubernetes := []*tarsytest.MCPServer{tarsytest.NewMCPServer("kubernetes", tarsytest.Tool{Name: "get_pods", ReadOnly: true, Text: "pods"})}
	chains := fmt.Sprintf(twoAgents, "any") +
		"\nsystem: {cost_estimation: {model_rates: {test-model: {input_per_million: 500000, output_per_million: 1000000}}}}\n"
	app = tarsytest.New(t, tarsytest.Options{Clock: clock, MCP: kubernetes, RequireKey: true, Config: "queue: {worker_count: 0}\n" + chains})
	app.Token = app.Key("alertmanager", tarsy.ScopeAdmin)

	sessionID = app.SubmitAlert(map[string]any{
		"alert_type": "test", "data": map[string]any{"severity": "high"}, "runbook": "Restart it.", "runbook_url": "https://github.com/shop/runbooks/1.md",
		"mcp_selection": map[string]any{"servers": []any{map[string]any{"name": "kubernetes", "tools": []string{"get_pods"}}}},
	})
	clock.Advance(time.Minute)

	gate, model := script.NewGate(), script.New(script.Options{})
	model.Route("Optimist", script.Reply{
		Thinking: "Hm.", Text: "I look.", ToolCalls: []llm.ToolCall{{Name: "kubernetes__get_pods", Arguments: `{"namespace":"shop"}`}},
		Gate: gate, GateAfter: 1, Usage: &llm.UsageChunk{InputTokens: 10, OutputTokens: 4, ThinkingTokens: 3, CachedTokens: 2},
	}, used(says("All is well."), 20, 5))
	model.Route("Pessimist", script.Reply{Err: errors.New("no quota")})
	model.Route("SynthesisAgent", used(says("It is well."), 30, 6))
	model.Route("ExecSummaryAgent", used(says("Well."), 40, 7))

	worker = tarsytest.New(t, tarsytest.Options{Clock: clock, MCP: kubernetes, Config: chains, Script: model, Database: app.Database})
	worker.WaitGate(gate)
	worker.Events(sessionID, 0).Wait("the pessimist's end", func(e tarsytest.Event) bool { return e.Fields["status"] == "failed" })
	clock.Advance(time.Minute)
	gate.Open()
	app.WaitFor(sessionID, tarsy.SessionCompleted)

	return app, worker, sessionID
}

func get(t *testing.T, app *tarsytest.App, path string) map[string]any {
	t.Helper()

	answer := app.Do(http.MethodGet, path, nil)
	require.Equal(t, http.StatusOK, answer.Status, "%s", answer.Body)

	return decode[map[string]any](answer.Body)
}

// For every field that a client may read: real data is made through the API, fetched through it, and the field is
// there with its type and value.
func TestContractOfASession(t *testing.T) {
	t.Parallel()

	app, worker, sessionID := investigated(t)
	detail := get(t, app, "/api/v1/sessions/"+sessionID)
	version := float64(len(app.Journal(sessionID)))
	stages, _ := detail["stages"].([]any)
	stage, _ := stages[0].(map[string]any)
	synthesis, _ := stages[1].(map[string]any)

	requireContract[tarsy.SessionDetail](t, detail, map[string]is{
		"id": equal(sessionID), "alert_type": equal("test"), "alert_data": equal("{\n  \"severity\": \"high\"\n}"),
		"chain_id": equal("test"), "agent_type": equal("Optimist"), "status": equal("completed"), "author": equal("alertmanager"),
		"runbook": equal("Restart it."), "runbook_url": equal("https://github.com/shop/runbooks/1.md"),
		"mcp_selection": equal(map[string]any{"servers": []any{map[string]any{"name": "kubernetes", "tools": []any{"get_pods"}}}}),
		"pod_id":        equal(worker.ServerID), "current_stage_index": equal(2.0), "current_stage_id": equal(synthesis["id"]),
		"final_analysis": equal("It is well."), "executive_summary": equal("Well."), "executive_summary_error": equal(""),
		"error_code": equal(""), "error_message": equal(""), "concluded_early": equal(""),
		"created_at": minute(0), "started_at": minute(1), "completed_at": minute(2), "last_interaction_at": minute(2), "deleted_at": isNull,
		"version": equal(version), "stages": list(2), "chat": isNull,
		"usage": usage(100, 22, 3, 2, 75), "tool_calls": equal(1.0),
	})

	requireContract[tarsy.StageDetail](t, stage, map[string]is{
		"id": isID, "session_id": equal(sessionID), "stage_name": equal("look"), "stage_type": equal("investigation"), "stage_index": equal(1.0), "expected_agent_count": equal(2.0),
		"parallel_type": equal("multi_agent"), "success_policy": equal("any"), "chat_id": isNull, "chat_user_message_id": isNull,
		"status": equal("completed"), "error_message": equal(""), "created_at": minute(1), "started_at": minute(1), "completed_at": minute(2),
		"executions": list(2), "usage": usage(30, 9, 3, 2, 27), "tool_calls": equal(1.0),
	})

	executions, _ := stage["executions"].([]any)
	failed := map[string]is{
		"id": isID, "session_id": equal(sessionID), "stage_id": equal(stage["id"]), "agent_name": equal("Pessimist"), "agent_index": equal(2.0),
		"iteration_strategy": equal("function-calling"), "llm_provider": equal("test"), "forced_conclusion": equal(""), "status": equal("failed"),
		"error_code": equal("llm_error"), "error_message": equal("no quota"), "shortened_through": equal(0.0),
		"usage": usage(0, 0, 0, 0, 0), "tool_calls": equal(0.0),
		"created_at": minute(1), "started_at": minute(1), "completed_at": minute(1),
	}
	requireContract[tarsy.ExecutionDetail](t, executions[1], failed)

	completed := maps.Clone(failed)
	completed["agent_name"], completed["agent_index"] = equal("Optimist"), equal(1.0)
	completed["status"], completed["error_code"], completed["error_message"] = equal("completed"), equal(""), equal("")
	completed["completed_at"], completed["usage"], completed["tool_calls"] = minute(2), usage(30, 9, 3, 2, 27), equal(1.0)
	requireContract[tarsy.ExecutionDetail](t, executions[0], completed)
	requireContract[tarsy.StageDetail](t, synthesis, map[string]is{
		"id": isID, "session_id": equal(sessionID), "stage_name": equal("look - Synthesis"), "stage_type": equal("synthesis"),
		"stage_index": equal(2.0), "expected_agent_count": equal(1.0),
		"parallel_type": isNull, "success_policy": isNull, "chat_id": isNull, "chat_user_message_id": isNull,
		"status": equal("completed"), "error_message": equal(""), "created_at": minute(2), "started_at": minute(2), "completed_at": minute(2),
		"executions": list(1), "usage": usage(30, 6, 0, 0, 21), "tool_calls": equal(0.0),
	})
}

func TestContractOfAFailedSession(t *testing.T) {
	t.Parallel()

	app := tarsytest.New(t, tarsytest.Options{Clock: clockwork.NewFakeClockAt(beginning())})
	app.Script.Add(script.Reply{Err: errors.New("no quota")})
	session := get(t, app, "/api/v1/sessions/"+app.Run("test", "fail").ID)

	require.Equal(t, "llm_error", session["error_code"])
	require.Equal(t, `stage "analysis": no quota`, session["error_message"])
	require.Nil(t, session["mcp_selection"])
	require.Equal(t, "api-client", session["author"])
	require.Empty(t, session["runbook"])
}

func TestContractOfTheList(t *testing.T) {
	t.Parallel()

	app, worker, sessionID := investigated(t)
	worker.Script.Route("Optimist", script.Reply{Err: errors.New("no quota")})
	worker.Script.Route("Pessimist", script.Reply{Err: errors.New("no quota")})
	failed := app.Run("test", "fail")

	page := get(t, app, "/api/v1/sessions?limit=1")
	cursor, _ := page["next_cursor"].(string)
	requireFields(t, "list", page, map[string]is{
		"sessions": list(1), "next_cursor": func(any) bool { return cursor != "" },
	})

	sessions, _ := page["sessions"].([]any)
	first := map[string]is{
		"id": equal(failed.ID), "alert_type": equal("test"), "chain_id": equal("test"), "status": equal("failed"),
		"author": equal("alertmanager"),
		"pod_id": equal(worker.ServerID), "current_stage_index": equal(1.0), "executive_summary": equal(""),
		"error_code": equal(failed.ErrorCode), "error_message": equal(failed.ErrorMessage), "concluded_early": equal(""),
		"created_at": minute(2), "started_at": minute(2), "completed_at": minute(2), "version": equal(float64(failed.Version)),
		"usage": usage(0, 0, 0, 0, 0), "tool_calls": equal(0.0),
	}
	requireContract[tarsy.SessionItem](t, sessions[0], first)

	page = get(t, app, "/api/v1/sessions?limit=1&cursor="+cursor)
	requireFields(t, "last page", page, map[string]is{"sessions": list(1)})

	sessions, _ = page["sessions"].([]any)
	second := maps.Clone(first)
	second["id"], second["status"], second["executive_summary"] = equal(sessionID), equal("completed"), equal("Well.")
	second["error_code"], second["error_message"], second["current_stage_index"] = equal(""), equal(""), equal(2.0)
	second["created_at"], second["started_at"] = minute(0), minute(1)
	second["usage"], second["tool_calls"] = usage(100, 22, 3, 2, 75), equal(1.0)
	second["version"] = equal(float64(app.Session(sessionID).Version))
	requireContract[tarsy.SessionItem](t, sessions[0], second)
}

func TestContractOfTheTimeline(t *testing.T) {
	t.Parallel()

	app, _, sessionID := investigated(t)
	stages := app.Session(sessionID).Stages
	body := get(t, app, "/api/v1/sessions/"+sessionID+"/timeline")
	requireFields(t, "timeline", body, map[string]is{
		"session_id": equal(sessionID), "version": equal(float64(len(app.Journal(sessionID)))), "events": list(9),
	})

	pods := map[string]any{
		"server_name": "kubernetes", "tool_name": "get_pods", "arguments": map[string]any{"namespace": "shop"},
		"is_error": false, "attempt": 1.0, "duration_ms": 0.0,
	}
	expected := map[string]struct {
		content  string
		metadata is
	}{
		"llm_thinking":      {"Hm.", isNull},
		"llm_response":      {"", isNull},
		"llm_tool_call":     {"pods", equal(pods)},
		"final_analysis":    {"All is well.", isNull},
		"executive_summary": {"Well.", isNull},
		"error":             {"no quota", equal(map[string]any{"code": "llm_error"})},
	}

	events, _ := body["events"].([]any)
	for i, event := range events {
		fields, _ := event.(map[string]any)
		kind, _ := fields["event_type"].(string)

		stage := stages[0]
		if fields["content"] == "It is well." {
			stage = stages[1]
		}

		execution := equal(stage.Executions[0].ID)
		if kind == "error" {
			execution = equal(stage.Executions[1].ID)
		}

		contract := map[string]is{
			"id": isID, "session_id": equal(sessionID), "stage_id": equal(stage.ID), "execution_id": execution,
			"sequence_number": equal(float64(i + 1)), "event_type": equal(kind), "status": equal("completed"),
			"created_at": minute(2), "updated_at": minute(2), "completed_at": minute(2),
		}

		contract["content"], contract["metadata"] = equal(expected[kind].content), expected[kind].metadata

		switch kind {
		case "llm_response":
			contract["content"] = func(v any) bool { return v == "I look." || v == "All is well." || v == "It is well." }
		case "final_analysis":
			contract["content"] = func(v any) bool { return v == "All is well." || v == "It is well." }
		case "executive_summary":
			contract["stage_id"], contract["execution_id"] = isNull, isNull
		case "llm_thinking":
			contract["created_at"] = minute(1)
		case "error":
			contract["created_at"], contract["updated_at"], contract["completed_at"] = minute(1), minute(1), minute(1)
		}

		require.Contains(t, expected, kind)
		requireContract[tarsy.TimelineEvent](t, event, contract)
	}
}

func TestContractOfStageStatus(t *testing.T) {
	t.Parallel()

	app, _, sessionID := investigated(t)
	stages := app.Session(sessionID).Stages
	socket := app.Watch(sessionID)
	socket.WaitStatus("completed")

	told := socket.OfType("stage.status")
	require.Len(t, told, 4, "two stages, each with a beginning and an end")

	for i, e := range told {
		stage, status, at := stages[i/2], []string{"started", "completed"}[i%2], min(i+1, 2)
		requireFields(t, "stage.status", e.Fields, map[string]is{
			"type": equal("stage.status"), "channel": equal("session:" + sessionID), "db_event_id": func(v any) bool { n, ok := v.(float64); return ok && n > 0 },
			"session_id": equal(sessionID), "stage_id": equal(stage.ID), "stage_name": equal(stage.StageName), "stage_type": equal(string(stage.StageType)),
			"stage_index": equal(float64(i/2 + 1)), "status": equal(status), "timestamp": minute(at),
		})
	}
}

func TestContractOfHealthAndAlertTypes(t *testing.T) {
	t.Parallel()

	kubernetes := tarsytest.NewMCPServer("kubernetes", tarsytest.Tool{Name: "get_pods"})
	kubernetes.Break(errors.New("gone"))

	app := tarsytest.New(t, tarsytest.Options{
		Clock: clockwork.NewFakeClockAt(beginning()), MCP: []*tarsytest.MCPServer{kubernetes}, Config: kubernetesAgent,
	})
	waitWarnings(app, 1)

	health := get(t, app, "/health")
	requireFields(t, "health", health, map[string]is{
		"status": equal("degraded"), "version": equal("test"), "server_id": equal(app.ServerID), "database": equal("ok"),
		"queue": equal(map[string]any{"waiting": 0.0, "leased": 0.0}), "warnings": list(1), "mcp_servers": list(1),
	})

	warnings, _ := health["warnings"].([]any)
	requireFields(t, "warning", warnings[0], map[string]is{
		"id": isID, "category": equal("mcp_health"), "message": equal("MCP server kubernetes cannot be reached: make transport: gone"),
		"details": equal(""), "server_id": equal("kubernetes"), "created_at": minute(0),
	})

	servers, _ := health["mcp_servers"].([]any)
	requireContract[api.MCPServerStatus](t, servers[0], map[string]is{
		"id": equal("kubernetes"), "healthy": equal(false), "checked": equal(true), "error": equal("make transport: gone"),
		"tool_count": equal(0.0), "last_check": minute(0),
	})

	types := get(t, app, "/api/v1/alert-types")
	listed, _ := types["alert_types"].([]any)
	i := slices.IndexFunc(listed, func(v any) bool {
		fields, ok := v.(map[string]any)

		return ok && fields["name"] == "test"
	})
	require.GreaterOrEqual(t, i, 0)
	requireFields(t, "alert type", listed[i], map[string]is{"name": equal("test"), "chain_id": equal("test"), "description": equal("")})

	for _, path := range []string{"/livez", "/readyz"} {
		require.Equal(t, map[string]any{"status": "ok"}, get(t, app, path))
	}
}

func TestContractOfKeys(t *testing.T) {
	t.Parallel()

	clock := clockwork.NewFakeClockAt(beginning())
	app := tarsytest.New(t, tarsytest.Options{Clock: clock})
	wish := map[string]any{"name": "ci", "scopes": []string{"write", "read"}}
	made := decode[map[string]any](app.Do(http.MethodPost, "/api/v1/keys", wish).Body)
	secret, _ := made["key"].(string)
	prefix, _ := made["prefix"].(string)
	require.True(t, strings.HasPrefix(secret, "tarsy_"+prefix+"_"))
	delete(made, "key")

	contract := map[string]is{
		"id": isID, "name": equal("ci"), "prefix": equal(prefix), "scopes": equal([]any{"read", "write"}),
		"created_at": minute(0), "last_used_at": isNull, "revoked_at": isNull,
	}
	requireContract[tarsy.APIKey](t, made, contract)

	clock.Advance(time.Hour)
	app.Do(http.MethodGet, "/api/v1/sessions", nil, "Authorization", "Bearer "+secret)

	revoked := decode[map[string]any](app.Do(http.MethodDelete, "/api/v1/keys/"+prefix, nil).Body)
	contract["last_used_at"], contract["revoked_at"] = equal("2030-03-01T13:00:00Z"), equal("2030-03-01T13:00:00Z")
	requireContract[tarsy.APIKey](t, revoked, contract)

	keys, _ := get(t, app, "/api/v1/keys")["keys"].([]any)
	require.Equal(t, []any{revoked}, keys)
}
