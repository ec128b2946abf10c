package e2e

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
	"tarsy.dev/tarsy/tarsytest"
)

func (c *contracts) trace(t *testing.T) {
	app, _, sessionID := investigated(t)
	stage := app.Session(sessionID).Stages[0]
	trace := get(t, app, "/api/v1/sessions/"+sessionID+"/trace")
	c.require(t, "TracePage", trace, map[string]is{
		"session_id": equal(sessionID), "version": equal(float64(len(app.Journal(sessionID)))), "usage": usage(100, 22, 3, 2, 75),
		"stages": list(2), "session_interactions": list(2), "interruptions": list(0), "next_cursor": isAbsent,
	})
	c.require(t, "TraceStage", within(t, trace, "stages", 0), map[string]is{
		"stage_id": equal(stage.ID), "stage_name": equal("look"), "stage_type": equal("investigation"), "stage_index": equal(1.0),
		"status": equal("completed"), "usage": usage(30, 9, 3, 2, 27), "executions": list(2),
	})

	optimist, pessimist := within(t, trace, "stages", 0, "executions", 0), within(t, trace, "stages", 0, "executions", 1)
	c.require(t, "TraceExecution", optimist, map[string]is{
		"execution_id": equal(stage.Executions[0].ID), "agent_name": equal("Optimist"), "agent_index": equal(1.0),
		"iteration_strategy": equal("function-calling"), "llm_provider": equal("test"), "status": equal("completed"),
		"usage": usage(30, 9, 3, 2, 27), "llm_interactions": list(2), "mcp_interactions": list(1),
	})

	looked := within(t, optimist, "llm_interactions", 0)
	c.require(t, "LLMInteractionItem", looked, map[string]is{
		"id": isID, "interaction_type": equal("iteration"), "provider": equal("test"), "model_name": equal("test-model"),
		"message_count": equal(2.0), "usage": usage(10, 4, 3, 2, 12), "duration_ms": equal(60_000.0), "attempts": equal(1.0), "stop_reason": equal(""),
		"error_code": equal(""), "error_message": equal(""), "created_at": minute(2),
	})
	c.require(t, "LLMInteractionItem", within(t, pessimist, "llm_interactions", 0), map[string]is{
		"id": isID, "interaction_type": equal("iteration"), "provider": equal("test"), "model_name": equal("test-model"),
		"message_count": equal(2.0), "usage": usage(0, 0, 0, 0, 0), "duration_ms": equal(0.0), "attempts": equal(1.0), "stop_reason": equal(""),
		"error_code": equal("llm_error"), "error_message": equal("no quota"), "created_at": minute(1),
	})

	// They were made in parallel, so they are in either order.
	for kind, spent := range map[string]is{"executive_summary": usage(40, 7, 0, 0, 27), "verdict": usage(0, 0, 0, 0, 0)} {
		concluding := within(t, trace, "session_interactions", 0)
		if concluding["interaction_type"] != kind {
			concluding = within(t, trace, "session_interactions", 1)
		}

		c.requireSome(t, "LLMInteractionItem", concluding, map[string]is{"interaction_type": equal(kind), "usage": spent})

		id, _ := concluding["id"].(string)
		c.requireSome(t, "LLMInteractionDetail", get(t, app, "/api/v1/sessions/"+sessionID+"/trace/llm/"+id), map[string]is{
			"stage_id": isNull, "execution_id": isNull, "llm_request": list(2), "conversation": list(2),
		})
	}

	id, _ := within(t, optimist, "llm_interactions", 1)["id"].(string)
	detail := get(t, app, "/api/v1/sessions/"+sessionID+"/trace/llm/"+id)
	c.require(t, "LLMInteractionDetail", detail, map[string]is{
		"id": equal(id), "session_id": equal(sessionID), "stage_id": equal(stage.ID), "execution_id": equal(stage.Executions[0].ID),
		"interaction_type": equal("iteration"), "provider": equal("test"), "model_name": equal("test-model"), "message_count": equal(4.0),
		"usage": usage(20, 5, 0, 0, 15), "duration_ms": equal(0.0), "attempts": equal(1.0), "stop_reason": equal(""), "shortened_through": equal(0.0),
		"llm_request": isNull, "llm_response": equal(map[string]any{"text": "All is well.", "tool_calls": []any{}}), "thinking_content": equal(""), "error_code": equal(""), "error_message": equal(""),
		"created_at": minute(2), "conversation": list(4), "response": equal(map[string]any{
			"role": "assistant", "content": "All is well.", "tool_calls": []any{}, "tool_call_id": "", "tool_name": "",
		}),
	})

	call := map[string]any{"id": "call_1", "name": "kubernetes__get_pods", "arguments": `{"namespace":"shop"}`}
	c.require(t, "TraceMessage", within(t, detail, "conversation", 2), map[string]is{
		"role": equal("assistant"), "content": equal("I look."), "tool_calls": equal([]any{call}), "tool_call_id": equal(""), "tool_name": equal(""),
	})
	c.require(t, "TraceMessage", within(t, detail, "conversation", 3), map[string]is{
		"role": equal("tool"), "content": equal("[call 1.1.1]\npods"), "tool_calls": list(0),
		"tool_call_id": equal("call_1"), "tool_name": equal("kubernetes__get_pods"),
	})

	refused, _ := within(t, pessimist, "llm_interactions", 0)["id"].(string)
	c.requireSome(t, "LLMInteractionDetail", get(t, app, "/api/v1/sessions/"+sessionID+"/trace/llm/"+refused), map[string]is{
		"error_code": equal("llm_error"), "error_message": equal("no quota"), "response": isNull,
	})

	first, _ := looked["id"].(string)
	c.requireSome(t, "LLMInteractionDetail", get(t, app, "/api/v1/sessions/"+sessionID+"/trace/llm/"+first), map[string]is{
		"thinking_content": equal("Hm."), "duration_ms": equal(60_000.0), "conversation": list(2),
	})
}

