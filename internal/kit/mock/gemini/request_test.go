package gemini_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/llm"
)

const conversation = `{
 "systemInstruction": {"parts": [{"text": "be brief"}, {"text": "be kind"}]},
 "contents": [
  {"role": "user", "parts": [{"text": "look"}, {"inlineData": {"mimeType": "image/png", "data": "AA=="}}]},
  {"role": "model", "parts": [
    {"text": "private", "thought": true}, {"text": "I "}, {"text": "call"},
    {"functionCall": {"name": "get", "args": {"a": 1, "b": [true]}}, "thoughtSignature": "c2ln"},
    {"functionCall": {"name": "get", "args": {"a": 2}}},
    {"functionCall": {"id": "mine", "name": "list"}}]},
  {"role": "user", "parts": [
    {"functionResponse": {"id": "mine", "name": "list", "response": {"error": "no"}}},
    {"functionResponse": {"name": "get", "response": {"output": "first"}}},
    {"functionResponse": {"name": "get", "response": {"x": 1, "output": "kept whole"}}},
    {"text": "go on"}]}],
 "tools": [{"functionDeclarations": [
    {"name": "get", "description": "gets", "parametersJsonSchema": {"type": "object"}},
    {"name": "list", "parameters": {"type": "OBJECT"}}]}, {"googleSearch": {}}, {"codeExecution": {}}, {"urlContext": {}}],
 "generationConfig": {"stopSequences": ["END"], "maxOutputTokens": 77, "responseMimeType": "application/json",
    "responseJsonSchema": {"type": "array"}, "thinkingConfig": {"thinkingLevel": "LOW"}, "unheardOf": 1},
 "unheardOf": {"a": []}
}`

func TestWholeRequestIsRead(t *testing.T) {
	t.Parallel()

	want := llm.Request{
		Model: "gemini-2.5-flash",
		Messages: []llm.Message{
			{Role: llm.RoleSystem, Content: "be brief\nbe kind"},
			{Role: llm.RoleUser, Content: "look\n[image/png]"},
			{Role: llm.RoleAssistant, Content: "I call", ToolCalls: []llm.ToolCall{
				{ID: "call_1", Name: "get", Arguments: `{"a":1,"b":[true]}`},
				{ID: "call_2", Name: "get", Arguments: `{"a":2}`},
				{ID: "mine", Name: "list", Arguments: `{}`},
			}, Signature: &llm.Signature{By: "wire", Data: json.RawMessage(`"c2ln"`)}},
			{Role: llm.RoleTool, Content: "no", ToolCallID: "mine", ToolName: "list"},
			{Role: llm.RoleTool, Content: "first", ToolCallID: "call_1", ToolName: "get"},
			{Role: llm.RoleTool, Content: `{"x":1,"output":"kept whole"}`, ToolCallID: "call_2", ToolName: "get"},
			{Role: llm.RoleUser, Content: "look again"},
		},
		Tools: []llm.Tool{
			{Name: "get", Description: "gets", Schema: json.RawMessage(`{"type": "object"}`)},
			{Name: "list", Schema: json.RawMessage(`{"type": "OBJECT"}`)},
		},
		NativeTools:     llm.NativeTools{GoogleSearch: true, CodeExecution: true, URLContext: true},
		MaxOutputTokens: 77, Stop: []string{"END"}, ReasoningEffort: "low", ResponseSchema: json.RawMessage(`{"type": "array"}`),
	}
	want.Messages[6].Content = "go on"

	// Each name has a second spelling.
	snake := conversation
	for camel, other := range map[string]string{
		"systemInstruction": "system_instruction", "inlineData": "inline_data", "mimeType": "mime_type", "functionCall": "function_call",
		"thoughtSignature": "thought_signature", "functionResponse": "function_response", "functionDeclarations": "function_declarations",
		"parametersJsonSchema": "parameters_json_schema", "googleSearch": "google_search", "codeExecution": "code_execution",
		"urlContext": "url_context", "generationConfig": "generation_config", "stopSequences": "stop_sequences",
		"maxOutputTokens": "max_output_tokens", "responseJsonSchema": "response_json_schema", "thinkingConfig": "thinking_config",
		"thinkingLevel": "thinking_level",
	} {
		snake = strings.ReplaceAll(snake, `"`+camel+`"`, `"`+other+`"`)
	}

	for name, body := range map[string]string{"camel": conversation, "snake": snake} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			s := serve(t)
			resp, text := s.post(t, path, body)
			require.Equal(t, http.StatusOK, resp.StatusCode, text)
			require.Equal(t, want, s.asked(t))
		})
	}
}

