package anthropic_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
)

const question = `{"model":"claude-test","max_tokens":64,"messages":[{"role":"user","content":"Why?"}]}`

const streamed = `{"model":"claude-test","max_tokens":64,"stream":true,"messages":[{"role":"user","content":"Why?"}]}`

// anonymous replaces the IDs, which mean nothing but are the same in every run.
func anonymous(body string) string {
	return regexp.MustCompile(`(msg|toolu|srvtoolu|req)_01[1-9A-Za-z]{22}`).ReplaceAllString(body, "${1}_X")
}

// thinkingSignature is the signature of the thinking in everything.
const thinkingSignature = "dmlydHVhbCB0aGlua2luZzogHln5aOTPkhGBvhBDSDAzV9s2N/LBqAz2sbxuhLuViUE="

func everything() script.Reply {
	return script.Reply{Chunks: []llm.Chunk{
		llm.ThinkingChunk{Text: "Let me "}, llm.ThinkingChunk{Text: "see."},
		llm.TextChunk{Text: "It is \"the\" "}, llm.TextChunk{Text: "disk.\n"},
		llm.ToolCallChunk{Call: llm.ToolCall{ID: "toolu_a", Name: "get_pods", Arguments: `{"namespace":"shop","names":["a","b","ü"]}`}},
		llm.ToolCallChunk{Call: llm.ToolCall{Name: "get_events"}},
		llm.UsageChunk{InputTokens: 30, OutputTokens: 7, ThinkingTokens: 4, CachedTokens: 10},
	}}
}

func TestWholeAnswerMatchesAPI(t *testing.T) {
	t.Parallel()

	response, body := serve(t, everything()).post("/v1/messages", question)
	require.Equal(t, http.StatusOK, response.StatusCode)
	require.Equal(t, "application/json", response.Header.Get("Content-Type"))
	require.Equal(t, "req_X", anonymous(response.Header.Get("Request-Id")))
	//nolint:testifylint // the very bytes
	require.Equal(t, `{"id":"msg_X","type":"message","role":"assistant","model":"claude-test","content":[`+
		`{"type":"thinking","thinking":"Let me see.","signature":"`+thinkingSignature+`"},`+
		`{"type":"text","text":"It is \"the\" disk.\n"},`+
		`{"type":"tool_use","id":"toolu_a","name":"get_pods","input":{"namespace":"shop","names":["a","b","ü"]},"caller":{"type":"direct"}},`+
		`{"type":"tool_use","id":"toolu_X","name":"get_events","input":{},"caller":{"type":"direct"}}],`+
		`"stop_reason":"tool_use","stop_sequence":null,"stop_details":null,`+
		`"usage":{"input_tokens":20,"cache_creation_input_tokens":0,"cache_read_input_tokens":10,`+
		`"cache_creation":{"ephemeral_5m_input_tokens":0,"ephemeral_1h_input_tokens":0},"output_tokens":11,`+
		`"output_tokens_details":{"thinking_tokens":4},"service_tier":"standard","inference_geo":"not_available"}}`,
		anonymous(body))
}

func TestStreamMatchesAPI(t *testing.T) {
	t.Parallel()

	response, body := serve(t, everything()).post("/v1/messages", streamed)
	require.Equal(t, http.StatusOK, response.StatusCode)
	require.Equal(t, "text/event-stream; charset=utf-8", response.Header.Get("Content-Type"))
	require.Equal(t, strings.Join([]string{
		`event: message_start`,
		`data: {"type":"message_start","message":{"id":"msg_X","type":"message","role":"assistant","model":"claude-test","content":[],` +
			`"stop_reason":null,"stop_sequence":null,"stop_details":null,"usage":{"input_tokens":20,` +
			`"cache_creation_input_tokens":0,"cache_read_input_tokens":10,"cache_creation":{"ephemeral_5m_input_tokens":0,` +
			`"ephemeral_1h_input_tokens":0},"output_tokens":1,"output_tokens_details":{"thinking_tokens":0},` +
			`"service_tier":"standard","inference_geo":"not_available"}}}`, ``,
		`event: content_block_start`,
		`data: {"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}`, ``,
		`event: ping`, `data: {"type":"ping"}`, ``,
		`event: content_block_delta`,
		`data: {"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"Let me "}}`, ``,
		`event: content_block_delta`,
		`data: {"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"see."}}`, ``,
		`event: content_block_delta`,
		`data: {"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"` + thinkingSignature + `"}}`, ``,
		`event: content_block_stop`, `data: {"type":"content_block_stop","index":0}`, ``,
		`event: content_block_start`,
		`data: {"type":"content_block_start","index":1,"content_block":{"type":"text","text":""}}`, ``,
		`event: content_block_delta`,
		`data: {"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"It is \"the\" "}}`, ``,
		`event: content_block_delta`,
		`data: {"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"disk.\n"}}`, ``,
		`event: content_block_stop`, `data: {"type":"content_block_stop","index":1}`, ``,
		`event: content_block_start`,
		`data: {"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"toolu_a","name":"get_pods","input":{},"caller":{"type":"direct"}}}`, ``,
		`event: content_block_delta`,
		`data: {"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":""}}`, ``,
		`event: content_block_delta`,
		`data: {"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"{\"namespace\":\"shop\",\"names\":[\"a\""}}`, ``,
		`event: content_block_delta`,
		`data: {"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":",\"b\",\"ü\"]}"}}`, ``,
		`event: content_block_stop`, `data: {"type":"content_block_stop","index":2}`, ``,
		`event: content_block_start`,
		`data: {"type":"content_block_start","index":3,"content_block":{"type":"tool_use","id":"toolu_X","name":"get_events","input":{},"caller":{"type":"direct"}}}`, ``,
		`event: content_block_delta`,
		`data: {"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":""}}`, ``,
		`event: content_block_stop`, `data: {"type":"content_block_stop","index":3}`, ``,
		`event: message_delta`,
		`data: {"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null,"stop_details":null},` +
			`"usage":{"input_tokens":20,"cache_creation_input_tokens":0,"cache_read_input_tokens":10,"output_tokens":11,` +
			`"output_tokens_details":{"thinking_tokens":4}}}`, ``,
		`event: message_stop`, `data: {"type":"message_stop"}`, ``, ``,
	}, "\n"), anonymous(body))
}

