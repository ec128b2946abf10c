package retention_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/coder/websocket"
	"github.com/coder/websocket/wsjson"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/api"
	"tarsy.dev/tarsy/internal/client"
	"tarsy.dev/tarsy/internal/postgres"
	"tarsy.dev/tarsy/internal/postgres/account"
	"tarsy.dev/tarsy/internal/stream"
)

// serve serves the database over HTTP.
func (f *fixture) serve(t *testing.T, db *postgres.DB) string {
	t.Helper()

	logger := slog.New(slog.DiscardHandler)
	deltas := stream.NewDeltas(stream.DeltasConfig{ServerID: "server", Clock: f.clock})
	t.Cleanup(deltas.Close)

	hub := stream.New(stream.Config{Journals: db, Deltas: deltas, Logger: logger})

	server := httptest.NewServer(api.New(api.Config{
		Store: db, Accounts: account.New(db), WebSocket: hub.WebSocket(), NoteEvents: hub.NotesSSE(), Events: hub.SSE(func(r *http.Request) string { return r.PathValue("id") }),
		Clock: f.clock, Logger: logger,
	}).Handler())
	t.Cleanup(server.Close)
	t.Cleanup(func() { require.NoError(t, hub.Close(context.Background())) })

	return server.URL
}

// watch follows a session to its end and records the updates.
func watch(t *testing.T, server, id string) (updates []string) {
	t.Helper()

	c, err := client.New(client.Config{Server: server})
	require.NoError(t, err)
	defer c.Close()

	for update, err := range c.Follow(t.Context(), id, 0) {
		require.NoError(t, err)

		switch {
		case update.Event != nil:
			updates = append(updates, fmt.Sprintf("event %d", update.Event.Seq))
		case update.Reloaded != nil:
			updates = append(updates, "reloaded: "+update.Reloaded.Detail.FinalAnalysis)
		case update.End != "":
			updates = append(updates, "end: "+string(update.End))
		default:
			require.Fail(t, "something else happened", "%+v", update)
		}
	}

	return updates
}

func TestReadersOfTrimmedJournalLoadSession(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	cfg := f.config(t)
	id, server := f.ended(t, cfg.DB), f.serve(t, cfg.DB)

	require.Equal(t, []string{"event 1", "event 2", "event 3", "end: completed"}, watch(t, server, id))

	f.start(t, cfg)
	f.pass(t, 1, 2*day)
	require.Equal(t, []string{"reloaded: it is full", "end: completed"}, watch(t, server, id))

	socket, _, err := websocket.Dial(t.Context(), server+"/api/v1/ws", nil)
	require.NoError(t, err)

	defer func() { _ = socket.CloseNow() }()

	var frame struct {
		Type string `json:"type"`
		Head int    `json:"head"`
	}

	require.NoError(t, wsjson.Write(t.Context(), socket, map[string]string{"action": "subscribe", "channel": tarsy.SessionChannel(id)}))

	for _, want := range []string{"connection.established", "subscription.confirmed", "catchup.overflow"} {
		require.NoError(t, wsjson.Read(t.Context(), socket, &frame))
		require.Equal(t, want, frame.Type)
	}

	require.Equal(t, 3, frame.Head)
}

func TestReadersOfExpiredSessionGetNotFound(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	cfg := f.config(t)
	cfg.EventTTL = 1000 * day // even if its journal still exists
	id, server := f.ended(t, cfg.DB), f.serve(t, cfg.DB)

	f.start(t, cfg)
	f.pass(t, 1, 91*day)
	require.Equal(t, 3, f.events(t, id))

	c, err := client.New(client.Config{Server: server})
	require.NoError(t, err)
	defer c.Close()

	for _, err := range c.Follow(t.Context(), id, 0) {
		require.True(t, client.Refused(err), err)
	}

	_, err = c.Session(t.Context(), id)
	require.True(t, client.Refused(err), err)

	socket, _, err := websocket.Dial(t.Context(), server+"/api/v1/ws", nil)
	require.NoError(t, err)

	defer func() { _ = socket.CloseNow() }()

	var frame struct {
		Type string     `json:"type"`
		Code tarsy.Code `json:"code"`
	}

	require.NoError(t, wsjson.Write(t.Context(), socket, map[string]string{"action": "subscribe", "channel": tarsy.SessionChannel(id)}))

	for _, want := range []string{"connection.established", "error"} {
		require.NoError(t, wsjson.Read(t.Context(), socket, &frame))
		require.Equal(t, want, frame.Type)
	}

	require.Equal(t, tarsy.CodeSessionNotFound, frame.Code)
}