func TestEventsReturnedOneByOneAreOneAnswer(t *testing.T) {
	t.Parallel()

	s := serve(t)
	resp, body := s.post(t, path, `{"contents":[{"parts":[{"text":"go"}]},
	  {"role":"model","parts":[{"text":"I "}]}, {"role":"model","parts":[{"text":"call."}]},
	  {"role":"model","parts":[{"functionCall":{"name":"get"},"thoughtSignature":"c2ln"}]}, {"role":"model","parts":[{"functionCall":{"name":"list"}}]},
	  {"role":"model","parts":[{"text":""}]},
	  {"role":"user","parts":[{"functionResponse":{"name":"list","response":{"output":"b"}}},{"functionResponse":{"name":"get","response":{"output":"a"}}}]}]}`)
	require.Equal(t, http.StatusOK, resp.StatusCode, body)
	require.Equal(t, []llm.Message{
		{Role: llm.RoleUser, Content: "go"},
		{
			Role: llm.RoleAssistant, Content: "I call.", Signature: &llm.Signature{By: "wire", Data: json.RawMessage(`"c2ln"`)},
			ToolCalls: []llm.ToolCall{{ID: "call_1", Name: "get", Arguments: "{}"}, {ID: "call_2", Name: "list", Arguments: "{}"}},
		},
		{Role: llm.RoleTool, Content: "b", ToolCallID: "call_2", ToolName: "list"},
		{Role: llm.RoleTool, Content: "a", ToolCallID: "call_1", ToolName: "get"},
	}, s.asked(t).Messages)
}

func TestThinkingBudgetMapsToEffort(t *testing.T) {
	t.Parallel()

	for budget, want := range map[string]string{"-1": "", "0": "none", "512": "minimal", "1024": "low", "8192": "medium", "24576": "high"} {
		s := serve(t)
		s.post(t, path, `{"contents":[{"parts":[{"text":"x"}]}],"generationConfig":{"thinkingConfig":{"thinkingBudget":`+budget+`}}}`)
		require.Equal(t, want, s.asked(t).ReasoningEffort, budget)
	}
}

func TestBadRequestIsRefusedWithPlace(t *testing.T) {
	t.Parallel()

	const asked = `{"parts":[{"text":"a"}]},{"role":"model","parts":[{"functionCall":{"name":"get"}},{"functionCall":{"name":"get"}}]}`

	for body, want := range map[string]string{
		``:                                      "Invalid JSON payload received",
		`{"contents":[`:                         "Invalid JSON payload received",
		`[]`:                                    "Invalid value",
		`{}`:                                    "contents is not specified",
		`{"contents":[]}`:                       "contents is not specified",
		`{"contents":[{"parts":[]}]}`:           "contents[0].parts: contents.parts must not be empty",
		`{"contents":[{"parts":[{}]}]}`:         "contents[0].parts[0].data: required oneof",
		`{"contents":3}`:                        "Invalid value at 'contents' (list), number",
		`{"contents":[{"parts":[{"text":5}]}]}`: "Invalid value at 'contents.parts.text' (string), number",
		`{"contents":[{"role":"system","parts":[{"text":"a"}]}]}`:                                                          "Please use a valid role",
		`{"contents":[{"role":"model","parts":[{"functionCall":{}}]}]}`:                                                    "contents[0].parts[0].function_call: name",
		`{"contents":[{"role":"model","parts":[{"functionCall":{"name":"get","args":[1]}}]}]}`:                             "args must be an object",
		`{"contents":[{"parts":[{"functionResponse":{"name":"get","response":{}}}]}]}`:                                     `contents[0].parts[0].function_response: no function call with name "get"`,
		`{"contents":[` + asked + `,{"parts":[{"functionResponse":{"name":"other"}}]}]}`:                                   `"other"`,
		`{"contents":[` + asked + `,{"parts":[{"functionResponse":{"name":"get","id":"zz"}}]}]}`:                           `"zz"`,
		`{"contents":[` + asked + `,{"parts":[{"functionResponse":{"name":"get","response":3}}]}]}`:                        "response must be an object",
		`{"contents":[` + asked + `,{"parts":[{"functionResponse":{"name":"get"}}]}]}`:                                     "number of function response parts",
		`{"contents":[` + asked + `,{"parts":[{"text":"never mind"}]}]}`:                                                   "function response turn comes immediately after",
		`{"contents":[{"parts":[{"text":"a"}]}],"tools":[{"functionDeclarations":[{"description":"x"}]}]}`:                 "tools[0].function_declarations[0].name",
		`{"contents":[{"parts":[{"text":"a"}]}],"generationConfig":{"maxOutputTokens":"many"}}`:                            "generationConfig.maxOutputTokens",
		`{"contents":` + strings.Repeat("[", 20000) + strings.Repeat("]", 20000) + `}`:                                     "Invalid",
		`{"contents":[{"parts":[{"text":"a"}]},{"role":"model","parts":[{"functionCall":{"name":"x","args":{"a":1e}}}]}]}`: "Invalid JSON payload received",
	} {
		s := serve(t)
		resp, text := s.post(t, path, body)
		require.Equal(t, http.StatusBadRequest, resp.StatusCode, body)

		var failure struct {
			Error struct {
				Code            int
				Message, Status string
			}
		}

		require.NoError(t, json.Unmarshal([]byte(text), &failure), text)
		require.Equal(t, http.StatusBadRequest, failure.Error.Code)
		require.Equal(t, "INVALID_ARGUMENT", failure.Error.Status)
		require.Contains(t, failure.Error.Message, want, body)
		require.Empty(t, s.seen, "the script is not asked")
	}
}