func TestEmptyAnswerIsMessageWithoutContent(t *testing.T) {
	t.Parallel()

	s := serve(t, script.Reply{}, script.Reply{})

	_, whole := s.post("/v1/messages", question)
	require.Contains(t, whole, `"content":[],"stop_reason":"end_turn"`)

	_, stream := s.post("/v1/messages", streamed)
	require.NotContains(t, stream, "content_block")
	require.Contains(t, stream, `"stop_reason":"end_turn"`)
	require.True(t, strings.HasSuffix(stream, "data: {\"type\":\"message_stop\"}\n\n"))
}

func TestMessageStartReportsScriptedPrompt(t *testing.T) {
	t.Parallel()

	usage := &llm.UsageChunk{InputTokens: 120, CachedTokens: 100, OutputTokens: 7, ThinkingTokens: 3}
	s := serve(t, script.Reply{Text: "a", Usage: usage}, script.Reply{Usage: &llm.UsageChunk{InputTokens: 5}}, script.Reply{Text: "a"})

	for _, want := range []string{
		`"input_tokens":20,"cache_creation_input_tokens":0,"cache_read_input_tokens":100,` + noCacheCreation + `"output_tokens":1,`,
		`"input_tokens":5,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,` + noCacheCreation + `"output_tokens":0,`,
		`"input_tokens":1,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,` + noCacheCreation + `"output_tokens":1,`, // estimated
	} {
		_, stream := s.post("/v1/messages", streamed)
		start, _, _ := strings.Cut(stream, "\n\n")
		require.Contains(t, start, want)
	}
}

const noCacheCreation = `"cache_creation":{"ephemeral_5m_input_tokens":0,"ephemeral_1h_input_tokens":0},`

func TestPathsWorkWithoutVersion(t *testing.T) {
	t.Parallel()

	s := serve(t, script.Reply{Text: "a"})

	_, answer := s.post("/messages", question)
	require.Contains(t, answer, `"type":"message"`)

	_, count := s.post("/messages/count_tokens", question)
	require.JSONEq(t, `{"input_tokens":1}`, count)
}

func TestIDsAreStableAcrossRunsAndUniquePerAnswer(t *testing.T) {
	t.Parallel()

	ids := func() []string {
		s := serve(t, script.Reply{Text: "a"}, script.Reply{Text: "a"})
		_, first := s.post("/v1/messages", question)
		_, second := s.post("/v1/messages", question)
		pattern := regexp.MustCompile(`msg_01\w{22}`)

		return []string{pattern.FindString(first), pattern.FindString(second)}
	}

	one, two := ids(), ids()
	require.Equal(t, one, two)
	require.NotEqual(t, one[0], one[1])
	require.NotEmpty(t, one[0])
}

