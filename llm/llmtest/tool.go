package llmtest

import (
	"encoding/json"
	"strings"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
)

func toolCases() map[string]func(*fixture) {
	return map[string]func(*fixture){
		"a tool call arrives whole":                                   toolCall,
		"a tool call without arguments has an empty object":           toolCallWithoutArguments,
		"parallel tool calls arrive in their order, each its own":     parallelCalls,
		"text beside tool calls is kept":                              textBesideCalls,
		"tool results reach the server under their calls":             toolResults,
		"an empty tool result is a result":                            emptyResult,
		"the calls of an answer go back with their results":           toolRoundTrip,
		"arguments that are no object do not spoil the conversation":  brokenArguments,
		"names that providers do not take come back as they were":     oddNames,
		"the conversation names tools as the definitions do":          oddNamesInConversation,
		"an answer can call an unknown tool":                          unknownTool,
		"tool definitions reach the server with name and description": definitions,
	}
}

// podTools returns two ordinary tools.
func podTools() []llm.Tool {
	schema := json.RawMessage(`{"type":"object","properties":{"namespace":{"type":"string"}},"required":["namespace"]}`)

	return []llm.Tool{
		{Name: "cluster__get_pods", Description: "Lists the pods of a namespace.", Schema: schema},
		{Name: "cluster__get_events", Description: "Lists the events of a namespace.", Schema: schema},
	}
}

func (f *fixture) toolRequest(messages ...llm.Message) *llm.Request {
	req := f.request(messages...)
	req.Tools = podTools()

	return req
}

// sameCalls compares calls, with their arguments as JSON.
func (f *fixture) sameCalls(want, got []llm.ToolCall) {
	f.Helper()
	require.Len(f, got, len(want))

	for i := range want {
		require.Equal(f, want[i].Name, got[i].Name)
		require.JSONEq(f, want[i].Arguments, got[i].Arguments)

		if f.p.has(FeatureToolCallIDs) && want[i].ID != "" {
			require.Equal(f, want[i].ID, got[i].ID)
		}
	}
}

func toolCall(f *fixture) {
	want := []llm.ToolCall{{
		ID: "call_7", Name: "cluster__get_pods", Arguments: `{"namespace":"shop","labels":{"app":["web","ünïcode 😀"]},"limit":10,"all":false}`,
	}}
	f.script.Add(script.Reply{ToolCalls: want})

	response := f.answer(f.toolRequest())
	f.sameCalls(want, response.ToolCalls)
	require.NotEmpty(f, response.ToolCalls[0].ID, "a result must find its call")
	require.Empty(f, response.Text)
	require.Equal(f, llm.StopToolCalls, response.End.Reason)
}

func toolCallWithoutArguments(f *fixture) {
	f.script.Add(script.Reply{ToolCalls: []llm.ToolCall{{Name: "cluster__get_pods"}}})

	calls := f.answer(f.toolRequest()).ToolCalls
	require.Len(f, calls, 1)
	require.Equal(f, "{}", calls[0].Arguments)
}

func parallelCalls(f *fixture) {
	want := []llm.ToolCall{
		{Name: "cluster__get_pods", Arguments: `{"namespace":"shop"}`},
		{Name: "cluster__get_pods", Arguments: `{"namespace":"pay"}`},
		{Name: "cluster__get_events", Arguments: `{"namespace":"shop"}`},
	}
	f.script.Add(script.Reply{ToolCalls: want})

	response := f.answer(f.toolRequest())
	f.sameCalls(want, response.ToolCalls)
	require.Equal(f, llm.StopToolCalls, response.End.Reason)

	ids := map[string]bool{}
	for _, call := range response.ToolCalls {
		require.NotEmpty(f, call.ID)

		ids[call.ID] = true
	}

	require.Len(f, ids, len(want), "each call has an id of its own")
}

