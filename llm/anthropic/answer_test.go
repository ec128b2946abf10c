package anthropic_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/llm"
)

func TestTextIsStreamedAsItArrives(t *testing.T) {
	t.Parallel()

	a := newAPI(t, reply{body: sse(start,
		`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`, ping,
		`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hello"}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":""}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"! 👋\n\"<&\u2028"}}`,
		`{"type":"a_future_event","what":1}`,
		`{"type":"content_block_stop","index":0}`, ended("end_turn"), stop,
	)})

	chunks, err := a.generate(question())
	require.NoError(t, err)
	require.Equal(t, []llm.Chunk{
		llm.TextChunk{Text: "Hello"}, llm.TextChunk{Text: "! 👋\n\"<&\u2028"},
		llm.UsageChunk{InputTokens: 25, OutputTokens: 15}, llm.EndChunk{Reason: llm.StopEnd},
	}, chunks)
	require.Equal(t, []string{"/v1/messages"}, a.paths)
	require.Equal(t, "sk-ant-secret", a.headers[0].Get("X-Api-Key"))
	require.Equal(t, "2023-06-01", a.headers[0].Get("Anthropic-Version"))
	require.Empty(t, a.headers[0].Get("X-Stainless-Os"), "nothing is told of this machine")
}

func TestThinkingIsReturnedUnchanged(t *testing.T) {
	t.Parallel()

	thinking := sse(start,
		`{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"Let me "}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"see."}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"EqQBCgIYAhIM1gbcDa9GJwZA2b3h=="}}`,
		`{"type":"content_block_stop","index":0}`,
		`{"type":"content_block_start","index":1,"content_block":{"type":"redacted_thinking","data":"EmwKAhgBEgy3va3pzix"}}`,
		`{"type":"content_block_stop","index":1}`,
		`{"type":"content_block_start","index":2,"content_block":{"type":"thinking","thinking":"","signature":""}}`,
		`{"type":"content_block_delta","index":2,"delta":{"type":"signature_delta","signature":"hidden"}}`,
		`{"type":"content_block_stop","index":2}`,
		`{"type":"content_block_start","index":3,"content_block":{"type":"tool_use","id":"toolu_1","name":"get_pods","input":{}}}`,
		`{"type":"content_block_stop","index":3}`,
		`{"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"input_tokens":20,`+
			`"cache_creation_input_tokens":7,"cache_read_input_tokens":100,"output_tokens":50,"output_tokens_details":{"thinking_tokens":30}}}`, stop)
	a := newAPI(t, reply{body: thinking}, reply{body: sse(start, ended("end_turn"), stop)}, reply{body: sse(start, ended("end_turn"), stop)})

	req := question()
	req.Tools = []llm.Tool{{Name: "get_pods"}}

	chunks, err := a.generate(req)
	require.NoError(t, err)
	require.Len(t, chunks, 5)
	require.Equal(t, []llm.Chunk{
		llm.ThinkingChunk{Text: "Let me "}, llm.ThinkingChunk{Text: "see."},
		llm.ToolCallChunk{Call: llm.ToolCall{ID: "toolu_1", Name: "get_pods", Arguments: "{}"}},
		llm.UsageChunk{InputTokens: 127, CachedTokens: 100, OutputTokens: 20, ThinkingTokens: 30},
	}, chunks[:4])

	end, _ := chunks[4].(llm.EndChunk)
	require.Equal(t, llm.StopToolCalls, end.Reason)
	require.Equal(t, "anthropic/claude-opus-4-5", end.Signature.By)

	req.Messages = append(req.Messages,
		llm.Message{Role: llm.RoleAssistant, Content: "I look.", ToolCalls: []llm.ToolCall{{ID: "toolu_1", Name: "get_pods"}}, Signature: end.Signature},
		llm.Message{Role: llm.RoleTool, ToolCallID: "toolu_1", Content: "none"})
	_, err = a.generate(req)
	require.NoError(t, err)

	turn, err := json.Marshal(a.asked(1)["messages"].([]any)[1])
	require.NoError(t, err)
	require.JSONEq(t, `{"role":"assistant","content":[
		{"type":"thinking","thinking":"Let me see.","signature":"EqQBCgIYAhIM1gbcDa9GJwZA2b3h=="},
		{"type":"redacted_thinking","data":"EmwKAhgBEgy3va3pzix"},
		{"type":"thinking","thinking":"","signature":"hidden"},
		{"type":"text","text":"I look."},
		{"type":"tool_use","id":"toolu_1","name":"get_pods","input":{}}
	]}`, string(turn))

	req.Model = "claude-opus-4-1"
	_, err = a.generate(req)
	require.NoError(t, err)
	require.NotContains(t, a.bodies[2], "thinking", "another model did not sign it")
}