func TestScriptedSignatureIsSent(t *testing.T) {
	t.Parallel()

	reply := script.Reply{Chunks: []llm.Chunk{
		llm.ThinkingChunk{Text: "Hm."}, llm.TextChunk{Text: "Yes."},
		llm.EndChunk{Signature: &llm.Signature{By: "script", Data: []byte(`"signed"`)}},
	}}
	s := serve(t, reply, reply, script.Reply{Text: "ok"})

	_, whole := s.post("/v1/messages", question)
	require.Contains(t, whole, `{"type":"thinking","thinking":"Hm.","signature":"signed"}`)

	_, stream := s.post("/v1/messages", streamed)
	require.Contains(t, stream, `"index":0,"delta":{"type":"signature_delta","signature":"signed"}`)
	require.Equal(t, 1, strings.Count(stream, "signature_delta"))

	response, _ := s.post("/v1/messages", `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"Why?"},{"role":"assistant","content":[`+
		`{"type":"thinking","thinking":"Hm.","signature":"signed"},{"type":"text","text":"Yes."}]},{"role":"user","content":"Sure?"}]}`)
	require.Equal(t, http.StatusOK, response.StatusCode)

	seen := s.Calls()[2].Request.Messages[1]
	require.Equal(t, &llm.Signature{By: "wire", Data: []byte(`"signed"`)}, seen.Signature)
	require.Equal(t, "Yes.", seen.Content)
}

func TestSignatureWithoutThinkingComesFirst(t *testing.T) {
	t.Parallel()

	for name, reply := range map[string]script.Reply{
		"text": {Text: "Yes.", Signature: "signed"}, "call": {ToolCalls: []llm.ToolCall{{Name: "get"}}, Signature: "signed"}, "nothing": {Signature: "signed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			s := serve(t, reply, reply)

			_, whole := s.post("/v1/messages", question)
			require.Contains(t, whole, `"content":[{"type":"thinking","thinking":"","signature":"signed"}`)

			_, stream := s.post("/v1/messages", streamed)
			require.Contains(t, stream, `"index":0,"content_block":{"type":"thinking"`)
			require.Contains(t, stream, `"index":0,"delta":{"type":"signature_delta","signature":"signed"}`)
			require.Equal(t, 1, strings.Count(stream, "signature_delta"))
		})
	}
}

func TestOnlyFirstThinkingHasScriptedSignature(t *testing.T) {
	t.Parallel()

	s := serve(t, script.Reply{Signature: "signed", Chunks: []llm.Chunk{
		llm.ThinkingChunk{Text: "Hm."}, llm.TextChunk{Text: "Yes."}, llm.ThinkingChunk{Text: "Let me see."}, llm.TextChunk{Text: "No."},
	}})

	_, stream := s.post("/v1/messages", streamed)
	require.Contains(t, stream, `"index":0,"delta":{"type":"signature_delta","signature":"signed"}`)
	require.Contains(t, stream, `"index":2,"delta":{"type":"signature_delta","signature":"`+thinkingSignature+`"}`)
}

func TestNativeToolsAreSeparateBlocks(t *testing.T) {
	t.Parallel()

	reply := script.Reply{Chunks: []llm.Chunk{
		llm.GroundingChunk{Kind: "google_search", Queries: []string{"oom", "killed"}, Sources: []llm.Source{{Title: "Memory", URL: "https://a.test/1"}}},
		llm.GroundingChunk{Kind: "url_context", Sources: []llm.Source{{Title: "Page", URL: "https://a.test/2"}}},
		llm.CodeExecutionChunk{Code: "echo 1", Result: "1\n"},
		llm.TextChunk{Text: "So."},
	}}
	s := serve(t, reply, reply, reply)

	_, whole := s.post("/v1/messages", question)
	require.Contains(t, anonymous(whole), `"content":[`+
		`{"type":"server_tool_use","id":"srvtoolu_X","name":"web_search","input":{"query":"oom"},"caller":{"type":"direct"}},`+
		`{"type":"web_search_tool_result","tool_use_id":"srvtoolu_X","content":[],"caller":{"type":"direct"}},`+
		`{"type":"server_tool_use","id":"srvtoolu_X","name":"web_search","input":{"query":"killed"},"caller":{"type":"direct"}},`+
		`{"type":"web_search_tool_result","tool_use_id":"srvtoolu_X","content":[{"type":"web_search_result","title":"Memory","url":"https://a.test/1",`)
	require.Contains(t, anonymous(whole), `{"type":"server_tool_use","id":"srvtoolu_X","name":"web_fetch","input":{"url":"https://a.test/2"},"caller":{"type":"direct"}},`+
		`{"type":"web_fetch_tool_result","tool_use_id":"srvtoolu_X","content":{"type":"web_fetch_result","url":"https://a.test/2",`)
	require.Contains(t, anonymous(whole), `{"type":"server_tool_use","id":"srvtoolu_X","name":"bash_code_execution","input":{"command":"echo 1"},"caller":{"type":"direct"}},`+
		`{"type":"bash_code_execution_tool_result","tool_use_id":"srvtoolu_X","content":{"type":"bash_code_execution_result","stdout":"1\n","stderr":"","return_code":0,"content":[]}}`)
	require.Contains(t, whole, `"server_tool_use":{"web_search_requests":2,"web_fetch_requests":1}`)

	_, python := s.post("/v1/messages", `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"Why?"}],"tools":[{"type":"code_execution_20250522","name":"code_execution"}]}`)
	require.Contains(t, python, `"name":"code_execution","input":{"code":"echo 1"}`)

	_, stream := s.post("/v1/messages", streamed)
	require.Contains(t, stream, `"index":0,"delta":{"type":"input_json_delta","partial_json":"{\"query\":\"oom\"}"}`)
	require.Contains(t, stream, `"index":7,"content_block":{"type":"bash_code_execution_tool_result"`)
	require.Contains(t, stream, `"index":8,"content_block":{"type":"text"`)

	// The API omits these, and the Vercel AI SDK rejects null instead.
	for _, body := range []string{whole, stream} {
		require.NotContains(t, body, "citations")
		require.NotContains(t, body, "container")
	}
}