func isObject(value any) match {
	return that(func(any) bool { object, ok := value.(map[string]any); return ok && len(object) > 0 })(value)
}

func (c *contracts) toolTrace(t *testing.T) {
	app, sessionID := tooled(t)
	stage := app.Session(sessionID).Stages[0]
	execution := within(t, get(t, app, "/api/v1/sessions/"+sessionID+"/trace"), "stages", 0, "executions", 0)
	shown := eventsOf(t, app, sessionID, "llm_tool_call")
	require.Len(t, shown, 4)

	pods := within(t, execution, "mcp_interactions", 0)
	c.require(t, "MCPInteractionItem", pods, map[string]is{
		"id": isID, "timeline_event_id": equal(shown[0]["id"]), "tool_call_id": equal("call_1"), "server_name": equal("kubernetes"),
		"tool_name": equal("get_pods"), "status": equal("completed"), "is_error": equal(false), "attempt": equal(1.0), "read_only": equal(true),
		"duration_ms": equal(250.0), "error_message": equal(""), "created_at": minute(0), "completed_at": equal("2030-03-01T12:00:00.25Z"), "summarized": equal(false),
	})
	c.requireSome(t, "MCPInteractionItem", within(t, execution, "mcp_interactions", 1), map[string]is{
		"tool_name": equal("get_secrets"), "status": equal("failed"), "is_error": equal(true),
	})
	c.requireSome(t, "MCPInteractionItem", within(t, execution, "mcp_interactions", 2), map[string]is{
		"tool_name": equal("get_log"), "summarized": equal(true),
	})
	c.requireSome(t, "MCPInteractionItem", within(t, execution, "mcp_interactions", 3), map[string]is{
		"tool_name": equal("restart"), "status": equal("unknown"), "read_only": equal(false), "duration_ms": equal(90_000.0),
	})

	offered := []any{"kubernetes__get_log", "kubernetes__get_pods", "kubernetes__get_secrets", "kubernetes__restart"}
	id, _ := pods["id"].(string)
	c.require(t, "MCPInteraction", get(t, app, "/api/v1/sessions/"+sessionID+"/trace/mcp/"+id), map[string]is{
		"id": equal(id), "session_id": equal(sessionID), "stage_id": equal(stage.ID), "execution_id": equal(stage.Executions[0].ID),
		"timeline_event_id": equal(shown[0]["id"]), "tool_call_id": equal("call_1"), "server_name": equal("kubernetes"), "tool_name": equal("get_pods"),
		"tool_arguments": equal(map[string]any{"namespace": "shop"}), "tool_result": equal("two pods"), "summary": equal(""),
		"available_tools": equal(offered), "read_only": equal(true), "is_error": equal(false), "attempt": equal(1.0), "status": equal("completed"),
		"duration_ms": equal(250.0), "error_message": equal(""), "created_at": minute(0), "completed_at": equal("2030-03-01T12:00:00.25Z"),
		"approval": isNull,
	})

	failed, _ := within(t, execution, "mcp_interactions", 1)["id"].(string)
	c.requireSome(t, "MCPInteraction", get(t, app, "/api/v1/sessions/"+sessionID+"/trace/mcp/"+failed), map[string]is{
		"is_error": equal(true), "status": equal("failed"), "tool_result": equal("forbidden"),
	})

	forced, _ := within(t, execution, "llm_interactions", 4)["id"].(string)
	c.requireSome(t, "LLMInteractionItem", within(t, execution, "llm_interactions", 4), map[string]is{"stop_reason": equal("max_tokens")})
	c.requireSome(t, "LLMInteractionDetail", get(t, app, "/api/v1/sessions/"+sessionID+"/trace/llm/"+forced), map[string]is{
		"interaction_type": equal("forced_conclusion"), "stop_reason": equal("max_tokens"),
	})

	long, _ := within(t, execution, "mcp_interactions", 2)["id"].(string)
	c.requireSome(t, "MCPInteraction", get(t, app, "/api/v1/sessions/"+sessionID+"/trace/mcp/"+long), map[string]is{
		"tool_result": equal(strings.Repeat("a line of the log\n", 60)), "summary": equal("Lines."),
	})
}

