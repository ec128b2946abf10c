package openai_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/openai"
)

const (
	chatHead = `{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1763164800,"model":"gpt-5","system_fingerprint":null,"choices":[{"index":0,"delta":`
	chatTail = `,"logprobs":null,"finish_reason":null}],"usage":null}`
	chatStop = `{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1763164800,"model":"gpt-5","choices":[{"index":0,"delta":{},"logprobs":null,"finish_reason":"stop"}],"usage":null}`
	chatDone = `[DONE]`
)

func delta(delta string) string { return chatHead + delta + chatTail }

func finish(reason string) string {
	return `{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1763164800,"model":"gpt-5","choices":[{"index":0,"delta":{},"finish_reason":"` + reason + `"}]}`
}

func TestChatStreamsTextThinkingAndUsage(t *testing.T) {
	t.Parallel()

	s := stream(t,
		delta(`{"role":"assistant","content":"","refusal":null}`),
		delta(`{"reasoning_content":"Let me "}`), delta(`{"reasoning":"see.","reasoning_content":null}`),
		delta(`{"content":"It is "}`), delta(`{"content":"żółw \u0000\ud83d\ude00"}`), chatStop,
		`{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"gpt-5","choices":[],"usage":{"prompt_tokens":100,"completion_tokens":30,"total_tokens":130,`+
			`"prompt_tokens_details":{"cached_tokens":64,"audio_tokens":0},"completion_tokens_details":{"reasoning_tokens":20}}}`,
		chatDone,
	)

	_, chunks, err := s.ask(t, openai.APIChat, question())
	require.NoError(t, err)
	require.Equal(t, []llm.Chunk{
		llm.ThinkingChunk{Text: "Let me "}, llm.ThinkingChunk{Text: "see."},
		llm.TextChunk{Text: "It is "}, llm.TextChunk{Text: "żółw \x00😀"},
		llm.UsageChunk{InputTokens: 100, CachedTokens: 64, OutputTokens: 10, ThinkingTokens: 20},
		llm.EndChunk{Reason: llm.StopEnd},
	}, chunks)
	require.Equal(t, "/v1/chat/completions", s.request.URL.Path)
	require.Equal(t, "Bearer "+secretKey, s.request.Header.Get("Authorization"))
}

func TestChatCountsThinkingOutsideOutputWhenServerDoes(t *testing.T) {
	t.Parallel()

	s := stream(t, delta(`{"content":"x"}`), chatStop,
		`{"id":"1","object":"chat.completion.chunk","choices":[],"usage":{"prompt_tokens":10,"completion_tokens":5,"total_tokens":35,"completion_tokens_details":{"reasoning_tokens":20}}}`, chatDone)

	response, _, err := s.ask(t, openai.APIChat, question())
	require.NoError(t, err)
	require.Equal(t, llm.UsageChunk{InputTokens: 10, OutputTokens: 5, ThinkingTokens: 20}, response.Usage)
}

func TestChatSendsConversation(t *testing.T) {
	t.Parallel()

	s := stream(t, chatStop, chatDone)
	_, _, err := s.ask(t, openai.APIChat, conversation())
	require.NoError(t, err)
	require.JSONEq(t, `[
		{"role":"system","content":"Be brief."},
		{"role":"user","content":"What is wrong?"},
		{"role":"assistant","tool_calls":[
			{"id":"call_1","type":"function","function":{"name":"cluster_get_pods_1bdc1bb7","arguments":"{\"namespace\":\"shop\"}"}},
			{"id":"call_2","type":"function","function":{"name":"get_events","arguments":"{\"invalid_arguments\":\"not json\"}"}}]},
		{"role":"tool","content":"no pods","tool_call_id":"call_1"},
		{"role":"tool","content":"","tool_call_id":"call_2"},
		{"role":"assistant","content":"Nothing."},
		{"role":"user","content":"Sure?"}
	]`, s.sentJSON(t, "messages"))
	require.Contains(t, string(s.body), `"parameters":{"properties":{"n":{"maximum":9223372036854775807}},"type":"object"}`)
	require.JSONEq(t, `{"include_usage":true}`, s.sentJSON(t, "stream_options"))
	require.Equal(t, true, s.sent(t)["stream"])

	for _, field := range []string{"stop", "max_tokens", "max_completion_tokens", "reasoning_effort", "response_format", "temperature", "web_search_options"} {
		require.NotContains(t, s.sent(t), field)
	}
}

func TestChatSendsSettings(t *testing.T) {
	t.Parallel()

	req := question()
	req.Stop, req.MaxOutputTokens, req.ReasoningEffort = []string{"Observation:"}, 77, "high"
	req.ResponseSchema, req.CachePrompt = json.RawMessage(closedSchema), true
	req.NativeTools = llm.NativeTools{GoogleSearch: true, CodeExecution: true, URLContext: true}

	s := stream(t, chatStop, chatDone)
	_, _, err := s.ask(t, openai.APIChat, req)
	require.NoError(t, err)

	sent := s.sent(t)
	require.Equal(t, []any{"Observation:"}, sent["stop"])
	require.InEpsilon(t, 77, sent["max_tokens"], 0)
	require.NotContains(t, sent, "max_completion_tokens", "compatible servers know the older name")
	require.Equal(t, "high", sent["reasoning_effort"])
	require.JSONEq(t, `{"type":"json_schema","json_schema":{"name":"answer","strict":true,"schema":`+closedSchema+`}}`, s.sentJSON(t, "response_format"))
	require.NotContains(t, sent, "tools")
}

