package stream

import (
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"tarsy.dev/tarsy"
)

func record(kind, id string, status tarsy.EventStatus) tarsy.Event {
	return tarsy.NewEvent("s", kind, map[string]any{"event_id": id, "status": status}, time.Time{})
}

// In whatever order chunks and records arrive, the reader sees created, then chunks in order, then completed.
func TestGateKeepsChunksBetweenCreatedAndCompleted(t *testing.T) {
	t.Parallel()

	rapid.Check(t, func(t *rapid.T) {
		g := newGate(new(atomic.Int64))
		stage := map[string]int{} // 0 unknown, 1 created, 2 completed
		offered := map[string]int{}
		seen := map[string]int{}
		fences := map[string]int64{}

		see := func(chunk *Encoded) {
			require.Equal(t, 1, stage[chunk.EventID], "a chunk went out of turn")
			require.GreaterOrEqual(t, chunk.Offset, seen[chunk.EventID], "a chunk overtook another")
			require.GreaterOrEqual(t, chunk.Fence, fences[chunk.EventID])
			seen[chunk.EventID], fences[chunk.EventID] = chunk.Offset+1, chunk.Fence
		}

		for range rapid.IntRange(1, 100).Draw(t, "steps") {
			id := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "event")

			switch rapid.SampledFrom([]string{"chunk", "chunk", "chunk", "created", "completed"}).Draw(t, "what") {
			case "chunk":
				chunk := &Encoded{StreamChunkPayload: tarsy.StreamChunkPayload{
					EventID: id, Offset: offered[id], Fence: rapid.Int64Range(1, 2).Draw(t, "fence"),
				}}
				offered[id]++

				if g.admit(chunk) {
					see(chunk)
				}
			case "created":
				stage[id] = max(stage[id], 1)
				for _, chunk := range g.sent(record(tarsy.TypeTimelineCreated, id, tarsy.EventStreaming)) {
					see(chunk)
				}

				for _, chunk := range g.held {
					require.NotEqual(t, id, chunk.EventID, "a chunk was left behind")
				}
			case "completed":
				stage[id] = 2
				require.Empty(t, g.sent(record(tarsy.TypeTimelineCompleted, id, tarsy.EventCompleted)))
			}
		}
	})
}

func TestGateIsBoundedAndDropsOldest(t *testing.T) {
	t.Parallel()

	var dropped atomic.Int64

	g := newGate(&dropped)
	for i := range heldLimit + 10 {
		require.False(t, g.admit(newEncoded(tarsy.StreamChunkPayload{EventID: "e", Delta: strconv.Itoa(i)})))
	}

	require.EqualValues(t, 10, dropped.Load())

	released := g.sent(record(tarsy.TypeTimelineCreated, "e", tarsy.EventStreaming))
	require.Len(t, released, heldLimit)
	require.Equal(t, "10", released[0].Delta)
}

func TestGateDropsChunksOfInitiallyFinalEvents(t *testing.T) {
	t.Parallel()

	g := newGate(new(atomic.Int64))
	g.admit(newEncoded(tarsy.StreamChunkPayload{EventID: "e"}))
	require.Empty(t, g.sent(record(tarsy.TypeTimelineCreated, "e", tarsy.EventCompleted)))
	require.False(t, g.admit(newEncoded(tarsy.StreamChunkPayload{EventID: "e"})))
	require.Empty(t, g.held)
}

func TestGateKeepsLiveStateWhenLearningHistory(t *testing.T) {
	t.Parallel()

	g := newGate(new(atomic.Int64))
	g.sent(record(tarsy.TypeTimelineCompleted, "now done", tarsy.EventFailed))
	g.admit(newEncoded(tarsy.StreamChunkPayload{EventID: "open", Delta: "x"}))

	released := g.learn(map[string]bool{"now done": false, "open": false, "done": true})
	require.Len(t, released, 1)
	require.True(t, g.admit(newEncoded(tarsy.StreamChunkPayload{EventID: "open"})))
	require.False(t, g.admit(newEncoded(tarsy.StreamChunkPayload{EventID: "done"})))
	require.False(t, g.admit(newEncoded(tarsy.StreamChunkPayload{EventID: "now done"})))
}
