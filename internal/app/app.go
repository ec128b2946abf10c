package app

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jonboulle/clockwork"
	mcpsdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/docs"
	"tarsy.dev/tarsy/internal/agent"
	"tarsy.dev/tarsy/internal/api"
	"tarsy.dev/tarsy/internal/calendar"
	"tarsy.dev/tarsy/internal/config"
	"tarsy.dev/tarsy/internal/discord"
	"tarsy.dev/tarsy/internal/engine"
	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/internal/limit"
	"tarsy.dev/tarsy/internal/mcpserver"
	"tarsy.dev/tarsy/internal/metrics"
	"tarsy.dev/tarsy/internal/note/board"
	"tarsy.dev/tarsy/internal/note/review"
	"tarsy.dev/tarsy/internal/note/store"
	"tarsy.dev/tarsy/internal/origin"
	"tarsy.dev/tarsy/internal/people"
	"tarsy.dev/tarsy/internal/postgres"
	"tarsy.dev/tarsy/internal/postgres/account"
	"tarsy.dev/tarsy/internal/postgres/outbox"
	"tarsy.dev/tarsy/internal/published"
	"tarsy.dev/tarsy/internal/requestid"
	"tarsy.dev/tarsy/internal/runbook"
	"tarsy.dev/tarsy/internal/slack"
	"tarsy.dev/tarsy/internal/stream"
	"tarsy.dev/tarsy/internal/telemetry"
	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/web"
)

// Options configure a server. They include the seams at the system's edge: the model, the MCP transport, the clock.
type Options struct {
	// Config is the initial configuration. Load reads the files again for a reload, with the variables next to them; nil means that there
	// are no files. undo restores the previous variables if the configuration is not applied.
	Config *config.Config
	Load   func() (cfg *config.Config, undo func(), err error)
	// DatabaseURL is the database to use; empty means a private PostgreSQL in DataDir, with binaries from PGBinDir or
	// wherever they are found.
	DatabaseURL string
	DataDir     string
	PGBinDir    string
	// DatabaseWait is how long New waits for an unavailable database; 0 means not at all.
	DatabaseWait time.Duration
	// Listen is the address of the HTTP server, such as 127.0.0.1:8080.
	Listen string
	// RequireKey makes requests require an API key. Without it, only a loopback address is accepted.
	RequireKey bool
	// JobsOff keeps Start from running background jobs, until StartJobs. For tests.
	JobsOff bool
	// StepsPerCommit limits how many steps are committed together; 0 means the best number. For tests that count
	// commits, which otherwise depend on timing.
	StepsPerCommit int
	// LLM answers all LLM calls; nil means the configured providers.
	LLM llm.Client
	// Scripted answers calls to providers of type scripted; nil means that such calls fail.
	Scripted llm.Client
	// MCPTransport replaces the configured transports.
	MCPTransport func(ctx context.Context, serverID string) (mcpsdk.Transport, error)
	// Web replaces access to the hosts that runbooks are fetched from.
	Web *Web
	// Env looks up the variables that the configuration references; nil means that none is set.
	Env    func(string) (string, bool)
	Clock  clockwork.Clock
	Logger *slog.Logger
	// LogLevel is the level of Logger, which can be changed while the server runs; nil means one without effect.
	LogLevel *slog.LevelVar
	// Progress reports steps that take longer than a moment.
	Progress func(string)
	Version  string

	// errors are the latest log lines of level error.
	errors *errorLog
}

const day = 24 * time.Hour

// serverID returns a unique name for this process. It starts with the host, for people.
func serverID() string {
	host, err := os.Hostname()
	if err != nil {
		host = "tarsy"
	}

	id := ident.New()

	return fmt.Sprintf("%s-%d-%s", host, os.Getpid(), id[len(id)-6:])
}

