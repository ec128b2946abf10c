package llmtest

import (
	"encoding/json"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
)

func settingCases() map[string]func(*fixture) {
	return map[string]func(*fixture){
		"an answer follows the schema that was asked for":              structuredOutput,
		"reasoning effort reaches the server":                          reasoningEffort,
		"stop sequences reach the server":                              stopSequences,
		"a token limit reaches the server, and truncation is reported": maxTokens,
		"an answer cut at the model's own limit is reported":           ownLimit,
		"a prompt cache request does not change the answer":            cachePrompt,
		"all settings together go through":                             allSettings,
	}
}

const answerSchema = `{"type":"object","properties":{"score":{"type":"integer"},"why":{"type":"string"}},"required":["score","why"],"additionalProperties":false}`

func structuredOutput(f *fixture) {
	f.needs(FeatureStructuredOutput)
	f.script.Add(script.Reply{Text: `{"score": 7, "why": "fast"}`})

	req := f.request()
	req.ResponseSchema = json.RawMessage(answerSchema)
	require.JSONEq(f, `{"score":7,"why":"fast"}`, f.answer(req).Text)
	require.JSONEq(f, answerSchema, string(f.seen(0).ResponseSchema))
}

func reasoningEffort(f *fixture) {
	f.needs(FeatureReasoningEffort)
	f.script.Add(script.Reply{Text: "fine"}, script.Reply{Text: "fine"})

	req := f.request()
	f.answer(req)
	require.Empty(f, f.seen(0).ReasoningEffort, "nothing is asked for unless it was")

	req.ReasoningEffort = f.p.Effort
	f.answer(req)
	require.Equal(f, f.p.Effort, f.seen(1).ReasoningEffort)
}

func stopSequences(f *fixture) {
	f.needs(FeatureStopSequences)

	usage, end := llm.UsageChunk{InputTokens: 1, OutputTokens: 1}, llm.EndChunk{Reason: llm.StopSequence}
	f.script.Add(script.Reply{Chunks: []llm.Chunk{llm.TextChunk{Text: "Action: get_pods"}, usage, end}})

	req := f.request()
	req.Stop = []string{"Observation:", "\nFinal Answer"}
	response := f.answer(req)
	require.Equal(f, "Action: get_pods", response.Text)
	require.Equal(f, req.Stop, f.seen(0).Stop)

	want := llm.StopEnd
	if f.p.has(FeatureStopReason) {
		want = llm.StopSequence
	}

	require.Equal(f, want, response.End.Reason)
}

// cutReply returns an answer that was cut off.
func cutReply() script.Reply {
	return script.Reply{Chunks: []llm.Chunk{
		llm.TextChunk{Text: "The pod was "}, llm.TextChunk{Text: "kil"},
		llm.UsageChunk{InputTokens: 5, OutputTokens: 77}, llm.EndChunk{Reason: llm.StopMaxTokens},
	}}
}

func maxTokens(f *fixture) {
	f.script.Add(cutReply())

	req := f.request()
	req.MaxOutputTokens = 77
	response := f.answer(req)
	require.Equal(f, 77, f.seen(0).MaxOutputTokens)
	require.Equal(f, "The pod was kil", response.Text)
	require.Equal(f, llm.StopMaxTokens, response.End.Reason)
}

func ownLimit(f *fixture) {
	f.script.Add(cutReply())
	require.Equal(f, llm.StopMaxTokens, f.answer(f.request()).End.Reason)
}

func cachePrompt(f *fixture) {
	f.script.Add(script.Reply{Text: "fine"})

	call := llm.ToolCall{ID: "call_1", Name: "cluster__get_pods", Arguments: "{}"}
	messages := []llm.Message{
		system("You look into alerts."), user("What is wrong?"), {Role: llm.RoleAssistant, ToolCalls: []llm.ToolCall{call}}, result(call, "none"),
	}
	req := f.toolRequest(messages...)
	req.CachePrompt = true
	require.Equal(f, "fine", f.answer(req).Text)
	f.sameConversation(messages, f.seen(0).Messages)
}

func allSettings(f *fixture) {
	f.script.Add(script.Reply{Text: `{"score":1,"why":"x"}`})

	req := f.toolRequest(system("You look into alerts."), user("What is wrong?"))
	req.NativeTools = llm.NativeTools{GoogleSearch: true, CodeExecution: true, URLContext: true}
	req.MaxOutputTokens = 20000
	req.Stop = []string{"Observation:"}
	req.ReasoningEffort = f.p.Effort
	req.ResponseSchema = json.RawMessage(answerSchema)
	req.CachePrompt = true
	require.JSONEq(f, `{"score":1,"why":"x"}`, f.answer(req).Text)
}
