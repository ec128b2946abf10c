package stream_test

import (
	"strconv"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/stream"
)

func TestDeltasStayBetweenCreatedAndCompleted(t *testing.T) {
	t.Parallel()

	h := newHub(t)
	id := h.session()
	c := h.connect(t)
	c.subscribe(id, 0)

	delta := h.deltas.Open(id, stream.Chunk{EventID: "e", EventType: tarsy.EventResponse, Fence: 3})
	delta.Append("early ")
	c.pong() // it is held back
	h.created(t, id, "e")
	require.Equal(t, "timeline_event.created", c.next().Type)

	chunk := message{Type: "stream.chunk", Channel: "session:" + id, SessionID: id, EventID: "e", Fence: 3}
	chunk.Delta = "early "
	require.Equal(t, chunk, c.next())

	delta.Append("later")

	chunk.Delta, chunk.Offset = "later", 6
	require.Equal(t, chunk, c.next())

	h.completed(t, id, "e")
	require.Equal(t, "timeline_event.completed", c.next().Type)
	delta.Append("too late")
	delta.Close()
	h.stages(t, id, 1)
	c.expect(id, 3, 3)
	c.pong()
}

func TestReturningReaderGetsDeltasOfKnownEvents(t *testing.T) {
	t.Parallel()

	h := newHub(t)
	id := h.session()
	h.created(t, id, "done")
	h.completed(t, id, "done")
	h.created(t, id, "e")
	h.stages(t, id, 1)

	stale := h.deltas.Open(id, stream.Chunk{EventID: "done"})
	stale.Append("nobody wants this")

	delta := h.deltas.Open(id, stream.Chunk{EventID: "e"})
	defer delta.Close()

	delta.Append("so far")

	c := h.connect(t)
	c.subscribe(id, 4)

	chunk := c.next()
	require.Equal(t, "e", chunk.EventID)
	require.Equal(t, "so far", chunk.Delta)
	require.Zero(t, chunk.Offset)

	stale.Close()

	// From the beginning, the whole text follows the record that creates the event.
	c.subscribe(id, 0)
	c.expect(id, 1, 3)

	next := []message{c.next(), c.next()}
	if next[0].ID != 0 {
		next[0], next[1] = next[1], next[0]
	}

	require.Equal(t, "so far", next[0].Delta)
	require.EqualValues(t, 4, next[1].ID)
	c.pong()

	// After an overflow the client has everything up to the head.
	h.stages(t, id, 200)
	c.expect(id, 5, 204)
	c.subscribe(id, 0)
	require.Equal(t, "catchup.overflow", c.next().Type)
	require.Equal(t, "so far", c.next().Delta)
}

func TestTextOfManySubscriptionsOnOneConnectionIsComplete(t *testing.T) {
	t.Parallel()

	const sessions, pieces = 20, 50

	h := newHub(t)
	c := h.connect(t)
	ids := make([]string, sessions)

	for i := range ids {
		ids[i] = h.session()
		c.subscribe(ids[i], 0)
		h.created(t, ids[i], "e")
		require.Equal(t, "timeline_event.created", c.next().Type)
	}

	var (
		writers sync.WaitGroup
		whole   string
	)

	for i := range pieces {
		whole += strconv.Itoa(i) + " "
	}

	for _, id := range ids {
		writers.Go(func() {
			delta := h.deltas.Open(id, stream.Chunk{EventID: "e"})
			defer delta.Close()

			for i := range pieces {
				delta.Append(strconv.Itoa(i) + " ")
			}
		})
	}

	texts := map[string]string{}

	for missing := sessions; missing > 0; {
		chunk := c.next()
		require.Len(t, texts[chunk.SessionID], chunk.Offset, "in order and without a gap")

		texts[chunk.SessionID] += chunk.Delta
		if texts[chunk.SessionID] == whole {
			missing--
		}
	}

	writers.Wait()
	require.Zero(t, h.deltas.Dropped())
}

func TestDeltasInEventStreamHaveNoID(t *testing.T) {
	t.Parallel()

	h := newHub(t)
	id := h.session()
	e := h.watch(t, id, "")

	delta := h.deltas.Open(id, stream.Chunk{EventID: "e", Fence: 1})
	defer delta.Close()

	h.created(t, id, "e")
	e.expect(1, 1)
	delta.Append("😀")
	delta.Append("!")

	want := sse{Event: "stream.chunk", Data: message{
		Type: "stream.chunk", Channel: "session:" + id, SessionID: id, EventID: "e", Fence: 1, Delta: "😀",
	}}
	require.Equal(t, want, e.next())

	want.Data.Delta, want.Data.Offset = "!", 2
	require.Equal(t, want, e.next())
}
