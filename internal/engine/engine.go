package engine

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/jonboulle/clockwork"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/agent"
	"tarsy.dev/tarsy/internal/background"
	"tarsy.dev/tarsy/internal/chain"
	"tarsy.dev/tarsy/internal/postgres"
)

// Announce returns the announcements to store with the step that begins a session, or with the one that ends it. The index of
// announcements makes sure that each is stored once.
type Announce func(session tarsy.Session, subject tarsy.AnnouncementSubject) []tarsy.Announcement

// Config is what an engine needs.
type Config struct {
	DB *postgres.DB
	// Chain returns the chain with this id, as configured now, for sessions that have no recipe of their own.
	Chain func(chainID string) (chain.Chain, bool)
	// Server returns what is configured of an MCP server, for those sessions.
	Server func(id string) (chain.Server, bool)
	// Decode reads a stored recipe.
	Decode func(body json.RawMessage) (chain.Recipe, error)
	// Has is what this server's configuration has, in the words of a recipe's needs: it claims sessions that it can run.
	Has []string
	// UnrunnableTimeout is how long a session waits that needs what no server has configured, before it fails; zero
	// means five minutes.
	UnrunnableTimeout time.Duration
	// OpenTools connects the tools of one execution.
	OpenTools func(ctx context.Context, executionID string, servers []tarsy.MCPServerSelection, rules []agent.ToolRule) (agent.Tools, error)
	// FetchRunbook reads the runbook at an address that an alert named; DefaultRunbook is used when it cannot.
	FetchRunbook   func(ctx context.Context, url string) (string, error)
	DefaultRunbook string
	// Agent is what all executions share.
	Agent agent.Config

	// ServerID names this server in leases.
	ServerID string
	// Workers is how many sessions this server runs at once, MaxSessions how many all servers together.
	Workers     int
	MaxSessions int
	// MaxPerTeam is how many sessions of one team all servers together run at once, and TeamLimits the same for single teams by name.
	// Zero and nil mean no limit.
	MaxPerTeam int
	TeamLimits map[string]int
	// Lease is how long a session stays with a server that has gone silent; it is renewed every RenewEvery.
	Lease      time.Duration
	RenewEvery time.Duration
	// SessionTimeout bounds a session from its start, over all servers that worked on it.
	SessionTimeout time.Duration
	// WrapUp is how long before that the agents are told to conclude; zero means three minutes, or a tenth of a short
	// session.
	WrapUp time.Duration
	// ConcludeResolved asks the agents of a running session to conclude when its alert is resolved.
	ConcludeResolved bool
	// Budgets are caps on what sessions use.
	Budgets Budgets
	// Ready reports whether this server may take work. Until it does, only cancellations are claimed. Nil means always.
	// Call Wake when it changes.
	Ready func() bool
	// Grace is how long a stopping server waits for tool calls that are under way.
	Grace time.Duration

	// Announce may be nil.
	Announce Announce

	// SetAside is told when a session cannot be loaded, and when it can again. It may be nil.
	SetAside func(sessionID string, aside bool)

	// LeaseLost is called when another server took a session over that this one worked on. It may be nil.
	LeaseLost func()

	Clock  clockwork.Clock
	Logger *slog.Logger
}

// maxCancels and maxChats are how many sessions a server cancels, and how many questions it answers, beside the
// sessions that it runs.
const (
	maxCancels = 16
	maxChats   = 16
)

// databasePatience is how long the engine waits for a database that does not answer before it asks again.
const databasePatience = 30 * time.Second

// The reasons for which the work on a session is interrupted.
var (
	errCancelRequested = errors.New("the session was cancelled on request")
	errSessionTimeout  = errors.New("the session ran out of time")
	errHandOver        = errors.New("this server is stopping")
	errCommitFailed    = errors.New("a step could not be committed")
	errPanicked        = errors.New("the work on the session panicked")
)

// Engine claims sessions and runs them. Start it once; Stop hands everything over and may be called at any time.
type Engine struct {
	Config

	// ledger is nil where no day is capped.
	ledger *ledger
	// recipes belongs to the claimer.
	recipes recipes
	aside   setAside
	// These report while the database is unavailable to claim, to renew leases and to announce the server.
	outage, renewing, announcing background.Outage

	started time.Time

	mu       sync.Mutex
	runs     map[string]*sessionRun
	stopping bool

	// slots is kicked when a worker is free, cancels when a session may need to be cancelled or a question be answered,
	// requests when something is asked of a session that does not run here, or not yet.
	slots    chan struct{}
	cancels  chan struct{}
	requests chan struct{}

	stopClaiming context.CancelFunc
	stopServing  context.CancelFunc
	claiming     sync.WaitGroup
	serving      sync.WaitGroup
	working      sync.WaitGroup
}

// New returns an engine that does nothing yet.
func New(cfg Config) *Engine {
	if cfg.WrapUp == 0 {
		cfg.WrapUp = wrapUp(cfg.SessionTimeout)
	}

	if cfg.UnrunnableTimeout == 0 {
		cfg.UnrunnableTimeout = unrunnableTimeout
	}

	if cfg.LeaseLost == nil {
		cfg.LeaseLost = func() {}
	}

	return &Engine{
		Config:  cfg,
		ledger:  newLedger(cfg),
		recipes: recipes{read: cfg.DB.Recipes, decode: cfg.Decode, known: map[string]*chain.Recipe{}, logger: cfg.Logger},
		outage: background.Outage{
			Failing: "could not claim sessions; trying again", Over: "claims sessions again", Level: slog.LevelError, Logger: cfg.Logger,
		},
		renewing: background.Outage{
			Failing: "could not renew leases; retrying unless another server takes them", Over: "renews leases again",
			Level: slog.LevelWarn, Logger: cfg.Logger,
		},
		announcing: background.Outage{
			Failing: "could not announce this server; retrying with the next renewal", Over: "announces this server again",
			Level: slog.LevelWarn, Logger: cfg.Logger,
		},
		runs:     map[string]*sessionRun{},
		slots:    make(chan struct{}, 1),
		cancels:  make(chan struct{}, 1),
		requests: make(chan struct{}, 1),
	}
}

// Start begins to claim and run sessions. An engine that was stopped stays so.
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

	// Watches begin here, not in the goroutines: after Start returns, no signal is missed.
	queue := e.DB.Signals().WatchQueue()
	requests := e.DB.Signals().WatchRequests()

	e.claiming.Go(func() { e.claim(claimCtx, queue) })
	e.serving.Go(func() { e.renew(serveCtx) })
	e.serving.Go(func() { e.watchRequests(serveCtx, requests) })

	wake(e.slots)
}

// Stop claims nothing more, lets LLM calls go and tool calls finish, hands all sessions over and waits. After the
// grace period, or when ctx is done, tool calls are cut off too. It is safe before Start and may be called again.
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

// running returns the sessions under way.
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

func (e *Engine) now() time.Time { return tarsy.Time(e.Clock.Now()) }

func wake(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// wrapUp is how long before the end of a session its agents are told to conclude: three minutes of the usual forty.
func wrapUp(timeout time.Duration) time.Duration {
	const usual, share = 3 * time.Minute, 10

	return min(usual, timeout/share)
}
