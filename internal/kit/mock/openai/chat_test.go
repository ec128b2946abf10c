package openai_test

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
)

const chatQuestion = `{"model":"gpt-5","messages":[{"role":"user","content":"What is wrong?"}]`

func TestChatAnswersWhole(t *testing.T) {
	t.Parallel()

	s := serve(t, everything())
	status, header, answer := s.post(t, "/v1/chat/completions", chatQuestion+`}`)
	require.Equal(t, http.StatusOK, status)
	require.Equal(t, "application/json", header.Get("Content-Type"))
	require.Regexp(t, `^req_[0-9a-f]{32}$`, header.Get("X-Request-ID"))
	require.True(t, json.Valid(answer))
	golden(t, "chat_whole.json", answer)
}

func TestChatStreams(t *testing.T) {
	t.Parallel()

	s := serve(t, everything())
	status, header, answer := s.post(t, "/v1/chat/completions", chatQuestion+`,"stream":true,"stream_options":{"include_usage":true}}`)
	require.Equal(t, http.StatusOK, status)
	require.Equal(t, "text/event-stream; charset=utf-8", header.Get("Content-Type"))
	golden(t, "chat_stream.txt", answer)
}

func TestChatStreamsWithoutUsageUnlessAsked(t *testing.T) {
	t.Parallel()

	s := serve(t, script.Reply{Text: "fine"})
	_, _, answer := s.post(t, "/chat/completions", chatQuestion+`,"stream":true}`)
	golden(t, "chat_stream_short.txt", answer)
	require.NotContains(t, string(answer), "usage")
}

func TestChatStreamOfCallsStartsWithoutContent(t *testing.T) {
	t.Parallel()

	s := serve(t, script.Reply{ToolCalls: []llm.ToolCall{{Name: "get_pods", Arguments: "{}"}}})
	_, _, answer := s.post(t, "/v1/chat/completions", chatQuestion+`,"stream":true}`)
	require.Contains(t, string(answer), `"delta":{"role":"assistant","content":null,"refusal":null}`)
	require.Contains(t, string(answer), `"finish_reason":"tool_calls"`)
}

func TestChatIDsAreUniqueAndStableAcrossRuns(t *testing.T) {
	t.Parallel()

	id := func(s *server) string {
		var answer struct {
			ID string `json:"id"`
		}

		_, _, body := s.post(t, "/v1/chat/completions", chatQuestion+`}`)
		require.NoError(t, json.Unmarshal(body, &answer))
		require.Regexp(t, `^chatcmpl-[0-9a-f]{32}$`, answer.ID)

		return answer.ID
	}

	one, other := serve(t, script.Reply{}, script.Reply{}), serve(t, script.Reply{}, script.Reply{})
	first, second := id(one), id(one)
	require.NotEqual(t, first, second)
	require.Equal(t, []string{first, second}, []string{id(other), id(other)})
}

func TestChatParsesRequest(t *testing.T) {
	t.Parallel()

	s := serve(t, script.Reply{})
	status, _, answer := s.post(t, "/v1/chat/completions", `{
		"model": "gpt-5", "temperature": 0.5, "unknown": {"field": []}, "n": 1,
		"messages": [
			{"role": "developer", "content": [{"type": "text", "text": "Be "}, {"type": "text", "text": "brief."}]},
			{"role": "user", "content": "What is wrong?"},
			{"role": "assistant", "content": null, "tool_calls": [
				{"id": "a", "type": "function", "function": {"name": "get_pods", "arguments": "{}"}},
				{"id": "b", "type": "function", "function": {"name": "get_events", "arguments": "{\"x\":1}"}}]},
			{"role": "tool", "tool_call_id": "b", "content": "no events"},
			{"role": "tool", "tool_call_id": "a", "content": [{"type": "text", "text": "no pods"}]}
		],
		"tools": [{"type": "function", "function": {"name": "get_pods", "description": "Lists.", "parameters": {"type": "object"}, "strict": false}}],
		"stop": ["Observation:", "END"], "max_completion_tokens": 77, "reasoning_effort": "high",
		"response_format": {"type": "json_schema", "json_schema": {"name": "x", "strict": true, "schema": {"type": "object"}}}
	}`)
	require.Equal(t, http.StatusOK, status, "%s", answer)
	require.Equal(t, llm.Request{
		Model: "gpt-5",
		Messages: []llm.Message{
			{Role: llm.RoleSystem, Content: "Be brief."},
			{Role: llm.RoleUser, Content: "What is wrong?"},
			{Role: llm.RoleAssistant, ToolCalls: []llm.ToolCall{
				{ID: "a", Name: "get_pods", Arguments: "{}"}, {ID: "b", Name: "get_events", Arguments: `{"x":1}`},
			}},
			{Role: llm.RoleTool, Content: "no events", ToolCallID: "b", ToolName: "get_events"},
			{Role: llm.RoleTool, Content: "no pods", ToolCallID: "a", ToolName: "get_pods"},
		},
		Tools: []llm.Tool{{Name: "get_pods", Description: "Lists.", Schema: json.RawMessage(`{"type": "object"}`)}},
		Stop:  []string{"Observation:", "END"}, MaxOutputTokens: 77, ReasoningEffort: "high", ResponseSchema: json.RawMessage(`{"type": "object"}`),
	}, s.script.Calls()[0].Request)
}

