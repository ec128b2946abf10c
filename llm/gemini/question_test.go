package gemini_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/llm"
)

func TestConversationBecomesTurns(t *testing.T) {
	t.Parallel()

	w := answering(t, done)
	_, err := w.generate(t, ask(
		llm.Message{Role: llm.RoleSystem, Content: "Be brief."},
		llm.Message{Role: llm.RoleSystem, Content: "Be kind."},
		llm.Message{Role: llm.RoleUser, Content: "Look \x00\xff <b>"},
		llm.Message{Role: llm.RoleAssistant},
		llm.Message{Role: llm.RoleAssistant, Content: "I call.", ToolCalls: []llm.ToolCall{
			{ID: "a", Name: "get", Arguments: `{"n":1,"deep":{"x":[true]}}`}, {ID: "b", Name: "list"}, {ID: "c", Name: "list", Arguments: `not JSON`},
		}},
		llm.Message{Role: llm.RoleTool, ToolCallID: "a", ToolName: "get", Content: "one"},
		llm.Message{Role: llm.RoleTool, ToolCallID: "b", Content: ""},
		llm.Message{Role: llm.RoleTool, ToolCallID: "c", ToolName: "list", Content: `{"three":3}`},
		llm.Message{Role: llm.RoleAssistant, ToolCalls: []llm.ToolCall{{ID: "d", Name: "get"}}},
		llm.Message{Role: llm.RoleTool, ToolCallID: "d", ToolName: "get", Content: "four"},
		llm.Message{Role: llm.RoleUser, Content: ""},
		llm.Message{Role: llm.RoleUser, Content: "Conclude."},
	))
	require.NoError(t, err)

	body := w.sent(t)
	require.JSONEq(t, `{"parts":[{"text":"Be brief.\n\nBe kind."}],"role":"user"}`, jsonOf(t, body["systemInstruction"]))
	require.JSONEq(t, `[
	 {"role":"user","parts":[{"text":"Look \u0000� <b>"}]},
	 {"role":"model","parts":[{"text":"I call."},
	   {"functionCall":{"id":"a","name":"get","args":{"n":1,"deep":{"x":[true]}}}},
	   {"functionCall":{"id":"b","name":"list"}},
	   {"functionCall":{"id":"c","name":"list","args":{"arguments":"not JSON"}}}]},
	 {"role":"user","parts":[
	   {"functionResponse":{"id":"a","name":"get","response":{"output":"one"}}},
	   {"functionResponse":{"id":"b","name":"list","response":{"output":""}}},
	   {"functionResponse":{"id":"c","name":"list","response":{"output":"{\"three\":3}"}}}]},
	 {"role":"model","parts":[{"functionCall":{"id":"d","name":"get"}}]},
	 {"role":"user","parts":[{"functionResponse":{"id":"d","name":"get","response":{"output":"four"}}}]},
	 {"role":"user","parts":[{"text":"Conclude."}]}
	]`, jsonOf(t, body["contents"]))
	require.Equal(t, "/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse", w.requests[0].Path)
	require.Equal(t, key, w.requests[0].Header.Get("X-Goog-Api-Key"))
}

func TestSystemTextAloneBecomesTurn(t *testing.T) {
	t.Parallel()

	w := answering(t, done)
	_, err := w.generate(t, ask(llm.Message{Role: llm.RoleSystem, Content: "Say hello."}))
	require.NoError(t, err)
	require.JSONEq(t, `[{"role":"user","parts":[{"text":"Say hello."}]}]`, jsonOf(t, w.sent(t)["contents"]))
}

func TestEmptyConversationIsRefused(t *testing.T) {
	t.Parallel()

	w := answering(t, done)
	_, err := w.generate(t, &llm.Request{Model: "gemini-2.5-flash", Messages: []llm.Message{{Role: llm.RoleUser}}})
	require.ErrorContains(t, err, "the conversation is empty")
	require.Equal(t, llm.ClassInvalid, llm.AsError(err).Class)
	require.Empty(t, w.requests)
}

func TestSettingsAreSent(t *testing.T) {
	t.Parallel()

	w := answering(t, done)
	req := ask()
	req.MaxOutputTokens, req.Stop, req.ResponseSchema = 77, []string{"END", "STOP"}, json.RawMessage(`{"type":"object","properties":{"a":{"type":"string"}}}`)
	_, err := w.generate(t, req)
	require.NoError(t, err)
	require.JSONEq(t, `{"maxOutputTokens":77,"stopSequences":["END","STOP"],"responseMimeType":"application/json",
	  "responseJsonSchema":{"type":"object","properties":{"a":{"type":"string"}}},"thinkingConfig":{"includeThoughts":true}}`,
		jsonOf(t, w.sent(t)["generationConfig"]))
	require.NotContains(t, w.sent(t), "tools")
}

func TestNativeToolsAreBoundOnlyWithoutFunctionTools(t *testing.T) {
	t.Parallel()

	req := ask()
	req.NativeTools = llm.NativeTools{GoogleSearch: true, CodeExecution: true, URLContext: true}

	w := answering(t, done)
	_, err := w.generate(t, req)
	require.NoError(t, err)
	require.JSONEq(t, `[{"googleSearch":{}},{"codeExecution":{}},{"urlContext":{}}]`, jsonOf(t, w.sent(t)["tools"]))

	req.Tools = []llm.Tool{
		{Name: "get", Description: "gets", Schema: json.RawMessage(`{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"$schema":"x"}`)},
		{Name: "list"},
		{Name: "deep", Schema: json.RawMessage(strings.Repeat(`{"a":`, 6000) + `1` + strings.Repeat(`}`, 6000))},
	}
	w = answering(t, done)
	_, err = w.generate(t, req)
	require.NoError(t, err)
	require.JSONEq(t, `[{"functionDeclarations":[
	  {"name":"get","description":"gets","parametersJsonSchema":{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}},
	  {"name":"list","parametersJsonSchema":{"type":"object","properties":{}}},
	  {"name":"deep","parametersJsonSchema":{"type":"object","properties":{}}}]}]`, jsonOf(t, w.sent(t)["tools"]))
}

