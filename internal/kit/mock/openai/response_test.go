package openai_test

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
)

const (
	responseQuestion = `{"model":"gpt-5","input":"What is wrong?"`
	includeAll       = `,"store":false,"include":["reasoning.encrypted_content","code_interpreter_call.outputs","web_search_call.action.sources"]`
)

func TestResponseAnswersWhole(t *testing.T) {
	t.Parallel()

	s := serve(t, everything())
	status, header, answer := s.post(t, "/v1/responses", responseQuestion+includeAll+`,
		"instructions": "Be brief.", "max_output_tokens": 500,
		"reasoning": {"effort": "high", "summary": "auto"}, "tools": [
			{"type": "web_search"}],
		"metadata": {"a": "b"}, "temperature": 0.5}`)
	require.Equal(t, http.StatusOK, status)
	require.Equal(t, "application/json", header.Get("Content-Type"))
	require.Regexp(t, `^req_[0-9a-f]{32}$`, header.Get("X-Request-ID"))
	require.True(t, json.Valid(answer))
	golden(t, "response_whole.json", answer)
}

func TestResponseStreams(t *testing.T) {
	t.Parallel()

	s := serve(t, everything())
	status, header, answer := s.post(t, "/v1/responses", responseQuestion+includeAll+`,
		"stream": true, "tools": [
			{"type": "web_search"}]}`)
	require.Equal(t, http.StatusOK, status)
	require.Equal(t, "text/event-stream; charset=utf-8", header.Get("Content-Type"))
	golden(t, "response_stream.txt", answer)
}

func TestEmptyResponseStreamsEmptyMessage(t *testing.T) {
	t.Parallel()

	_, _, answer := serve(t, script.Reply{}).post(t, "/responses", responseQuestion+`,"stream":true}`)
	golden(t, "response_stream_empty.txt", answer)
}

func TestResponseIncludesExtrasOnRequestOnly(t *testing.T) {
	t.Parallel()

	for _, stream := range []string{"false", "true"} {
		_, _, answer := serve(t, everything()).post(t, "/v1/responses", responseQuestion+`,"stream":`+stream+`}`)
		require.NotContains(t, string(answer), "encrypted_content")
		require.NotContains(t, string(answer), "sealed")
		require.NotContains(t, string(answer), `"logs"`)
		require.NotContains(t, string(answer), `"sources"`)
		require.Contains(t, string(answer), `"outputs":null`)
	}
}

func TestSignatureBelongsToItsReasoning(t *testing.T) {
	t.Parallel()

	const (
		secrets = responseQuestion + `,"include":["reasoning.encrypted_content"]`
		hidden  = `"type":"reasoning","encrypted_content":"sealed","summary":[]}`
	)

	thought := script.Reply{Signature: "sealed", Chunks: []llm.Chunk{
		llm.ThinkingChunk{Text: "Hm."}, llm.TextChunk{Text: "Yes."}, llm.ThinkingChunk{Text: "Or?"}, llm.TextChunk{Text: "No."},
	}}
	call := script.Reply{Signature: "sealed", ToolCalls: []llm.ToolCall{{ID: "a", Name: "get"}}}
	s := serve(t, thought, call, call, script.Reply{Signature: "sealed"})

	_, _, stream := s.post(t, "/v1/responses", secrets+`,"stream":true}`)
	require.Contains(t, string(stream), `"output_index":0,"item":{"id":"`+reasoningID(t, stream)+`","type":"reasoning","encrypted_content":"sealed",`)
	// Once in its own event, once in the whole response.
	require.Equal(t, 2, strings.Count(string(stream), `"sealed"`))

	_, _, whole := s.post(t, "/v1/responses", secrets+`}`)
	require.Contains(t, string(whole), hidden+`,{"id":"fc_`)

	for range 2 {
		_, _, stream = s.post(t, "/v1/responses", secrets+`,"stream":true}`)
		require.Contains(t, string(stream), `"response.output_item.done","sequence_number":3,"output_index":0,"item":{"id":"`+reasoningID(t, stream)+`",`+hidden)
		require.Equal(t, 2, strings.Count(string(stream), `"sealed"`))
	}
}

// reasoningID returns the ID of the first reasoning item in a stream.
func reasoningID(t *testing.T, stream []byte) string {
	t.Helper()

	found := regexp.MustCompile(`rs_[0-9a-f]{32}`).Find(stream)
	require.NotNil(t, found)

	return string(found)
}

func TestResponseReportsHowItEnded(t *testing.T) {
	t.Parallel()

	for name, reply := range map[string]script.Reply{
		"cut":     {Chunks: []llm.Chunk{llm.TextChunk{Text: "one"}, llm.EndChunk{Reason: llm.StopMaxTokens}}},
		"failure": {Text: "one two", AfterChunks: 1, Err: &llm.Error{Class: llm.ClassTransient, Message: "broke"}},
		"safety":  {Text: "one two", AfterChunks: 1, Err: &llm.Error{Class: llm.ClassSafety, Message: "blocked"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			status, _, answer := serve(t, reply).post(t, "/v1/responses", responseQuestion+`,"stream":true}`)
			require.Equal(t, http.StatusOK, status)
			golden(t, "response_"+name+".txt", answer)
		})
	}
}