func TestParallelCallsAreAssembled(t *testing.T) {
	t.Parallel()

	a := newAPI(t, reply{body: sse(start,
		`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"Both."}}`, `{"type":"content_block_stop","index":0}`,
		`{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"toolu_01","name":"get_pods","input":{},"caller":{"type":"direct"}}}`,
		`{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":""}}`,
		`{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"name"}}`,
		`{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"space\": \"sh"}}`,
		`{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"op\"}"}}`,
		`{"type":"content_block_stop","index":1}`,
		`{"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"toolu_02","name":"my_tool_bca2c361","input":{}}}`,
		`{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"{\"broken\":"}}`,
		`{"type":"content_block_stop","index":2}`,
		`{"type":"content_block_start","index":3,"content_block":{"type":"tool_use","id":"toolu_03","name":"get_pods","input":{"whole":true}}}`,
		`{"type":"content_block_stop","index":3}`,
		ended("tool_use"), stop,
	)})

	req := question()
	req.Tools = []llm.Tool{{Name: "get_pods", Schema: json.RawMessage(`{"type":"object"}`)}, {Name: "my.tool"}}

	chunks, err := a.generate(req)
	require.NoError(t, err)

	require.Equal(t, "my_tool_bca2c361", a.asked(0)["tools"].([]any)[1].(map[string]any)["name"], "the API takes no such name")
	require.Equal(t, []llm.Chunk{
		llm.TextChunk{Text: "Both."},
		llm.ToolCallChunk{Call: llm.ToolCall{ID: "toolu_01", Name: "get_pods", Arguments: `{"namespace": "shop"}`}},
		llm.ToolCallChunk{Call: llm.ToolCall{ID: "toolu_02", Name: "my.tool", Arguments: `{"broken":`}},
		llm.ToolCallChunk{Call: llm.ToolCall{ID: "toolu_03", Name: "get_pods", Arguments: `{"whole":true}`}},
		llm.UsageChunk{InputTokens: 25, OutputTokens: 15}, llm.EndChunk{Reason: llm.StopToolCalls},
	}, chunks)
}

func TestTruncatedCallIsDropped(t *testing.T) {
	t.Parallel()

	a := newAPI(t, reply{body: sse(start,
		`{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"toolu_01","name":"get_pods","input":{}}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"names"}}`,
		`{"type":"content_block_stop","index":0}`, ended("max_tokens"), stop,
	)})

	chunks, err := a.generate(question())
	require.NoError(t, err)
	require.Equal(t, []llm.Chunk{llm.UsageChunk{InputTokens: 25, OutputTokens: 15}, llm.EndChunk{Reason: llm.StopMaxTokens}}, chunks)
}

