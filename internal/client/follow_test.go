package client_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/client"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// stream is a server whose connections each play one script.
type stream struct {
	mu      sync.Mutex
	after   []string // the Last-Event-ID of each connection
	scripts []func(w http.ResponseWriter, r *http.Request)
}

func (s *stream) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	n := len(s.after)
	s.after = append(s.after, r.Header.Get("Last-Event-ID"))
	s.mu.Unlock()

	s.scripts[min(n, len(s.scripts)-1)](w, r)
}

func (s *stream) asked() []string {
	s.mu.Lock()
	defer s.mu.Unlock()

	return append([]string(nil), s.after...)
}

func play(text string) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = fmt.Fprint(w, text)
	}
}

func entry(seq int) string {
	return fmt.Sprintf("id: %d\nevent: session.status\ndata: {\"type\":\"session.status\",\"n\":%d}\n\n", seq, seq)
}

const end = "event: end\ndata: {\"type\":\"end\",\"status\":\"completed\"}\n\n"

func connect(t *testing.T, handler http.Handler, cfg client.Config) *client.Client {
	t.Helper()

	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)

	cfg.Server, cfg.HTTP = server.URL, server.Client()
	if cfg.RetryWait == 0 {
		cfg.RetryWait = time.Millisecond
	}

	c, err := client.New(cfg)
	require.NoError(t, err)

	return c
}

// collect follows a session and records the updates.
func collect(ctx context.Context, c *client.Client) (happened []string, failed error) {
	for update, err := range c.Follow(ctx, "s", 0) {
		switch {
		case err != nil:
			return happened, err
		case update.Event != nil:
			happened = append(happened, fmt.Sprintf("event %d", update.Event.Seq))
		case update.Chunk != nil:
			happened = append(happened, "chunk "+update.Chunk.Delta)
		case update.Reloaded != nil:
			happened = append(happened, fmt.Sprintf("reloaded %s at %d with %d", update.Reloaded.Detail.Status,
				update.Reloaded.Detail.Version, len(update.Reloaded.Timeline)))
		case update.Lost != nil:
			happened = append(happened, "lost")
		case update.Back:
			happened = append(happened, "back")
		case update.End != "":
			happened = append(happened, "end "+string(update.End))
		}
	}

	return happened, nil
}

func TestFollowReconnectsWithoutGapOrDuplicate(t *testing.T) {
	t.Parallel()

	s := &stream{scripts: []func(http.ResponseWriter, *http.Request){
		play(": hello\n\n" + entry(1) + "event: stream.chunk\ndata: {\"type\":\"stream.chunk\",\"delta\":\"x\"}\n\n" + entry(2) + "id: 3\nevent: cut"),
		func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "restarting", http.StatusBadGateway) },
		play(entry(2) + entry(3) + "event: bye\ndata: {\"type\":\"bye\"}\n\n"),
		play(entry(4) + end),
	}}
	c := connect(t, s, client.Config{})

	happened, err := collect(t.Context(), c)
	require.NoError(t, err)
	require.Equal(t, []string{
		"event 1", "chunk x", "event 2", "lost", "back", "event 3", "lost", "back", "event 4", "end completed",
	}, happened)
	require.Equal(t, []string{"", "2", "2", "3"}, s.asked())
}

// restful serves the session and its timeline, and plays a stream otherwise.
func restful(s http.Handler, detail, timeline string) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/api/v1/sessions/s/events", s)
	mux.HandleFunc("/api/v1/sessions/s", func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprint(w, detail) })
	mux.HandleFunc("/api/v1/sessions/s/timeline", func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprint(w, timeline) })

	return mux
}

const overflow = "id: 4\nevent: catchup.overflow\ndata: {\"type\":\"catchup.overflow\",\"head\":4}\n\n"

func TestFollowLoadsSessionWhenJournalIsGone(t *testing.T) {
	t.Parallel()

	const detail, timeline = `{"id":"s","status":"completed","version":6}`, `{"session_id":"s","version":7,"events":[{"id":"e"},{"id":"f"}]}`

	// Events that the detail includes are not repeated; later ones are delivered.
	s := &stream{scripts: []func(http.ResponseWriter, *http.Request){
		play(overflow + entry(5) + entry(6) + entry(7)),
		play(entry(8) + end),
	}}

	happened, err := collect(t.Context(), connect(t, restful(s, detail, timeline), client.Config{}))
	require.NoError(t, err)
	require.Equal(t, []string{"reloaded completed at 6 with 2", "event 7", "lost", "back", "event 8", "end completed"}, happened)
	require.Equal(t, []string{"", "7"}, s.asked())

	// The journal no longer contains any events.
	s = &stream{scripts: []func(http.ResponseWriter, *http.Request){play(overflow + end)}}
	happened, err = collect(t.Context(), connect(t, restful(s, detail, timeline), client.Config{}))
	require.NoError(t, err)
	require.Equal(t, []string{"reloaded completed at 6 with 2", "end completed"}, happened)
}

