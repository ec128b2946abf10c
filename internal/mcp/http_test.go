package mcp_test

import (
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	mcpsdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/agent"
	"tarsy.dev/tarsy/internal/kit/slowness"
	"tarsy.dev/tarsy/internal/kit/wait"
	"tarsy.dev/tarsy/internal/mcp"
	"tarsy.dev/tarsy/internal/telemetry"
)

// web is an MCP server over HTTP that can be restarted: it keeps its address and loses its sessions.
type web struct {
	mu      sync.Mutex
	handler http.Handler
	servers []*mcpsdk.Server
	calls   atomic.Int32
}

func newWeb(t *testing.T, options *mcpsdk.StreamableHTTPOptions) *web {
	t.Helper()
	w := &web{}
	w.restart(options)
	t.Cleanup(func() {
		for _, server := range w.servers {
			endSessions(server)
		}
	})

	return w
}

// endSessions ends the sessions of clients that could no longer reach the server.
func endSessions(server *mcpsdk.Server) {
	for session := range server.Sessions() {
		_ = session.Close()
	}
}

// serve starts a server that listens until after the tools of the test are closed.
func serve(t *testing.T, handler http.Handler) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)

	return server
}

func (w *web) ServeHTTP(rw http.ResponseWriter, req *http.Request) {
	w.mu.Lock()
	handler := w.handler
	w.mu.Unlock()
	handler.ServeHTTP(rw, req)
}

func (w *web) restart(options *mcpsdk.StreamableHTTPOptions) {
	server := newServer()
	handler := func(context.Context, *mcpsdk.CallToolRequest) (*mcpsdk.CallToolResult, error) {
		w.calls.Add(1)

		return text("done"), nil
	}
	addTool(server, "read", true, handler)
	addTool(server, "write", false, handler)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.servers = append(w.servers, server)
	w.handler = mcpsdk.NewStreamableHTTPHandler(func(*http.Request) *mcpsdk.Server { return server }, options)
}

// cutting passes the handshake and the tool list on and breaks the connection of the first call with breaking.
func cutting(next http.Handler, breaking func(http.ResponseWriter)) http.Handler {
	var posts atomic.Int32

	return http.HandlerFunc(func(rw http.ResponseWriter, req *http.Request) {
		if req.Method == http.MethodPost && req.Header.Get("Mcp-Session-Id") != "" && posts.Add(1) == 3 {
			_, _ = io.Copy(io.Discard, req.Body)
			breaking(rw)
			panic(http.ErrAbortHandler)
		}
		next.ServeHTTP(rw, req)
	})
}

func openHTTP(t *testing.T, transport mcp.Transport, limits mcp.Limits) agent.Tools {
	t.Helper()

	return open(t, mcp.Config{Servers: map[string]mcp.ServerConfig{"web": {Transport: transport}}, Limits: limits},
		tarsy.MCPServerSelection{Name: "web"})
}

func TestHTTPSendsTokenAndHeadersToConfiguredHostOnly(t *testing.T) {
	t.Parallel()
	var leaked atomic.Bool
	elsewhere := serve(t, http.HandlerFunc(func(rw http.ResponseWriter, req *http.Request) {
		leaked.Store(leaked.Load() || req.Header.Get("Authorization") != "" || req.Header.Get("X-Team") != "")
		http.Error(rw, "no", http.StatusForbidden)
	}))
	w := newWeb(t, nil)
	var redirecting atomic.Bool
	server := serve(t, http.HandlerFunc(func(rw http.ResponseWriter, req *http.Request) {
		switch {
		case req.Header.Get("Authorization") != "Bearer t0ken" || req.Header.Get("X-Team") != "sre":
			http.Error(rw, "who are you", http.StatusUnauthorized)
		case redirecting.Load():
			http.Redirect(rw, req, elsewhere.URL, http.StatusTemporaryRedirect)
		default:
			w.ServeHTTP(rw, req)
		}
	}))
	transport := mcp.Transport{
		Type: mcp.TransportHTTP, URL: server.URL, BearerToken: "t0ken", Headers: map[string]string{"X-Team": "sre"},
	}
	tools := openHTTP(t, transport, fast)
	require.Empty(t, tools.Unavailable())
	require.Equal(t, agent.Result{Server: "web", Tool: "write", Content: "done", Attempts: 1}, call(t, tools, "web__write", ""))

	redirecting.Store(true)
	require.True(t, call(t, tools, "web__read", "").IsError)
	require.False(t, leaked.Load())

	transport.BearerToken = "wrong"
	refused := openHTTP(t, transport, fast)
	require.Contains(t, refused.Unavailable()["web"], "Unauthorized")
}

