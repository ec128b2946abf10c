package openai_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/openai"
)

const (
	reasoningItem = `{"id":"rs_1","type":"reasoning","encrypted_content":"gAAAA==","summary":[{"type":"summary_text","text":"First."},{"type":"summary_text","text":"Second."}]}`
	messageItem   = `{"id":"msg_1","type":"message","status":"completed","role":"assistant","phase":"commentary","content":[{"type":"output_text","text":"Looking.","annotations":[],"logprobs":[]}]}`
	callItem      = `{"id":"fc_1","type":"function_call","status":"completed","arguments":"{\"namespace\":\"shop\"}","call_id":"call_a","name":"get_pods"}`
	callItem2     = `{"id":"fc_2","type":"function_call","status":"completed","arguments":"","call_id":"call_b","name":"get_events"}`
	usageObject   = `{"input_tokens":100,"input_tokens_details":{"cached_tokens":64},"output_tokens":30,"output_tokens_details":{"reasoning_tokens":20},"total_tokens":130}`
)

func textDelta(text string) string {
	return `{"type":"response.output_text.delta","sequence_number":5,"item_id":"msg_1","output_index":1,"content_index":0,"delta":"` + text + `","logprobs":[]}`
}

func itemDone(index, item string) string {
	return `{"type":"response.output_item.done","sequence_number":9,"output_index":` + index + `,"item":` + item + `}`
}

func ended(kind, status, rest, output string) string {
	return `{"type":"response.` + kind + `","sequence_number":20,"response":{"id":"resp_1","object":"response","created_at":1763164800,"status":"` + status +
		`","model":"gpt-5","output":[` + output + `],"usage":` + usageObject + rest + `}}`
}

func completed(output string) string {
	return ended("completed", "completed", `,"error":null,"incomplete_details":null`, output)
}

// created is the first event of every stream.
const created = `{"type":"response.created","sequence_number":0,"response":{"id":"resp_1","object":"response","status":"in_progress","error":null,"output":[],"usage":null}}`

// thoughtful answers with thinking, text and two tool calls.
func thoughtful(t *testing.T) *server {
	t.Helper()

	summary := func(kind, rest string) string {
		return `{"type":"response.reasoning_summary_` + kind + `","sequence_number":3,"item_id":"rs_1","output_index":0,` + rest + `}`
	}

	return stream(t, created,
		`{"type":"response.output_item.added","sequence_number":2,"output_index":0,"item":{"id":"rs_1","type":"reasoning","encrypted_content":"unfinished","summary":[]}}`,
		summary("part.added", `"summary_index":0,"part":{"type":"summary_text","text":""}`),
		summary("text.delta", `"summary_index":0,"delta":"First."`),
		summary("text.done", `"summary_index":0,"text":"First."`),
		summary("part.added", `"summary_index":1,"part":{"type":"summary_text","text":""}`),
		summary("text.delta", `"summary_index":1,"delta":"Second."`),
		itemDone("0", reasoningItem),
		textDelta("Look"), textDelta("ing."),
		`{"type":"response.output_text.done","sequence_number":7,"item_id":"msg_1","output_index":1,"content_index":0,"text":"Looking.","logprobs":[]}`,
		itemDone("1", messageItem),
		`{"type":"response.function_call_arguments.delta","sequence_number":10,"item_id":"fc_1","output_index":2,"delta":"{\"namesp"}`,
		`{"type":"response.something_new","sequence_number":11}`,
		itemDone("2", callItem), itemDone("3", callItem2),
		completed(reasoningItem+","+messageItem+","+callItem+","+callItem2),
	)
}

