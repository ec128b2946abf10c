package gemini_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/llm"
)

func event(parts, rest string) string {
	return `{"candidates": [{"content": {"parts": [` + parts + `],"role": "model"},"index": 0` + rest + `}],` +
		`"usageMetadata": {"promptTokenCount": 4,"totalTokenCount": 4},"modelVersion": "gemini-2.5-flash","responseId": "mAitaLmkHPPlz7IPvtfUqQ4"}`
}

const (
	stop       = `,"finishReason": "STOP","safetyRatings": [{"category": "HARM_CATEGORY_HARASSMENT","probability": "NEGLIGIBLE"}]`
	usageEvent = `{"candidates": [{"content": {"parts": [{"text": ""}],"role": "model"},"finishReason": "STOP","index": 0}],"usageMetadata": ` +
		`{"promptTokenCount": 100,"candidatesTokenCount": 7,"totalTokenCount": 137,"cachedContentTokenCount": 60,` +
		`"promptTokensDetails": [{"modality": "TEXT","tokenCount": 100}],"toolUsePromptTokenCount": 10,"thoughtsTokenCount": 20}}`
)

func TestAnswerIsReadAsItArrives(t *testing.T) {
	t.Parallel()

	four := llm.UsageChunk{InputTokens: 4}

	for name, test := range map[string]struct {
		events []string
		want   []llm.Chunk
	}{
		"text, and usage counted our way": {
			[]string{event(`{"text": "The pod "}`, ""), event(`{"text": "<died>\n \u0000 😀"}`, ""), usageEvent},
			[]llm.Chunk{
				llm.TextChunk{Text: "The pod "},
				llm.TextChunk{Text: "<died>\n \x00 😀"},
				llm.UsageChunk{InputTokens: 110, OutputTokens: 7, ThinkingTokens: 20, CachedTokens: 60},
				llm.EndChunk{Reason: llm.StopEnd},
			},
		},
		"thoughts": {
			[]string{event(`{"text": "**Looking**\n","thought": true}`, ""), event(`{"text": "So."}`, stop)},
			[]llm.Chunk{llm.ThinkingChunk{Text: "**Looking**\n"}, llm.TextChunk{Text: "So."}, four, llm.EndChunk{Reason: llm.StopEnd}},
		},
		"calls without ids, in one event and in two": {
			[]string{
				event(`{"text": "I call."},{"functionCall": {"name": "get","args": {"q": "a<b","n": 3}}},{"functionCall": {"name": "get"}}`, ""),
				event(`{"functionCall": {"name": "list","args": {},"id": "x1"}}`, stop),
			},
			[]llm.Chunk{
				llm.TextChunk{Text: "I call."},
				llm.ToolCallChunk{Call: llm.ToolCall{ID: "call_1", Name: "get", Arguments: `{"n":3,"q":"a<b"}`}},
				llm.ToolCallChunk{Call: llm.ToolCall{ID: "call_2", Name: "get", Arguments: `{}`}},
				llm.ToolCallChunk{Call: llm.ToolCall{ID: "x1", Name: "list", Arguments: `{}`}},
				four, llm.EndChunk{Reason: llm.StopToolCalls},
			},
		},
		"code that ran": {
			[]string{
				event(`{"text": "Let me compute."},{"executableCode": {"language": "PYTHON","code": "print(1)\n"}}`, ""),
				event(`{"codeExecutionResult": {"outcome": "OUTCOME_OK","output": "1\n"}}`, ""),
				event(`{"executableCode": {"language": "PYTHON","code": "while True: pass"}},{"codeExecutionResult": {"outcome": "OUTCOME_DEADLINE_EXCEEDED"}}`, ""),
				event(`{"executableCode": {"language": "PYTHON","code": "a"}},{"executableCode": {"language": "PYTHON","code": "b"}}`, stop),
			},
			[]llm.Chunk{
				llm.TextChunk{Text: "Let me compute."},
				llm.CodeExecutionChunk{Code: "print(1)\n", Result: "1\n"},
				llm.CodeExecutionChunk{Code: "while True: pass", Result: "OUTCOME_DEADLINE_EXCEEDED"},
				llm.CodeExecutionChunk{Code: "a"},
				llm.CodeExecutionChunk{Code: "b"},
				four, llm.EndChunk{Reason: llm.StopEnd},
			},
		},
		"what was searched and fetched, told once": {
			[]string{
				event(`{"text": "Found."}`, `,"groundingMetadata": {"webSearchQueries": ["q1"],"groundingChunks": [{"web": {"uri": "https://a.example","title": "a.example"}}]}`),
				event(`{"text": ""}`, stop+`,"groundingMetadata": {"searchEntryPoint": {"renderedContent": "<div/>"},"webSearchQueries": ["q1", "q2"],`+
					`"groundingChunks": [{"web": {"uri": "https://a.example","title": "a.example"}},{"web": {"uri": "https://b.example","title": "B"}}],`+
					`"groundingSupports": [{"segment": {"endIndex": 6,"text": "Found."},"groundingChunkIndices": [0]}]},`+
					`"urlContextMetadata": {"urlMetadata": [{"retrievedUrl": "https://c.example","urlRetrievalStatus": "URL_RETRIEVAL_STATUS_SUCCESS"},`+
					`{"retrievedUrl": "https://d.example","urlRetrievalStatus": "URL_RETRIEVAL_STATUS_ERROR"}]}`),
			},
			[]llm.Chunk{
				llm.TextChunk{Text: "Found."},
				llm.GroundingChunk{Kind: "google_search", Queries: []string{"q1", "q2"}, Sources: []llm.Source{
					{Title: "a.example", URL: "https://a.example"}, {Title: "B", URL: "https://b.example"},
				}},
				llm.GroundingChunk{Kind: "url_context", Sources: []llm.Source{{URL: "https://c.example"}}},
				four, llm.EndChunk{Reason: llm.StopEnd},
			},
		},
		"a limit": {
			[]string{event(`{"text": "cut o"}`, `,"finishReason": "MAX_TOKENS"`)},
			[]llm.Chunk{llm.TextChunk{Text: "cut o"}, four, llm.EndChunk{Reason: llm.StopMaxTokens}},
		},
		"nothing to say": {
			[]string{`{"candidates": [{"finishReason": "STOP","index": 0}]}`},
			[]llm.Chunk{llm.UsageChunk{}, llm.EndChunk{Reason: llm.StopEnd}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			chunks, err := answering(t, test.events...).generate(t, ask())
			require.NoError(t, err)
			require.Equal(t, test.want, chunks)
		})
	}
}

