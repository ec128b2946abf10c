package tarsytest

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/kit/mock"
	"tarsy.dev/tarsy/internal/kit/mock/scriptfile"
	"tarsy.dev/tarsy/llm/script"
)

// LLMServer is a virtual server that answers from a script in the formats of the OpenAI, Anthropic and Gemini APIs, as
// `tarsy mock` does. It accepts any API key.
type LLMServer struct {
	server  *mock.Server
	url     string
	handler *counted
}

// LLMRequest is a request to a virtual server, and how it was answered.
type LLMRequest struct {
	// API is "openai", "anthropic" or "gemini"; "" for a request to none of them.
	API    string
	Method string
	Path   string
	// Header does not include API keys.
	Header map[string]string
	// Body is the body if it is JSON, otherwise a JSON string of it.
	Body   json.RawMessage
	Model  string
	Stream bool
	// Route and Reply identify the part of the script that answered; "" and -1 if none did.
	Route string
	Reply int
	// Status is zero if there was no answer. Error is what went wrong, scripted or not.
	Status    int
	Chunks    int
	Error     string
	Cancelled bool
	Start     time.Time
	// FirstByte and Duration are measured from Start.
	FirstByte time.Duration
	Duration  time.Duration
}

// NewLLMServer serves a script on its own port. When the test ends, the server is stopped, and the test fails if a reply
// was not used, if a request had no reply, or if one is still being answered.
//
// A verdict call that no route of the script and no function added before takes is answered with the kit's verdict, see
// WithVerdicts. It is included in the requests, and in the calls of the script.
func NewLLMServer(t testing.TB, s *script.Script) *LLMServer {
	t.Helper()

	s.RouteFunc(isVerdict, kitVerdict)

	server := mock.New(mock.Config{Script: func(string) *script.Script { return s }})

	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)

	// The test's own context ends before its cleanup begins, and answers must not end with it.
	ctx, cancel := context.WithCancel(context.Background())
	l := &LLMServer{server: server, url: "http://" + listener.Addr().String(), handler: newCounted(server)}
	front := &http.Server{Handler: l.handler, ReadHeaderTimeout: patience, BaseContext: func(net.Listener) context.Context { return ctx }}

	var serving sync.WaitGroup

	serving.Go(func() { _ = front.Serve(listener) })

	t.Cleanup(func() {
		idle := l.handler.wait(cancelGrace)

		cancel()
		_ = front.Close()

		l.handler.wait(patience)
		serving.Wait()

		if !idle {
			t.Errorf("a request to the virtual server is still being answered at the end of the test")
		}

		if summary := mock.Summary(server.Verify()); summary != "" {
			t.Errorf("the calls to the virtual server do not match its script:\n%s", summary)
		}
	})

	return l
}

// cancelGrace is how long the server may take to notice that a call was cancelled.
const cancelGrace = 2 * time.Second

// URL returns the root URL of the server, without a trailing slash.
func (l *LLMServer) URL() string { return l.url }

// OpenAI returns the base URL for OpenAI's SDKs and compatible ones.
func (l *LLMServer) OpenAI() string { return l.url + "/v1" }

// Anthropic returns the base URL for Anthropic's SDKs.
func (l *LLMServer) Anthropic() string { return l.url }

// Gemini returns the base URL for Google's SDKs.
func (l *LLMServer) Gemini() string { return l.url }

// Requests returns the requests whose answers are complete, in the order of completion. A client that has received an
// answer finds its request here.
func (l *LLMServer) Requests() []LLMRequest {
	entries := l.server.Journal("")
	requests := make([]LLMRequest, len(entries))

	for i, e := range entries {
		requests[i] = LLMRequest{
			API: e.API, Method: e.Method, Path: e.Path, Header: e.Header, Body: e.Body, Model: e.Model, Stream: e.Stream,
			Route: e.Route, Reply: e.Reply, Status: e.Status, Chunks: e.Chunks, Error: e.Error, Cancelled: e.Cancelled,
			Start: e.Start, FirstByte: e.FirstByte, Duration: e.Duration,
		}
	}

	return requests
}

// LoadScript reads a script file, as `tarsy mock --script` does. Problems in the file fail the test, each reported with its line.
func LoadScript(t testing.TB, path string) *script.Script {
	t.Helper()

	file, err := scriptfile.Load(path)
	require.NoError(t, err)

	return file.Script(clockwork.NewRealClock())
}

// counted counts the requests that are being answered.
type counted struct {
	next http.Handler

	mu    sync.Mutex
	busy  int
	ended chan struct{}
}

func newCounted(next http.Handler) *counted {
	return &counted{next: next, ended: make(chan struct{}, 1)}
}

// ServeHTTP implements http.Handler.
func (c *counted) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	c.busy++
	c.mu.Unlock()

	defer func() {
		c.mu.Lock()
		c.busy--
		c.mu.Unlock()

		select {
		case c.ended <- struct{}{}:
		default:
		}
	}()

	c.next.ServeHTTP(w, r)
}

// wait reports whether all requests were answered within the limit.
func (c *counted) wait(limit time.Duration) bool {
	timer := time.NewTimer(limit)
	defer timer.Stop()

	for {
		c.mu.Lock()
		busy := c.busy
		c.mu.Unlock()

		if busy == 0 {
			return true
		}

		select {
		case <-c.ended:
		case <-timer.C:
			return false
		}
	}
}
