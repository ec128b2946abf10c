package agent

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/llm"
)

func TestTextSoFarIsSavedAboutOnceASecond(t *testing.T) {
	t.Parallel()

	b := newBench(t)
	config := b.config()
	config.LLM = client(func(_ context.Context, _ *llm.Request, send func(llm.Chunk, error) bool) {
		for range 30 {
			send(llm.TextChunk{Text: "x"}, nil)
			b.clock.Advance(100 * time.Millisecond)
		}
	})
	require.NoError(t, Run(t.Context(), config, b.input()))

	var saved []int

	for _, step := range b.ledger.steps {
		for _, e := range step.Timeline {
			if e.EventType == tarsy.EventResponse && e.Status == tarsy.EventStreaming {
				saved = append(saved, len(e.Content))
				require.LessOrEqual(t, len(step.Events), 1)
			}
		}
	}

	require.Equal(t, []int{0, 11, 21}, saved, "as it begins, then after every second")
	require.Len(t, b.events(tarsy.EventResponse)[0].Content, 30)
	require.Equal(t, 1, b.journalCount(b.events(tarsy.EventResponse)[0].ID, tarsy.TypeTimelineCreated))
	require.Equal(t, 1, b.journalCount(b.events(tarsy.EventResponse)[0].ID, tarsy.TypeTimelineCompleted))
}

func TestRuneSplitBetweenTwoChunksStaysWhole(t *testing.T) {
	t.Parallel()

	b := newBench(t)
	b.model.Add(chunks(llm.TextChunk{Text: "caf\xc3"}, llm.TextChunk{Text: "\xa9 \xff!"}))
	b.finish()
	require.Equal(t, "café \uFFFD!", b.analysis())
	require.Equal(t, "café \uFFFD!", b.events(tarsy.EventResponse)[0].Content)
}

func TestTextIsStoredWithoutStream(t *testing.T) {
	t.Parallel()

	b := newBench(t)
	b.model.Add(chunks(llm.ThinkingChunk{Text: "hm"}, llm.TextChunk{Text: "done"}))

	config := b.config()
	config.OpenStream = nil
	require.NoError(t, Run(t.Context(), config, b.input()))
	require.Equal(t, "hm", b.events(tarsy.EventThinking)[0].Content)
	require.Equal(t, "done", b.analysis())
	require.Empty(t, b.shown.opened)
}
