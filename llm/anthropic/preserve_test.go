package anthropic_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/llm"
)

// thought returns a block of thinking, as the API sends it.
func thought(index, text, signature string) string {
	return `{"type":"content_block_start","index":` + index + `,"content_block":{"type":"thinking","thinking":"` + text + `","signature":"` + signature +
		`"}}` + "\n\nevent: content_block_stop\ndata: " + `{"type":"content_block_stop","index":` + index + `}`
}

// interleaved returns an answer that thinks, writes text, thinks again and calls a tool.
func interleaved() string {
	return sse(start, thought("0", "One.", "s1"),
		`{"type":"content_block_start","index":1,"content_block":{"type":"text","text":"I lo"}}`,
		`{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"ok."}}`, `{"type":"content_block_stop","index":1}`,
		thought("2", "Two.", "s2"),
		`{"type":"content_block_start","index":3,"content_block":{"type":"tool_use","id":"toolu_1","name":"get_pods","input":{}}}`,
		`{"type":"content_block_stop","index":3}`, ended("tool_use"), stop)
}

// answered returns the conversation after an interleaved answer and the result of its call.
func answered(t *testing.T, model string) *llm.Request {
	t.Helper()

	req := question()
	req.Model = model
	req.Tools = []llm.Tool{{Name: "get_pods", Description: "Lists pods."}}

	chunks, err := newAPI(t, reply{body: interleaved()}).generate(req)
	require.NoError(t, err)

	end, _ := chunks[len(chunks)-1].(llm.EndChunk)
	require.NotNil(t, end.Signature)

	req.Messages = append(req.Messages,
		llm.Message{Role: llm.RoleAssistant, Content: "I look.", ToolCalls: []llm.ToolCall{{ID: "toolu_1", Name: "get_pods"}}, Signature: end.Signature},
		llm.Message{Role: llm.RoleTool, ToolCallID: "toolu_1", Content: "none"})

	return req
}

// sentBack returns the model's turn as req sends it back.
func sentBack(t *testing.T, req *llm.Request) string {
	t.Helper()

	var asked struct {
		Messages []struct{ Content json.RawMessage }
	}

	require.NoError(t, json.Unmarshal([]byte(body(t, req)), &asked))

	return string(asked.Messages[1].Content)
}

func TestThinkingIsReturnedInPlace(t *testing.T) {
	t.Parallel()

	const call = `{"type":"tool_use","id":"toolu_1","name":"get_pods","input":{}}`

	req := answered(t, "claude-opus-4-8")
	require.JSONEq(t, `[{"type":"thinking","thinking":"One.","signature":"s1"},{"type":"text","text":"I look."},
		{"type":"thinking","thinking":"Two.","signature":"s2"},`+call+`]`, sentBack(t, req))

	// Thinking in the middle of an answer that was changed has no place any more.
	req.Messages[1].Content = "I looked."
	require.JSONEq(t, `[{"type":"text","text":"I looked."},`+call+`]`, sentBack(t, req))
}

func TestThinkingIsOmittedWhenItsPrefixChanged(t *testing.T) {
	t.Parallel()

	for _, model := range []string{"claude-fable-5-2", "claude-opus-5.5", "claude-sonnet-5-5", "claude-haiku-5-5", "claude-of-tomorrow"} {
		req := answered(t, model)
		require.Contains(t, sentBack(t, req), `"s2"`, "nothing has changed")

		req.CachePrompt = true
		req.Messages = append(req.Messages, llm.Message{Role: llm.RoleUser, Content: "Sure?"})
		require.Contains(t, sentBack(t, req), `"s2"`, "what comes after is free to change")

		for name, change := range map[string]func(*llm.Request){
			"a message": func(r *llm.Request) { r.Messages[0].Content = "What?" },
			"the tools": func(r *llm.Request) { r.Tools = nil },
			"the system text": func(r *llm.Request) {
				r.Messages = append(r.Messages, llm.Message{Role: llm.RoleSystem, Content: "Be brief."})
			},
		} {
			changed := *req
			changed.Messages = append([]llm.Message(nil), req.Messages...)
			change(&changed)
			require.NotContains(t, sentBack(t, &changed), "thinking", "%s: %s", model, name)
		}
	}

	req := answered(t, "claude-opus-5")
	req.Messages[0].Content = "What?"
	require.Contains(t, sentBack(t, req), `"s2"`, "this model does not mind")
}

func TestThinkingBetweenServerToolsIsDropped(t *testing.T) {
	t.Parallel()

	chunks, err := newAPI(t, reply{body: sse(start, thought("0", "One.", "s1"),
		`{"type":"content_block_start","index":1,"content_block":{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{"query":"q"}}}`,
		`{"type":"content_block_stop","index":1}`,
		`{"type":"content_block_start","index":2,"content_block":{"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":[]}}`,
		`{"type":"content_block_stop","index":2}`, thought("3", "Two.", "s2"), ended("end_turn"), stop)}).generate(question())
	require.NoError(t, err)
	require.Equal(t, llm.EndChunk{Reason: llm.StopEnd}, chunks[len(chunks)-1])
}

// Signatures are stored: the digest of what precedes an answer must be the same in every release.
func TestPrefixDigestIsThatOfEarlierReleases(t *testing.T) {
	t.Parallel()

	req := question()
	req.Model = "claude-opus-5-5"
	req.Tools = []llm.Tool{{Name: "get_pods", Description: "Lists <pods>.", Schema: json.RawMessage(`{"properties":{"a":{"type":"string"}}}`)}, {Name: "get_events"}}
	req.Messages = append(req.Messages,
		llm.Message{Role: llm.RoleSystem, Content: "Be brief & kind."},
		llm.Message{Role: llm.RoleAssistant, Content: "I look.", ToolCalls: []llm.ToolCall{{ID: "toolu_1", Name: "get_pods", Arguments: `{"a": "<b>"}`}}, Signature: &llm.Signature{
			By: "anthropic/claude-opus-5-5", Data: json.RawMessage(`[{"thinking":"One.","signature":"s1"},{"data":"x"},{"text":7},{"call":"toolu_1"}]`),
		}},
		llm.Message{Role: llm.RoleTool, ToolCallID: "toolu_1", Content: "none\u2028"})

	chunks, err := newAPI(t, reply{body: interleaved()}).generate(req)
	require.NoError(t, err)

	end, _ := chunks[len(chunks)-1].(llm.EndChunk)
	require.NotNil(t, end.Signature)

	var pieces []struct{ Prefix string }

	require.NoError(t, json.Unmarshal(end.Signature.Data, &pieces))
	require.Equal(t, "cb9cba29212c679878ed5c9c7f817da80c97e94da4d011d323abaeb787587abc", pieces[0].Prefix)
}