func TestChatAssemblesCalls(t *testing.T) {
	t.Parallel()

	pods := llm.ToolCall{ID: "call_a", Name: "get_pods", Arguments: `{"namespace":"shop"}`}
	events := llm.ToolCall{ID: "call_b", Name: "get_events", Arguments: `{}`}

	for name, test := range map[string]struct {
		deltas []string
		finish string
		calls  []llm.ToolCall
	}{
		"by the book, mixed": {[]string{
			`{"role":"assistant","content":null,"tool_calls":[{"index":0,"id":"call_a","type":"function","function":{"name":"get_pods","arguments":""}}]}`,
			`{"tool_calls":[{"index":0,"function":{"arguments":"{\"name"}}]}`,
			`{"tool_calls":[{"index":1,"id":"call_b","type":"function","function":{"name":"get_events","arguments":""}}]}`,
			`{"tool_calls":[{"index":0,"function":{"arguments":"space\":\"shop\"}"}},{"index":1,"function":{"arguments":"{}"}}]}`,
		}, "tool_calls", []llm.ToolCall{pods, events}},
		"whole, with stop as the reason": {[]string{
			`{"tool_calls":[{"index":0,"id":"call_a","type":"function","function":{"name":"get_pods","arguments":"{\"namespace\":\"shop\"}"}},` +
				`{"index":1,"id":"call_b","type":"function","function":{"name":"get_events","arguments":"{}"}}]}`,
		}, "stop", []llm.ToolCall{pods, events}},
		"one index for all": {[]string{
			`{"tool_calls":[{"index":0,"id":"call_a","function":{"name":"get_pods","arguments":"{\"namespace\":\"shop\"}"}}]}`,
			`{"tool_calls":[{"index":0,"id":"call_b","function":{"name":"get_events","arguments":"{}"}}]}`,
		}, "tool_calls", []llm.ToolCall{pods, events}},
		"the id with every piece": {[]string{
			`{"tool_calls":[{"index":0,"id":"call_a","function":{"name":"get_pods","arguments":"{\"namespace\":"}}]}`,
			`{"tool_calls":[{"index":0,"id":"call_b","function":{"name":"get_events","arguments":""}}]}`,
			`{"tool_calls":[{"index":0,"id":"call_a","function":{"name":"get_pods","arguments":"\"shop\"}"}}]}`,
		}, "tool_calls", []llm.ToolCall{pods, events}},
		"no ids": {[]string{
			`{"tool_calls":[{"index":0,"function":{"name":"get_pods","arguments":"{\"namespace\":\"shop\"}"}}]}`,
			`{"tool_calls":[{"index":0,"function":{"name":"get_events","arguments":"{}"}}]}`,
		}, "tool_calls", []llm.ToolCall{{ID: "call_1_1", Name: pods.Name, Arguments: pods.Arguments}, {ID: "call_1_2", Name: events.Name, Arguments: "{}"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			var parts []string
			for _, part := range test.deltas {
				parts = append(parts, delta(part))
			}

			response, _, err := stream(t, append(parts, finish(test.finish), chatDone)...).ask(t, openai.APIChat, question())
			require.NoError(t, err)
			require.Equal(t, test.calls, response.ToolCalls)
			require.Equal(t, llm.StopToolCalls, response.End.Reason)
		})
	}
}

func TestChatDropsCallTruncatedByLimit(t *testing.T) {
	t.Parallel()

	s := stream(t,
		delta(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"get_pods","arguments":"{}"}}]}`),
		delta(`{"tool_calls":[{"index":1,"id":"b","function":{"name":"delete_pods","arguments":"{\"namespace\":\"sh"}}]}`), finish("length"), chatDone)

	response, _, err := s.ask(t, openai.APIChat, question())
	require.NoError(t, err)
	require.Equal(t, llm.StopMaxTokens, response.End.Reason)
	require.Equal(t, []llm.ToolCall{{ID: "a", Name: "get_pods", Arguments: "{}"}}, response.ToolCalls)
}

func TestChatFinishReasons(t *testing.T) {
	t.Parallel()

	for name, test := range map[string]struct {
		events []string
		class  llm.Class
	}{
		"without a last word":              {[]string{delta(`{"content":"x"}`), chatStop}, ""},
		"without a reason":                 {[]string{delta(`{"content":"x"}`), chatDone}, ""},
		"errors that are null":             {[]string{`{"error":null,"choices":[{"index":0,"delta":{"content":"x"},"finish_reason":"stop"}]}`, chatDone}, ""},
		"a broken event after its end":     {[]string{delta(`{"content":"x"}`), chatStop, `{"id":`}, ""},
		"cut":                              {[]string{delta(`{"content":"x"}`)}, llm.ClassTransient},
		"nothing":                          {nil, llm.ClassTransient},
		"malformed":                        {[]string{delta(`{"content":"x"}`), `{"oops": <not json>`}, llm.ClassTransient},
		"the content filter":               {[]string{delta(`{"content":"x"}`), finish("content_filter"), chatDone}, llm.ClassSafety},
		"a refusal":                        {[]string{delta(`{"refusal":"I will "}`), delta(`{"refusal":"not."}`), chatStop, chatDone}, llm.ClassSafety},
		"an error":                         {[]string{delta(`{"content":"x"}`), `{"error":{"message":"The server had an error","type":"server_error","param":null,"code":null}}`}, llm.ClassTransient},
		"an error of length":               {[]string{`{"error":{"message":"too long","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}`}, llm.ClassContextTooLong},
		"an error that is a text":          {[]string{`{"error":"boom"}`}, llm.ClassTransient},
		"an error that blames the request": {[]string{`{"error":{"message":"bad tool","type":"invalid_request_error"}}`}, llm.ClassInvalid},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			response, _, err := stream(t, test.events...).ask(t, openai.APIChat, question())
			if test.class == "" {
				require.NoError(t, err)
				require.Equal(t, "x", response.Text)
				require.Equal(t, llm.StopEnd, response.End.Reason)

				return
			}

			require.Error(t, err)
			e := llm.AsError(err)
			require.Equal(t, test.class, e.Class, "%v", e)
			require.Equal(t, test.class == llm.ClassTransient, e.Retryable)
			require.Zero(t, response.End)
		})
	}
}

