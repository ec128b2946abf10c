package llmtest

import (
	"encoding/json"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
)

func thinkingCases() map[string]func(*fixture) {
	return map[string]func(*fixture){
		"thinking is told apart from the answer":                  thinking,
		"a signature goes back with its answer":                   signature,
		"a signature goes back with tool calls and their results": signatureOfCalls,
		"a signature of another client stays here":                foreignSignature,
		"a signature that makes no sense does not spoil the call": brokenSignature,
	}
}

func thinking(f *fixture) {
	f.needs(FeatureThinking)
	f.script.Add(script.Reply{Thinking: "The pod was killed. So was the other — ünder load 😀.", Text: "Both ran out of memory."})

	response := f.answer(f.request())
	require.Equal(f, "The pod was killed. So was the other — ünder load 😀.", response.Thinking)
	require.Equal(f, "Both ran out of memory.", response.Text)
}

// scriptedSignature is the signature sent by the server: text in base64, because some APIs have bytes there.
const scriptedSignature = "c2lnbmF0dXJlIG9mIHRoZSBmaXJzdCBhbnN3ZXI="

func signedReply(calls ...llm.ToolCall) script.Reply {
	chunks := []llm.Chunk{llm.ThinkingChunk{Text: "Let me "}, llm.ThinkingChunk{Text: "see."}}
	reason := llm.StopToolCalls

	for _, call := range calls {
		chunks = append(chunks, llm.ToolCallChunk{Call: call})
	}

	if len(calls) == 0 {
		reason = llm.StopEnd
		chunks = append(chunks, llm.TextChunk{Text: "It is "}, llm.TextChunk{Text: "the disk."})
	}

	data, _ := json.Marshal(scriptedSignature) //nolint:errchkjson // a string
	signature := llm.Signature{By: "script", Data: data}

	return script.Reply{Chunks: append(chunks, llm.UsageChunk{InputTokens: 9, OutputTokens: 5}, llm.EndChunk{Reason: reason, Signature: &signature})}
}

// signatureSeen returns the signature of the one answer in the conversation that the server read in request i.
func (f *fixture) signatureSeen(i int) string {
	f.Helper()

	for _, message := range f.seen(i).Messages {
		if message.Role != llm.RoleAssistant || message.Signature == nil {
			continue
		}

		var text string

		require.NoError(f, json.Unmarshal(message.Signature.Data, &text), "%s", message.Signature.Data)

		return text
	}

	return ""
}

// stored returns a message as the database would return it.
func (f *fixture) stored(message llm.Message) llm.Message {
	f.Helper()

	data, err := json.Marshal(message)
	require.NoError(f, err)

	var back llm.Message

	require.NoError(f, json.Unmarshal(data, &back))

	return back
}

func signature(f *fixture) {
	f.needs(FeatureThinking, FeatureSignature)
	f.script.Add(signedReply(), script.Reply{Text: "fine"})

	response := f.answer(f.request())
	require.Equal(f, "Let me see.", response.Thinking)
	require.Equal(f, "It is the disk.", response.Text)
	require.NotNil(f, response.End.Signature)
	require.NotEmpty(f, response.End.Signature.By)

	f.answer(f.request(user("What is wrong?"), f.stored(assistant(response)), user("Sure?")))
	require.Empty(f, f.signatureSeen(0))
	require.Equal(f, scriptedSignature, f.signatureSeen(1))
}

func signatureOfCalls(f *fixture) {
	f.needs(FeatureThinking, FeatureSignature)
	f.script.Add(signedReply(
		llm.ToolCall{ID: "call_1", Name: "cluster__get_pods", Arguments: `{"namespace":"shop"}`},
		llm.ToolCall{ID: "call_2", Name: "cluster__get_events", Arguments: `{"namespace":"shop"}`},
	), script.Reply{Text: "fine"})

	response := f.answer(f.toolRequest())
	require.Len(f, response.ToolCalls, 2)
	require.NotNil(f, response.End.Signature)

	messages := []llm.Message{user("What is wrong?"), f.stored(assistant(response))}
	for _, call := range response.ToolCalls {
		messages = append(messages, result(call, "result of "+call.ID))
	}

	f.answer(f.toolRequest(messages...))
	f.sameConversation(messages, f.seen(1).Messages)
	require.Equal(f, scriptedSignature, f.signatureSeen(1))
}

func foreignSignature(f *fixture) {
	f.script.Add(script.Reply{Text: "fine"})

	signed := llm.Message{Role: llm.RoleAssistant, Content: "It is the disk."}
	signed.Signature = &llm.Signature{By: "another/model", Data: json.RawMessage(`{"secret":"of another"}`)}
	f.answer(f.request(user("What is wrong?"), signed, user("Sure?")))

	for _, message := range f.seen(0).Messages {
		require.Nil(f, message.Signature)
	}
}

func brokenSignature(f *fixture) {
	f.needs(FeatureThinking, FeatureSignature)
	f.script.Add(signedReply(), script.Reply{Text: "fine"}, script.Reply{Text: "fine"})

	signed := assistant(f.answer(f.request()))
	for _, data := range []string{`{"blocks":7}`, `"\u0000"`} {
		signed.Signature = &llm.Signature{By: signed.Signature.By, Data: json.RawMessage(data)}
		require.Equal(f, "fine", f.answer(f.request(user("What is wrong?"), signed, user("Sure?"))).Text)
	}
}
