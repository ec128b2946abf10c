package e2e

import (
	"context"
	"errors"
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

// threeCalls has an agent that can make tool calls three times, and gets summaries of long results.
const threeCalls = `
agents: {Investigator: {mcp_servers: [kubernetes], max_iterations: 3}}
mcp_servers:
  kubernetes:
    transport: {type: stdio, command: in-memory}
    summarization: {enabled: true, size_threshold_tokens: 200, summary_max_token_limit: 50}
agent_chains: {test: {alert_types: [test], stages: [{name: analysis, agents: [{name: Investigator}]}]}}
`

// tooled returns a session whose tool calls end in every way: successfully after 250 ms, with an error, with a long result,
// and with an unknown outcome. Its agent is told to conclude, cites a call that exists and one that does not, and is cut
// off.
func tooled(t *testing.T) (app *tarsytest.App, sessionID string) {
	t.Helper()

	clock, held := clockwork.NewFakeClockAt(beginning()), newHeldTool()
	app = tarsytest.New(t, tarsytest.Options{Clock: clock, Config: threeCalls, MCP: []*tarsytest.MCPServer{tarsytest.NewMCPServer("kubernetes",
		tarsytest.Tool{Name: "get_pods", ReadOnly: true, Handle: func(context.Context, map[string]any) (string, error) {
			clock.Advance(250 * time.Millisecond)

			return "two pods", nil
		}},
		tarsytest.Tool{Name: "get_secrets", ReadOnly: true, Handle: func(context.Context, map[string]any) (string, error) { return "", errors.New("forbidden") }},
		tarsytest.Tool{Name: "get_log", ReadOnly: true, Text: strings.Repeat("a line of the log\n", 60)},
		tarsytest.Tool{Name: "restart", Handle: held.handle},
	)}})

	app.Script.RouteFunc(func(r *llm.Request) bool { return r.Purpose == string(tarsy.InteractionSummarization) },
		func(*llm.Request, int) script.Reply { return says("Lines.") })
	app.Script.RouteFunc(func(r *llm.Request) bool { return r.Agent == "Investigator" }, func(_ *llm.Request, n int) script.Reply {
		return []script.Reply{
			{ToolCalls: []llm.ToolCall{{Name: "kubernetes__get_pods", Arguments: `{"namespace":"shop"}`}, {Name: "kubernetes__get_secrets", Arguments: `{}`}}},
			calls("kubernetes__get_log"), calls("kubernetes__restart"),
			{Text: "It is the pods [call 1.1.1], not the [call 9.9.9].", Stop: llm.StopMaxTokens},
		}[n]
	})
	app.Script.Route("ExecSummaryAgent", says("The pods."))

	sessionID = app.Submit("test", "look")
	app.Await(held.reached, "the call that changes something")
	clock.Advance(90 * time.Second)
	app.WaitFor(sessionID, tarsy.SessionCompleted)

	return app, sessionID
}

func (c *contracts) toolMetadata(t *testing.T) {
	app, sessionID := tooled(t)
	toolCalls := eventsOf(t, app, sessionID, "llm_tool_call")
	require.Len(t, toolCalls, 4)

	facts := func(call, tool string, arguments map[string]any, duration, tokens float64, isError bool) map[string]any {
		return map[string]any{
			"call": call, "server_name": "kubernetes", "tool_name": tool, "arguments": arguments,
			"is_error": isError, "attempt": 1.0, "duration_ms": duration, "result_tokens": tokens,
		}
	}

	unknown := facts("1.1.4", "restart", map[string]any{}, 90_000, within(t, toolCalls[3], "metadata")["result_tokens"].(float64), true)
	unknown["outcome"] = "unknown"

	for i, metadata := range []map[string]any{
		facts("1.1.1", "get_pods", map[string]any{"namespace": "shop"}, 250, 2, false),
		facts("1.1.2", "get_secrets", map[string]any{}, 0, 3, true),
		facts("1.1.3", "get_log", map[string]any{}, 0, 270, false),
		unknown,
	} {
		c.requireSome(t, "TimelineItem", toolCalls[i], map[string]is{"metadata": equal(metadata)})
	}

	c.requireSome(t, "TimelineItem", eventOf(t, app, sessionID, "mcp_tool_summary"), map[string]is{
		"content": equal("Lines."), "metadata": equal(map[string]any{
			"server_name": "kubernetes", "tool_name": "get_log", "tool_call_event_id": toolCalls[2]["id"], "original_tokens": 270.0,
		}),
	})
	c.requireSome(t, "TimelineItem", eventOf(t, app, sessionID, "final_analysis"), map[string]is{
		"metadata": equal(map[string]any{
			"forced_conclusion": true, "reason": "iterations", "max_iterations": 3.0, "cut_off": true,
			"citations": []any{map[string]any{"call": "1.1.1", "event_id": toolCalls[0]["id"]}}, "unknown_citations": []any{"9.9.9"},
		}),
	})
}

func (c *contracts) fallbackMetadata(t *testing.T) {
	app, first, second := fallbackApp(t)
	revoked := script.Reply{Err: &llm.Error{Status: 401, Message: "the key was revoked"}}
	first.Add(revoked, revoked)
	second.Add(says("A leak."), says("A leak."))

	sessionID := app.Run("test", "app-1 was OOM-killed").ID
	stage := app.Session(sessionID).Stages[0]
	told := eventsOf(t, app, sessionID, "provider_fallback")
	require.Len(t, told, 2, "of the agent, and of the summary")
	c.require(t, "TimelineItem", told[0], map[string]is{
		"id": isID, "session_id": equal(sessionID), "stage_id": equal(stage.ID), "execution_id": equal(stage.Executions[0].ID),
		"sequence_number": equal(1.0), "event_type": equal("provider_fallback"), "status": equal("completed"),
		"content": that(func(v any) bool { return strings.Contains(v.(string), "second") }), "content_length": lengthOf(told[0]["content"]), "truncated": equal(false),
		"metadata":   equal(map[string]any{"from": "first", "to": "second", "code": "llm_auth"}),
		"created_at": isTime, "updated_at": isTime, "completed_at": isTime,
	})
	c.requireSome(t, "ExecutionDetail", within(t, get(t, app, "/api/v1/sessions/"+sessionID), "stages", 0, "executions", 0),
		map[string]is{"llm_provider": equal("second")})
}

func (c *contracts) nativeMetadata(t *testing.T) {
	app := tarsytest.New(t, tarsytest.Options{})
	app.Script.Add(script.Reply{Chunks: []llm.Chunk{
		llm.CodeExecutionChunk{Code: "print(6 * 7)", Result: "42"},
		llm.GroundingChunk{Kind: "google_search", Queries: []string{"OOM killer"}, Sources: []llm.Source{{Title: "OOM", URL: "https://docs.example/oom"}}},
		llm.TextChunk{Text: "Memory is short."},
	}}, says("Short."))

	sessionID := app.Run("test", "look").ID
	c.requireSome(t, "TimelineItem", eventOf(t, app, sessionID, "code_execution"), map[string]is{
		"content": equal("42"), "metadata": equal(map[string]any{"code": "print(6 * 7)"}),
	})
	c.requireSome(t, "TimelineItem", eventOf(t, app, sessionID, "google_search_result"), map[string]is{
		"content": equal("OOM https://docs.example/oom"), "metadata": equal(map[string]any{
			"queries": []any{"OOM killer"}, "sources": []any{map[string]any{"title": "OOM", "url": "https://docs.example/oom"}},
		}),
	})
}