func TestResponseStreamsThinkingTextAndCalls(t *testing.T) {
	t.Parallel()

	s := thoughtful(t)
	_, chunks, err := s.ask(t, openai.APIResponses, question())
	require.NoError(t, err)
	require.Len(t, chunks, 9)
	require.Equal(t, []llm.Chunk{
		llm.ThinkingChunk{Text: "First."}, llm.ThinkingChunk{Text: "\n\n"}, llm.ThinkingChunk{Text: "Second."},
		llm.TextChunk{Text: "Look"}, llm.TextChunk{Text: "ing."},
		llm.ToolCallChunk{Call: llm.ToolCall{ID: "call_a", Name: "get_pods", Arguments: `{"namespace":"shop"}`}},
		llm.ToolCallChunk{Call: llm.ToolCall{ID: "call_b", Name: "get_events", Arguments: `{}`}},
		llm.UsageChunk{InputTokens: 100, CachedTokens: 64, OutputTokens: 10, ThinkingTokens: 20},
	}, chunks[:8])

	end, ok := chunks[8].(llm.EndChunk)
	require.True(t, ok)
	require.Equal(t, llm.StopToolCalls, end.Reason)
	require.Equal(t, "openai/gpt-5", end.Signature.By)
	require.Equal(t, "/v1/responses", s.request.URL.Path)
}

func TestResponseReturnsThinkingInPlace(t *testing.T) {
	t.Parallel()

	second := `{"id":"rs_2","type":"reasoning","encrypted_content":"sealed 2","summary":[]}`
	lost := `{"id":"rs_3","type":"reasoning","encrypted_content":"sealed 3","summary":[]}`
	s := stream(t, created, textDelta("Looking."), itemDone("2", callItem),
		completed(reasoningItem+","+messageItem+","+second+","+callItem+","+lost))

	response, _, err := s.ask(t, openai.APIResponses, question())
	require.NoError(t, err)

	req := question()
	req.Messages = append(req.Messages,
		llm.Message{Role: llm.RoleAssistant, Content: response.Text, ToolCalls: response.ToolCalls, Signature: response.End.Signature},
		llm.Message{Role: llm.RoleTool, ToolCallID: "call_a", ToolName: "get_pods", Content: "no pods"})
	_, _, err = s.ask(t, openai.APIResponses, req)
	require.NoError(t, err)
	require.JSONEq(t, `[
		{"role":"user","content":"What is wrong?"},
		{"type":"reasoning","id":"rs_1","encrypted_content":"gAAAA==","summary":[{"type":"summary_text","text":"First."},{"type":"summary_text","text":"Second."}]},
		{"role":"assistant","content":"Looking.","phase":"commentary"},
		{"type":"reasoning","id":"rs_2","encrypted_content":"sealed 2","summary":[]},
		{"type":"function_call","call_id":"call_a","name":"get_pods","arguments":"{\"namespace\":\"shop\"}"},
		{"type":"function_call_output","call_id":"call_a","output":"no pods"}
	]`, s.sentJSON(t, "input"))

	// Another model cannot read what this one sealed.
	req.Model = "gpt-5-mini"
	_, _, err = s.ask(t, openai.APIResponses, req)
	require.NoError(t, err)
	require.NotContains(t, string(s.body), "rs_1")
}

func TestResponseTakesThinkingFromItemsWhenLastEventHasNone(t *testing.T) {
	t.Parallel()

	s := stream(t, created, itemDone("0", reasoningItem), textDelta("x"), itemDone("1", messageItem), completed(""))

	response, _, err := s.ask(t, openai.APIResponses, question())
	require.NoError(t, err)
	require.NotNil(t, response.End.Signature)
	require.Contains(t, string(response.End.Signature.Data), "gAAAA==")
}

func TestResponseSendsConversation(t *testing.T) {
	t.Parallel()

	s := stream(t, completed(""))
	_, _, err := s.ask(t, openai.APIResponses, conversation())
	require.NoError(t, err)
	require.JSONEq(t, `[
		{"role":"system","content":"Be brief."},
		{"role":"user","content":"What is wrong?"},
		{"type":"function_call","call_id":"call_1","name":"cluster_get_pods_1bdc1bb7","arguments":"{\"namespace\":\"shop\"}"},
		{"type":"function_call","call_id":"call_2","name":"get_events","arguments":"{\"invalid_arguments\":\"not json\"}"},
		{"type":"function_call_output","call_id":"call_1","output":"no pods"},
		{"type":"function_call_output","call_id":"call_2","output":""},
		{"role":"assistant","content":"Nothing."},
		{"role":"user","content":"Sure?"}
	]`, s.sentJSON(t, "input"))
	require.Contains(t, string(s.body), `"maximum":9223372036854775807`)

	sent := s.sent(t)
	require.Equal(t, false, sent["store"])
	require.Equal(t, true, sent["stream"])
	require.Equal(t, []any{"reasoning.encrypted_content"}, sent["include"])
	require.Equal(t, false, sent["tools"].([]any)[0].(map[string]any)["strict"])

	for _, field := range []string{"max_output_tokens", "reasoning", "text", "temperature", "stop"} {
		require.NotContains(t, sent, field)
	}
}