func TestNativeToolsAreShown(t *testing.T) {
	t.Parallel()

	a := newAPI(t, reply{body: sse(start,
		`{"type":"content_block_start","index":0,"content_block":{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{}}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"query\":"}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":" \"exit 137\"}"}}`,
		`{"type":"content_block_stop","index":0}`,
		`{"type":"content_block_start","index":1,"content_block":{"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":[`+
			`{"type":"web_search_result","title":"Exit codes","url":"https://a.test/137","encrypted_content":"x","page_age":null},`+
			`{"type":"web_search_result","title":"OOM","url":"https://a.test/oom","encrypted_content":"y","page_age":"2 days ago"}]}}`,
		`{"type":"content_block_stop","index":1}`,
		`{"type":"content_block_start","index":2,"content_block":{"type":"server_tool_use","id":"srvtoolu_2","name":"web_search","input":{"query":"more"}}}`,
		`{"type":"content_block_stop","index":2}`,
		`{"type":"content_block_start","index":3,"content_block":{"type":"web_search_tool_result","tool_use_id":"srvtoolu_2","content":{"type":"web_search_tool_result_error","error_code":"max_uses_exceeded"}}}`,
		`{"type":"content_block_stop","index":3}`,
		`{"type":"content_block_start","index":4,"content_block":{"type":"server_tool_use","id":"srvtoolu_3","name":"web_fetch","input":{"url":"https://a.test/page"}}}`,
		`{"type":"content_block_stop","index":4}`,
		`{"type":"content_block_start","index":5,"content_block":{"type":"web_fetch_tool_result","tool_use_id":"srvtoolu_3","content":{"type":"web_fetch_result","url":"https://a.test/page",`+
			`"content":{"type":"document","source":{"type":"text","media_type":"text/plain","data":"long"},"title":"Page","citations":{"enabled":true}},"retrieved_at":"2025-08-25T10:30:00Z"}}}`,
		`{"type":"content_block_stop","index":5}`,
		`{"type":"content_block_start","index":6,"content_block":{"type":"server_tool_use","id":"srvtoolu_4","name":"bash_code_execution","input":{"command":"echo hi >&2; echo 1"}}}`,
		`{"type":"content_block_stop","index":6}`,
		`{"type":"content_block_start","index":7,"content_block":{"type":"bash_code_execution_tool_result","tool_use_id":"srvtoolu_4","content":{"type":"bash_code_execution_result","stdout":"1","stderr":"hi","return_code":0,"content":[]}}}`,
		`{"type":"content_block_stop","index":7}`,
		`{"type":"content_block_start","index":8,"content_block":{"type":"server_tool_use","id":"srvtoolu_5","name":"code_execution","input":{"code":"1/0"}}}`,
		`{"type":"content_block_stop","index":8}`,
		`{"type":"content_block_start","index":9,"content_block":{"type":"code_execution_tool_result","tool_use_id":"srvtoolu_5","content":{"type":"code_execution_tool_result_error","error_code":"unavailable"}}}`,
		`{"type":"content_block_stop","index":9}`,
		`{"type":"content_block_start","index":10,"content_block":{"type":"text","text":"","citations":[]}}`,
		`{"type":"content_block_delta","index":10,"delta":{"type":"citations_delta","citation":{"type":"web_search_result_location","url":"https://a.test/oom","title":"OOM","encrypted_index":"e","cited_text":"t"}}}`,
		`{"type":"content_block_delta","index":10,"delta":{"type":"citations_delta","citation":{"type":"web_search_result_location","url":"https://a.test/other","title":"Other","encrypted_index":"e","cited_text":"t"}}}`,
		`{"type":"content_block_delta","index":10,"delta":{"type":"text_delta","text":"Memory."}}`,
		`{"type":"content_block_stop","index":10}`,
		ended("pause_turn"), stop,
	)})

	req := question()
	req.NativeTools = llm.NativeTools{GoogleSearch: true, CodeExecution: true, URLContext: true}

	chunks, err := a.generate(req)
	require.NoError(t, err)
	require.Equal(t, []llm.Chunk{
		llm.GroundingChunk{
			Kind: "google_search", Queries: []string{"exit 137", "more"},
			Sources: []llm.Source{{Title: "Exit codes", URL: "https://a.test/137"}, {Title: "OOM", URL: "https://a.test/oom"}},
		},
		llm.GroundingChunk{Kind: "url_context", Sources: []llm.Source{{Title: "Page", URL: "https://a.test/page"}}},
		llm.CodeExecutionChunk{Code: "echo hi >&2; echo 1", Result: "1\nhi"},
		llm.CodeExecutionChunk{Code: "1/0", Result: "error: unavailable"},
		llm.TextChunk{Text: "Memory."},
		llm.GroundingChunk{Kind: "google_search", Sources: []llm.Source{{Title: "Other", URL: "https://a.test/other"}}},
		llm.UsageChunk{InputTokens: 25, OutputTokens: 15}, llm.EndChunk{Reason: llm.StopEnd},
	}, chunks)

	tools, err := json.Marshal(a.asked(0)["tools"])
	require.NoError(t, err)
	require.JSONEq(t, `[{"type":"web_search_20250305","name":"web_search"},{"type":"web_fetch_20250910","name":"web_fetch"},{"type":"code_execution_20250825","name":"code_execution"}]`, string(tools))
}

func TestStopReasonIsReported(t *testing.T) {
	t.Parallel()

	for reason, want := range map[string]llm.StopReason{
		"end_turn": llm.StopEnd, "tool_use": llm.StopToolCalls, "max_tokens": llm.StopMaxTokens, "stop_sequence": llm.StopSequence,
		"pause_turn": llm.StopEnd, "of_the_future": llm.StopEnd,
	} {
		chunks, err := newAPI(t, reply{body: sse(start, ended(reason), stop)}).generate(question())
		require.NoError(t, err)
		require.Equal(t, llm.EndChunk{Reason: want}, chunks[len(chunks)-1], reason)
	}
}
