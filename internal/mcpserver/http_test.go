package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	mcpsdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/ident"
)

// apiOf returns an API with one session that never ends. Watched receives a value when a client waits for it, left when the
// client is gone.
func apiOf(watched, left chan<- struct{}) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/v1/sessions/{id}", func(w http.ResponseWriter, r *http.Request) {
		_ = json.NewEncoder(w).Encode(tarsy.SessionDetail{Session: tarsy.Session{ID: r.PathValue("id"), Status: tarsy.SessionInProgress}})
	})
	mux.HandleFunc("GET /api/v1/sessions/{id}/events", func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "id: 1\nevent: session.status\ndata: {}\n\n")
		_ = http.NewResponseController(w).Flush()
		watched <- struct{}{}

		<-r.Context().Done()
		left <- struct{}{}
	})

	return mux
}

// waitingCall makes a get_session call that waits. The result channel receives what the caller gets.
func waitingCall(ctx context.Context, t *testing.T, h *Handler, progress chan<- string) (result <-chan error) {
	t.Helper()

	server := httptest.NewServer(h)
	t.Cleanup(server.Close)

	options := &mcpsdk.ClientOptions{ProgressNotificationHandler: func(_ context.Context, r *mcpsdk.ProgressNotificationClientRequest) { progress <- r.Params.Message }}
	client := mcpsdk.NewClient(&mcpsdk.Implementation{Name: "test", Version: "1"}, options)
	web := &http.Client{Transport: &http.Transport{}}
	session, err := client.Connect(t.Context(), &mcpsdk.StreamableClientTransport{Endpoint: server.URL, HTTPClient: web, DisableStandaloneSSE: true}, nil)
	require.NoError(t, err)
	t.Cleanup(func() {
		_ = session.Close()
		web.CloseIdleConnections()
	})

	ended := make(chan error, 1)
	params := &mcpsdk.CallToolParams{Name: "get_session", Arguments: map[string]any{"session_id": ident.New(), "wait_seconds": 300}}
	params.SetProgressToken("token")

	go func() {
		got, err := session.CallTool(ctx, params)
		if err == nil && got.IsError {
			err = errors.New(got.Content[0].(*mcpsdk.TextContent).Text)
		}

		ended <- err
	}()

	return ended
}

func newTestHandler(api http.Handler) *Handler {
	return NewHandler(HTTPConfig{API: api, Version: "1", Logger: slog.New(slog.DiscardHandler)})
}

func TestWaitingCallReportsProgressAndEndsWhenServerStops(t *testing.T) {
	t.Parallel()

	watched, left, progress := make(chan struct{}, 1), make(chan struct{}, 1), make(chan string, 1)
	h := newTestHandler(apiOf(watched, left))
	ended := waitingCall(t.Context(), t, h, progress)

	<-watched
	require.Equal(t, "session.status", <-progress)
	h.Close()
	require.EqualError(t, <-ended, errGone.Error())
	<-left
}

func TestWaitingCallEndsWhenCallerLeaves(t *testing.T) {
	t.Parallel()

	watched, left, progress := make(chan struct{}, 1), make(chan struct{}, 1), make(chan string, 1)
	h := newTestHandler(apiOf(watched, left))
	defer h.Close()

	ctx, leave := context.WithCancel(t.Context())
	ended := waitingCall(ctx, t, h, progress)

	<-watched
	leave()
	require.ErrorIs(t, <-ended, context.Canceled)
	<-left
}
