package e2e

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
	"tarsy.dev/tarsy/tarsytest"
)

// usage checks what calls used and cost, at half a dollar per input token and one dollar per output token.
func usage(input, output, thinking, cached, cost float64) is {
	return equal(map[string]any{
		"input_tokens": input, "output_tokens": output, "thinking_tokens": thinking, "cached_tokens": cached,
		"total_tokens": input + output + thinking, "cost_usd": cost, "unpriced_tokens": 0.0,
	})
}

// investigated returns a session in which every field that can have a value has one, and every time is different: it was
// submitted at minute 0, began at minute 1 and was done at minute 2. worker is the server that ran it; app is another one.
func investigated(t *testing.T) (app, worker *tarsytest.App, sessionID string) {
	t.Helper()

	clock := clockwork.NewFakeClockAt(beginning())
	kubernetes := []*tarsytest.MCPServer{tarsytest.NewMCPServer("kubernetes", tarsytest.Tool{Name: "get_pods", ReadOnly: true, Text: "pods"})}
	chains := strings.ReplaceAll(fmt.Sprintf(twoAgents, "any"), "mist: {}", "mist: {mcp_servers: [kubernetes]}") +
		"\nsystem: {dashboard_url: 'https://tarsy.example', budgets: {session: {max_cost_usd: 0}, daily: {max_cost_usd: 1000}}, cost_estimation: {model_rates: {test-model: {input_per_million: 500000, output_per_million: 1000000}}}}\n"
	app = tarsytest.New(t, tarsytest.Options{Clock: clock, MCP: kubernetes, RequireKey: true, Config: "queue: {worker_count: 0}\n" + chains})
	app.Token = app.Key("alertmanager", tarsy.ScopeAdmin)

	sessionID = app.SubmitAlert(map[string]any{
		"alert_type": "test", "data": map[string]any{"severity": "high"}, "runbook": "Restart it.", "runbook_url": "https://github.com/shop/runbooks/1.md",
		"mcp_selection":             map[string]any{"servers": []any{map[string]any{"name": "kubernetes", "tools": []string{"get_pods"}}}},
		"slack_message_fingerprint": "pod-down-1",
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

func (c *contracts) session(t *testing.T) {
	app, worker, sessionID := investigated(t)
	detail := get(t, app, "/api/v1/sessions/"+sessionID)
	version := float64(len(app.Journal(sessionID)))
	stage, synthesis := within(t, detail, "stages", 0), within(t, detail, "stages", 1)

	fields := map[string]is{
		"id": equal(sessionID), "alert_type": equal("test"), "alert_data": equal("{\n  \"severity\": \"high\"\n}"),
		"chain_id": equal("test"), "agent_type": equal("Optimist"), "status": equal("completed"), "author": equal("alertmanager"),
		"runbook": equal("Restart it."), "runbook_url": equal("https://github.com/shop/runbooks/1.md"), "slack_message_fingerprint": equal("pod-down-1"),
		"mcp_selection": equal(map[string]any{"servers": []any{map[string]any{"name": "kubernetes", "tools": []any{"get_pods"}}}}),
		"rerun_of":      isNull, "llm_provider": equal(""), "stage_count": equal(2.0), "reruns": list(0),
		"tools":  equal([]any{map[string]any{"server_name": "kubernetes", "tool_name": "get_pods", "calls": 1.0, "errors": 0.0}}),
		"pod_id": equal(worker.ServerID), "current_stage_index": equal(2.0), "current_stage_id": equal(synthesis["id"]),
		"final_analysis": equal("It is well."), "executive_summary": equal("Well."), "executive_summary_error": equal(""),
		"outcome": equal("inconclusive"), "cause": equal(""), "verdict_error": equal(""), "verdict": isObject, "feedback": list(0), "handling": isNull,
		"error_code": equal(""), "error_message": equal(""), "concluded_early": equal(""),
		"created_at": minute(0), "started_at": minute(1), "completed_at": minute(2), "last_interaction_at": minute(2), "deleted_at": isNull,
		"version": equal(version), "stages": list(2), "chat": isNull,
		"usage": usage(100, 22, 3, 2, 75), "tool_calls": equal(1.0), "waiting_approvals": equal(0.0),
	}
	maps.Copy(fields, someFacts())
	c.require(t, "SessionDetail", detail, fields)

	c.require(t, "StageDetail", stage, map[string]is{
		"id": isID, "session_id": equal(sessionID), "stage_name": equal("look"), "stage_type": equal("investigation"), "stage_index": equal(1.0), "expected_agent_count": equal(2.0),
		"parallel_type": equal("multi_agent"), "success_policy": equal("any"), "chat_id": isNull, "chat_user_message_id": isNull,
		"status": equal("completed"), "error_message": equal(""), "created_at": minute(1), "started_at": minute(1), "completed_at": minute(2),
		"executions": list(2), "usage": usage(30, 9, 3, 2, 27), "tool_calls": equal(1.0),
	})

	failed := map[string]is{
		"id": isID, "session_id": equal(sessionID), "stage_id": equal(stage["id"]), "agent_name": equal("Pessimist"), "agent_index": equal(2.0),
		"iteration_strategy": equal("function-calling"), "llm_provider": equal("test"), "forced_conclusion": equal(""), "status": equal("failed"),
		"error_code": equal("llm_error"), "error_message": equal("no quota"), "shortened_through": equal(0.0),
		"usage": usage(0, 0, 0, 0, 0), "tool_calls": equal(0.0),
		"created_at": minute(1), "started_at": minute(1), "completed_at": minute(1),
	}
	c.require(t, "ExecutionDetail", within(t, stage, "executions", 1), failed)

	completed := maps.Clone(failed)
	completed["agent_name"], completed["agent_index"] = equal("Optimist"), equal(1.0)
	completed["status"], completed["error_code"], completed["error_message"] = equal("completed"), equal(""), equal("")
	completed["completed_at"], completed["usage"], completed["tool_calls"] = minute(2), usage(30, 9, 3, 2, 27), equal(1.0)
	c.require(t, "ExecutionDetail", within(t, stage, "executions", 0), completed)
	c.require(t, "StageDetail", synthesis, map[string]is{
		"id": isID, "session_id": equal(sessionID), "stage_name": equal("look - Synthesis"), "stage_type": equal("synthesis"),
		"stage_index": equal(2.0), "expected_agent_count": equal(1.0),
		"parallel_type": isNull, "success_policy": isNull, "chat_id": isNull, "chat_user_message_id": isNull,
		"status": equal("completed"), "error_message": equal(""), "created_at": minute(2), "started_at": minute(2), "completed_at": minute(2),
		"executions": list(1), "usage": usage(30, 6, 0, 0, 21), "tool_calls": equal(0.0),
	})
}

// failedSession checks sessions that end differently: failed, without a summary, and before they were done.
func (c *contracts) failedSession(t *testing.T) {
	app := tarsytest.New(t, tarsytest.Options{
		Clock: clockwork.NewFakeClockAt(beginning()), MCP: []*tarsytest.MCPServer{oomTools()},
		Config: fmt.Sprintf(budgetChain, "session: {max_tool_calls: 1}"),
	})
	app.Script.Add(script.Reply{Err: errors.New("no quota")})

	failed := get(t, app, "/api/v1/sessions/"+app.Run("test", "fail").ID)
	c.requireSome(t, "SessionDetail", failed, map[string]is{
		"status": equal("failed"), "error_code": equal("llm_error"), "error_message": equal(`stage "analysis": no quota`),
		"mcp_selection": isNull, "author": equal("api-client"), "runbook": equal(""),
	})
	c.requireSome(t, "StageDetail", within(t, failed, "stages", 0), map[string]is{"status": equal("failed"), "error_message": equal("no quota")})

	app.Script.Add(tool("get_pod_logs", `{}`), says("What I know so far."), script.Reply{Err: errors.New("no tokens left")})

	concluded := get(t, app, "/api/v1/sessions/"+app.Run("test", "spend").ID)
	c.requireSome(t, "SessionDetail", concluded, map[string]is{
		"status": equal("completed"), "concluded_early": equal("budget"), "final_analysis": equal("What I know so far."),
		"executive_summary": equal(""), "executive_summary_error": equal("no tokens left"),
	})
	c.requireSome(t, "ExecutionDetail", within(t, concluded, "stages", 0, "executions", 0), map[string]is{"forced_conclusion": equal("budget")})
}

func (c *contracts) rerun(t *testing.T) {
	app, worker, sessionID := investigated(t)
	worker.Script.Route("Optimist", says("Still well."))
	worker.Script.Route("Pessimist", says("Not well."))
	worker.Script.Route("SynthesisAgent", says("It is well again."))
	worker.Script.Route("ExecSummaryAgent", says("Well again."))
	app.Token = app.Key("the one who asks again", tarsy.ScopeWrite)

	answer := app.Do(http.MethodPost, "/api/v1/sessions/"+sessionID+"/rerun", map[string]any{"llm_provider": "test"})
	require.Equal(t, http.StatusAccepted, answer.Status, "%s", answer.Body)

	accepted := decode[map[string]any](answer.Body)
	c.require(t, "AlertAccepted", accepted, map[string]is{
		"session_id": isID, "status": equal("pending"), "message": equal("The alert is stored and waits to be investigated."),
		"alerts": isAbsent, "session_url": equal("https://tarsy.example/sessions/" + accepted["session_id"].(string)),
	})

	again, _ := accepted["session_id"].(string)
	require.NotEqual(t, sessionID, again)
	require.Equal(t, "/api/v1/sessions/"+again, answer.Header.Get("Location"))
	app.WaitFor(again, tarsy.SessionCompleted)

	first, second := get(t, app, "/api/v1/sessions/"+sessionID), get(t, app, "/api/v1/sessions/"+again)
	for _, copied := range []string{"alert_type", "alert_data", "chain_id", "agent_type", "runbook", "runbook_url", "mcp_selection", "slack_message_fingerprint", "stage_count"} {
		require.Equal(t, first[copied], second[copied], copied)
	}

	c.requireSome(t, "SessionDetail", second, map[string]is{
		"rerun_of": equal(sessionID), "llm_provider": equal("test"), "author": equal("the one who asks again"), "final_analysis": equal("It is well again."),
	})
	c.requireSome(t, "SessionDetail", first, map[string]is{"final_analysis": equal("It is well."), "reruns": equal([]any{again})})
	c.requireSome(t, "SessionItem", within(t, get(t, app, "/api/v1/sessions?limit=1"), "sessions", 0), map[string]is{
		"id": equal(again), "rerun_of": equal(sessionID), "stage_count": equal(2.0),
	})
}

// chat checks a question with its answer: the chat, the stage that answered, and the question in the timeline.
func (c *contracts) chat(t *testing.T) {
	options := everything()
	options.Clock, options.RequireKey = clockwork.NewFakeClockAt(beginning()), true
	app := tarsytest.New(t, options)
	app.Token = app.Key("ada", tarsy.ScopeWrite)
	app.Script.Add(says("Analysed."), says("Summed up."), says("Because."))
	sessionID := app.Run("test", "an alert").ID

	question := map[string]any{"content": "Why?"}
	answer := app.Do(http.MethodPost, "/api/v1/sessions/"+sessionID+"/chat/messages", question)
	require.Equal(t, http.StatusAccepted, answer.Status, "%s", answer.Body)

	accepted := decode[map[string]any](answer.Body)
	stageID, _ := accepted["stage_id"].(string)
	app.WaitStage(sessionID, stageID)

	detail := get(t, app, "/api/v1/sessions/"+sessionID)
	stage, chat := within(t, detail, "stages", 1), within(t, detail, "chat")
	c.requireSome(t, "SessionDetail", detail, map[string]is{"chat": equal(chat)})
	c.require(t, "Chat", chat, map[string]is{
		"id": isID, "session_id": equal(sessionID), "created_by": equal("ada"), "created_at": minute(0), "last_interaction_at": minute(0),
	})
	c.requireSome(t, "StageDetail", stage, map[string]is{
		"stage_type": equal("chat"), "stage_index": equal(2.0), "status": equal("completed"), "chat_id": equal(chat["id"]), "chat_user_message_id": isID,
	})
	c.require(t, "QuestionAccepted", accepted, map[string]is{
		"chat_id": equal(chat["id"]), "message_id": equal(stage["chat_user_message_id"]), "stage_id": equal(stage["id"]),
	})

	asked := eventOf(t, app, sessionID, "user_question")
	c.requireSome(t, "TimelineItem", asked, map[string]is{
		"stage_id": equal(stageID), "execution_id": equal(within(t, stage, "executions", 0)["id"]), "content": equal("Why?"),
		"metadata": equal(map[string]any{"author": "ada", "chat_id": chat["id"], "message_id": stage["chat_user_message_id"]}),
	})
	c.require(t, "QuestionRequest", question, map[string]is{"content": equal(asked["content"])})
}
