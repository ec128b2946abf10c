package anthropic_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
)

func TestWholeRequestReachesScript(t *testing.T) {
	t.Parallel()

	s := serve(t, script.Reply{Text: "ok"})
	response, body := s.post("/v1/messages", `{
		"model": "claude-test", "max_tokens": 2048, "temperature": 1, "metadata": {"user_id": "u"}, "new_field": [1],
		"system": [{"type": "text", "text": "Be brief."}, {"type": "text", "text": "Be kind.", "cache_control": {"type": "ephemeral"}}],
		"thinking": {"type": "adaptive"}, "stop_sequences": ["END"],
		"output_config": {"effort": "max", "format": {"type": "json_schema", "schema": {"type": "object"}}},
		"tools": [
			{"name": "get_pods", "description": "Lists pods.", "input_schema": {"type": "object", "properties": {"a": {"type": "string"}}}},
			{"type": "web_search_20250305", "name": "web_search", "max_uses": 3}, {"type": "web_fetch_20250910", "name": "web_fetch"},
			{"type": "code_execution_20250825", "name": "code_execution"}, {"type": "bash_20250124", "name": "bash"}
		],
		"messages": [
			{"role": "user", "content": [{"type": "text", "text": "Why?"}, {"type": "image", "source": {"type": "url", "url": "x"}}]},
			{"role": "assistant", "content": [
				{"type": "redacted_thinking", "data": "hidden"}, {"type": "text", "text": "I "}, {"type": "text", "text": "look."},
				{"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "q"}},
				{"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []},
				{"type": "tool_use", "id": "toolu_1", "name": "get_pods", "input": {"a": "b"}}, {"type": "tool_use", "id": "toolu_2", "name": "get_pods", "input": {}}
			]},
			{"role": "user", "content": [
				{"type": "tool_result", "tool_use_id": "toolu_2", "content": "two", "is_error": true},
				{"type": "tool_result", "tool_use_id": "toolu_1", "content": [{"type": "text", "text": "one"}, {"type": "text", "text": "more"}]},
				{"type": "text", "text": "Go on."}
			]}
		]
	}`)
	require.Equal(t, http.StatusOK, response.StatusCode, body)

	seen := s.Calls()[0].Request
	require.Equal(t, "claude-test", seen.Model)
	require.Equal(t, 2048, seen.MaxOutputTokens)
	require.Equal(t, []string{"END"}, seen.Stop)
	require.Equal(t, "max", seen.ReasoningEffort)
	require.JSONEq(t, `{"type":"object"}`, string(seen.ResponseSchema))
	require.Equal(t, llm.NativeTools{GoogleSearch: true, CodeExecution: true, URLContext: true}, seen.NativeTools)
	require.Len(t, seen.Tools, 2)
	require.Equal(t, "Lists pods.", seen.Tools[0].Description)
	require.JSONEq(t, `{"type":"object","properties":{"a":{"type":"string"}}}`, string(seen.Tools[0].Schema))
	require.Equal(t, []llm.Message{
		{Role: llm.RoleSystem, Content: "Be brief."},
		{Role: llm.RoleSystem, Content: "Be kind."},
		{Role: llm.RoleUser, Content: "Why?\n[image]"},
		{
			Role: llm.RoleAssistant, Content: "I look.", Signature: &llm.Signature{By: "wire", Data: json.RawMessage(`"hidden"`)},
			ToolCalls: []llm.ToolCall{{ID: "toolu_1", Name: "get_pods", Arguments: `{"a": "b"}`}, {ID: "toolu_2", Name: "get_pods", Arguments: "{}"}},
		},
		{Role: llm.RoleTool, Content: "two", ToolCallID: "toolu_2", ToolName: "get_pods"},
		{Role: llm.RoleTool, Content: "one\nmore", ToolCallID: "toolu_1", ToolName: "get_pods"},
		{Role: llm.RoleUser, Content: "Go on."},
	}, seen.Messages)
}

func TestBudgetMapsToEffort(t *testing.T) {
	t.Parallel()

	for budget, want := range map[int]string{1024: "low", 4096: "low", 16000: "medium", 32000: "high"} {
		s := serve(t, script.Reply{Text: "ok"})
		s.post("/v1/messages", fmt.Sprintf(
			`{"model":"m","max_tokens":64000,"thinking":{"type":"enabled","budget_tokens":%d},"messages":[{"role":"user","content":"Why?"}]}`, budget))
		require.Equal(t, want, s.Calls()[0].Request.ReasoningEffort)
	}
}