// App is one server.
type App struct {
	options   Options
	serverID  string
	startedAt time.Time
	logger    *slog.Logger
	clock     clockwork.Clock
	// databaseTime means that no clock was injected and the database's is used.
	databaseTime bool

	// settings are derived from the current configuration; see current. reloading must be held to replace them.
	settings  atomic.Pointer[settings]
	reloading sync.Mutex
	// shownWarnings are the current warnings about the configuration; retired are runbook fetchers to close at the end.
	shownWarnings []configWarning
	retired       []*runbook.Fetcher

	// llm answers all LLM calls; models is nil if the options provide a client.
	llm    llm.Client
	models *models
	// maskText hides secrets in text that people or providers wrote.
	maskText   func(string) string
	openStream agent.OpenStream

	metrics *metrics.Metrics
	// traces is nil if there is no collector.
	traces   *telemetry.Tracer
	db       *postgres.DB
	accounts *account.Store
	outbox   *outbox.Store
	dbWatch  *databaseWatch
	notes    *store.DB
	engine   *engine.Engine
	work     backgroundWork
	// discord is nil unless it is enabled and has a token.
	discord *discord.Bot
	// slack is nil unless it is enabled and has a token.
	slack    *slack.Bot
	listener net.Listener
	// tls is nil if the server speaks plain HTTP.
	tls  *tls.Config
	http *http.Server
	// admin is nil unless system.admin_listen is set.
	admin net.Listener
	// handler answers requests once started is true.
	handler  http.Handler
	started  atomic.Bool
	warnings warnings
	notice   *limit.Notice
	health   health

	// failed receives the reason why the server cannot continue.
	failed chan error

	ready    atomic.Bool
	cleanups []cleanup
	serving  sync.WaitGroup
	stopOnce sync.Once
	stopErr  error

	// abandoned is closed when a stop has no time left.
	abandoned chan struct{}
}

// New wires a server. Before Start only the database runs, and the HTTP server answers /livez and /readyz. If New fails, everything
// that it opened is closed.
func New(ctx context.Context, options Options) (*App, error) {
	a := newApp(options)
	if err := a.wire(ctx); err != nil {
		stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), StopTime(options.Config.Queue))
		defer cancel()

		return nil, errors.Join(err, a.Stop(stopping))
	}

	return a, nil
}

func newApp(options Options) *App {
	databaseTime := options.Clock == nil
	if databaseTime {
		options.Clock = clockwork.NewRealClock()
	}

	if options.Logger == nil {
		options.Logger = slog.New(slog.DiscardHandler)
	}

	// Keep errors for the diagnostics.
	options.errors = &errorLog{}
	options.Logger = slog.New(errorHandler{Handler: options.Logger.Handler(), log: options.errors})

	// Add the request id to lines that are logged for a request.
	options.Logger = slog.New(requestid.NewHandler(options.Logger.Handler()))

	if options.Env == nil {
		options.Env = func(string) (string, bool) { return "", false }
	}

	if options.exportsTraces() {
		options.Logger = slog.New(telemetry.NewHandler(options.Logger.Handler()))
	}

	if options.LogLevel == nil {
		options.LogLevel = &slog.LevelVar{}
	}

	if options.Progress == nil {
		options.Progress = func(string) {}
	}

	return &App{
		options: options, startedAt: calendar.Time(options.Clock.Now()), serverID: serverID(), logger: options.Logger, clock: options.Clock, databaseTime: databaseTime,
		failed: make(chan error, 1), abandoned: make(chan struct{}),
		notice: limit.NewNotice(options.Logger, options.Clock),
	}
}