func textBesideCalls(f *fixture) {
	f.needs(FeatureTextWithCalls)

	want := []llm.ToolCall{{Name: "cluster__get_events", Arguments: `{"namespace":"shop"}`}}
	f.script.Add(script.Reply{Text: "I look at the events.", ToolCalls: want})

	response := f.answer(f.toolRequest())
	require.Equal(f, "I look at the events.", response.Text)
	f.sameCalls(want, response.ToolCalls)
}

func toolResults(f *fixture) {
	f.script.Add(script.Reply{Text: "fine"})

	first := []llm.ToolCall{
		{ID: "call_1", Name: "cluster__get_pods", Arguments: `{"namespace":"shop"}`},
		{ID: "call_2", Name: "cluster__get_events", Arguments: `{"namespace":"shop"}`},
		{ID: "call_3", Name: "cluster__get_pods", Arguments: `{"namespace":"pay"}`},
	}
	second := []llm.ToolCall{{ID: "call_4", Name: "cluster__get_pods", Arguments: `{"namespace":"none"}`}}
	sent := []llm.Message{
		system("You look into alerts."), user("What is wrong?"),
		{Role: llm.RoleAssistant, Content: "I look at three things.", ToolCalls: first},
		result(first[0], `{"pods":["web-1","web-2"]}`), result(first[1], "OOMKilled web-1 \"137\"\n"), result(first[2], "[1,2,3]"),
		{Role: llm.RoleAssistant, ToolCalls: second},
		result(second[0], "Error: namespace \"none\" was not found"),
	}
	f.answer(f.toolRequest(sent...))
	f.sameConversation(sent, f.seen(0).Messages)
}

func emptyResult(f *fixture) {
	f.script.Add(script.Reply{Text: "fine"})

	calls := []llm.ToolCall{
		{ID: "call_1", Name: "cluster__get_pods", Arguments: `{"namespace":"shop"}`},
		{ID: "call_2", Name: "cluster__get_events", Arguments: `{"namespace":"shop"}`},
	}
	sent := []llm.Message{
		user("What is wrong?"), {Role: llm.RoleAssistant, ToolCalls: calls}, result(calls[0], ""), result(calls[1], "none"),
	}
	require.Equal(f, "fine", f.answer(f.toolRequest(sent...)).Text)

	seen := f.seen(0).Messages
	require.Len(f, seen, len(sent))
	require.Equal(f, llm.RoleTool, seen[2].Role, "an API refuses a call whose result is missing")
	require.Equal(f, "none", seen[3].Content)
}

// sameConversation compares what was sent with what the server read.
func (f *fixture) sameConversation(sent, seen []llm.Message) {
	f.Helper()
	require.Len(f, seen, len(sent), "%+v", seen)

	for i, want := range sent {
		got := seen[i]
		require.Equal(f, want.Role, got.Role, "message %d", i)
		require.Equal(f, want.Content, got.Content, "message %d", i)
		f.sameCalls(want.ToolCalls, got.ToolCalls)

		if want.Role != llm.RoleTool {
			continue
		}

		if f.p.has(FeatureToolCallIDs) {
			require.Equal(f, want.ToolCallID, got.ToolCallID, "message %d", i)
		}

		// Some APIs identify a result only by its call.
		if got.ToolName != "" {
			require.Equal(f, want.ToolName, got.ToolName, "message %d", i)
		}
	}
}

func toolRoundTrip(f *fixture) {
	f.script.Add(
		script.Reply{ToolCalls: []llm.ToolCall{
			{Name: "cluster__get_pods", Arguments: `{"namespace":"shop"}`}, {Name: "cluster__get_events", Arguments: `{"namespace":"shop"}`},
		}},
		script.Reply{ToolCalls: []llm.ToolCall{{Name: "cluster__get_pods", Arguments: `{"namespace":"pay"}`}}},
		script.Reply{Text: "The pod ran out of memory."},
	)

	messages := []llm.Message{user("What is wrong?")}
	ids := map[string]bool{}

	for range 2 {
		response := f.answer(f.toolRequest(messages...))
		messages = append(messages, assistant(response))

		for _, call := range response.ToolCalls {
			require.False(f, ids[call.ID], "the id %s is that of two calls", call.ID)

			ids[call.ID] = true

			messages = append(messages, result(call, "result of "+call.ID))
		}
	}

	require.Equal(f, "The pod ran out of memory.", f.answer(f.toolRequest(messages...)).Text)
	f.sameConversation(messages, f.seen(2).Messages)
}

