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

// statusLoggedOut is the code that a WebSocket is closed with when its reader's login ended: 4000 and HTTP's 401.
const statusLoggedOut websocket.StatusCode = 4401

var (
	errShuttingDown = errors.New("server is shutting down")
	errLoggedOut    = errors.New("API key or browser session is no longer valid")
)

// Config is what a Hub needs. The durations are real time: they concern the network, not what the product does.
type Config struct {
	Journals Journals
	// Notes is the journal of the channel "notes".
	Notes  journal.Reader[tarsy.Event]
	Feed   Feed
	Deltas *Deltas
	// Origins decide whose pages may connect.
	Origins origin.Policy
	// Owner names who the streams of a request are counted for; nil, or an empty name, means nobody in particular, who is
	// bounded by the totals only.
	Owner  func(*http.Request) string
	Limits Limits
	// LoginEnded is closed when the reader behind a request may not read any more; nil means that this never happens.
	LoginEnded func(*http.Request) <-chan struct{}
	// Visible is which sessions the reader behind a request sees, and TeamOf the team of each; nil means that everybody sees all.
	Visible func(*http.Request) tarsy.Visibility
	TeamOf  TeamOf
	// PingEvery is how often a WebSocket peer must show that it is alive; 25 s if zero.
	PingEvery time.Duration
	// CommentEvery is how often an SSE response says something, so that no proxy thinks it dead; 15 s if zero.
	CommentEvery time.Duration
	// WriteLimit is how long one write, or the answer to a ping, may take before the reader is dropped; 10 s if zero.
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

	closing chan struct{}      // closed when connections shall say goodbye
	ctx     context.Context    //nolint:containedctx // ends when they must not take the time any more
	cancel  context.CancelFunc // of ctx

	// webSockets and eventStreams are the open connections of each kind.
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

// Close ends every connection and waits for it: a WebSocket is closed with 1001, an SSE response ends with the
// event "bye". From then on requests are refused with 503. When ctx ends first, what is left is cut off and
// Close returns ctx's cause. It may be called again.
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

// WebSockets is how many WebSocket connections are open.
func (h *Hub) WebSockets() int64 { return h.webSockets.Load() }

// EventStreams is how many event streams are open.
func (h *Hub) EventStreams() int64 { return h.eventStreams.Load() }

// admit does what all requests have in common: it checks the origin and counts the connection. If it reports
// false, it has answered; otherwise release follows.
func (h *Hub) admit(w http.ResponseWriter, r *http.Request) bool {
	allowed, foreign := h.origins.Allow(r)
	if !allowed {
		problem.Write(w, r, h.logger, tarsy.Errorf(tarsy.CodeForbiddenOrigin,
			"Pages of this origin may not connect; the server's allowed origins decide who may."))

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