func TestCallsGetIDsUnusedInConversation(t *testing.T) {
	t.Parallel()

	req := ask(
		llm.Message{Role: llm.RoleUser, Content: "go"},
		llm.Message{Role: llm.RoleAssistant, ToolCalls: []llm.ToolCall{{ID: "call_2", Name: "get"}, {ID: "same", Name: "get"}}},
		llm.Message{Role: llm.RoleTool, ToolCallID: "call_2", Content: "a"},
		llm.Message{Role: llm.RoleTool, ToolCallID: "same", Content: "b"},
	)
	w := answering(t, event(`{"functionCall": {"name": "get"}},{"functionCall": {"name": "get","id": "same"}},{"functionCall": {"name": "get","id": "call_5"}}`, stop))

	for range 2 {
		chunks, err := w.generate(t, req)
		require.NoError(t, err)

		var ids []string

		for _, chunk := range chunks[:3] {
			ids = append(ids, chunk.(llm.ToolCallChunk).Call.ID)
		}

		require.Equal(t, []string{"call_3", "call_4", "call_5"}, ids)
	}
}

func TestToolNamesRoundTrip(t *testing.T) {
	t.Parallel()

	req := ask()
	req.Tools = []llm.Tool{{Name: "kube.get pods/ü"}}
	w := answering(t, done)
	_, err := w.generate(t, req)
	require.NoError(t, err)

	name := at(t, w.sent(t), "tools.0.functionDeclarations.0.name").(string)
	require.Regexp(t, `^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$`, name)

	chunks, err := answering(t, event(`{"functionCall": {"name": "`+name+`"}}`, stop)).generate(t, req)
	require.NoError(t, err)
	require.Equal(t, "kube.get pods/ü", chunks[0].(llm.ToolCallChunk).Call.Name)
}

