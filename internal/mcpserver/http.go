package mcpserver

import (
	"bufio"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"unicode"

	mcpsdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/client"
	"tarsy.dev/tarsy/internal/loopback"
	"tarsy.dev/tarsy/internal/origin"
	"tarsy.dev/tarsy/internal/problem"
)

// HTTPConfig configures a Handler.
type HTTPConfig struct {
	// API serves the requests of tools, made with the caller's credentials.
	API http.Handler
	// Origins is the policy for browser origins.
	Origins origin.Policy
	// Dashboard is the base URL of the dashboard; nil means the address that the caller used.
	Dashboard *url.URL
	Version   string
	Logger    *slog.Logger
}

// Handler serves MCP over streamable HTTP without sessions: each request is independent, so any server of several can answer
// it. Access to the endpoint is checked before a request reaches the handler.
type Handler struct {
	cfg HTTPConfig
	mcp http.Handler
	// closing is done after Close.
	closing context.Context //nolint:containedctx // the lifetime of the handler
	cancel  context.CancelFunc
}

// NewHandler creates a handler; Close ends it.
func NewHandler(cfg HTTPConfig) *Handler {
	h := &Handler{cfg: cfg}
	h.closing, h.cancel = context.WithCancel(context.Background())
	server := newServer(cfg.Version, cfg.Logger, h.identify)

	h.mcp = mcpsdk.NewStreamableHTTPHandler(func(*http.Request) *mcpsdk.Server { return server }, &mcpsdk.StreamableHTTPOptions{
		Stateless: true,
		// Behind a proxy on the same machine, the Host header is never localhost. The API checks requests without a key.
		DisableLocalhostProtection: true,
		// The body was read and limited before.
		MaxRequestBodyBytes: -1,
	})

	return h
}

// Close ends waiting calls. The HTTP server then waits for their responses.
func (h *Handler) Close() { h.cancel() }

// requestKey is the context key for the HTTP request of a call.
type requestKey struct{}

// ServeHTTP implements http.Handler.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if allowed, _ := h.cfg.Origins.Allow(r); !allowed {
		problem.Write(w, r, h.cfg.Logger, tarsy.Errorf(tarsy.CodeForbiddenOrigin,
			"This origin is not allowed to connect; add it to the server's allowed origins."))

		return
	}

	// MCP no longer has batches, and a batch could start thousands of concurrent calls, bypassing the connection limit.
	if isBatch(r) {
		problem.Write(w, r, h.cfg.Logger, tarsy.Errorf(tarsy.CodeInvalidRequest, "Send one message per request: batches are not supported."))

		return
	}

	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(h.closing, cancel)()

	// Only calls get this context: a response is written to its end even if the handler closes.
	h.mcp.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), requestKey{}, r.WithContext(ctx))))
}

// isBatch reports whether the body of a request is a list. The body can still be read.
func isBatch(r *http.Request) bool {
	body := bufio.NewReader(r.Body)
	r.Body = struct {
		io.Reader
		io.Closer
	}{body, r.Body}

	for {
		first, err := body.Peek(1)
		if err != nil || !unicode.IsSpace(rune(first[0])) {
			return err == nil && first[0] == '['
		}

		_, _ = body.Discard(1) // skip white space, which JSON ignores
	}
}

var errNoRequest = errors.New("mcpserver: a call without its HTTP request")

// identify returns a client that acts on behalf of the sender of the HTTP request.
func (h *Handler) identify(ctx context.Context) (caller, error) {
	request, ok := ctx.Value(requestKey{}).(*http.Request)
	if !ok {
		return caller{}, errNoRequest
	}

	scheme := "http"
	if request.TLS != nil {
		scheme = "https"
	}

	address := scheme + "://" + request.Host

	c, err := client.New(client.Config{
		Server: address, UserAgent: request.UserAgent(), HTTP: &http.Client{Transport: &loopback.Transport{API: h.cfg.API, From: request}},
	})
	if err != nil {
		return caller{}, err
	}

	page := c.SessionPage
	if h.cfg.Dashboard != nil {
		page = func(sessionID string) string { return tarsy.SessionURL(h.cfg.Dashboard, sessionID) }
	}

	return caller{client: c, page: page, gone: request.Context(), keyHint: "send an API key in the header Authorization: Bearer"}, nil
}