// wire creates the parts in the order of their dependencies. Each registers its clean-up.
func (a *App) wire(ctx context.Context) error {
	cfg := a.options.Config

	// Declare the API in parallel: most of wire waits for the database, and declaring is most of the rest.
	var (
		declaring sync.WaitGroup
		declared  *api.Server
	)

	declaring.Go(func() { declared = api.Declare(a.options.Version) })
	defer declaring.Wait()

	a.metrics = newMetrics(cfg, a.options.Version, a.logger)

	if err := a.openTraces(ctx); err != nil {
		return err
	}

	if err := a.openCertificate(ctx); err != nil {
		return err
	}

	if err := a.listen(ctx); err != nil {
		return err
	}

	if err := a.serveAdmin(ctx); err != nil {
		return err
	}

	a.serveHTTP()

	a.maskText = a.textMasker(func(text string) (string, error) { return a.current().masker.Text(text) })

	if err := a.openDatabase(ctx); err != nil {
		return err
	}

	a.readDatabase()

	if err := a.openNotes(ctx); err != nil {
		return err
	}

	deltas := stream.NewDeltas(stream.DeltasConfig{ServerID: a.serverID, Relay: a.db.Signals(), Clock: a.clock})
	a.onStop("token streams", func(context.Context) error { deltas.Close(); return nil })

	origins := origin.Policy{Own: origin.Of(cfg.System.Dashboard()), Allowed: cfg.System.WSOrigins()}

	changes := &feed{signals: a.db.Signals()}
	hub := stream.New(stream.Config{
		Journals: a.db, Notes: a.notes.Journal(), Feed: changes, Deltas: deltas, Origins: origins,
		LoginEnded: api.LoginEnded, Visible: api.VisibilityOf, TeamOf: a.db.SessionTeam, Owner: api.KeyOf, Limits: streamLimits(cfg.System.Streams), Logger: a.logger,
	})

	a.openStream = openStream(deltas)
	a.openModels()

	first, err := a.newSettings(cfg, nil)
	if err != nil {
		return err
	}

	a.settings.Store(first)
	a.metrics.ConfigLoaded(a.clock.Now())
	a.onStop("runbooks", func(context.Context) error { a.closeRunbooks(); return nil })
	a.countStreams(hub, deltas, changes)

	a.watchMCP()
	a.onStop("the MCP monitor", func(context.Context) error {
		a.health.monitor.Stop()
		a.health.end()

		return nil
	})

	targets, err := a.writeBackTargets()
	if err != nil {
		return err
	}

	announce, err := a.announce(targets)
	if err != nil {
		return err
	}

	a.engine = engine.New(engine.Config{
		Settings: first.engine,
		DB:       a.db, OpenTools: a.openTools, FetchRunbook: a.fetchRunbook,
		ServerID: a.serverID, Lease: cfg.Queue.OrphanThreshold, RenewEvery: cfg.Queue.HeartbeatInterval,
		Ready: a.health.started, Grace: toolGrace(cfg.Queue),
		Trace:    a.traces.Context,
		Announce: announce, SetAside: a.sessionSetAside, LeaseLost: a.metrics.LeaseLost, Clock: a.clock, Logger: a.logger,
	})

	if err := a.wireJobs(targets); err != nil {
		return err
	}

	decisions := people.New(people.Config{DB: a.db, Accounts: a.accounts, Mask: a.maskText, Clock: a.clock})

	if err := a.connectDiscord(externalIntake{a}, decisions); err != nil {
		return fmt.Errorf("system.discord: %w", err)
	}

	if err := a.connectSlack(externalIntake{a}, decisions); err != nil {
		return fmt.Errorf("system.slack: %w", err)
	}

	tools := mcpserver.NewHandler(mcpserver.HTTPConfig{
		API:     http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { a.handler.ServeHTTP(w, r) }), // contains this handler, so it is set later
		Origins: origins, Dashboard: cfg.System.Dashboard(), Version: a.options.Version, Logger: a.logger,
	})

	declaring.Wait()

	server := api.New(api.Config{
		Declared: declared,
		Store:    a.db, Accounts: a.accounts, Intake: externalIntake{a}, AlertTypes: a.alertTypes, Inbox: webhooks{a}, Triage: triageAdapter{a},
		People: decisions,
		Notes:  a.work.notes, Jobs: a.work.queue, NotesPerMinute: cfg.NotePipeline.RatePerMinute,
		DailyBudgetUSD: a.dailyBudgetUSD,
		Board:          board.New(board.Config{Store: a.notes, Mask: a.maskText}),
		NoteTeams:      a.notes,
		Reviews:        review.New(review.Config{Store: a.notes, Mask: a.maskText}),
		NoteEvents:     hub.NotesSSE(),
		MCP:            tools,
		WebSocket:      hub.WebSocket(),
		Events:         hub.SSE(func(r *http.Request) string { return r.PathValue("id") }),
		Auth:           api.AuthConfig{Required: a.options.RequireKey, Users: usersOf(cfg.System.Auth), Teams: teamsOf(cfg.System.Auth)},
		TrustedProxies: cfg.System.Proxies(),
		PublicURL:      cfg.System.Dashboard(),
		OIDC:           a.oidcLogin(cfg),
		Login: api.LoginLimits{
			AttemptsPerMinute: cfg.System.Login.AttemptsPerMinute, SessionsPerKey: cfg.System.Login.MaxSessionsPerKey,
		},
		Ready:      a.readiness,
		Warnings:   a.warnings.list,
		MCPServers: a.mcpStatuses,
		System:     a.system(),
		Reload:     a.Reload,
		Metrics:    a.metrics.Handler(),
		Observe:    a.metrics.Request,
		Mask:       a.maskText,
		LogLevel:   a.options.LogLevel,
		Dashboard:  web.Files(),
		Manual:     docs.Files,
		Info:       api.Info{Version: a.options.Version, ServerID: a.serverID},
		Clock:      a.clock, Logger: a.logger,
	})

	a.metrics.AddBodies(server.BodyBytes)
	a.handler = published.Handler(server.Handler())

	// Undone in reverse: sessions are handed over first, then readers get a goodbye, then requests end. Waiting tool calls are readers too,
	// and keep requests open.
	a.onStop("the HTTP server", a.stopHTTP)
	a.onStop("readers", hub.Close)
	a.onStop("calls of tools", func(context.Context) error { tools.Close(); return nil })
	a.onStop("the engine", func(ctx context.Context) error { a.engine.Stop(ctx); return nil })

	return nil
}