// interrupted checks a session whose server once stopped responding.
func (c *contracts) interrupted(t *testing.T) {
	app, _, sessionID := investigated(t)
	interruption := map[string]any{
		"server_id": "server-1", "last_seen_at": "2030-03-01T12:00:00Z", "resumed_by": "server-2", "resumed_at": "2030-03-01T12:00:20Z",
	}
	written, err := json.Marshal([]any{interruption})
	require.NoError(t, err)
	app.Exec(`UPDATE sessions SET interruptions = $2 WHERE id = $1`, sessionID, written)

	trace := get(t, app, "/api/v1/sessions/"+sessionID+"/trace")
	c.requireSome(t, "TracePage", trace, map[string]is{"interruptions": equal([]any{interruption})})
}

// cutOff checks a session that is cancelled while a tool works.
func (c *contracts) cutOff(t *testing.T) {
	held := newHeldTool()
	app := tarsytest.New(t, tarsytest.Options{
		Config: kubernetesAgent, MCP: []*tarsytest.MCPServer{tarsytest.NewMCPServer("kubernetes", tarsytest.Tool{Name: "restart", Handle: held.handle})},
	})
	app.Script.Add(calls("kubernetes__restart"))

	sessionID := app.Submit("test", "to be cancelled")
	app.Await(held.reached, "the call")

	answer := app.Do(http.MethodPost, "/api/v1/sessions/"+sessionID+"/cancel", nil)
	require.Equal(t, http.StatusAccepted, answer.Status, "%s", answer.Body)
	c.require(t, "CancelAccepted", decode[map[string]any](answer.Body), map[string]is{"session_id": equal(sessionID), "status": equal("cancelling"), "answer": isAbsent})
	app.WaitFor(sessionID, tarsy.SessionCancelled)

	call := within(t, get(t, app, "/api/v1/sessions/"+sessionID+"/trace"), "stages", 0, "executions", 0, "mcp_interactions", 0)
	ended := map[string]is{"status": equal("unknown"), "error_message": equal("the call was cut off"), "completed_at": isTime}
	c.requireSome(t, "MCPInteractionItem", call, ended)

	id, _ := call["id"].(string)
	c.requireSome(t, "MCPInteraction", get(t, app, "/api/v1/sessions/"+sessionID+"/trace/mcp/"+id), ended)
}

// shortened checks a conversation that becomes too long for its model.
func (c *contracts) shortened(t *testing.T) {
	app, first, _ := fallbackApp(t)
	tooLong := script.Reply{Err: &llm.Error{Status: 400, Code: "context_length_exceeded", Message: "maximum context length is 128000 tokens"}}
	first.Add(tool("huge", `{}`), tool("get_events", `{}`), tooLong, says("The root cause is a leak."), says("A leak."))

	sessionID := app.Run("test", "app-1 was OOM-killed").ID
	told := eventOf(t, app, sessionID, "context_shortened")
	c.requireSome(t, "TimelineItem", told, map[string]is{"metadata": equal(map[string]any{"results": 1.0, "through": 5.0})})

	calls := within(t, get(t, app, "/api/v1/sessions/"+sessionID+"/trace"), "stages", 0, "executions", 0)
	c.requireSome(t, "LLMInteractionItem", within(t, calls, "llm_interactions", 2), map[string]is{"error_code": equal("llm_context_too_long")})

	id, _ := within(t, calls, "llm_interactions", 3)["id"].(string)
	c.requireSome(t, "LLMInteractionDetail", get(t, app, "/api/v1/sessions/"+sessionID+"/trace/llm/"+id), map[string]is{"shortened_through": equal(5.0)})
	c.requireSome(t, "ExecutionDetail", within(t, get(t, app, "/api/v1/sessions/"+sessionID), "stages", 0, "executions", 0),
		map[string]is{"shortened_through": equal(5.0)})
}
