package stream

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"
	"github.com/jonboulle/clockwork"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/flow/journal"
	"tarsy.dev/tarsy/internal/limit"
	"tarsy.dev/tarsy/internal/origin"
	"tarsy.dev/tarsy/internal/problem"
)

const (
	defaultPingEvery    = 25 * time.Second
	defaultCommentEvery = 15 * time.Second
	defaultWriteLimit   = 10 * time.Second
)

// statusLoggedOut is the code that a WebSocket is closed with when its reader's login ended: 4000 plus HTTP's 401.
const statusLoggedOut websocket.StatusCode = 4401

var (
	errShuttingDown = errors.New("server is shutting down")
	errLoggedOut    = errors.New("API key or browser session is no longer valid")
)

// Config configures a Hub. The durations are in real time, because they concern the network and not the product.
type Config struct {
	Journals Journals
	// Notes is the journal of the channel "notes".
	Notes  journal.Reader[tarsy.Event]
	Feed   Feed
	Deltas *Deltas
	// Origins decides which origins' pages may connect.
	Origins origin.Policy
	// Owner returns the owner that the streams of a request are counted for. If it is nil or returns "", only the totals apply.
	Owner  func(*http.Request) string
	Limits Limits
	// LoginEnded returns a channel that is closed when the request's reader may no longer read; nil means that this never happens.
	LoginEnded func(*http.Request) <-chan struct{}
	// Visible returns which sessions the request's reader can see, and TeamOf the team of a session; nil means that everyone sees all.
	Visible func(*http.Request) tarsy.Visibility
	TeamOf  TeamOf
	// PingEvery is how often a WebSocket peer must show that it is alive; 25 s if zero.
	PingEvery time.Duration
	// CommentEvery is how often an SSE response sends a comment, so that proxies do not time it out; 15 s if zero.
	CommentEvery time.Duration
	// WriteLimit is how long one write, or the response to a ping, may take before the reader is dropped; 10 s if zero.
	WriteLimit time.Duration
	Logger     *slog.Logger
}

// Hub serves journals, feeds and deltas to readers, and owns their connections until Close.
type Hub struct {
	journals     Journals
	notes        journal.Reader[tarsy.Event]
	feed         Feed
	deltas       *Deltas
	origins      origin.Policy
	loginEnded   func(*http.Request) <-chan struct{}
	visible      func(*http.Request) tarsy.Visibility
	teamOf       TeamOf
	pingEvery    time.Duration
	commentEvery time.Duration
	writeLimit   time.Duration
	logger       *slog.Logger
	holdings     holdings

	closing chan struct{}      // closed when connections must close gracefully
	ctx     context.Context    //nolint:containedctx // ends when they must not take the time any more
	cancel  context.CancelFunc // of ctx

	// webSockets and eventStreams count the open connections of each kind.
	webSockets, eventStreams atomic.Int64

	mu          sync.Mutex
	closed      bool
	connections sync.WaitGroup
}

// New returns a Hub that must be closed.
func New(cfg Config) *Hub {
	if cfg.Owner == nil {
		cfg.Owner = func(*http.Request) string { return "" }
	}

	if cfg.LoginEnded == nil {
		cfg.LoginEnded = func(*http.Request) <-chan struct{} { return nil }
	}

	if cfg.Visible == nil {
		cfg.Visible = func(*http.Request) tarsy.Visibility { return tarsy.Visibility{} }
	}

	ctx, cancel := context.WithCancel(context.Background())

	return &Hub{
		holdings: holdings{
			owner:         cfg.Owner,
			connections:   limit.NewCount(cfg.Limits.ConnectionsPerOwner, cfg.Limits.Connections),
			subscriptions: limit.NewCount(cfg.Limits.SubscriptionsPerOwner, cfg.Limits.Subscriptions),
			notice:        limit.NewNotice(cfg.Logger, clockwork.NewRealClock()),
		},
		journals: cfg.Journals, notes: cfg.Notes, feed: cfg.Feed, deltas: cfg.Deltas, origins: cfg.Origins, loginEnded: cfg.LoginEnded, visible: cfg.Visible, teamOf: cfg.TeamOf, logger: cfg.Logger,
		pingEvery:    orDefault(cfg.PingEvery, defaultPingEvery),
		commentEvery: orDefault(cfg.CommentEvery, defaultCommentEvery),
		writeLimit:   orDefault(cfg.WriteLimit, defaultWriteLimit),
		closing:      make(chan struct{}), ctx: ctx, cancel: cancel,
	}
}

func orDefault(value, fallback time.Duration) time.Duration {
	if value == 0 {
		return fallback
	}

	return value
}

// Close ends every connection and waits for it: a WebSocket is closed with 1001, an SSE response ends with the event "bye". From then on
// requests are refused with 503. If ctx ends first, the remaining connections are aborted and Close returns ctx's cause. It may be called
// more than once.
func (h *Hub) Close(ctx context.Context) error {
	h.mu.Lock()
	if !h.closed {
		h.closed = true
		close(h.closing)
	}
	h.mu.Unlock()

	defer h.cancel()

	cutOff := context.AfterFunc(ctx, h.cancel)
	defer cutOff()

	h.connections.Wait()

	if ctx.Err() != nil {
		return fmt.Errorf("close the hub: %w", context.Cause(ctx))
	}

	return nil
}

// WebSockets returns the number of open WebSocket connections.
func (h *Hub) WebSockets() int64 { return h.webSockets.Load() }

// EventStreams returns the number of open event streams.
func (h *Hub) EventStreams() int64 { return h.eventStreams.Load() }

// admit does the common work of all requests: it checks the origin and counts the connection. If it returns false, it has sent a response;
// otherwise the caller must call release.
func (h *Hub) admit(w http.ResponseWriter, r *http.Request) bool {
	allowed, foreign := h.origins.Allow(r)
	if !allowed {
		problem.Write(w, r, h.logger, tarsy.Errorf(tarsy.CodeForbiddenOrigin,
			"This origin is not allowed; see the server's allowed origins."))

		return false
	}

	if foreign {
		w.Header().Set("Access-Control-Allow-Origin", r.Header.Get("Origin"))
		w.Header().Set("Access-Control-Allow-Credentials", "true")
	}

	w.Header().Add("Vary", "Origin")

	err := h.count(r)
	if err != nil {
		problem.Write(w, r, h.logger, err)

		return false
	}

	return true
}

func (h *Hub) count(r *http.Request) error {
	h.mu.Lock()
	defer h.mu.Unlock()

	if h.closed {
		return tarsy.Errorf(tarsy.CodeShuttingDown, "The server is shutting down.")
	}

	err := h.holdings.connect(r.Context(), h.holdings.owner(r))
	if err != nil {
		return err
	}

	h.connections.Add(1)

	return nil
}

// release undoes admit.
func (h *Hub) release(r *http.Request) {
	h.holdings.connections.Release(h.holdings.owner(r), 1)
	h.connections.Done()
}
