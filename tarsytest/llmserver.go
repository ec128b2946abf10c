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

// LLMServer is a virtual server that answers from a script in the forms of the OpenAI, Anthropic and Gemini APIs: what
// `tarsy mock` is on the command line. Any API key will do.
type LLMServer struct {
	server  *mock.Server
	url     string
	handler *counted
}

// LLMRequest is a request that a virtual server was sent, and how it was answered.
type LLMRequest struct {
	// API is "openai", "anthropic" or "gemini"; "" for a request that is of none of them.
	API    string
	Method string
	Path   string
	// Header has no API keys.
	Header map[string]string
	// Body is JSON: what is none is a JSON string of it.
	Body   json.RawMessage
	Model  string
	Stream bool
	// Route and Reply tell which part of the script answered; "" and -1 if none did.
	Route string
	Reply int
	// Status is zero if there was no answer. Error is what went wrong, planned or not.
	Status    int
	Chunks    int
	Error     string
	Cancelled bool
	Start     time.Time
	// FirstByte and Duration count from Start.
	FirstByte time.Duration
	Duration  time.Duration
}

// NewLLMServer serves a script on a port of its own. When the test ends the server is stopped, and the test fails if a
// reply was not used, if a request came that nothing was planned for, or if one is still being answered.
//
// A call for a verdict that neither a route nor a function of the script takes so far is answered with the verdict of the kit, see
// WithVerdicts. It is among the requests, and among the calls of the script.
func NewLLMServer(t testing.TB, s *script.Script) *LLMServer {
	t.Helper()

	s.RouteFunc(isVerdict, kitVerdict)

	server := mock.New(mock.Config{Script: func(string) *script.Script { return s }})

	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)

	// The test's own context ends before its clean-up begins, and answers must not end with it.
	ctx, cancel := context.WithCancel(context.Background())
	l := &LLMServer{server: server, url: "http://" + listener.Addr().String(), handler: newCounted(server)}
	front := &http.Server{Handler: l.handler, ReadHeaderTimeout: patience, BaseContext: func(net.Listener) context.Context { return ctx }}

	var serving sync.WaitGroup

	serving.Go(func() { _ = front.Serve(listener) })

	t.Cleanup(func() {
		idle := l.handler.wait(leaving)

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

// leaving is how long a call that was cancelled may take to be noticed.
const leaving = 2 * time.Second

// URL is the root of the server, with http:// and without a slash at the end.
func (l *LLMServer) URL() string { return l.url }

// OpenAI is the base URL for OpenAI's SDKs and those that are compatible.
func (l *LLMServer) OpenAI() string { return l.url + "/v1" }

// Anthropic is the base URL for Anthropic's SDKs.
func (l *LLMServer) Anthropic() string { return l.url }

// Gemini is the base URL for Google's SDKs.
func (l *LLMServer) Gemini() string { return l.url }

// Requests returns the requests so far whose answers are complete, in that order. Who has an answer finds its request here.
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

// LoadScript reads a script file, as `tarsy mock --script` does. What is wrong with it fails the test, each with its line.
func LoadScript(t testing.TB, path string) *script.Script {
	t.Helper()

	file, err := scriptfile.Load(path)
	require.NoError(t, err)

	return file.Script(clockwork.NewRealClock())
}

// counted knows how many requests are being answered.
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

// wait returns whether all requests were answered within a time.
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