func TestBadRequestIsRefusedWithReason(t *testing.T) {
	t.Parallel()

	// with puts messages into a request.
	with := func(messages string) string { return `{"model":"m","max_tokens":9,"messages":[` + messages + `]}` }
	tools := func(tools string) string {
		return `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"Why?"}],"tools":[` + tools + `]}`
	}

	for name, test := range map[string]struct{ body, message string }{
		"broken JSON":      {`{"model":`, "The request body is not valid JSON: unexpected end of JSON input"},
		"no object":        {`[]`, "body: Input should be a valid dictionary, not array (byte 1)"},
		"wrong type":       {`{"model":7}`, "model: Input should be a valid string, not number (byte 10)"},
		"wrong content":    {with(`{"role":"user","content":7}`), "system or messages.content: Input should be a valid string or list"},
		"no model":         {`{}`, "model: Field required"},
		"no max_tokens":    {`{"model":"m"}`, "max_tokens: Field required"},
		"no messages":      {`{"model":"m","max_tokens":9}`, "messages: Field required"},
		"empty messages":   {with(``), "messages: at least one message is required"},
		"unknown role":     {with(`{"role":"tool","content":"a"}`), "messages.0.role: Input should be 'user', 'assistant' or 'system'"},
		"no content":       {with(`{"role":"user"}`), "messages.0.content: Field required"},
		"empty content":    {with(`{"role":"user","content":[]}`), "messages.0: all messages must have non-empty content except for the optional final assistant message"},
		"empty text":       {with(`{"role":"user","content":""}`), "messages.0.content.0: text content blocks must be non-empty"},
		"blank text":       {with(`{"role":"user","content":" \n"}`), "messages.0.content.0: text content blocks must contain non-whitespace text"},
		"no type":          {with(`{"role":"user","content":[{}]}`), "messages.0.content.0.type: Field required"},
		"budget":           {`{"model":"m","max_tokens":2000,"thinking":{"type":"enabled","budget_tokens":2000},"messages":[{"role":"user","content":"a"}]}`, "`max_tokens` must be greater than `thinking.budget_tokens`."},
		"small budget":     {`{"model":"m","max_tokens":2000,"thinking":{"type":"enabled","budget_tokens":1},"messages":[{"role":"user","content":"a"}]}`, "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024"},
		"no schema":        {tools(`{"name":"a"}`), "tools.0.custom.input_schema: Field required"},
		"schema":           {tools(`{"name":"a","input_schema":{"type":"string"}}`), "tools.0.custom.input_schema.type: Input should be 'object'"},
		"tool name":        {tools(`{"name":"a.b","input_schema":{"type":"object"}}`), "tools.0.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'"},
		"same tool":        {tools(`{"name":"a","input_schema":{"type":"object"}},{"name":"a","input_schema":{"type":"object"}}`), "tools: Tool names must be unique."},
		"input":            {with(`{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"n","input":"x"}]}`), "messages.1.content.0.tool_use.input: Input should be a valid dictionary"},
		"result unasked":   {with(`{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"a"}]}`), "messages.0.content.0: unexpected `tool_use_id` found in `tool_result` blocks: t1. Each `tool_result` block must have a corresponding `tool_use` block in the previous message."},
		"call unanswered":  {with(`{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"n","input":{}}]},{"role":"user","content":"b"}`), "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: t1. Each `tool_use` block must have a corresponding `tool_result` block in the next message."},
		"result too late":  {with(`{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"n","input":{}}]},{"role":"user","content":[{"type":"text","text":"b"},{"type":"tool_result","tool_use_id":"t1"}]}`), "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: t1. Each `tool_use` block must have a corresponding `tool_result` block in the next message."},
		"no signature":     {with(`{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"thinking","thinking":"Let me see."}]}`), "messages.1.content.0.thinking.signature: Field required"},
		"changed thinking": {with(`{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"thinking","thinking":"Let me be.","signature":"` + thinkingSignature + `"}]}`), "messages.1.content.0: Invalid `signature` in `thinking` block"},
		"cut signature":    {with(`{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"thinking","thinking":"Let me see.","signature":"` + thinkingSignature[:40] + `"}]}`), "messages.1.content.0: Invalid `signature` in `thinking` block"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			s := serve(t)
			response, body := s.post("/v1/messages", test.body)
			require.Equal(t, http.StatusBadRequest, response.StatusCode)

			var failure struct {
				Type  string                         `json:"type"`
				Error struct{ Type, Message string } `json:"error"`
			}
			require.NoError(t, json.Unmarshal([]byte(body), &failure))
			require.Equal(t, "error", failure.Type)
			require.Equal(t, "invalid_request_error", failure.Error.Type)
			require.Equal(t, test.message, failure.Error.Message)
			require.Zero(t, s.CallCount(), "the script is not asked")
		})
	}
}

func TestOwnSignatureIsAccepted(t *testing.T) {
	t.Parallel()

	s := serve(t, script.Reply{Text: "ok"})
	response, body := s.post("/v1/messages", `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"a"},`+
		`{"role":"assistant","content":[{"type":"thinking","thinking":"Let me see.","signature":"`+thinkingSignature+`"},{"type":"text","text":"b"}]},`+
		`{"role":"user","content":"c"}]}`)
	require.Equal(t, http.StatusOK, response.StatusCode, body)
	require.Equal(t, `"`+thinkingSignature+`"`, string(s.Calls()[0].Request.Messages[1].Signature.Data))
}

func TestToolsDisabledByToolChoiceAreNotBound(t *testing.T) {
	t.Parallel()

	s := serve(t, script.Reply{Text: "ok"})
	s.post("/v1/messages", `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"a"}],"tool_choice":{"type":"none"},`+
		`"tools":[{"name":"get_pods","input_schema":{"type":"object"}}]}`)
	require.Empty(t, s.Calls()[0].Request.Tools)
}

func TestRequiredHeadersAreEnforced(t *testing.T) {
	t.Parallel()

	s := serve(t)

	response, body := s.post("/v1/messages", question, "X-Api-Key")
	require.Equal(t, http.StatusUnauthorized, response.StatusCode)
	require.Contains(t, body, `{"type":"authentication_error","message":"x-api-key header is required"}`)

	response, body = s.post("/v1/messages", question, "Anthropic-Version")
	require.Equal(t, http.StatusBadRequest, response.StatusCode)
	require.Contains(t, body, `{"type":"invalid_request_error","message":"anthropic-version: header is required"}`)
}

func TestTokensAreCountedWithoutScript(t *testing.T) {
	t.Parallel()

	s := serve(t)
	_, body := s.post("/v1/messages/count_tokens", `{"model":"m","system":"12345678","messages":[{"role":"user","content":"123456789"}]}`)
	require.Equal(t, `{"input_tokens":5}`, body)
	require.Zero(t, s.CallCount())
}
