package stream_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/stream"
)

func notesOverflow(head int64) message {
	return message{Type: "catchup.overflow", Channel: "notes", Head: head}
}

func TestNotesChannelReplaysThenFollows(t *testing.T) {
	t.Parallel()

	h := newHub(t)
	session := h.session()
	h.capture(t, 3)

	c := h.connect(t)
	c.subscribeTo("notes", 1)
	c.expectFrom("notes", 2, 3)
	h.capture(t, 1)

	m := c.next()
	require.Equal(t, message{Type: "note.captured", Channel: "notes", ID: 4}, m)

	// A session on the same connection has its own numbers.
	h.stages(t, session, 1)
	c.subscribe(session, 0)
	c.expect(session, 1, 1)

	c.sayf(`{"action":"catchup","channel":"notes","last_event_id":2}`)
	c.expectFrom("notes", 3, 4)

	c.sayf(`{"action":"subscribe","channel":"notes","last_event_id":5}`)
	require.Equal(t, "invalid_parameter", c.next().Code)

	c.sayf(`{"action":"unsubscribe","channel":"notes"}`)
	require.Equal(t, message{Type: "subscription.removed", Channel: "notes"}, c.next())
	h.capture(t, 1)
	c.pong()
}

func TestNotesReplayOverflows(t *testing.T) {
	t.Parallel()

	h := newHub(t)
	h.capture(t, 1001)

	c := h.connect(t)
	c.subscribeTo("notes", 801)
	c.expectFrom("notes", 802, 1001)
	c.subscribeTo("notes", 800)
	require.Equal(t, notesOverflow(1001), c.next())

	h.watchNotes(t, "?last_event_id=1").expect(2, 1001)

	e := h.watchNotes(t, "")
	require.Equal(t, sse{ID: "1001", Event: "catchup.overflow", Data: notesOverflow(1001)}, e.next())

	h.capture(t, 1)
	c.expectFrom("notes", 1002, 1002)
	e.expect(1002, 1002)
	h.watchNotes(t, "?replay=all").expect(1, 1002)
}

func TestReaderOfTrimmedNotesReloadsAndContinues(t *testing.T) {
	t.Parallel()

	h := newHub(t)
	h.capture(t, 9)
	h.notes.Trim(6)

	c := h.connect(t)
	c.subscribeTo("notes", 3)
	require.Equal(t, notesOverflow(9), c.next())

	e := h.watchNotes(t, "", "Last-Event-ID", "3")
	require.Equal(t, sse{ID: "6", Event: "catchup.overflow", Data: notesOverflow(6)}, e.next())
	e.expect(7, 9)

	h.capture(t, 1)
	c.expectFrom("notes", 10, 10)
	e.expect(10, 10)
	h.watchNotes(t, "", "Last-Event-ID", "6").expect(7, 10)
}

func TestNotesEventStreamStaysOpen(t *testing.T) {
	t.Parallel()

	h := newHub(t, func(cfg *stream.Config) { cfg.CommentEvery = 50 * time.Millisecond })

	// The parameter for sessions has no effect.
	e := h.watchNotes(t, "?follow=false")
	require.Equal(t, "text/event-stream", e.Header.Get("Content-Type"))
	require.Equal(t, sse{Comment: "keep-alive"}, e.next())
	h.capture(t, 1)

	item := e.next()
	for item.Comment != "" {
		item = e.next()
	}

	require.Equal(t, sse{ID: "1", Event: "note.captured", Data: message{Type: "note.captured", Channel: "notes", ID: 1}}, item)
	require.Equal(t, sse{Comment: "keep-alive"}, e.next())
}

func TestNotesEventStreamResumes(t *testing.T) {
	t.Parallel()

	h := newHub(t)
	h.capture(t, 9)
	h.watchNotes(t, "", "Last-Event-ID", "7").expect(8, 9)
	h.watchNotes(t, "?last_event_id=8").expect(9, 9)
	h.watchNotes(t, "?last_event_id=2", "Last-Event-ID", "8").expect(9, 9)

	for _, query := range []string{"?last_event_id=10", "?last_event_id=-1", "?last_event_id=x", "?replay=some"} {
		e := h.openPath(t, t.Context(), notesPath+query)
		require.Equal(t, http.StatusBadRequest, e.StatusCode, query)
		require.Equal(t, "invalid_parameter", body(t, e.Response).Code, query)
		e.leave()
	}
}