func TestDeeplyNestedArgumentsDoNotBreakRequest(t *testing.T) {
	t.Parallel()

	deep := strings.Repeat(`{"a":`, 9990) + `1` + strings.Repeat(`}`, 9990)
	w := answering(t, done)
	_, err := w.generate(t, ask(
		llm.Message{Role: llm.RoleUser, Content: "go"},
		llm.Message{Role: llm.RoleAssistant, ToolCalls: []llm.ToolCall{{ID: "a", Name: "get", Arguments: deep}}},
		llm.Message{Role: llm.RoleTool, ToolCallID: "a", Content: "x"},
	))
	require.NoError(t, err)
	require.Equal(t, deep, at(t, w.sent(t), "contents.1.parts.0.functionCall.args.arguments"))
}

func TestInvalidSchemaIsRefused(t *testing.T) {
	t.Parallel()

	w := answering(t, done)
	req := ask()
	req.ResponseSchema = json.RawMessage(`{"type":`)
	_, err := w.generate(t, req)
	require.Equal(t, llm.ClassInvalid, llm.AsError(err).Class)
	require.Empty(t, w.requests)
}

func TestEffortIsMappedPerModel(t *testing.T) {
	t.Parallel()

	for _, test := range []struct{ model, effort, want string }{
		{"gemini-2.5-flash", "", `{"includeThoughts":true}`},
		{"gemini-2.5-flash", "none", `{"thinkingBudget":0}`},
		{"gemini-2.5-pro", "none", `{"includeThoughts":true,"thinkingBudget":128}`},
		{"gemini-2.5-flash", "minimal", `{"includeThoughts":true,"thinkingBudget":512}`},
		{"gemini-2.5-flash-lite", "low", `{"includeThoughts":true,"thinkingBudget":1024}`},
		{"models/gemini-2.5-pro", "medium", `{"includeThoughts":true,"thinkingBudget":8192}`},
		{"gemini-2.5-pro", "HIGH", `{"includeThoughts":true,"thinkingBudget":24576}`},
		{"gemini-flash-latest", "high", `{"includeThoughts":true,"thinkingLevel":"HIGH"}`},
		{"gemini-flash-latest", "none", `{"includeThoughts":true,"thinkingLevel":"LOW"}`},
		{"gemini-3.8-flash", "minimal", `{"includeThoughts":true,"thinkingLevel":"LOW"}`},
		{"gemini-3.5-flash", "none", `{"includeThoughts":true,"thinkingLevel":"MINIMAL"}`},
		{"gemini-3.1-flash-lite", "none", `{"includeThoughts":true,"thinkingLevel":"MINIMAL"}`},
		{"models/gemini-4-argon", "none", `{"includeThoughts":true,"thinkingLevel":"LOW"}`},
		{"gemini-4-argon", "medium", `{"includeThoughts":true,"thinkingLevel":"MEDIUM"}`},
		{"gemini-3-flash-preview", "2000", `{"includeThoughts":true,"thinkingBudget":2000}`},
		{"gemini-2.5-pro", "-1", `{"includeThoughts":true,"thinkingBudget":-1}`},
		{"gemini-3-flash-preview", "", `{"includeThoughts":true}`},
		{"gemini-3-flash-preview", "none", `{"includeThoughts":true,"thinkingLevel":"MINIMAL"}`},
		{"gemini-3-flash-preview", "minimal", `{"includeThoughts":true,"thinkingLevel":"MINIMAL"}`},
		{"gemini-3-flash-preview", "medium", `{"includeThoughts":true,"thinkingLevel":"MEDIUM"}`},
		{"gemini-3-pro-preview", "none", `{"includeThoughts":true,"thinkingLevel":"LOW"}`},
		{"gemini-3-pro-preview", "medium", `{"includeThoughts":true,"thinkingLevel":"HIGH"}`},
		{"gemini-3.1-pro-preview", "medium", `{"includeThoughts":true,"thinkingLevel":"MEDIUM"}`},
		{"gemini-3.1-pro-preview", "high", `{"includeThoughts":true,"thinkingLevel":"HIGH"}`},
		{"gemini-3-pro-preview", "extreme", `{"includeThoughts":true,"thinkingLevel":"EXTREME"}`},
		{"gemini-2.0-flash", "", `null`},
		{"gemma-3-27b-it", "", `null`},
	} {
		w := answering(t, done)
		req := ask()
		req.Model, req.ReasoningEffort = test.model, test.effort
		_, err := w.generate(t, req)
		require.NoError(t, err)

		config, _ := w.sent(t)["generationConfig"].(map[string]any)
		require.JSONEq(t, test.want, jsonOf(t, config["thinkingConfig"]), "%s %s", test.model, test.effort)
	}

	req := ask()
	req.ReasoningEffort = "very"
	_, err := answering(t, done).generate(t, req)
	require.Equal(t, llm.ClassInvalid, llm.AsError(err).Class)
	require.ErrorContains(t, err, `"very"`)
}
