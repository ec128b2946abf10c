package stream_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/kit/wait"
	"tarsy.dev/tarsy/internal/stream"
)

func TestSubscriptionReplaysThenFollows(t *testing.T) {
	t.Parallel()

	h := newHub(t)
	id := h.session()
	h.stages(t, id, 3)

	c := h.connect(t)
	c.sayf(`{"action":"subscribe","channel":"session:%s"}`, id)
	require.Equal(t, message{Type: "subscription.confirmed", Channel: "session:" + id}, c.next())
	c.expect(id, 1, 3)
	h.stages(t, id, 2)
	c.expect(id, 4, 5)

	h.append(t, id, tarsy.Event{Type: "odd", Payload: json.RawMessage("{\n \"type\": \"odd\", \"a\": {\"b\": [1, 2]}\n}\n")})

	_, data, err := c.Read(c.ctx)
	require.NoError(t, err)
	require.JSONEq(t, `{"type":"odd","a":{"b":[1,2]},"db_event_id":6,"channel":"session:`+id+`"}`, string(data))
	require.NotContains(t, string(data), "\n")

	h.append(t, id, tarsy.Event{Type: "empty", Payload: json.RawMessage(`{}`)}, tarsy.Event{Type: "none"})
	c.expect(id, 7, 7)

	last := c.next()
	require.Equal(t, message{Type: "none", ID: 8, Channel: "session:" + id}, last)
}

func TestSubscriptionsOfOneConnectionAreIndependent(t *testing.T) {
	t.Parallel()

	h := newHub(t)
	a, b := h.session(), h.session()
	h.stages(t, a, 2)

	c := h.connect(t)
	c.subscribe(a, 1)
	c.expect(a, 2, 2)
	c.subscribe(b, 0)
	h.stages(t, b, 1)
	c.expect(b, 1, 1)

	c.sayf(`{"action":"unsubscribe","channel":"session:%s"}`, a)
	require.Equal(t, message{Type: "subscription.removed", Channel: "session:" + a}, c.next())
	h.stages(t, a, 5)
	h.stages(t, b, 1)
	c.expect(b, 2, 2)
	c.pong()
}

func TestCatchupRestartsTail(t *testing.T) {
	t.Parallel()

	h := newHub(t)
	id := h.session()
	h.stages(t, id, 5)

	c := h.connect(t)
	c.subscribe(id, 3)
	c.expect(id, 4, 5)
	c.sayf(`{"action":"catchup","channel":"session:%s","last_event_id":1}`, id)
	c.expect(id, 2, 5)
	h.stages(t, id, 1)
	c.expect(id, 6, 6)

	// Subscribing again catches up, and is confirmed.
	c.subscribe(id, 5)
	c.expect(id, 6, 6)
	c.pong()
}

func TestReplayOverflowsAbove200Events(t *testing.T) {
	t.Parallel()

	h := newHub(t)
	id := h.session()
	h.stages(t, id, 201)

	c := h.connect(t)
	c.subscribe(id, 1)
	c.expect(id, 2, 201)

	c.subscribe(id, 0)
	require.Equal(t, message{Type: "catchup.overflow", Channel: "session:" + id, Head: 201}, c.next())
	h.stages(t, id, 1)
	c.expect(id, 202, 202)

	c.sayf(`{"action":"catchup","channel":"session:%s","last_event_id":1}`, id)
	require.Equal(t, message{Type: "catchup.overflow", Channel: "session:" + id, Head: 202}, c.next())
	c.pong()
}