// A server over HTTP gets the trace of a call in its headers.
func TestHTTPSendsTraceOfCall(t *testing.T) {
	t.Parallel()

	tracer, err := telemetry.New(t.Context(), telemetry.Config{Endpoint: "http://127.0.0.1:1", SampleRatio: 1})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, tracer.Stop(context.Background())) })

	const session, call = "01990000-0000-7000-8000-0000000000aa", "01990000-0000-7000-8000-0000000000bb"

	var (
		mu      sync.Mutex
		parents []string
	)

	next := newWeb(t, nil)
	web := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		parents = append(parents, r.Header.Get("Traceparent"))
		mu.Unlock()
		next.ServeHTTP(w, r)
	}))
	tools := openHTTP(t, mcp.Transport{Type: mcp.TransportHTTP, URL: web.URL}, fast)

	_, err = tools.Call(t.Context(), agent.Call{ID: call, Server: "web", Tool: "read", Arguments: "{}"})
	require.NoError(t, err)

	mu.Lock()
	require.NotContains(t, strings.Join(parents, ""), "00-", "no trace, no header")
	mu.Unlock()

	_, err = tools.Call(tracer.Context(t.Context(), session, session), agent.Call{ID: call, Server: "web", Tool: "read", Arguments: "{}"})
	require.NoError(t, err)

	mu.Lock()
	defer mu.Unlock()

	require.Contains(t, parents, "00-019900000000700080000000000000aa-80000000000000bb-01")
}

func TestHTTPServerRestartBetweenCallsIsTransparentForWrites(t *testing.T) {
	t.Parallel()
	for name, options := range map[string]*mcpsdk.StreamableHTTPOptions{"event stream": nil, "json": {JSONResponse: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWeb(t, options)
			server := serve(t, w)
			tools := openHTTP(t, mcp.Transport{Type: mcp.TransportHTTP, URL: server.URL}, fast)
			require.Equal(t, "done", call(t, tools, "web__write", "").Content)

			w.restart(options)
			require.Equal(t, agent.Result{Server: "web", Tool: "write", Content: "done", Attempts: 1},
				call(t, tools, "web__write", ""), "the server did not know the session, so it had not looked at the call")
			require.EqualValues(t, 2, w.calls.Load())
		})
	}
}

