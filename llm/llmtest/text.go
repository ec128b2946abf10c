package llmtest

import (
	"strings"
	"time"

	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
)

func textCases() map[string]func(*fixture) {
	return map[string]func(*fixture){
		"text arrives in pieces, in order and byte for byte": textInPieces,
		"text of any script survives the way":                textOfAnyScript,
		"an empty answer is an answer":                       emptyAnswer,
		"a slow trickle is passed on piece by piece":         slowTrickle,
		"the conversation reaches the server as it is":       conversation,
		"system texts reach the server wherever they stand":  systemTexts,
		"hostile text in the conversation goes through":      hostileConversation,
		"nothing is asked before the answer is read":         lazy,
	}
}

func textInPieces(f *fixture) {
	const text = "The pod was killed because it ran out of memory.\n\n  - raise the limit\n  - look for the leak\n"

	f.script.Add(script.Reply{Text: text})

	response, chunks, err := f.generate(f.request())
	require.NoError(f, err)
	require.Equal(f, text, response.Text)
	require.Empty(f, response.ToolCalls)
	require.Equal(f, llm.StopEnd, response.End.Reason)

	pieces := 0

	for _, chunk := range chunks {
		if _, ok := chunk.(llm.TextChunk); ok {
			pieces++
		}
	}

	require.Greater(f, pieces, 1, "a streamed answer comes in more than one piece")
}

func textOfAnyScript(f *fixture) {
	// The family and the flag are cut between their runes; what follows is syntax of JSON, SSE or HTML.
	pieces := []string{
		"Grüße, ", "日本", "語 ", "👩", "\u200d", "👩", "\u200d", "👧 ", "🇩", "🇪 ", "e", "\u0301 ", "שלום ", "data: x\n\n", "event: end\n\n",
		`"quoted" \back\slash`, "\r\n\t", "</script><b>&amp;", "\u2028\u2029", "\x1b[31m", "\ufffd", "[DONE]", " end ",
	}

	chunks := make([]llm.Chunk, len(pieces))
	for i, piece := range pieces {
		chunks[i] = llm.TextChunk{Text: piece}
	}

	f.script.Add(script.Reply{Chunks: chunks, Usage: &llm.UsageChunk{InputTokens: 1, OutputTokens: 1}})
	require.Equal(f, strings.Join(pieces, ""), f.answer(f.request()).Text)
}

func emptyAnswer(f *fixture) {
	f.script.Add(script.Reply{})

	response := f.answer(f.request())
	require.Empty(f, response.Text)
	require.Empty(f, response.Thinking)
	require.Empty(f, response.ToolCalls)
	require.Equal(f, llm.StopEnd, response.End.Reason)
}

// slowTrickle advances the script's clock only after the client has passed on the previous piece.
func slowTrickle(f *fixture) {
	const text = "Trickle: ä€😀."

	clock := clockwork.NewFakeClock()
	f.restart(script.Options{Clock: clock, Pace: script.Pace{TokensPerSecond: 1}})

	var pieces []llm.Chunk
	for _, r := range text {
		pieces = append(pieces, llm.TextChunk{Text: string(r)})
	}

	f.script.Add(script.Reply{Chunks: pieces, Usage: &llm.UsageChunk{InputTokens: 1, OutputTokens: 1}})

	came := make(chan string)
	done := make(chan error, 1)

	go func() {
		_, err := llm.Collect(f.client.Generate(f.ctx(), f.request()), func(chunk llm.Chunk) error {
			if piece, ok := chunk.(llm.TextChunk); ok {
				came <- piece.Text
			}

			return nil
		})
		done <- err
	}()

	for _, r := range text {
		require.NoError(f, clock.BlockUntilContext(f.ctx(), 1), "the script does not wait for its next piece")
		clock.Advance(time.Second)
		require.Equal(f, string(r), receive(f, came, "the piece "+string(r)))
	}

	require.NoError(f, receive(f, done, "the end of the answer"))
}

func conversation(f *fixture) {
	f.script.Add(script.Reply{Text: "fine"})

	sent := []llm.Message{
		system("You look into alerts.\nBe brief."),
		user("What is wrong?"),
		{Role: llm.RoleAssistant, Content: "The pod restarts."},
		user("Why? \"Tell\" me <now> — ünverzüglich 😀"),
	}
	f.answer(f.request(sent...))

	seen := f.seen(0)
	require.Equal(f, f.p.Model, seen.Model)
	require.Empty(f, seen.Tools)
	require.Empty(f, seen.Stop)
	require.Empty(f, seen.ResponseSchema)
	require.Len(f, seen.Messages, len(sent))

	for i := range sent {
		require.Equal(f, sent[i].Role, seen.Messages[i].Role)
		require.Equal(f, sent[i].Content, seen.Messages[i].Content)
	}
}

func systemTexts(f *fixture) {
	f.script.Add(script.Reply{Text: "fine"})
	f.answer(f.request(system("First rule."), system("Second rule."), user("Hello."), system("Conclude now.")))

	var all strings.Builder
	for _, message := range f.seen(0).Messages {
		all.WriteString(message.Content + "\n")
	}

	for _, text := range []string{"First rule.", "Second rule.", "Hello.", "Conclude now."} {
		require.Equal(f, 1, strings.Count(all.String(), text), "%q in %q", text, all.String())
	}
}

func hostileConversation(f *fixture) {
	f.script.Add(script.Reply{Text: "fine"})

	call := llm.ToolCall{ID: "call_1", Name: "read_log", Arguments: "{\"path\":\"a\x00b\xff\"}"}
	req := f.request(
		system("rules \x00"), user("alert \x00\xff\xfe text"),
		llm.Message{Role: llm.RoleAssistant, Content: "look \xc3", ToolCalls: []llm.ToolCall{call}}, result(call, "log \x00\x80 line"),
		llm.Message{Role: llm.RoleAssistant}, user(""), user("go on"),
	)
	req.Tools = []llm.Tool{{Name: "read_log", Description: "reads \x00\xff", Schema: []byte(`{"type":"object"}`)}}

	require.Equal(f, "fine", f.answer(req).Text)

	var all strings.Builder
	for _, message := range f.seen(0).Messages {
		all.WriteString(message.Content + "\n")
	}

	for _, text := range []string{"rules", "alert", "text", "log", "line", "go on"} {
		require.Contains(f, all.String(), text)
	}
}

func lazy(f *fixture) {
	f.script.Add(script.Reply{Text: "one"}, script.Reply{Text: "two"})

	seq := f.client.Generate(f.ctx(), f.request())
	require.Zero(f, f.script.CallCount())

	for _, want := range []string{"one", "two"} {
		response, err := llm.Collect(seq, nil)
		require.NoError(f, err)
		require.Equal(f, want, response.Text, "reading twice makes two calls")
	}
}
