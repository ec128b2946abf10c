package e2e

import (
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
	"tarsy.dev/tarsy/tarsytest"
)

// text assembles the chunks of an event as a browser does, and fails if one does not begin where the previous one ended.
func text(t *testing.T, events []tarsytest.Event, eventType tarsy.EventType) string {
	t.Helper()

	var units []uint16

	for _, e := range events {
		if e.Type != tarsy.TypeStreamChunk || e.Fields["event_type"] != string(eventType) {
			continue
		}

		chunk := decode[tarsy.StreamChunkPayload](e.Raw)
		require.Len(t, units, chunk.Offset, "the chunk %q begins at %d", chunk.Delta, chunk.Offset)
		units = append(units, utf16.Encode([]rune(chunk.Delta))...)
	}

	return string(utf16.Decode(units))
}

// waitText waits until a reader has exactly this text.
func waitText(t *testing.T, reader follower, eventType tarsy.EventType, want string) {
	t.Helper()
	reader.Wait("the text "+want, func(tarsytest.Event) bool { return text(t, reader.Events(), eventType) == want })
}

// bytewise cuts text into chunks of one byte, some of them followed by NUL, which is worse than what any provider does.
func bytewise(thinking, answer string) []llm.Chunk {
	var chunks []llm.Chunk

	for i := range len(thinking) {
		chunks = append(chunks, llm.ThinkingChunk{Text: thinking[i : i+1]})
	}

	for i := range len(answer) {
		chunks = append(chunks, llm.TextChunk{Text: answer[i:i+1] + strings.Repeat("\x00", i%2)})
	}

	return chunks
}

// The texts begin with a character that is one rune, two UTF-16 units and four bytes: every later chunk shows which of them
// its offset counts.
const (
	emojiThinking = "🤔 Hm, let me see… 👩‍👩‍👧 and 日本語."
	emojiAnswer   = "🔥🔥🔥 It is naïve; 𝒳 marks the spot."
)

// The answer is held before its end until every reader has all of its text: chunks are lossy, and one that comes with the
// end may be left out, because the end has the whole text.
func TestStreamedChunksFormTheText(t *testing.T) {
	t.Parallel()

	tool := newHeldTool()
	kubernetes := tarsytest.NewMCPServer("kubernetes", tarsytest.Tool{Name: "wait", Handle: tool.handle})
	app := tarsytest.New(t, tarsytest.Options{MCP: []*tarsytest.MCPServer{kubernetes}})
	gate := script.NewGate()
	chunks := bytewise(emojiThinking, emojiAnswer)
	app.Script.Add(calls("kubernetes__wait"), script.Reply{Chunks: chunks, Gate: gate, GateAfter: len(chunks)}, says("Fire."))

	sessionID := app.Submit("test", "emoji")
	app.Await(tool.reached, "the tool call")

	// All read before the first word is written.
	readers := []follower{app.Watch(sessionID), app.Events(sessionID, 0)}

	for _, reader := range readers {
		reader.Wait("the tool call", func(e tarsytest.Event) bool { return e.Fields["event_type"] == string(tarsy.EventToolCall) })
	}

	close(tool.open)
	app.WaitGate(gate)

	for _, reader := range readers {
		waitText(t, reader, tarsy.EventThinking, emojiThinking)
		waitText(t, reader, tarsy.EventResponse, emojiAnswer)
	}

	gate.Open()

	timeline := app.Timeline(app.WaitFor(sessionID, tarsy.SessionCompleted).ID)
	require.Equal(t, emojiThinking, event(t, timeline, tarsy.EventThinking).Content)
	require.Equal(t, emojiAnswer, event(t, timeline, tarsy.EventResponse).Content)

	for _, reader := range readers {
		reader.Wait("the end", isEnd)
		require.Equal(t, emojiAnswer, text(t, reader.Events(), tarsy.EventResponse))
		require.GreaterOrEqual(t, chunkCount(reader.Events()), 3, "it came in pieces")
		requireChunksInTheirPlace(t, reader.Events())
	}
}

func chunkCount(events []tarsytest.Event) int {
	count := 0

	for _, e := range events {
		if e.Type == tarsy.TypeStreamChunk {
			count++
		}
	}

	return count
}

// requireChunksInTheirPlace checks that chunks come after the entry that creates their event and before the one that completes it.
func requireChunksInTheirPlace(t *testing.T, events []tarsytest.Event) {
	t.Helper()

	open := map[any]bool{}

	for _, e := range events {
		switch id := e.Fields["event_id"]; e.Type {
		case tarsy.TypeTimelineCreated:
			open[id] = e.Fields["status"] == "streaming"
		case tarsy.TypeTimelineCompleted:
			open[id] = false
		case tarsy.TypeStreamChunk:
			require.True(t, open[id], "%s", e.Raw)
		}
	}
}

func TestReaderJoiningMidStreamGetsTextSoFar(t *testing.T) {
	t.Parallel()

	app := tarsytest.New(t, tarsytest.Options{})
	gate := script.NewGate()
	chunks := bytewise("", emojiAnswer)
	begun := strings.LastIndex(emojiAnswer, "🔥")
	cut := begun + 2 // in the middle of a character
	app.Script.Add(script.Reply{Chunks: chunks, Gate: gate, GateAfter: cut}, says("Fire."))

	sessionID := app.Submit("test", "emoji")
	app.WaitGate(gate)

	readers := []follower{app.Watch(sessionID), app.Events(sessionID, 0)}

	for _, reader := range readers {
		waitText(t, reader, tarsy.EventResponse, emojiAnswer[:begun])
	}

	gate.Open()

	for _, reader := range readers {
		whole := reader.Wait("the whole text", func(e tarsytest.Event) bool { return e.Type == tarsy.TypeTimelineCompleted })
		require.Equal(t, emojiAnswer, whole.Fields["content"])
		require.True(t, strings.HasPrefix(emojiAnswer, text(t, reader.Events(), tarsy.EventResponse)))
	}

	app.WaitFor(sessionID, tarsy.SessionCompleted)
}