func TestReconnectingNotesStreamsMissAndRepeatNothing(t *testing.T) {
	t.Parallel()

	h := newHub(t)
	seen := int64(0)

	rapid.Check(t, func(rt *rapid.T) {
		total := rapid.IntRange(1, 60).Draw(rt, "total")
		reads := rapid.SliceOfN(rapid.IntRange(0, 20), 0, 6).Draw(rt, "events read before each drop")
		last := seen + int64(total)
		appended := make(chan struct{})

		go func() { // ends on its own; waited for below
			defer close(appended)

			h.capture(t, total)
		}()

		for _, n := range append(reads, total) {
			e := h.openPath(rt, t.Context(), notesPath, "Last-Event-ID", itoa(seen))
			require.Equal(rt, sse{Retry: "2000"}, e.next())

			upTo := min(seen+int64(n), last)
			e.expect(seen+1, upTo)
			e.leave()

			seen = upTo
		}

		<-appended
	})
}

func TestNotesReadersAreToldGoodbye(t *testing.T) {
	t.Parallel()

	const stopping, loggedOut = "server is shutting down", "API key or browser session is no longer valid"

	loginEnded := make(chan struct{})

	tests := map[string]struct {
		end  func(*hub)
		bye  string
		code websocket.StatusCode
	}{
		"shutdown": {func(h *hub) { go func() { _ = h.Close(context.Background()) }() }, stopping, websocket.StatusGoingAway}, // the fixture waits
		"logout":   {func(*hub) { close(loginEnded) }, loggedOut, 4401},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			h := newHub(t, func(cfg *stream.Config) {
				if name == "logout" {
					cfg.LoginEnded = func(*http.Request) <-chan struct{} { return loginEnded }
				}
			})
			h.capture(t, 1)

			c := h.connect(t)
			c.subscribeTo("notes", 0)
			c.expectFrom("notes", 1, 1)

			e := h.watchNotes(t, "")
			e.expect(1, 1)

			test.end(h)

			require.Equal(t, sse{Event: "bye", Data: message{Type: "bye", Reason: test.bye}}, e.next())
			e.over()

			_, _, err := c.Read(c.ctx)

			var reason websocket.CloseError
			require.ErrorAs(t, err, &reason)
			require.Equal(t, websocket.CloseError{Code: test.code, Reason: test.bye}, reason)
		})
	}
}

func TestUnreadableNotesEndStreamsWithReason(t *testing.T) {
	t.Parallel()

	h := newHub(t)
	h.capture(t, 1)
	h.journals.failure = errors.New("the database is gone")

	e := h.watchNotes(t, "")
	require.Equal(t, sse{Event: "bye", Data: message{Type: "bye", Reason: "subscription failed, connect again"}}, e.next())
	e.over()

	c := h.connect(t)
	c.subscribeTo("notes", 0)

	_, _, err := c.Read(c.ctx)

	var reason websocket.CloseError
	require.ErrorAs(t, err, &reason)
	require.Equal(t, websocket.CloseError{Code: websocket.StatusInternalError, Reason: "subscription failed, connect again"}, reason)
}

func TestNotesStreamsAreCounted(t *testing.T) {
	t.Parallel()

	h := newHub(t, owned(stream.Limits{ConnectionsPerOwner: 2, SubscriptionsPerOwner: 1}))
	h.capture(t, 1)
	h.watchNotes(t, "", "X-Owner", "ada").expect(1, 1)

	c := h.dial(t, t.Context(), as("ada"))
	defer func() { _ = c.CloseNow() }()

	over := h.openPath(t, t.Context(), notesPath, "X-Owner", "ada")
	defer over.leave()

	require.Equal(t, http.StatusTooManyRequests, over.StatusCode)
	require.Equal(t, string(tarsy.CodeTooManyStreams), body(t, over.Response).Code)

	c.subscribeTo("notes", 1)
	c.sayf(`{"action":"subscribe","channel":"sessions"}`)
	require.Equal(t, "too_many_subscriptions", c.next().Code)
}
