package stream_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	reported "tarsy.dev/tarsy/internal/problem"
	"tarsy.dev/tarsy/internal/stream"
)

// owned counts streams for the owner in the header X-Owner.
func owned(limits stream.Limits) func(*stream.Config) {
	return func(cfg *stream.Config) {
		cfg.Owner = func(r *http.Request) string { return r.Header.Get("X-Owner") }
		cfg.Limits = limits
	}
}

func as(owner string) *websocket.DialOptions {
	return &websocket.DialOptions{HTTPHeader: http.Header{"X-Owner": {owner}}}
}

// refused tries to connect and returns the status and code of the problem.
func (h *hub) refused(t *testing.T, owner string) (int, tarsy.Code) {
	t.Helper()

	conn, response, err := websocket.Dial(t.Context(), h.server.URL+"/api/v1/ws", as(owner))
	if err == nil {
		_ = conn.CloseNow()

		return response.StatusCode, ""
	}

	var body reported.Problem

	require.NoError(t, json.NewDecoder(response.Body).Decode(&body))
	require.NotEmpty(t, response.Header.Get("Retry-After"))

	return response.StatusCode, body.Code
}

func TestStreamsAreLimitedPerOwnerAndInTotal(t *testing.T) {
	t.Parallel()

	h := newHub(t, owned(stream.Limits{ConnectionsPerOwner: 2, Connections: 3}))
	session := h.session()
	h.stages(t, session, 1)

	first := h.dial(t, t.Context(), as("ada"))
	h.watch(t, session, "", "X-Owner", "ada").expect(1, 1)

	status, code := h.refused(t, "ada")
	require.Equal(t, http.StatusTooManyRequests, status)
	require.Equal(t, tarsy.CodeTooManyStreams, code)

	over := h.open(t, t.Context(), session, "", "X-Owner", "ada")
	defer over.leave()
	require.Equal(t, http.StatusTooManyRequests, over.StatusCode, "event streams are counted too")

	second := h.dial(t, t.Context(), as("bob"))
	status, code = h.refused(t, "eve")
	require.Equal(t, http.StatusServiceUnavailable, status)
	require.Equal(t, tarsy.CodeOverloaded, code)

	// A connection that ended no longer counts; the server detects that on its own.
	require.NoError(t, first.Close(websocket.StatusNormalClosure, ""))

	for deadline := time.Now().Add(patience); status != http.StatusSwitchingProtocols; status, _ = h.refused(t, "ada") {
		require.True(t, time.Now().Before(deadline))
	}

	_ = second.CloseNow()
}

func TestSubscriptionsAreLimitedPerOwnerAndInTotal(t *testing.T) {
	t.Parallel()

	h := newHub(t, owned(stream.Limits{SubscriptionsPerOwner: 2, Subscriptions: 3}))
	sessions := []string{h.session(), h.session(), h.session()}
	ada, adaToo, bob := h.dial(t, t.Context(), as("ada")), h.dial(t, t.Context(), as("ada")), h.dial(t, t.Context(), as("bob"))

	for _, c := range []*client{ada, adaToo, bob} {
		defer func() { _ = c.CloseNow() }()
	}

	refused := func(c *client, channel, reason string) {
		t.Helper()
		c.sayf(`{"action":"subscribe","channel":%q}`, channel)

		m := c.next()
		require.Equal(t, "too_many_subscriptions", m.Code)
		require.True(t, strings.HasPrefix(m.Message, reason), m.Message)
	}

	ada.subscribe(sessions[0], 0)
	adaToo.subscribe(sessions[1], 0)
	ada.subscribe(sessions[0], 0) // subscribing again does not count

	refused(ada, "session:"+sessions[2], "this API key has reached its limit")
	refused(ada, "sessions", "this API key has reached its limit")
	bob.subscribe(sessions[2], 0)
	refused(bob, "session:"+sessions[0], "the server has reached its limit")

	ada.sayf(`{"action":"unsubscribe","channel":"session:%s"}`, sessions[0])
	require.Equal(t, "subscription.removed", ada.next().Type)
	ada.subscribe(sessions[2], 0)
	ada.pong()
}