func TestBadMessagesAreAnsweredAndConnectionStaysOpen(t *testing.T) {
	t.Parallel()

	h := newHub(t)
	id := h.session()
	h.stages(t, id, 2)

	c := h.connect(t)

	tests := []struct{ name, say, code, channel string }{
		{"no JSON", `{`, "invalid_json", ""},
		{"no object", `[1]`, "invalid_json", ""},
		{"empty", ``, "invalid_json", ""},
		{"wrong type", `{"action":"subscribe","last_event_id":"x"}`, "invalid_json", ""},
		{"no action", `{}`, "unknown_action", ""},
		{"unknown action", `{"action":"dance"}`, "unknown_action", ""},
		{"no channel", `{"action":"subscribe"}`, "unknown_channel", ""},
		{"unknown channel", `{"action":"subscribe","channel":"notes:1"}`, "unknown_channel", "notes:1"},
		{"no session", `{"action":"subscribe","channel":"session:"}`, "unknown_channel", "session:"},
		{"unsubscribe from nothing", `{"action":"unsubscribe","channel":"x"}`, "unknown_channel", "x"},
		{"bad session", `{"action":"subscribe","channel":"session:'; --"}`, "session_not_found", "session:'; --"},
		{
			"unknown session", `{"action":"subscribe","channel":"session:00000000-0000-7000-8000-000000000000"}`,
			"session_not_found", "session:00000000-0000-7000-8000-000000000000",
		},
		{
			"beyond the end", `{"action":"subscribe","channel":"session:` + id + `","last_event_id":3}`,
			"invalid_parameter", "session:" + id,
		},
		{
			"negative", `{"action":"subscribe","channel":"session:` + id + `","last_event_id":-1}`,
			"invalid_parameter", "session:" + id,
		},
		{
			"catchup first", `{"action":"catchup","channel":"session:` + id + `","last_event_id":0}`,
			"not_subscribed", "session:" + id,
		},
		{"catchup of an unknown channel", `{"action":"catchup","channel":"y"}`, "unknown_channel", "y"},
	}
	for _, test := range tests {
		c.sayf("%s", test.say)

		m := c.next()
		require.Equal(t, "error", m.Type, test.name)
		require.Equal(t, test.code, m.Code, test.name)
		require.Equal(t, test.channel, m.Channel, test.name)
		require.NotEmpty(t, m.Message, test.name)
	}

	require.NoError(t, c.Write(c.ctx, websocket.MessageBinary, []byte(`{"action":"ping"}`)))
	require.Equal(t, "invalid_json", c.next().Code)

	c.subscribe(id, 2)
	c.sayf(`{"action":"catchup","channel":"session:%s"}`, id)
	require.Equal(t, "missing_field", c.next().Code)
	h.stages(t, id, 1)
	c.expect(id, 3, 3)
	c.pong()
}

func TestConnectionFollowsAtMost100Channels(t *testing.T) {
	t.Parallel()

	h := newHub(t)
	c := h.connect(t)
	last := ""

	for range 100 {
		last = h.session()
		c.subscribe(last, 0)
	}

	one := h.session()
	c.sayf(`{"action":"subscribe","channel":"session:%s"}`, one)
	require.Equal(t, "too_many_subscriptions", c.next().Code)

	c.subscribe(last, 0) // does not count as another one
	c.sayf(`{"action":"unsubscribe","channel":"session:%s"}`, last)
	require.Equal(t, "subscription.removed", c.next().Type)
	c.subscribe(one, 0)
}

func TestFrameOver32KiBClosesConnection(t *testing.T) {
	t.Parallel()

	h := newHub(t)
	c := h.connect(t)

	c.sayf("%s", strings.Repeat(" ", 32<<10-len(`{"action":"ping"}`))+`{"action":"ping"}`)
	require.Equal(t, "pong", c.next().Type)

	c.sayf("%s", strings.Repeat(" ", 32<<10)+`{"action":"ping"}`)

	_, _, err := c.Read(c.ctx)
	require.Equal(t, websocket.StatusMessageTooBig, websocket.CloseStatus(err))
}

func TestSessionsChannelIsFeed(t *testing.T) {
	t.Parallel()

	h := newHub(t)
	c := h.connect(t)

	c.sayf(`{"action":"subscribe","channel":"sessions"}`)
	require.Equal(t, message{Type: "subscription.confirmed", Channel: "sessions"}, c.next())

	changed := func(id string, version int64) message {
		return message{Type: "session.changed", Channel: "sessions", SessionID: id, Version: version}
	}
	behind := message{Type: "session.changed", Channel: "sessions", Behind: true}

	h.feed.changes <- stream.Change{SessionID: "a", Version: 3}
	require.Equal(t, changed("a", 3), c.next())

	h.feed.behind <- struct{}{}
	h.feed.changes <- stream.Change{SessionID: "b", Version: 1}
	require.Equal(t, behind, c.next())
	require.Equal(t, changed("b", 1), c.next())

	h.feed.behind <- struct{}{}
	h.feed.changes <- stream.Change{}
	require.Equal(t, behind, c.next())

	c.sayf(`{"action":"catchup","channel":"sessions"}`)
	require.Equal(t, behind, c.next())

	c.sayf(`{"action":"unsubscribe","channel":"sessions"}`)
	require.Equal(t, message{Type: "subscription.removed", Channel: "sessions"}, c.next())
	h.feed.changes <- stream.Change{SessionID: "c", Version: 1}
	c.pong()
}