func TestResponseSendsSettings(t *testing.T) {
	t.Parallel()

	req := question()
	req.Stop, req.MaxOutputTokens, req.ReasoningEffort, req.CachePrompt = []string{"Observation:"}, 77, "high", true
	req.ResponseSchema = json.RawMessage(`{"type":"object","properties":{"score":{"type":"integer"}}}`)
	req.NativeTools = llm.NativeTools{GoogleSearch: true, CodeExecution: true, URLContext: true}

	s := stream(t, completed(""))
	_, _, err := s.ask(t, openai.APIResponses, req)
	require.NoError(t, err)

	sent := s.sent(t)
	require.NotContains(t, sent, "stop")
	require.InEpsilon(t, 77, sent["max_output_tokens"], 0)
	require.JSONEq(t, `{"effort":"high","summary":"auto"}`, s.sentJSON(t, "reasoning"))
	require.JSONEq(t, `{"format":{"type":"json_schema","name":"answer","strict":false,"schema":{"type":"object","properties":{"score":{"type":"integer"}}}}}`,
		s.sentJSON(t, "text"), "a schema that leaves something open is refused where it is strict")
	require.JSONEq(t, `[{"type":"web_search"},{"type":"code_interpreter","container":{"type":"auto"}}]`, s.sentJSON(t, "tools"))
	require.Equal(t, []any{"reasoning.encrypted_content", "code_interpreter_call.outputs"}, sent["include"])

	// Our own tools turn the provider's off.
	req.Tools = []llm.Tool{{Name: "get_pods"}}
	_, _, err = s.ask(t, openai.APIResponses, req)
	require.NoError(t, err)
	require.NotContains(t, s.sentJSON(t, "tools"), "web_search")
}

func TestResponseRequestsNoThinkingFromOldModels(t *testing.T) {
	t.Parallel()

	for model, include := range map[string]bool{"gpt-4.1": false, "gpt-4o": false, "gpt-5-chat-latest": false, "gpt-5.1": true, "o4-mini": true} {
		req := question()
		req.Model = model
		s := stream(t, completed(""))
		_, _, err := s.ask(t, openai.APIResponses, req)
		require.NoError(t, err)
		require.Equal(t, include, s.sent(t)["include"] != nil, model)
	}
}

func TestResponseShowsNativeToolUse(t *testing.T) {
	t.Parallel()

	citation := `{"type":"url_citation","start_index":0,"end_index":5,"title":"Exit codes","url":"https://example.com/137"}`
	s := stream(t, created,
		itemDone("0", `{"id":"ws_1","type":"web_search_call","status":"completed","action":{"type":"search","query":"exit code 137"}}`),
		itemDone("1", `{"id":"ws_2","type":"web_search_call","status":"completed","action":{"type":"search","queries":["oom","killed"]}}`),
		itemDone("2", `{"id":"ws_3","type":"web_search_call","status":"completed","action":{"type":"open_page","url":"https://example.com/x"}}`),
		itemDone("3", `{"id":"ci_1","type":"code_interpreter_call","status":"completed","code":"print(1+1)","container_id":"cntr_1","outputs":[{"type":"logs","logs":"2\n"}]}`),
		textDelta("Memory."),
		itemDone("4", `{"id":"msg_1","type":"message","status":"completed","role":"assistant","content":[{"type":"output_text","text":"Memory.","annotations":[`+citation+`,`+citation+`]}]}`),
		completed(""),
	)

	response, _, err := s.ask(t, openai.APIResponses, question())
	require.NoError(t, err)
	require.Equal(t, []llm.CodeExecutionChunk{{Code: "print(1+1)", Result: "2\n"}}, response.CodeExecutions)
	require.Equal(t, []llm.GroundingChunk{{
		Kind: "google_search", Queries: []string{"exit code 137", "oom", "killed"},
		Sources: []llm.Source{{Title: "Exit codes", URL: "https://example.com/137"}},
	}}, response.Groundings)
}