func TestSessionRefusedWithJSONBodyIsDetected(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status int
		body   string
	}{
		"as the protocol says":          {http.StatusNotFound, `{"jsonrpc":"2.0","error":{"code":-32001,"message":"Session not found"},"id":null}`},
		"as the TypeScript examples do": {http.StatusBadRequest, `{"jsonrpc":"2.0","error":{"code":-32000,"message":"Bad Request: No valid session ID provided"}}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWeb(t, nil)
			server := serve(t, once(w, c.status, c.body))
			tools := openHTTP(t, mcp.Transport{Type: mcp.TransportHTTP, URL: server.URL}, fast)
			require.Equal(t, agent.Result{Server: "web", Tool: "write", Content: "done", Attempts: 1}, call(t, tools, "web__write", ""))
			require.EqualValues(t, 1, w.calls.Load())
		})
	}
}

func TestBadRequestIsNotRefusedSession(t *testing.T) {
	t.Parallel()
	w := newWeb(t, nil)
	server := serve(t, once(w, http.StatusBadRequest, `{"jsonrpc":"2.0","error":{"code":-32602,"message":"n is missing"},"id":3}`))
	tools := openHTTP(t, mcp.Transport{Type: mcp.TransportHTTP, URL: server.URL}, fast)
	result := call(t, tools, "web__write", "")
	require.True(t, result.IsError)
	require.Contains(t, result.Content, "n is missing")
	require.Zero(t, w.calls.Load(), "not made again")
}

// once answers the first call with a status and a body.
func once(next http.Handler, status int, body string) http.Handler {
	var posts atomic.Int32

	return http.HandlerFunc(func(rw http.ResponseWriter, req *http.Request) {
		if req.Method == http.MethodPost && req.Header.Get("Mcp-Session-Id") != "" && posts.Add(1) == 3 {
			rw.Header().Set("Content-Type", "application/json")
			rw.WriteHeader(status)
			_, _ = rw.Write([]byte(body))

			return
		}
		next.ServeHTTP(rw, req)
	})
}

func TestConnectionCutAfterRequestIsSent(t *testing.T) {
	t.Parallel()
	begin := func(contentType string) func(http.ResponseWriter) {
		return func(rw http.ResponseWriter) {
			rw.Header().Set("Content-Type", contentType)
			_, _ = rw.Write([]byte(" "))
			_ = http.NewResponseController(rw).Flush()
		}
	}
	for name, breaking := range map[string]func(http.ResponseWriter){
		"before an answer":         func(http.ResponseWriter) {},
		"within an event stream":   begin("text/event-stream"),
		"within the body of JSON":  begin("application/json"),
		"by a proxy's bad gateway": answerStatus(http.StatusBadGateway),
		"by a proxy's unavailable": answerStatus(http.StatusServiceUnavailable),
	} {
		for tool, writes := range map[string]bool{"read": false, "write": true} {
			t.Run(name+"/"+tool, func(t *testing.T) {
				t.Parallel()
				handler := cutting(newWeb(t, nil), breaking)
				tools := openHTTP(t, mcp.Transport{Type: mcp.TransportHTTP, URL: serve(t, handler).URL}, fast)
				result := call(t, tools, "web__"+tool, "")
				require.Equal(t, writes, result.Unknown, result.Content)
				switch {
				case writes:
					require.True(t, result.IsError)
					require.Equal(t, 1, result.Attempts)
					require.Contains(t, result.Content, "outcome unknown")
				default:
					require.Equal(t, agent.Result{Server: "web", Tool: "read", Content: "done", Attempts: 2}, result)
				}
			})
		}
	}
}

// answerStatus responds like a proxy whose server is gone.
func answerStatus(status int) func(http.ResponseWriter) {
	return func(rw http.ResponseWriter) {
		rw.Header().Set("Content-Length", "0")
		rw.WriteHeader(status)
		_ = http.NewResponseController(rw).Flush()
	}
}

func TestHTTPInternalErrorIsNotRetried(t *testing.T) {
	t.Parallel()
	w := newWeb(t, nil)
	server := serve(t, once(w, http.StatusInternalServerError, ""))
	tools := openHTTP(t, mcp.Transport{Type: mcp.TransportHTTP, URL: server.URL}, fast)
	result := call(t, tools, "web__read", "")
	require.True(t, result.IsError)
	require.Equal(t, 1, result.Attempts)
	require.Zero(t, w.calls.Load())
}

func TestRefusedConnectionMeansNotCalled(t *testing.T) {
	t.Parallel()
	w := newWeb(t, nil)
	server := serve(t, w)
	// On a kept connection, a request could be written before its end is noticed.
	server.Config.SetKeepAlivesEnabled(false)
	limits := fast
	limits.Reinit = 100 * time.Millisecond
	tools := openHTTP(t, mcp.Transport{Type: mcp.TransportHTTP, URL: server.URL + "/?key=s3cret"}, limits)
	server.Close()
	result := call(t, tools, "web__write", "")
	require.True(t, result.IsError)
	require.False(t, result.Unknown)
	require.Zero(t, result.Attempts)
	require.Contains(t, result.Content, "refused")
	require.NotContains(t, result.Content, "s3cret", "the URL's secrets stay out of what a model reads")
}

// A server that closes idle connections may do so exactly when the next request is sent.
func TestConnectionIdleForTooLongIsNotUsedForCall(t *testing.T) {
	t.Parallel()
	w := newWeb(t, &mcpsdk.StreamableHTTPOptions{JSONResponse: true})
	var used sync.Map
	server := serve(t, http.HandlerFunc(func(rw http.ResponseWriter, req *http.Request) {
		if _, again := used.LoadOrStore(req.RemoteAddr, true); again {
			_, _ = io.Copy(io.Discard, req.Body)
			panic(http.ErrAbortHandler)
		}
		w.ServeHTTP(rw, req)
	}))
	limits := fast
	limits.KeepAlive = time.Nanosecond
	tools := openHTTP(t, mcp.Transport{Type: mcp.TransportHTTP, URL: server.URL}, limits)
	require.Empty(t, tools.Unavailable())
	require.Equal(t, agent.Result{Server: "web", Tool: "write", Content: "done", Attempts: 1}, call(t, tools, "web__write", ""))
}

func TestUnverifiedCertificateNeedsConfiguration(t *testing.T) {
	t.Parallel()
	w := newWeb(t, nil)
	server := httptest.NewUnstartedServer(w)
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	t.Cleanup(server.Close)
	on, off := true, false
	tools := openHTTP(t, mcp.Transport{Type: mcp.TransportHTTP, URL: server.URL, VerifySSL: &off}, fast)
	require.Equal(t, "done", call(t, tools, "web__read", "").Content)

	for _, verify := range []*bool{nil, &on} {
		strict := openHTTP(t, mcp.Transport{Type: mcp.TransportHTTP, URL: server.URL, VerifySSL: verify}, fast)
		require.Contains(t, strict.Unavailable()["web"], "certificate")
	}
}

func TestConfiguredTimeoutLowersLimits(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0") // accepts nothing
	require.NoError(t, err)
	defer listener.Close()
	limits := fast
	limits.Exit = 100 * time.Millisecond
	transport := mcp.Transport{Type: mcp.TransportHTTP, URL: "http://" + listener.Addr().String(), Timeout: 50 * time.Millisecond}
	begun := time.Now()
	tools := openHTTP(t, transport, limits)
	require.Contains(t, tools.Unavailable()["web"], "no session within 50ms")
	require.Less(t, time.Since(begun), slowness.Scale(4*time.Second), "the SDK's own wait of 5 s is cut short")
}

func TestHangingHTTPCallTimesOut(t *testing.T) {
	t.Parallel()
	server, called, cancelled := hanging()
	handler := mcpsdk.NewStreamableHTTPHandler(func(*http.Request) *mcpsdk.Server { return server }, nil)
	t.Cleanup(func() { endSessions(server) })
	host := serve(t, handler)
	// A server can only be notified if its response has begun: before that, the request is abandoned with its session.
	timeout := slowness.Scale(time.Second).Round(time.Second)
	tools := openHTTP(t, mcp.Transport{Type: mcp.TransportHTTP, URL: host.URL, Timeout: timeout}, fast)
	result := call(t, tools, "web__write", "")
	wait.For(t, called, "the call")
	require.True(t, result.Unknown)
	require.Contains(t, result.Content, "timed out after "+timeout.String())
	wait.For(t, cancelled, "the notification")
}

func TestSSEWorksPastHandshakeWithTokenAndHeaders(t *testing.T) {
	t.Parallel()
	server := newServer()
	addTool(server, "read", true, answering("done"))
	handler := mcpsdk.NewSSEHandler(func(*http.Request) *mcpsdk.Server { return server }, nil)
	host := serve(t, http.HandlerFunc(func(rw http.ResponseWriter, req *http.Request) {
		if req.Header.Get("Authorization") != "Bearer t0ken" || req.Header.Get("X-Team") != "sre" {
			http.Error(rw, "who are you", http.StatusUnauthorized)

			return
		}
		handler.ServeHTTP(rw, req)
	}))
	transport := mcp.Transport{
		Type: mcp.TransportSSE, URL: host.URL, BearerToken: "t0ken", Headers: map[string]string{"X-Team": "sre"},
	}
	tools := openHTTP(t, transport, fast)
	require.Empty(t, tools.Unavailable())
	for range 2 {
		require.Equal(t, agent.Result{Server: "web", Tool: "read", Content: "done", Attempts: 1}, call(t, tools, "web__read", ""))
	}
	require.NoError(t, tools.Close())

	transport.BearerToken = ""
	require.Contains(t, openHTTP(t, transport, fast).Unavailable()["web"], "Unauthorized")
}

func TestSSEStreamEndsDuringCall(t *testing.T) {
	t.Parallel()
	for tool, writes := range map[string]bool{"read": false, "write": true} {
		t.Run(tool, func(t *testing.T) {
			t.Parallel()
			server, calls := newServer(), &atomic.Int32{}
			var host *httptest.Server
			handler := func(context.Context, *mcpsdk.CallToolRequest) (*mcpsdk.CallToolResult, error) {
				if calls.Add(1) == 1 {
					host.CloseClientConnections()
				}

				return text("done"), nil
			}
			addTool(server, "read", true, handler)
			addTool(server, "write", false, handler)
			host = serve(t, mcpsdk.NewSSEHandler(func(*http.Request) *mcpsdk.Server { return server }, nil))
			tools := openHTTP(t, mcp.Transport{Type: mcp.TransportSSE, URL: host.URL}, fast)
			result := call(t, tools, "web__"+tool, "")
			require.Equal(t, writes, result.Unknown, result.Content)
			if !writes {
				require.Equal(t, agent.Result{Server: "web", Tool: "read", Content: "done", Attempts: 2}, result)
			}
			require.Equal(t, map[bool]int32{true: 1, false: 2}[writes], calls.Load())
		})
	}
}