func TestHostileTextIsValidJSON(t *testing.T) {
	t.Parallel()

	s := serve(t)
	resp, body := s.post(t, path, `{"contents":[{"parts":[{"text":"\u0000 \ud800 \u2028 \" \\ </script>"}]}]}`)
	require.Equal(t, http.StatusOK, resp.StatusCode, body)
	require.Equal(t, "\x00 � \u2028 \" \\ </script>", s.asked(t).Messages[0].Content)
}

func TestEveryPathSelectsModel(t *testing.T) {
	t.Parallel()

	for _, target := range []string{
		"/v1beta/models/my-model:generateContent?key=secret",
		"/v1beta1/projects/p/locations/us-central1/publishers/google/models/my-model:generateContent",
		"/v1/projects/p/locations/global/publishers/google/models/my-model:streamGenerateContent",
		"/v1beta1/publishers/google/models/my-model:streamGenerateContent?alt=sse",
	} {
		s := serve(t)
		resp, body := s.post(t, target, hello)
		require.Equal(t, http.StatusOK, resp.StatusCode, body)
		require.Equal(t, "my-model", s.asked(t).Model)
		require.Contains(t, body, `"modelVersion":"my-model"`)
	}
}

func TestOtherOperationsAreNotFound(t *testing.T) {
	t.Parallel()

	for _, method := range []string{":predict", ":predictLongRunning", ""} {
		resp, body := serve(t).post(t, "/v1beta/models/text-embedding-004"+method, hello)
		require.Equal(t, http.StatusNotFound, resp.StatusCode)
		require.Contains(t, body, `"code":404`)
		require.Contains(t, body, `"status":"NOT_FOUND"`)
		require.Contains(t, body, "models/text-embedding-004 is not found for API version v1beta")
	}
}

func TestTokensAreCounted(t *testing.T) {
	t.Parallel()

	const contents = `"contents":[{"parts":[{"text":"12345678"}]}]`

	s := serve(t)

	for _, body := range []string{`{` + contents + `}`, `{"generateContentRequest":{"model":"models/m",` + contents + `}}`} {
		_, text := s.post(t, "/v1beta/models/m:countTokens", body)
		require.JSONEq(t, `{"totalTokens":2,"promptTokensDetails":[{"modality":"TEXT","tokenCount":2}]}`, text)
	}

	resp, _ := s.post(t, "/v1beta/models/m:countTokens", `{}`)
	require.Equal(t, http.StatusBadRequest, resp.StatusCode)
}