func TestResponseStopReasons(t *testing.T) {
	t.Parallel()

	failed := func(code, message string) string {
		return ended("failed", "failed", `,"error":{"code":"`+code+`","message":"`+message+`"}`, "")
	}

	for name, test := range map[string]struct {
		events []string
		class  llm.Class
		stop   llm.StopReason
		// retryable is checked only for errors.
		retryable bool
	}{
		"completed": {[]string{textDelta("x"), completed("")}, "", llm.StopEnd, false},
		"the limit": {[]string{
			textDelta("x"), itemDone("1", `{"id":"fc_1","type":"function_call","status":"incomplete","arguments":"{\"na","call_id":"a","name":"delete_pods"}`),
			ended("incomplete", "incomplete", `,"incomplete_details":{"reason":"max_output_tokens"}`, ""),
		}, "", llm.StopMaxTokens, false},
		"the content filter":  {[]string{textDelta("x"), ended("incomplete", "incomplete", `,"incomplete_details":{"reason":"content_filter"}`, "")}, llm.ClassSafety, "", false},
		"a refusal":           {[]string{`{"type":"response.refusal.delta","sequence_number":4,"item_id":"msg_1","output_index":0,"content_index":0,"delta":"I will not."}`, completed("")}, llm.ClassSafety, "", false},
		"failed":              {[]string{textDelta("x"), failed("server_error", "The model failed")}, llm.ClassTransient, "", true},
		"failed by limits":    {[]string{failed("rate_limit_exceeded", "slow down")}, llm.ClassQuota, "", true},
		"failed by policy":    {[]string{failed("invalid_prompt", "Invalid prompt: flagged as violating our usage policy")}, llm.ClassSafety, "", false},
		"failed by a policy":  {[]string{failed("bio_policy", "no")}, llm.ClassSafety, "", false},
		"an error":            {[]string{`{"type":"error","code":"server_error","message":"The server had an error","param":null,"sequence_number":3}`}, llm.ClassTransient, "", true},
		"an error of old":     {[]string{`{"type":"error","sequence_number":3,"error":{"type":"tokens","code":"rate_limit_exceeded","message":"slow down","param":null}}`}, llm.ClassQuota, "", true},
		"an error of money":   {[]string{`{"type":"error","code":"insufficient_quota","message":"pay","param":null,"sequence_number":3}`}, llm.ClassQuota, "", false},
		"an error of length":  {[]string{`{"type":"error","code":"context_length_exceeded","message":"too long","param":"input","sequence_number":3}`}, llm.ClassContextTooLong, "", false},
		"cut":                 {[]string{textDelta("x")}, llm.ClassTransient, "", true},
		"a last word is none": {[]string{textDelta("x"), "[DONE]"}, llm.ClassTransient, "", true},
		"malformed":           {[]string{textDelta("x"), `{"oops": <not json>`}, llm.ClassTransient, "", true},
		"of the wrong type":   {[]string{`{"type":7}`}, llm.ClassTransient, "", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			response, _, err := stream(t, append([]string{created}, test.events...)...).ask(t, openai.APIResponses, question())
			if test.class == "" {
				require.NoError(t, err)
				require.Equal(t, test.stop, response.End.Reason)
				require.Empty(t, response.ToolCalls)

				return
			}

			require.Error(t, err)
			e := llm.AsError(err)
			require.Equal(t, test.class, e.Class, "%v", e)
			require.Equal(t, test.retryable, e.Retryable)
			require.Zero(t, response.End)
		})
	}
}