func TestMalformedAnswerIsError(t *testing.T) {
	t.Parallel()

	finish := func(reason string) []string {
		return []string{event(`{"text": "So"}`, ""), `{"candidates": [{"content": {},"finishReason": "` + reason + `","finishMessage": "because"}]}`}
	}

	for name, test := range map[string]struct {
		events    []string
		class     llm.Class
		retryable bool
		want      string
	}{
		"SAFETY":                  {finish("SAFETY"), llm.ClassSafety, false, "the answer was withheld (SAFETY)"},
		"RECITATION":              {finish("RECITATION"), llm.ClassSafety, false, "RECITATION"},
		"BLOCKLIST":               {finish("BLOCKLIST"), llm.ClassSafety, false, "BLOCKLIST"},
		"PROHIBITED_CONTENT":      {finish("PROHIBITED_CONTENT"), llm.ClassSafety, false, "PROHIBITED_CONTENT"},
		"SPII":                    {finish("SPII"), llm.ClassSafety, false, "SPII"},
		"LANGUAGE":                {finish("LANGUAGE"), llm.ClassInvalid, false, "LANGUAGE"},
		"MALFORMED_FUNCTION_CALL": {finish("MALFORMED_FUNCTION_CALL"), llm.ClassTransient, true, "MALFORMED_FUNCTION_CALL"},
		"OTHER":                   {finish("OTHER"), llm.ClassTransient, true, "OTHER"},
		"a reason of tomorrow":    {finish("TIRED"), llm.ClassTransient, true, "TIRED"},
		"a blocked question": {
			[]string{`{"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"},"usageMetadata": {"promptTokenCount": 4,"totalTokenCount": 4}}`},
			llm.ClassSafety, false, "the question was blocked (PROHIBITED_CONTENT)",
		},
		"no event":             {nil, llm.ClassTransient, true, "empty answer"},
		"no candidate":         {[]string{`{"usageMetadata": {"promptTokenCount": 4}}`}, llm.ClassTransient, true, "empty answer"},
		"no end":               {[]string{event(`{"text": "So"}`, "")}, llm.ClassTransient, true, "before the answer did"},
		"no JSON":              {[]string{event(`{"text": "So"}`, ""), `{"candidates": [`}, llm.ClassTransient, true, "unmarshalling"},
		"another shape":        {[]string{`{"candidates": 5}`}, llm.ClassTransient, true, "invalid event"},
		"another shape within": {[]string{`{"candidates": [{"content": {"parts": "x"}}]}`}, llm.ClassTransient, true, ""},
		"null":                 {[]string{`null`}, llm.ClassTransient, true, ""},
		"nulls":                {[]string{`{"candidates": [{"content": {"parts": [null]}}]}`}, llm.ClassTransient, true, "before the answer did"},
		"an error within": {
			[]string{event(`{"text": "So"}`, ""), `{"error": {"code": 503,"message": "The model is overloaded.","status": "UNAVAILABLE"}}`},
			llm.ClassTransient, true, "The model is overloaded. (HTTP 503, UNAVAILABLE)",
		},
		"an error within, without a code": {
			[]string{`{"error": {"message": "slow down","status": "RESOURCE_EXHAUSTED"}}`}, llm.ClassQuota, true, "slow down (HTTP 429",
		},
		"a huge event that is none": {[]string{strings.Repeat("x", 1<<20)}, llm.ClassTransient, true, "unmarshalling"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			chunks, err := answering(t, test.events...).generate(t, ask())
			require.Error(t, err)

			e := llm.AsError(err)
			require.Equal(t, test.class, e.Class, "%+v", e)
			require.Equal(t, test.retryable, e.Retryable)
			require.Contains(t, e.Error(), test.want)
			require.Less(t, len(e.Error()), 1000)

			for _, chunk := range chunks {
				require.Equal(t, llm.TextChunk{Text: "So"}, chunk)
			}
		})
	}
}