func TestFailedSubscriptionClosesConnection(t *testing.T) {
	t.Parallel()

	h := newHub(t)
	id := h.session()
	h.journals.failure = errors.New("the database is gone")

	c := h.connect(t)
	c.subscribe(id, 0)

	_, _, err := c.Read(c.ctx)
	require.Equal(t, websocket.StatusInternalError, websocket.CloseStatus(err))
	require.NotContains(t, err.Error(), "database")

	c = h.connect(t)
	c.sayf(`{"action":"subscribe","channel":"sessions"}`)
	c.next()
	close(h.feed.changes)

	_, _, err = c.Read(c.ctx)
	require.Equal(t, websocket.StatusInternalError, websocket.CloseStatus(err))
}

func TestReconnectingSocketsMissAndRepeatNothing(t *testing.T) {
	t.Parallel()

	h := newHub(t)

	rapid.Check(t, func(rt *rapid.T) {
		total := rapid.IntRange(1, 60).Draw(rt, "total")
		reads := rapid.SliceOfN(rapid.IntRange(0, 20), 0, 6).Draw(rt, "events read before each drop")
		id := h.session()
		appended := make(chan struct{})

		go func() { // ends on its own; waited for below
			defer close(appended)

			h.stages(t, id, total)
		}()

		seen := int64(0)

		for _, n := range append(reads, total) {
			c := h.dial(rt, t.Context(), nil)
			upTo := min(seen+int64(n), int64(total))

			c.subscribe(id, seen)
			c.expect(id, seen+1, upTo)
			_ = c.CloseNow()

			seen = upTo
		}

		<-appended
	})
}

func TestSlowReaderIsDroppedWithoutBlockingOthers(t *testing.T) {
	t.Parallel()

	const number = 150

	h := newHub(t, func(cfg *stream.Config) {
		cfg.WriteLimit = 2 * time.Second
		cfg.PingEvery = time.Hour // pings would detect it too
	})
	id := h.session()
	slow := h.connect(t)
	slow.subscribe(id, 0)

	delta := h.deltas.Open(id, stream.Chunk{EventID: "e", EventType: tarsy.EventResponse})
	big := strings.Repeat("x", 256<<10)

	h.created(t, id, "e")
	require.EqualValues(t, 1, slow.next().ID)

	// No one reads now; appending neither blocks nor fails.
	for range number {
		h.append(t, id, tarsy.Event{Type: "big", Payload: json.RawMessage(`{"type":"big","content":"` + big + `"}`)})
	}

	for begun := time.Now(); h.deltas.Dropped() == 0; {
		delta.Append("x")
		require.Less(t, time.Since(begun), patience, "the reader's buffer has no bound")
	}

	waitFor(t, h.journals.tailEnded)
	delta.Close()

	seen := int64(1)

	for {
		_, data, err := slow.Read(slow.ctx)
		if err != nil {
			break
		}

		var m message
		require.NoError(t, json.Unmarshal(data, &m))

		if m.ID != 0 {
			seen++
			require.Equal(t, seen, m.ID)
		}
	}

	require.Less(t, seen, int64(number+1), "the reader was dropped in the middle")

	// Use a hub with the default limits, because a busy machine may slow this reader down.
	again := newHub(t, func(cfg *stream.Config) { cfg.Journals = h.journals }).connect(t)
	again.subscribe(id, seen)
	again.expect(id, seen+1, number+1)
}