func TestStopReasonIsScripted(t *testing.T) {
	t.Parallel()

	for reason, want := range map[llm.StopReason]string{
		llm.StopEnd: `"stop_reason":"end_turn","stop_sequence":null`, llm.StopMaxTokens: `"stop_reason":"max_tokens","stop_sequence":null`,
		llm.StopSequence: `"stop_reason":"stop_sequence","stop_sequence":"END"`, llm.StopToolCalls: `"stop_reason":"tool_use","stop_sequence":null`,
	} {
		s := serve(t, script.Reply{Chunks: []llm.Chunk{llm.TextChunk{Text: "a"}, llm.EndChunk{Reason: reason}}})
		_, body := s.post("/v1/messages", `{"model":"m","max_tokens":9,"stop_sequences":["END"],"messages":[{"role":"user","content":"Why?"}]}`)
		require.Contains(t, body, want)
		require.Equal(t, []string{"END"}, s.Calls()[0].Request.Stop)
	}
}

func TestErrorsMatchAPI(t *testing.T) {
	t.Parallel()

	for name, test := range map[string]struct {
		err    *llm.Error
		status int
		body   string
	}{
		"overloaded": {&llm.Error{Status: 529, Message: "Overloaded"}, 529, `{"type":"overloaded_error","message":"Overloaded"}`},
		"rate limit": {&llm.Error{Status: 429, Class: llm.ClassQuota, Retryable: true, RetryAfter: 1500 * time.Millisecond}, 429, `{"type":"rate_limit_error","message":""}`},
		"billing":    {&llm.Error{Class: llm.ClassQuota, Message: "no money"}, 429, `{"type":"billing_error","message":"no money"}`},
		"key":        {&llm.Error{Class: llm.ClassAuth, Message: "no"}, 401, `{"type":"authentication_error","message":"no"}`},
		"too long":   {&llm.Error{Class: llm.ClassContextTooLong, Message: "9 > 8"}, 400, `{"type":"invalid_request_error","message":"prompt is too long: 9 > 8"}`},
		"safety":     {&llm.Error{Class: llm.ClassSafety, Message: "no"}, 400, `{"type":"invalid_request_error","message":"Output blocked by content filtering policy: no"}`},
		"broken":     {&llm.Error{Status: 500, Message: "bad\x00"}, 500, `{"type":"api_error","message":"bad\u0000"}`},
	} {
		for _, asked := range []string{question, streamed} {
			response, body := serve(t, script.Reply{Err: test.err}).post("/v1/messages", asked)
			require.Equal(t, test.status, response.StatusCode, name)
			require.Equal(t, `{"type":"error","error":`+test.body+`,"request_id":"req_X"}`, anonymous(body), name)

			if test.err.RetryAfter > 0 {
				require.Equal(t, "2", response.Header.Get("Retry-After"))
			}
		}
	}
}

func TestErrorDuringStreamIsEvent(t *testing.T) {
	t.Parallel()

	s := serve(t,
		script.Reply{Text: "one two three", AfterChunks: 1, Err: &llm.Error{Class: llm.ClassTransient, Message: "Overloaded", Retryable: true}},
		script.Reply{Text: "one two three", AfterChunks: 1, Err: &llm.Error{Class: llm.ClassSafety, Message: "not that"}},
	)

	_, body := s.post("/v1/messages", streamed)
	require.True(t, strings.HasSuffix(anonymous(body), "\"text\":\"one \"}}\n\nevent: error\n"+
		`data: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"},"request_id":"req_X"}`+"\n\n"), body)

	_, body = s.post("/v1/messages", streamed)
	require.Contains(t, body, `"stop_reason":"refusal","stop_sequence":null,"stop_details":{"type":"refusal","category":null,"explanation":"not that"}`)
	require.Contains(t, body, "message_stop")
}
