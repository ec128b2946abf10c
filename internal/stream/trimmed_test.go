package stream_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/internal/stream"
)

func overflowed(id string, head int64) message {
	return message{Type: "catchup.overflow", Channel: "session:" + id, Head: head}
}

func TestSocketRequestingTrimmedEventsReloadsAndContinuesLive(t *testing.T) {
	t.Parallel()

	h := newHub(t)
	id := h.session()
	h.status(t, id, tarsy.SessionCompleted)
	h.stages(t, id, 9)
	h.trim(id, 8)

	for _, after := range []int64{0, 3, 7} {
		c := h.connect(t)
		c.subscribe(id, after)
		require.Equal(t, overflowed(id, 10), c.next())
		c.pong()
	}

	// A reader that already has all trimmed events misses nothing.
	c := h.connect(t)
	c.subscribe(id, 8)
	c.expect(id, 9, 10)

	// The same with a catch-up.
	c.sayf(`{"action":"catchup","channel":"session:%s","last_event_id":2}`, id)
	require.Equal(t, overflowed(id, 10), c.next())
	h.stages(t, id, 1)
	c.expect(id, 11, 11)
	c.pong()
}

// The whole journal is gone, and a chat begins: text of an event from before the subscription is delivered.
func TestSocketOfTrimmedSessionReceivesChat(t *testing.T) {
	t.Parallel()

	h := newHub(t)
	id := h.session()
	h.status(t, id, tarsy.SessionCompleted)
	h.stages(t, id, 4)
	h.trim(id, 5)

	answer := ident.New()
	h.created(t, id, answer)

	c := h.connect(t)
	c.subscribe(id, 0)
	require.Equal(t, overflowed(id, 6), c.next())

	writer := h.deltas.Open(id, stream.Chunk{EventID: answer, EventType: tarsy.EventResponse, Fence: 2})
	writer.Append("because")
	writer.Close()

	chunk := c.next()
	require.Equal(t, "stream.chunk", chunk.Type)
	require.Equal(t, "because", chunk.Delta)

	h.completed(t, id, answer)
	c.expect(id, 7, 7)
}

func TestEventStreamRequestingTrimmedEventsReloadsAndContinues(t *testing.T) {
	t.Parallel()

	h := newHub(t)
	id := h.session()
	h.status(t, id, tarsy.SessionInProgress)
	h.status(t, id, tarsy.SessionFailed)
	h.stages(t, id, 8)
	h.trim(id, 6)

	overflow := sse{ID: "6", Event: "catchup.overflow", Data: overflowed(id, 6)}

	for _, after := range []string{"0", "5"} {
		e := h.watch(t, id, "?last_event_id="+after)
		require.Equal(t, overflow, e.next())
		e.expect(7, 10)
		require.Equal(t, ended(tarsy.SessionFailed), e.next())
		e.over()
	}

	// A reader that reconnects with the number of the overflow is not notified again.
	e := h.watch(t, id, "", "Last-Event-ID", "6")
	e.expect(7, 10)
	require.Equal(t, ended(tarsy.SessionFailed), e.next())
	e.over()

	e = h.watch(t, id, "?follow=true")
	require.Equal(t, overflow, e.next())
	e.expect(7, 10)
	h.stages(t, id, 1)
	e.expect(11, 11)
}

func TestEventStreamOfTrimmedSessionEnds(t *testing.T) {
	t.Parallel()

	h := newHub(t)
	id := h.session()
	h.status(t, id, tarsy.SessionTimedOut)
	h.stages(t, id, 2)
	h.trim(id, 3)

	e := h.watch(t, id, "")
	require.Equal(t, sse{ID: "3", Event: "catchup.overflow", Data: overflowed(id, 3)}, e.next())
	require.Equal(t, ended(tarsy.SessionTimedOut), e.next())
	e.over()

	e = h.watch(t, id, "?last_event_id=3")
	require.Equal(t, ended(tarsy.SessionTimedOut), e.next())
	e.over()
}

// The journal is trimmed while a slow reader follows it.
func TestSlowEventStreamReceivesOverflowOrEventsAfterTrim(t *testing.T) {
	t.Parallel()

	h := newHub(t)
	id := h.session()
	h.stages(t, id, 2)

	e := h.watch(t, id, "?follow=true")
	e.expect(1, 2)

	h.journals.mu.Lock()
	memory := h.journals.byID[id]
	h.journals.mu.Unlock()

	// Either both happen before the tail reads again, or it sees the events, which is fine too.
	h.stages(t, id, 3)
	memory.Trim(5)
	h.stages(t, id, 1)

	for item := e.next(); item.ID != "6"; item = e.next() {
		if item.Event == "catchup.overflow" {
			require.Equal(t, overflowed(id, 5), item.Data)
		}
	}
}