func TestChatReportsCitedPages(t *testing.T) {
	t.Parallel()

	s := stream(t, delta(`{"content":"x","annotations":[{"type":"url_citation","url_citation":{"start_index":0,"end_index":1,"title":"T","url":"https://example.com"}}]}`), chatStop, chatDone)

	response, _, err := s.ask(t, openai.APIChat, question())
	require.NoError(t, err)
	require.Equal(t, []llm.GroundingChunk{{Kind: "google_search", Sources: []llm.Source{{Title: "T", URL: "https://example.com"}}}}, response.Groundings)
}

// property returns a schema of objects with one property.
func property(schema string) string {
	return `{"type":"object","properties":{"a":` + schema + `},"required":["a"],"additionalProperties":false}`
}

func TestOnlyFullyClosedSchemaIsStrict(t *testing.T) {
	t.Parallel()

	const open = `{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}`

	for schema, want := range map[string]bool{
		closedSchema:        true,
		`{"type":"string"}`: false,
		`{"anyOf":[{}]}`:    false,
		open:                false,
		`{"type":"object","properties":{"a":{}},"additionalProperties":false}`:                                                             false,
		`{"type":"object","properties":{"a":{"type":"array","items":` + closedSchema + `}},"required":["a"],"additionalProperties":false}`: true,
		`{"type":"object","properties":{"a":{"type":"array","items":` + open + `}},"required":["a"],"additionalProperties":false}`:         false,
		`{"type":"object","properties":{"a":{"anyOf":[` + open + `]}},"required":["a"],"additionalProperties":false}`:                      false,
		`{"type":"object","properties":{"a":{"oneOf":[]}},"required":["a"],"additionalProperties":false}`:                                  false,
		`{"type":"object","properties":{},"additionalProperties":false,"$defs":{"x":` + open + `}}`:                                        false,
		property(`{"type":"integer","minimum":1}`):                                                                                         true,
		property(`{"type":["string","null"],"format":"date"}`):                                                                             true,
		property(`{"anyOf":[{"$ref":"#/$defs/x"},{"type":"null"}]}`):                                                                       true,
		property(`{"type":"string","minLength":1}`):                                                                                        false,
		property(`{"type":"string","format":"uri"}`):                                                                                       false,
		property(`{"type":"string","default":"x"}`):                                                                                        false,
		property(`{"type":"array"}`):                                                                                                       false,
		property(`{"type":["array","null"]}`):                                                                                              false,
		property(`{"type":["object","null"],"properties":{}}`):                                                                             false,
		property(`{"description":"anything"}`):                                                                                             false,
		property(`{"$ref":"#/$defs/x","description":"says too much"}`):                                                                     false,
		`{"type":"object","anyOf":[],"properties":{},"additionalProperties":false}`:                                                        false,
	} {
		req := question()
		req.ResponseSchema = json.RawMessage(schema)
		s := stream(t, chatStop, chatDone)
		_, _, err := s.ask(t, openai.APIChat, req)
		require.NoError(t, err)

		format := s.sent(t)["response_format"].(map[string]any)["json_schema"].(map[string]any)
		require.Equal(t, want, format["strict"], schema)
	}
}
