package gemini_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/llm"
)

// back makes a call that is answered with events, stores the answer as a database would, and returns the contents of the next call.
func back(t *testing.T, model string, change func(*llm.Message), events ...string) any {
	t.Helper()

	w := answering(t, events...)
	req := ask()
	req.Model = model

	response, err := llm.Collect(w.client(t).Generate(t.Context(), req), nil)
	require.NoError(t, err)

	message := llm.Message{Role: llm.RoleAssistant, Content: response.Text, ToolCalls: response.ToolCalls, Signature: response.End.Signature}
	data, err := json.Marshal(message)
	require.NoError(t, err)

	message = llm.Message{}
	require.NoError(t, json.Unmarshal(data, &message))

	if change != nil {
		change(&message)
	}

	req.Messages = append(req.Messages, message)
	for _, call := range message.ToolCalls {
		req.Messages = append(req.Messages, llm.Message{Role: llm.RoleTool, ToolCallID: call.ID, ToolName: call.Name, Content: "done"})
	}

	w = answering(t, done)
	_, err = w.generate(t, req)
	require.NoError(t, err)

	return at(t, w.sent(t), "contents.1.parts")
}

func TestSignaturesReturnOnTheirParts(t *testing.T) {
	t.Parallel()

	const flash3 = "gemini-3-flash-preview"

	calls := event(`{"functionCall": {"name": "get","args": {"a": 1}},"thoughtSignature": "c2lnMQ=="},{"functionCall": {"name": "list","args": {}}}`, stop)

	for name, test := range map[string]struct {
		model  string
		change func(*llm.Message)
		events []string
		want   string
	}{
		"on the first of parallel calls": {
			flash3, nil, []string{event(`{"text": "hm","thought": true}`, ""), calls},
			`[{"functionCall":{"id":"call_1","name":"get","args":{"a":1}},"thoughtSignature":"c2lnMQ=="},{"functionCall":{"id":"call_2","name":"list"}}]`,
		},
		"on the last text": {
			flash3, nil, []string{event(`{"text": "It "}`, ""), event(`{"text": "is "}`, ""), event(`{"text": "ö"}`, ""), event(`{"text": "k.","thoughtSignature": "c2lnMg=="}`, stop)},
			`[{"text":"It is ö"},{"text":"k.","thoughtSignature":"c2lnMg=="}]`,
		},
		"on an empty text": {
			flash3, nil, []string{event(`{"text": "It is."}`, ""), event(`{"text": "","thoughtSignature": "c2lnMw=="}`, stop)},
			`[{"text":"It is."},{"text":"","thoughtSignature":"c2lnMw=="}]`,
		},
		"on text before calls, and on both": {
			"gemini-2.5-pro", nil, []string{event(`{"text": "I call.","thoughtSignature": "c2lnNA=="}`, ""), event(`{"text": " Now."}`, ""), calls},
			`[{"text":"I call.","thoughtSignature":"c2lnNA=="},{"text":" Now."},{"functionCall":{"id":"call_1","name":"get","args":{"a":1}},"thoughtSignature":"c2lnMQ=="},` +
				`{"functionCall":{"id":"call_2","name":"list"}}]`,
		},
		"on a thought": {
			"gemini-2.5-pro", nil, []string{event(`{"text": "hm","thought": true,"thoughtSignature": "c2lnNQ=="}`, ""), event(`{"text": "So."}`, stop)},
			`[{"text":"hm","thought":true,"thoughtSignature":"c2lnNQ=="},{"text":"So."}]`,
		},
		"on calls, if the text was changed": {
			flash3, func(m *llm.Message) { m.Content = "masked" }, []string{event(`{"text": "secret"}`, ""), event(`{"text": "x","thoughtSignature": "c2lnNA=="}`, ""), calls},
			`[{"text":"masked"},{"functionCall":{"id":"call_1","name":"get","args":{"a":1}},"thoughtSignature":"c2lnMQ=="},{"functionCall":{"id":"call_2","name":"list"}}]`,
		},
		"on calls, if one was dropped": {
			flash3, func(m *llm.Message) { m.ToolCalls = m.ToolCalls[:1] }, []string{calls},
			`[{"functionCall":{"id":"call_1","name":"get","args":{"a":1}},"thoughtSignature":"c2lnMQ=="}]`,
		},
		"not those of another model": {
			"gemini-2.5-pro", func(m *llm.Message) { m.Signature.By = "gemini/gemini-2.5-flash" }, []string{calls},
			`[{"functionCall":{"id":"call_1","name":"get","args":{"a":1}}},{"functionCall":{"id":"call_2","name":"list"}}]`,
		},
		"not those of another model, which the third generation must be told": {
			flash3, func(m *llm.Message) { m.Signature.By = "anthropic/claude" }, []string{calls},
			`[{"functionCall":{"id":"call_1","name":"get","args":{"a":1}},"thoughtSignature":"c2tpcF90aG91Z2h0X3NpZ25hdHVyZV92YWxpZGF0b3I="},` +
				`{"functionCall":{"id":"call_2","name":"list"}}]`,
		},
		"not those of another model, which the fourth must be told": {
			"models/gemini-4-argon", func(m *llm.Message) { m.Signature = nil }, []string{calls},
			`[{"functionCall":{"id":"call_1","name":"get","args":{"a":1}},"thoughtSignature":"c2tpcF90aG91Z2h0X3NpZ25hdHVyZV92YWxpZGF0b3I="},` +
				`{"functionCall":{"id":"call_2","name":"list"}}]`,
		},
		"not those of another model, which the latest must be told": {
			"gemini-flash-latest", func(m *llm.Message) { m.Signature = nil }, []string{calls},
			`[{"functionCall":{"id":"call_1","name":"get","args":{"a":1}},"thoughtSignature":"c2tpcF90aG91Z2h0X3NpZ25hdHVyZV92YWxpZGF0b3I="},` +
				`{"functionCall":{"id":"call_2","name":"list"}}]`,
		},
		"not one that makes no sense": {
			"gemini-2.5-pro", func(m *llm.Message) { m.Signature.Data = json.RawMessage(`{"parts":[{"text":-3},{"text":100000}]}`) }, []string{calls},
			`[{"functionCall":{"id":"call_1","name":"get","args":{"a":1}}},{"functionCall":{"id":"call_2","name":"list"}}]`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.JSONEq(t, test.want, jsonOf(t, back(t, test.model, test.change, test.events...)))
		})
	}
}

func TestAnswerWithoutSignaturesHasNone(t *testing.T) {
	t.Parallel()

	chunks, err := answering(t, event(`{"text": "x"},{"functionCall": {"name": "get"}}`, stop)).generate(t, ask())
	require.NoError(t, err)
	require.Equal(t, llm.EndChunk{Reason: llm.StopToolCalls}, chunks[len(chunks)-1])
}