func TestChatParsesSingleStopAndLegacyLimit(t *testing.T) {
	t.Parallel()

	s := serve(t, script.Reply{})
	status, _, _ := s.post(t, "/v1/chat/completions", chatQuestion+`,"stop":"END","max_tokens":5,"web_search_options":{}}`)
	require.Equal(t, http.StatusOK, status)

	asked := s.script.Calls()[0].Request
	require.Equal(t, []string{"END"}, asked.Stop)
	require.Equal(t, 5, asked.MaxOutputTokens)
	require.True(t, asked.NativeTools.GoogleSearch)
}

func TestChatReportsBadRequest(t *testing.T) {
	t.Parallel()

	for name, test := range map[string]struct{ body, param, message string }{
		"no JSON":       {`{"model":`, "", "could not parse the JSON body"},
		"no model":      {`{"messages":[{"role":"user","content":"x"}]}`, "model", "Missing required parameter: 'model'"},
		"no messages":   {`{"model":"m"}`, "messages", "Missing required parameter: 'messages'"},
		"empty":         {`{"model":"m","messages":[]}`, "messages", "empty array"},
		"wrong type":    {`{"model":"m","messages":{}}`, "messages", "expected an array, but got object"},
		"wrong role":    {`{"model":"m","messages":[{"role":"boss","content":"x"}]}`, "messages[0].role", "'boss'"},
		"an odd part":   {`{"model":"m","messages":[{"role":"user","content":[{"type":"smell"}]}]}`, "messages[0].content", "part 0 is of type 'smell'"},
		"content":       {`{"model":"m","messages":[{"role":"user","content":7}]}`, "messages[0].content", "expected a string or an array"},
		"no object":     {`[]`, "", "Invalid type: expected an object, but got array instead."},
		"wrong part":    {`{"model":"m","messages":[{"role":"user","content":[{"type":"text","text":5}]}]}`, "messages[0].content", "expected an array of content parts, but part.text is a number."},
		"no content":    {`{"model":"m","messages":[{"role":"user"}]}`, "messages[0].content", "got null"},
		"choices":       {chatQuestion + `,"n":2}`, "n", "one choice only"},
		"audio":         {chatQuestion + `,"modalities":["text","audio"]}`, "modalities", "text only"},
		"odd tool":      {chatQuestion + `,"tools":[{"type":"mcp"}]}`, "tools[0].type", "Invalid value: 'mcp'."},
		"stray result":  {`{"model":"m","messages":[{"role":"tool","tool_call_id":"a","content":"x"}]}`, "messages.[0].role", "preceding message with 'tool_calls'"},
		"missing reply": {`{"model":"m","messages":[{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":""}}]},{"role":"user","content":"x"}]}`, "messages.[1].role", "did not have response messages: a"},
		"nothing said":  {`{"model":"m","messages":[{"role":"assistant"}]}`, "messages[0].content", "no tool calls"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			s := serve(t)
			status, _, body := s.post(t, "/v1/chat/completions", test.body)
			require.Equal(t, http.StatusBadRequest, status)
			requireError(t, body, "invalid_request_error", test.param, test.message)
			require.Zero(t, s.script.CallCount())
		})
	}
}

func requireError(t *testing.T, body []byte, kind, param, message string) {
	t.Helper()

	var answer struct {
		Error struct {
			Message string  `json:"message"`
			Type    string  `json:"type"`
			Param   *string `json:"param"`
			Code    *string `json:"code"`
		} `json:"error"`
	}

	require.NoError(t, json.Unmarshal(body, &answer), "%s", body)
	require.Equal(t, kind, answer.Error.Type)
	require.Contains(t, answer.Error.Message, message)

	if param == "" {
		require.Nil(t, answer.Error.Param)
	} else {
		require.NotNil(t, answer.Error.Param, "%s", body)
		require.Equal(t, param, *answer.Error.Param)
	}
}

