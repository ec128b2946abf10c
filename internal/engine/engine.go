package engine

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jonboulle/clockwork"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/agent"
	"tarsy.dev/tarsy/internal/background"
	"tarsy.dev/tarsy/internal/calendar"
	"tarsy.dev/tarsy/internal/postgres"
)

// Announce returns the announcements to store with the step that starts or ends a session. A unique index ensures that each is stored once.
type Announce func(session tarsy.Session, subject tarsy.AnnouncementSubject) []tarsy.Announcement

// Config configures an Engine.
type Config struct {
	// Settings are the initial settings; see Engine.Apply.
	Settings

	DB *postgres.DB
	// OpenTools connects the tools of one execution.
	OpenTools func(ctx context.Context, executionID string, servers []tarsy.MCPServerSelection, rules []agent.ToolRule) (agent.Tools, error)
	// FetchRunbook reads the runbook at a URL from an alert.
	FetchRunbook func(ctx context.Context, url string) (string, error)

	// ServerID identifies this server in leases.
	ServerID string
	// Lease is how long a server keeps a session after it stops responding; leases are renewed every RenewEvery.
	Lease      time.Duration
	RenewEvery time.Duration
	// Ready reports whether this server may claim more than cancellations. Nil means always. Call Wake when it changes.
	Ready func() bool
	// Grace is how long a stopping server waits for tool calls in flight.
	Grace time.Duration

	// Announce may be nil.
	Announce Announce

	// SetAside is called when a session cannot be loaded, and when it can be loaded again. It may be nil.
	SetAside func(sessionID string, aside bool)

	// LeaseLost is called when another server has taken over a session that this one worked on. It may be nil.
	LeaseLost func()
	// Trace returns the context for work on a row of a session: the session itself, or an execution. Nil leaves the context unchanged.
	Trace func(ctx context.Context, sessionID, rowID string) context.Context

	Clock  clockwork.Clock
	Logger *slog.Logger
}

// maxCancels and maxChats are how many sessions a server cancels, and questions it answers, in addition to the sessions that it runs.
const (
	maxCancels = 16
	maxChats   = 16
)

// databasePatience is how long the engine waits for an unresponsive database before it retries.
const databasePatience = 30 * time.Second

// The reasons why the work on a session is interrupted.
var (
	errCancelRequested = errors.New("the session was cancelled on request")
	errSessionTimeout  = errors.New("the session ran out of time")
	errHandOver        = errors.New("this server is stopping")
	errCommitFailed    = errors.New("a step could not be committed")
	errPanicked        = errors.New("the work on the session panicked")
)

// Engine claims and runs sessions. Start must be called at most once; Stop hands all sessions over and may be called at any time.
type Engine struct {
	Config

	// settings are the current settings. A claimed session keeps the settings of that moment; see sessionRun.
	settings atomic.Pointer[Settings]
	ledger   *ledger
	// recipes is used only by the claiming goroutine.
	recipes recipes
	aside   setAside
	// Report outages of the database for claims, lease renewals and server announcements.
	outage, renewing, announcing background.Outage

	started time.Time

	mu       sync.Mutex
	runs     map[string]*sessionRun
	stopping bool

	// slots is signalled when a worker is free, cancels when a session may need to be cancelled or a question answered, and requests when
	// there is a request to a session that does not run here, or not yet.
	slots    chan struct{}
	cancels  chan struct{}
	requests chan struct{}

	stopClaiming context.CancelFunc
	stopServing  context.CancelFunc
	claiming     sync.WaitGroup
	serving      sync.WaitGroup
	working      sync.WaitGroup
}

// New returns an engine that is not started.
func New(cfg Config) *Engine {
	if cfg.Trace == nil {
		cfg.Trace = func(ctx context.Context, _, _ string) context.Context { return ctx }
	}

	if cfg.LeaseLost == nil {
		cfg.LeaseLost = func() {}
	}

	settings := cfg.Settings
	cfg.Settings = Settings{} // so that nothing reads settings that Apply has replaced

	e := &Engine{
		Config:  cfg,
		recipes: recipes{read: cfg.DB.Recipes, logger: cfg.Logger},
		outage: background.Outage{
			Failing: "could not claim sessions; trying again", Over: "claiming sessions again", Level: slog.LevelError, Logger: cfg.Logger,
		},
		renewing: background.Outage{
			Failing: "could not renew leases; retrying unless another server takes them", Over: "renewing leases again",
			Level: slog.LevelWarn, Logger: cfg.Logger,
		},
		announcing: background.Outage{
			Failing: "could not announce this server; retrying with the next renewal", Over: "announcing this server again",
			Level: slog.LevelWarn, Logger: cfg.Logger,
		},
		runs:     map[string]*sessionRun{},
		slots:    make(chan struct{}, 1),
		cancels:  make(chan struct{}, 1),
		requests: make(chan struct{}, 1),
	}
	e.ledger = &ledger{
		budget: func() Budget { return e.settings.Load().Budgets.Daily }, read: cfg.DB.SpentSince, clock: cfg.Clock, logger: cfg.Logger,
	}
	e.Apply(settings)

	return e
}

// Start begins to claim and run sessions. It has no effect after Stop.
func (e *Engine) Start() {
	e.mu.Lock()
	stopped := e.stopping
	e.mu.Unlock()

	if stopped {
		return
	}

	claimCtx, stopClaiming := context.WithCancel(context.Background())
	serveCtx, stopServing := context.WithCancel(context.Background())
	e.stopClaiming, e.stopServing = stopClaiming, stopServing
	e.started = e.Clock.Now()

	// Start watching here, not in the goroutines, so that no signal is missed after Start returns.
	queue := e.DB.Signals().WatchQueue()
	requests := e.DB.Signals().WatchRequests()

	e.claiming.Go(func() { e.claim(claimCtx, queue) })
	e.serving.Go(func() { e.renew(serveCtx) })
	e.serving.Go(func() { e.watchRequests(serveCtx, requests) })

	wake(e.slots)
}

// Stop stops claiming, abandons LLM calls, lets tool calls finish, hands all sessions over and waits. After the grace period, or when ctx
// is done, tool calls are interrupted too. It is safe to call before Start and more than once.
func (e *Engine) Stop(ctx context.Context) {
	e.mu.Lock()
	e.stopping = true
	e.mu.Unlock()

	if e.stopClaiming == nil {
		return
	}

	e.stopClaiming()
	e.claiming.Wait()

	runs := e.running()
	for _, r := range runs {
		r.yield(errHandOver)
	}

	grace, cancel := context.WithCancel(ctx)
	timer := e.Clock.AfterFunc(e.Grace, cancel)
	stopCutting := context.AfterFunc(grace, func() {
		for _, r := range runs {
			r.memory.interrupt(errHandOver)
		}
	})

	e.working.Wait()
	stopCutting()
	timer.Stop()
	cancel()

	e.stopServing()
	e.serving.Wait()
}

// Wake makes the engine look for sessions to claim now.
func (e *Engine) Wake() { wake(e.slots) }

// running returns the sessions that this server works on.
func (e *Engine) running() []*sessionRun {
	e.mu.Lock()
	defer e.mu.Unlock()

	return slices.Collect(maps.Values(e.runs))
}

// Running returns how many sessions this server works on.
func (e *Engine) Running() int {
	e.mu.Lock()
	defer e.mu.Unlock()

	return len(e.runs)
}

func (e *Engine) now() time.Time { return calendar.Time(e.Clock.Now()) }

func wake(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