func brokenArguments(f *fixture) {
	for _, arguments := range []string{``, `{"namespace":`, `"text"`, `[1]`, `null`, `not json at all`} {
		f.script.Add(script.Reply{Text: "fine"})

		call := llm.ToolCall{ID: "call_1", Name: "cluster__get_pods", Arguments: arguments}
		messages := []llm.Message{
			user("What is wrong?"), {Role: llm.RoleAssistant, ToolCalls: []llm.ToolCall{call}}, result(call, "the arguments are no object"),
		}
		require.Equal(f, "fine", f.answer(f.toolRequest(messages...)).Text, arguments)
	}

	require.Len(f, f.seen(1).Messages[1].ToolCalls, 1)
}

// oddToolNames returns names that MCP servers use and APIs reject, and two that differ only in what APIs reject.
func oddToolNames() []string {
	return []string{
		"cluster.get_pods", "cluster/get_pods", "cluster__" + strings.Repeat("very_long_", 12) + "a", "cluster__" + strings.Repeat("very_long_", 12) + "b",
		"öffne Datei", "1st", "plain_name",
	}
}

func oddNames(f *fixture) {
	names := oddToolNames()
	req := f.request()

	for _, name := range names {
		req.Tools = append(req.Tools, llm.Tool{Name: name, Description: "Does something."})
	}

	// The model calls every tool by the name that it received.
	f.script.RouteFunc(func(*llm.Request) bool { return true }, func(seen *llm.Request, _ int) script.Reply {
		var reply script.Reply
		for _, tool := range seen.Tools {
			reply.ToolCalls = append(reply.ToolCalls, llm.ToolCall{Name: tool.Name, Arguments: "{}"})
		}

		return reply
	})

	var received []string
	for _, call := range f.answer(req).ToolCalls {
		received = append(received, call.Name)
	}

	require.Equal(f, names, received)
}

func oddNamesInConversation(f *fixture) {
	f.script.Add(script.Reply{Text: "fine"})

	messages := []llm.Message{user("What is wrong?"), {Role: llm.RoleAssistant}}
	req := f.request()

	for i, name := range oddToolNames() {
		req.Tools = append(req.Tools, llm.Tool{Name: name, Description: "Does something."})
		call := llm.ToolCall{ID: "call_" + string(rune('a'+i)), Name: name, Arguments: "{}"}
		messages[1].ToolCalls = append(messages[1].ToolCalls, call)
		messages = append(messages, result(call, "result of "+name))
	}

	req.Messages = messages
	f.answer(req)

	seen := f.seen(0)
	require.Len(f, seen.Messages, len(messages))
	require.Len(f, seen.Messages[1].ToolCalls, len(seen.Tools))

	for i, tool := range seen.Tools {
		require.Equal(f, tool.Name, seen.Messages[1].ToolCalls[i].Name)

		if name := seen.Messages[2+i].ToolName; name != "" {
			require.Equal(f, tool.Name, name)
		}
	}
}

func unknownTool(f *fixture) {
	f.script.Add(script.Reply{ToolCalls: []llm.ToolCall{{Name: "invented", Arguments: `{"a":1}`}}})
	f.sameCalls([]llm.ToolCall{{Name: "invented", Arguments: `{"a":1}`}}, f.answer(f.toolRequest()).ToolCalls)
}

func definitions(f *fixture) {
	f.script.Add(script.Reply{Text: "fine"})
	f.answer(f.toolRequest())

	want, seen := podTools(), f.seen(0).Tools
	require.Len(f, seen, len(want))

	for i := range want {
		require.Equal(f, want[i].Name, seen[i].Name)
		require.Equal(f, want[i].Description, seen[i].Description)
		require.JSONEq(f, string(want[i].Schema), string(seen[i].Schema))
	}
}