func TestErrorsMatchAPI(t *testing.T) {
	t.Parallel()

	for name, test := range map[string]struct {
		err    *llm.Error
		status int
		body   string
	}{
		"key": {
			&llm.Error{Status: 401, Class: llm.ClassAuth, Message: "wrong \"key\""}, 401,
			`{"error":{"message":"wrong \"key\"","type":"invalid_request_error","param":null,"code":"invalid_api_key"}}`,
		},
		"rate limit": {
			&llm.Error{Status: 429, Class: llm.ClassQuota, Message: "slow down", Retryable: true, RetryAfter: 1500 * time.Millisecond}, 429,
			`{"error":{"message":"slow down","type":"requests","param":null,"code":"rate_limit_exceeded"}}`,
		},
		"quota": {
			&llm.Error{Status: 429, Class: llm.ClassQuota, Message: "pay"}, 429,
			`{"error":{"message":"pay","type":"insufficient_quota","param":null,"code":"insufficient_quota"}}`,
		},
		"length": {
			&llm.Error{Class: llm.ClassContextTooLong, Message: "too long"}, 400,
			`{"error":{"message":"too long","type":"invalid_request_error","param":null,"code":"context_length_exceeded"}}`,
		},
		"model": {
			&llm.Error{Status: 404, Class: llm.ClassInvalid, Code: "model_not_found", Message: "no such model"}, 404,
			`{"error":{"message":"no such model","type":"invalid_request_error","param":null,"code":"model_not_found"}}`,
		},
		"trouble": {
			&llm.Error{Status: 503, Class: llm.ClassTransient, Message: "overloaded"}, 503,
			`{"error":{"message":"overloaded","type":"server_error","param":null,"code":null}}`,
		},
	} {
		for _, path := range []string{"/v1/chat/completions", "/v1/responses"} {
			t.Run(name+path, func(t *testing.T) {
				t.Parallel()

				body := chatQuestion + `,"stream":true}`
				if path == "/v1/responses" {
					body = responseQuestion + `,"stream":true}`
				}

				status, header, answer := serve(t, script.Reply{Err: test.err}).post(t, path, body)
				require.Equal(t, test.status, status)
				require.Equal(t, test.body, string(answer))

				if test.err.RetryAfter > 0 {
					require.Equal(t, "2", header.Get("Retry-After"))
				}
			})
		}
	}
}

func TestChatEndsFailedStreamWithItsError(t *testing.T) {
	t.Parallel()

	for name, test := range map[string]struct{ class llm.Class }{
		"failure": {llm.ClassTransient}, "safety": {llm.ClassSafety},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			s := serve(t, script.Reply{Text: "one two", AfterChunks: 1, Err: &llm.Error{Class: test.class, Message: "broke"}})
			status, _, answer := s.post(t, "/v1/chat/completions", chatQuestion+`,"stream":true}`)
			require.Equal(t, http.StatusOK, status)
			golden(t, "chat_"+name+".txt", answer)
		})
	}
}

func TestChatUnclassifiedErrorIsNotCallersFault(t *testing.T) {
	t.Parallel()

	s := serve(t, script.Reply{Text: "one two", AfterChunks: 1, Err: &llm.Error{Class: llm.ClassUnknown, Message: "broke"}})
	_, _, answer := s.post(t, "/v1/chat/completions", chatQuestion+`,"stream":true}`)
	require.Contains(t, string(answer), `{"message":"broke","type":"server_error"`)
}

func TestImageIsParsedAsImage(t *testing.T) {
	t.Parallel()

	for path, body := range map[string]string{
		"/v1/chat/completions": `{"model":"m","messages":[{"role":"user","content":[{"type":"text","text":"Look: "},{"type":"image_url","image_url":{"url":"data:,x"}}]}]}`,
		"/v1/responses":        `{"model":"m","input":[{"role":"user","content":[{"type":"input_text","text":"Look: "},{"type":"input_image","image_url":"data:,x"}]}]}`,
	} {
		s := serve(t, script.Reply{Text: "I see."})
		status, _, answer := s.post(t, path, body)
		require.Equal(t, http.StatusOK, status, "%s", answer)
		require.Regexp(t, `^Look: \[(image_url|input_image)\]$`, s.script.Calls()[0].Request.Messages[0].Content)
	}
}