func TestPeerIgnoringPingsIsDropped(t *testing.T) {
	t.Parallel()

	h := newHub(t, func(cfg *stream.Config) {
		cfg.PingEvery = 20 * time.Millisecond
		cfg.WriteLimit = 2 * time.Second
	})
	id := h.session()

	pings := make(chan struct{}, 3)
	alive := h.dial(t, t.Context(), &websocket.DialOptions{
		OnPingReceived: func(context.Context, []byte) bool {
			select {
			case pings <- struct{}{}:
			default:
			}

			return true
		},
	})
	t.Cleanup(func() { _ = alive.CloseNow() })

	alive.subscribe(id, 0)

	dead := h.connect(t)
	dead.subscribe(id, 0) // and never reads again

	done := make(chan struct{})

	go func() { // reading answers pings; waited for below
		defer close(done)

		_, _, err := alive.Read(alive.ctx)
		assert.NoError(t, err)
	}()

	waitFor(t, h.journals.tailEnded)

	for range 3 {
		waitFor(t, pings)
	}

	h.stages(t, id, 1)
	waitFor(t, done)
}

func waitFor(t *testing.T, signal <-chan struct{}) {
	t.Helper()

	wait.For(t, signal, "a signal")
}

func TestCloseNotifiesReadersAndRefusesNewOnes(t *testing.T) {
	t.Parallel()

	h := newHub(t)
	id := h.session()
	h.stages(t, id, 1)

	idle, busy := h.connect(t), h.connect(t)
	busy.subscribe(id, 0)
	busy.expect(id, 1, 1)

	watching := h.watch(t, id, "")
	watching.expect(1, 1)

	closed := make(chan error, 2)
	for range 2 {
		go func() { closed <- h.Close(context.WithoutCancel(t.Context())) }() // waited for below
	}

	for _, c := range []*client{idle, busy} {
		_, _, err := c.Read(c.ctx)

		var reason websocket.CloseError
		require.ErrorAs(t, err, &reason)
		require.Equal(t, websocket.CloseError{Code: websocket.StatusGoingAway, Reason: "server is shutting down"}, reason)
	}

	bye := watching.next()
	require.Equal(t, sse{Event: "bye", Data: message{Type: "bye", Reason: "server is shutting down"}}, bye)
	watching.over()

	require.NoError(t, <-closed)
	require.NoError(t, <-closed)

	late := h.open(t, t.Context(), id, "")
	defer late.leave()

	require.Equal(t, 503, late.StatusCode)
	require.Equal(t, "shutting_down", body(t, late.Response).Code)
	require.NotEmpty(t, late.Header.Get("Retry-After"))
}

func TestCloseDropsUnresponsivePeers(t *testing.T) {
	t.Parallel()

	h := newHub(t)
	h.connect(t) // never reads, so it never answers the close frame

	enough := errors.New("no more time")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(enough)
	require.ErrorIs(t, h.Close(ctx), enough)
}

func TestRawPayloadNumbersAreSentUnchanged(t *testing.T) {
	t.Parallel()

	h := newHub(t)
	id := h.session()
	big := strconv.FormatUint(1<<63, 10)
	h.append(t, id, tarsy.Event{Type: "n", Payload: json.RawMessage(`{"n":` + big + `,"text":"a\u2028<b>"}`)})

	c := h.connect(t)
	c.subscribe(id, 0)

	_, data, err := c.Read(c.ctx)
	require.NoError(t, err)
	require.Contains(t, string(data), `"n":`+big+`,"text":"a\u2028<b>"`)
}

func TestStreamsOfEndedLoginAreClosedWithReason(t *testing.T) {
	t.Parallel()

	ended := make(chan struct{})
	h := newHub(t, func(cfg *stream.Config) { cfg.LoginEnded = func(*http.Request) <-chan struct{} { return ended } })
	id := h.session()
	h.stages(t, id, 1)

	socket := h.connect(t)
	socket.subscribe(id, 0)
	socket.expect(id, 1, 1)

	watching := h.watch(t, id, "")
	watching.expect(1, 1)

	close(ended)

	_, _, err := socket.Read(socket.ctx)

	var reason websocket.CloseError
	require.ErrorAs(t, err, &reason)
	require.Equal(t, websocket.CloseError{Code: 4401, Reason: "API key or browser session is no longer valid"}, reason)
	require.Equal(t, sse{Event: "bye", Data: message{Type: "bye", Reason: "API key or browser session is no longer valid"}}, watching.next())
	watching.over()
}