func TestFollowRetriesWhenSessionCannotBeLoaded(t *testing.T) {
	t.Parallel()

	tries := 0
	mux := http.NewServeMux()
	s := &stream{scripts: []func(http.ResponseWriter, *http.Request){play(overflow + end)}}
	mux.Handle("/api/v1/sessions/s/events", s)
	mux.HandleFunc("/api/v1/sessions/s", func(w http.ResponseWriter, _ *http.Request) {
		if tries++; tries == 1 {
			w.WriteHeader(http.StatusServiceUnavailable)

			return
		}

		w.WriteHeader(http.StatusNotFound)
		_, _ = fmt.Fprint(w, `{"status":404,"code":"session_not_found","detail":"deleted meanwhile"}`)
	})

	happened, err := collect(t.Context(), connect(t, mux, client.Config{}))
	require.Equal(t, []string{"lost", "back"}, happened)
	require.ErrorContains(t, err, "deleted meanwhile")
	require.Equal(t, []string{"", ""}, s.asked())
}

func TestFollowFailsWhenFirstConnectionFailsOrIsRefused(t *testing.T) {
	t.Parallel()

	refuse := func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusNotFound)
		_, _ = fmt.Fprint(w, `{"status":404,"code":"session_not_found","detail":"there is no session \"s\""}`)
	}

	_, err := collect(t.Context(), connect(t, http.HandlerFunc(refuse), client.Config{}))
	problem, ok := errors.AsType[*client.Problem](err)
	require.True(t, ok)
	require.Equal(t, tarsy.CodeSessionNotFound, problem.Code)
	require.Equal(t, `there is no session "s"`, problem.Error())

	// A later refusal ends it, too.
	s := &stream{scripts: []func(http.ResponseWriter, *http.Request){play(entry(1)), refuse}}
	happened, err := collect(t.Context(), connect(t, s, client.Config{}))
	require.Equal(t, []string{"event 1", "lost"}, happened)
	require.True(t, client.Refused(err))

	_, err = collect(t.Context(), connect(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "<html>", http.StatusBadGateway)
	}), client.Config{}))
	require.ErrorContains(t, err, "the server answered 502 Bad Gateway without an explanation")
}

func TestFollowReconnectsWhenServerGoesSilent(t *testing.T) {
	t.Parallel()

	s := &stream{scripts: []func(http.ResponseWriter, *http.Request){
		func(w http.ResponseWriter, r *http.Request) {
			play(entry(1))(w, r)
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		},
		play(entry(2) + end),
	}}

	happened, err := collect(t.Context(), connect(t, s, client.Config{Silence: 50 * time.Millisecond}))
	require.NoError(t, err)
	require.Equal(t, []string{"event 1", "lost", "back", "event 2", "end completed"}, happened)
}

func TestFollowEndsWithItsContext(t *testing.T) {
	t.Parallel()

	ctx, cancel := context.WithCancel(t.Context())
	s := &stream{scripts: []func(http.ResponseWriter, *http.Request){func(w http.ResponseWriter, r *http.Request) {
		play(entry(1))(w, r)
		_ = http.NewResponseController(w).Flush()
		cancel()
		<-r.Context().Done()
	}}}

	_, err := collect(ctx, connect(t, s, client.Config{}))
	require.ErrorIs(t, err, context.Canceled)
}

func TestKeyIsSentWithEveryRequest(t *testing.T) {
	t.Parallel()

	var sent []string

	c := connect(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent = append(sent, r.Header.Get("Authorization")+" "+r.Header.Get("User-Agent"))

		if r.URL.Path == "/health" {
			_, _ = fmt.Fprint(w, `{"status":"healthy"}`)

			return
		}

		play(end)(w, r)
	}), client.Config{Token: "secret", UserAgent: "test"})

	_, err := client.Call(t.Context(), c, client.Health, nil)
	require.NoError(t, err)

	_, err = collect(t.Context(), c)
	require.NoError(t, err)
	require.Equal(t, []string{"Bearer secret test", "Bearer secret test"}, sent)
}

func TestInvalidAddressIsRefused(t *testing.T) {
	t.Parallel()

	for _, address := range []string{"", "localhost:8080", "ftp://x", "http://", "::"} {
		_, err := client.New(client.Config{Server: address})
		require.ErrorIs(t, err, client.ErrAddress, address)
	}
}