// usersOf returns how users log in without a key; nil if they cannot.
func usersOf(cfg config.Auth) *api.Users {
	if !cfg.Proxy && !cfg.OIDC.Enabled() {
		return nil
	}

	users := &api.Users{
		Proxy: cfg.Proxy, Issuer: cfg.OIDC.Issuer,
		Groups: map[tarsy.AccessRole][]string{
			tarsy.RoleAdmin: cfg.Roles.Admin, tarsy.RoleResponder: cfg.Roles.Responder, tarsy.RoleViewer: cfg.Roles.Viewer,
		},
	}
	if cfg.DefaultRole != config.DefaultRoleNone {
		users.Default = tarsy.AccessRole(cfg.DefaultRole)
	}

	return users
}

// teamsOf limits which sessions callers see; nil means that everyone sees all of them.
func teamsOf(cfg config.Auth) *api.Teams {
	if !cfg.ByTeam() {
		return nil
	}

	return &api.Teams{Groups: cfg.Teams}
}

// listen binds the address before anything else: a port in use is the most common mistake.
func (a *App) listen(ctx context.Context) error {
	host, _, err := net.SplitHostPort(a.options.Listen)
	if err != nil {
		return fmt.Errorf("the address to listen on must be host:port: %w", err)
	}

	if !IsLoopback(host) && !a.options.RequireKey {
		return tarsy.Errorf(tarsy.CodeInvalidRequest,
			"%s is not a loopback address, and there the server must require API keys: leave --auth on, or listen on 127.0.0.1", a.options.Listen)
	}

	var listen net.ListenConfig

	a.listener, err = listen.Listen(ctx, "tcp", a.options.Listen)
	if err != nil {
		return fmt.Errorf("listen on %s (choose another address with --listen): %w", a.options.Listen, err)
	}

	a.onStop("the listener", func(context.Context) error {
		if err := a.listener.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
			return err
		}

		return nil
	})

	return nil
}

// Start starts answering requests and running sessions.
func (a *App) Start(ctx context.Context) error {
	a.db.Start()
	a.dbWatch.Start(a.dbWatch.run)
	a.engine.Start()
	a.started.Store(true)
	a.reloading.Lock()
	a.showConfigWarnings(a.current())
	a.reloading.Unlock()

	a.health.begin(a.Step)
	a.health.monitor.Start()

	if !a.options.JobsOff {
		a.StartJobs()
	}

	if a.discord != nil {
		a.discord.Start()
	}

	if a.slack != nil {
		a.slack.Start()
	}

	a.ready.Store(true)

	return ctx.Err()
}

// StartJobs starts the background jobs: retention, write-back and the pipeline of notes. It must be called only once.
func (a *App) StartJobs() { a.work.start() }

// Failed receives the reason if the server cannot continue. The caller should then stop it.
func (a *App) Failed() <-chan error { return a.failed }

// Addr returns the address that the server listens on.
func (a *App) Addr() string { return a.listener.Addr().String() }

// ServerID identifies this server in leases and in /health.
func (a *App) ServerID() string { return a.serverID }

// DB returns the server's database, for commands that bypass the API.
func (a *App) DB() *postgres.DB { return a.db }

// Accounts returns the keys of the server, for commands that bypass the API.
func (a *App) Accounts() *account.Store { return a.accounts }

// IsLoopback reports whether a host can be reached only from this machine.
func IsLoopback(host string) bool {
	address, err := netip.ParseAddr(host)

	return host == "localhost" || err == nil && address.IsLoopback()
}