func TestResponseParsesRequest(t *testing.T) {
	t.Parallel()

	s := serve(t, script.Reply{})
	status, _, answer := s.post(t, "/v1/responses", `{
		"model": "gpt-5", "instructions": "Be brief.", "unknown": [1],
		"input": [
			{"role": "developer", "content": "Rules."},
			{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "What is "}, {"type": "input_text", "text": "wrong?"}]},
			{"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "Hm."}], "encrypted_content": "se\"aled"},
			{"type": "message", "id": "msg_1", "status": "completed", "role": "assistant", "content": [{"type": "output_text", "text": "Looking.", "annotations": []}]},
			{"type": "function_call", "id": "fc_1", "call_id": "a", "name": "get_pods", "arguments": "{}"},
			{"type": "function_call", "call_id": "b", "name": "get_events", "arguments": "{\"x\":1}"},
			{"type": "function_call_output", "call_id": "a", "output": "no pods"},
			{"type": "function_call_output", "call_id": "b", "output": [{"type": "input_text", "text": "no events"}]},
			{"role": "assistant", "content": "Nothing."},
			{"role": "user", "content": "Sure?"}
		],
		"tools": [{"type": "function", "name": "get_pods", "description": "Lists.", "parameters": {"type": "object"}, "strict": false},
			{"type": "web_search"}, {"type": "code_interpreter", "container": {"type": "auto"}}],
		"max_output_tokens": 77, "reasoning": {"effort": "high", "summary": "auto"},
		"text": {"format": {"type": "json_schema", "name": "x", "schema": {"type": "object"}}}
	}`)
	require.Equal(t, http.StatusOK, status, "%s", answer)
	require.Equal(t, llm.Request{
		Model: "gpt-5",
		Messages: []llm.Message{
			{Role: llm.RoleSystem, Content: "Be brief."},
			{Role: llm.RoleSystem, Content: "Rules."},
			{Role: llm.RoleUser, Content: "What is wrong?"},
			{Role: llm.RoleAssistant, Content: "Looking.", ToolCalls: []llm.ToolCall{
				{ID: "a", Name: "get_pods", Arguments: "{}"}, {ID: "b", Name: "get_events", Arguments: `{"x":1}`},
			}, Signature: &llm.Signature{By: "wire", Data: json.RawMessage(`"se\"aled"`)}},
			{Role: llm.RoleTool, Content: "no pods", ToolCallID: "a", ToolName: "get_pods"},
			{Role: llm.RoleTool, Content: "no events", ToolCallID: "b", ToolName: "get_events"},
			{Role: llm.RoleAssistant, Content: "Nothing."},
			{Role: llm.RoleUser, Content: "Sure?"},
		},
		Tools:       []llm.Tool{{Name: "get_pods", Description: "Lists.", Schema: json.RawMessage(`{"type": "object"}`)}},
		NativeTools: llm.NativeTools{GoogleSearch: true, CodeExecution: true}, MaxOutputTokens: 77, ReasoningEffort: "high",
		ResponseSchema: json.RawMessage(`{"type": "object"}`),
	}, s.script.Calls()[0].Request)
}

func TestResponseReportsBadRequest(t *testing.T) {
	t.Parallel()

	for name, test := range map[string]struct{ body, param, message string }{
		"no JSON":        {`{"model":`, "", "could not parse the JSON body"},
		"no model":       {`{"input":"x"}`, "model", "Missing required parameter: 'model'"},
		"no input":       {`{"model":"m"}`, "input", "Missing required parameter: 'input'"},
		"wrong input":    {`{"model":"m","input":7}`, "input", "expected an array, but got number"},
		"wrong role":     {`{"model":"m","input":[{"role":"boss","content":"x"}]}`, "input[0].role", "'boss'"},
		"wrong item":     {`{"model":"m","input":[{"type":"dance"}]}`, "input[0].type", "'dance'"},
		"an odd part":    {`{"model":"m","input":[{"role":"user","content":[{"type":"smell"}]}]}`, "input[0].content", "part 0 is of type 'smell'"},
		"stray result":   {`{"model":"m","input":[{"type":"function_call_output","call_id":"a","output":"x"}]}`, "input", "No tool call found for function call output with call_id a"},
		"no result":      {`{"model":"m","input":[{"type":"function_call","call_id":"a","name":"f","arguments":""}]}`, "input", "No tool output found for function call a"},
		"lone reasoning": {`{"model":"m","input":[{"type":"reasoning","id":"rs_1","summary":[]},{"role":"user","content":"x"}]}`, "input", "'rs_1' of type 'reasoning' was provided without its required following item"},
		"kept item":      {`{"model":"m","input":[{"type":"item_reference","id":"msg_1"}]}`, "input[0]", "Item with id 'msg_1' not found"},
		"kept response":  {responseQuestion + `,"previous_response_id":"resp_1"}`, "previous_response_id", "'resp_1' not found"},
		"background":     {responseQuestion + `,"background":true}`, "background", "does not support background"},
		"no tool type":   {responseQuestion + `,"tools":[{"name":"a"}]}`, "tools[0].type", "Missing required parameter: 'tools[0].type'"},
		"wrong tools":    {responseQuestion + `,"tools":{}}`, "tools", "expected an array"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			s := serve(t)
			status, _, body := s.post(t, "/v1/responses", test.body)
			require.Equal(t, http.StatusBadRequest, status)
			requireError(t, body, "invalid_request_error", test.param, test.message)
			require.Zero(t, s.script.CallCount())
		})
	}
}

func TestTokensAreCounted(t *testing.T) {
	t.Parallel()

	status, _, answer := serve(t).post(t, "/v1/responses/input_tokens", `{"model":"gpt-5","input":"four by four: 16"}`)
	require.Equal(t, http.StatusOK, status)
	require.JSONEq(t, `{"object":"response.input_tokens","input_tokens":4}`, string(answer))

	status, _, answer = serve(t).post(t, "/responses/input_tokens", `{"input":7}`)
	require.Equal(t, http.StatusBadRequest, status)
	requireError(t, answer, "invalid_request_error", "input", "expected an array")
}
