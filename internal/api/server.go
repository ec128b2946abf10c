package api

import (
	"cmp"
	"context"
	"io/fs"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/jonboulle/clockwork"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/jobs"
	"tarsy.dev/tarsy/internal/limit"
	"tarsy.dev/tarsy/internal/note"
	"tarsy.dev/tarsy/internal/note/board"
	"tarsy.dev/tarsy/internal/note/review"
	"tarsy.dev/tarsy/internal/note/store"
	"tarsy.dev/tarsy/internal/people"
	"tarsy.dev/tarsy/internal/postgres"
	accountstore "tarsy.dev/tarsy/internal/postgres/account"
	"tarsy.dev/tarsy/internal/requestid"
)

// Intake accepts requests for investigations. It returns after the effect of a call is durable. Its errors for users are *tarsy.Error.
type Intake interface {
	Submit(ctx context.Context, alert tarsy.Alert) (tarsy.Session, error)
	Cancel(ctx context.Context, sessionID, author string) (tarsy.SessionStatus, error)
	CancelMany(ctx context.Context, sessionIDs []string, author string, dryRun bool) (tarsy.BulkCancel, error)
	Ask(ctx context.Context, sessionID, author, content string) (tarsy.Question, error)
}

// AlertType is a kind of alert that can be submitted, and the chain that investigates it.
type AlertType struct {
	Name        string `json:"name"`
	ChainID     string `json:"chain_id"`
	Description string `json:"description"`
}

// Warning is a problem of a running server.
type Warning struct {
	ID        string    `json:"id"`
	Category  string    `json:"category"`
	Message   string    `json:"message"`
	Details   string    `json:"details"`
	ServerID  string    `json:"server_id"`
	CreatedAt time.Time `json:"created_at"`
}

// MCPServerStatus is the result of the last check of an MCP server.
type MCPServerStatus struct {
	ID        string     `json:"id"`
	Healthy   bool       `json:"healthy"`
	Checked   bool       `doc:"False until the first check has ended." json:"checked"`
	Error     string     `json:"error"`
	ToolCount int        `json:"tool_count"`
	LastCheck *time.Time `json:"last_check"`
}

// Info identifies the server.
type Info struct {
	Version  string
	ServerID string
}

// AuthConfig configures authentication.
type AuthConfig struct {
	Required bool
	// Users configures users who need no key; nil if every caller needs one.
	Users *Users
	// Teams limits which sessions callers can see; nil means that every caller can see all.
	Teams *Teams
}

// Config holds the dependencies of the API. Clock and Logger have defaults.
type Config struct {
	Store      *postgres.DB
	Accounts   *accountstore.Store
	Intake     Intake
	AlertTypes func() []AlertType
	// Notes, Board, Reviews and Jobs implement the operations of the same names.
	Notes   *note.Service
	Board   *board.Service
	Reviews *review.Service
	Jobs    *jobs.Queue
	// NoteTeams looks up the teams of the sessions that notes, entities and review items come from.
	NoteTeams *store.DB
	// Inbox and Triage implement webhooks, silences and suppressed alerts.
	Inbox  Inbox
	Triage Triage
	// People records the decisions of users.
	People *people.Desk
	// DailyBudgetUSD returns the daily cost limit of all sessions together; nil or a result of zero means no limit.
	DailyBudgetUSD func() float64
	// NotesPerMinute limits the notes captured with one key; zero means no limit.
	NotesPerMinute int
	// WebSocket, Events and NoteEvents are mounted at /api/v1/ws, /api/v1/sessions/{id}/events and /api/v1/notes/events; the
	// id is the request's path value "id".
	WebSocket  http.Handler
	Events     http.Handler
	NoteEvents http.Handler
	// MCP is mounted at /mcp. The request's body is already read into memory.
	MCP  http.Handler
	Auth AuthConfig
	// LoginCheckEvery is how often the keys and browser sessions of open streams are checked; 2 s if zero.
	LoginCheckEvery time.Duration
	// TrustedProxies are the peers whose X-Forwarded headers are trusted.
	TrustedProxies []netip.Prefix
	// PublicURL is the address of the dashboard in browsers; nil if it is not configured.
	PublicURL *url.URL
	Login     LoginLimits
	// OIDC configures the login with OpenID Connect; nil means that there is none.
	OIDC *OIDC
	// BodyTimeout is how long a request's body can take to arrive, in real time; 20 s if zero.
	BodyTimeout time.Duration
	// WriteTimeout is how long a client can take to read the next piece of a response other than a stream, in real time; 20 s if zero.
	WriteTimeout time.Duration
	// Bodies limits the memory of request bodies; zero fields have defaults.
	Bodies BodyLimits
	// Ready returns nil when the server can be sent work. The message of a *tarsy.Error is shown to any client.
	Ready func() error
	// Warnings returns the warnings that /health shows.
	Warnings func() []Warning
	// MCPServers returns the server states that /health shows.
	MCPServers func() []MCPServerStatus
	// System serves /api/v1/system.
	System System
	// Reload reads the configuration again, and applies it unless dryRun is true. Its errors for users are *tarsy.Error.
	Reload func(ctx context.Context, dryRun bool, author string) (ConfigReload, error)
	// Metrics serves /metrics; nil means that there are none. Observe may be nil.
	Metrics http.Handler
	Observe Observe
	// Mask masks secrets in what the audit log records; nil means that nothing is masked.
	Mask func(string) string
	// LogLevel is the level of Logger; nil means a level without effect.
	LogLevel *slog.LevelVar
	// Dashboard has the files of the page, including index.html; nil means that there is no page.
	Dashboard fs.FS
	// Manual has the documents that /docs shows; nil means that there are none.
	Manual fs.FS
	Info   Info
	// Declared is the result of Declare for Info.Version; nil means that New declares the routes itself.
	Declared *Server
	Clock    clockwork.Clock
	Logger   *slog.Logger
}

// Server answers HTTP requests: it finds the operation of a request, identifies the caller, checks permissions, and calls the type that
// owns the operations of the resource. Requests share only the Store, the page's files, the limits and counters, and the check of the
// logins of open streams, whose goroutine ends with the last stream.
type Server struct {
	// The operations by resource.
	sessions *sessions
	desk     *desk
	alerts   *alerts
	notes    *notes
	entities *entities
	account  *account
	system   *system

	guard    *guard
	teams    *teamCheck
	audit    *auditor
	bodies   *bodies
	logins   *loginWatch
	refusals *refusals
	page     *page
	manual   *manualPages

	mux      *http.ServeMux
	routes   map[string]route
	huma     huma.API
	document func() []byte

	bodyTimeout  time.Duration
	writeTimeout time.Duration
	observe      Observe
	clock        clockwork.Clock
	logger       *slog.Logger
}

// New creates the server, with all its routes.
func New(cfg Config) *Server {
	if cfg.Clock == nil {
		cfg.Clock = clockwork.NewRealClock()
	}

	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}

	if cfg.MCPServers == nil {
		cfg.MCPServers = func() []MCPServerStatus { return nil }
	}

	if cfg.LogLevel == nil {
		cfg.LogLevel = &slog.LevelVar{}
	}

	if cfg.DailyBudgetUSD == nil {
		cfg.DailyBudgetUSD = func() float64 { return 0 }
	}

	if cfg.Metrics == nil {
		cfg.Metrics = http.NotFoundHandler()
	}

	if cfg.Mask == nil {
		cfg.Mask = func(text string) string { return text }
	}

	if cfg.Observe == nil {
		cfg.Observe = func(string, string, int, time.Duration, bool) {}
	}

	s := cfg.Declared
	if s == nil {
		s = Declare(cfg.Info.Version)
	}

	s.serveWith(cfg)
	s.handleWith(cfg)

	return s
}

// serveWith sets what every request needs.
func (s *Server) serveWith(cfg Config) {
	s.clock, s.logger, s.observe = cfg.Clock, cfg.Logger, cfg.Observe
	s.bodyTimeout = cmp.Or(cfg.BodyTimeout, defaultBodyTimeout)
	s.writeTimeout = cmp.Or(cfg.WriteTimeout, defaultWriteTimeout)
	s.bodies = newBodies(cfg.Bodies, limit.NewNotice(cfg.Logger, cfg.Clock))
	s.refusals = newRefusals(cfg.Logger, cfg.Clock)
	s.page = newPage(cfg.Dashboard)
	s.manual = newManualPages(cfg.Manual)
	s.guard = &guard{
		store: cfg.Accounts, required: cfg.Auth.Required, users: cfg.Auth.Users, teams: cfg.Auth.Teams, proxies: cfg.TrustedProxies, public: public{cfg.PublicURL}, clock: cfg.Clock, logger: cfg.Logger,
	}
	s.teams = &teamCheck{store: cfg.Store, notes: cfg.NoteTeams, people: cfg.People}
	s.logins = &loginWatch{store: cfg.Accounts, every: cmp.Or(cfg.LoginCheckEvery, loginCheckEvery), clock: cfg.Clock, logger: cfg.Logger}
	s.audit = &auditor{
		store: cfg.Accounts, guard: s.guard, mask: cfg.Mask, serverID: cfg.Info.ServerID, denials: limit.NewRate(denialsPerCaller), clock: cfg.Clock, logger: cfg.Logger,
	}
}

// handleWith sets what the handlers of each resource need.
func (s *Server) handleWith(cfg Config) {
	dashboard := public{cfg.PublicURL}
	tries := &attempts{
		networks: limit.NewRate(cfg.Login.AttemptsPerMinute), keys: limit.NewRate(cfg.Login.AttemptsPerMinute), shares: limit.NewRate(sharesPerLogin * cfg.Login.AttemptsPerMinute),
		notice: limit.NewNotice(cfg.Logger, cfg.Clock),
	}

	*s.sessions = sessions{store: cfg.Store, export: cfg.Store.Export, intake: cfg.Intake, teams: s.teams, public: dashboard, events: cfg.Events, logger: cfg.Logger}
	*s.desk = desk{
		store: cfg.Store, intake: cfg.Intake, people: cfg.People, teams: s.teams, public: dashboard, attempts: tries, clock: cfg.Clock, logger: cfg.Logger,
	}
	*s.alerts = alerts{
		store: cfg.Store, intake: cfg.Intake, inbox: cfg.Inbox, triage: cfg.Triage, alertTypes: cfg.AlertTypes, teams: s.teams, public: dashboard, bodies: s.bodies,
		clock: cfg.Clock,
	}
	*s.notes = notes{
		notes: cfg.Notes, reviews: cfg.Reviews, teams: s.teams, events: cfg.NoteEvents, clock: cfg.Clock, logger: cfg.Logger,
		captures: captures{keys: limit.NewRate(cfg.NotesPerMinute), notice: limit.NewNotice(cfg.Logger, cfg.Clock)},
	}
	*s.entities = entities{board: cfg.Board, teams: s.teams, clock: cfg.Clock, logger: cfg.Logger}
	*s.account = account{
		store: cfg.Accounts, guard: s.guard, audit: s.audit, attempts: tries, refusals: s.refusals, oidc: cfg.OIDC, sessionsPerKey: cfg.Login.SessionsPerKey,
		clock: cfg.Clock, logger: cfg.Logger,
	}
	*s.system = system{
		store: cfg.Store, accounts: cfg.Accounts, people: cfg.People, jobs: cfg.Jobs, notes: cfg.Notes, info: cfg.Info, system: cfg.System, ready: cfg.Ready, warnings: cfg.Warnings,
		mcpServers: cfg.MCPServers, reload: cfg.Reload, dailyBudgetUSD: cfg.DailyBudgetUSD, document: s.document, logLevel: cfg.LogLevel,
		clock: cfg.Clock, logger: cfg.Logger, webSocket: cfg.WebSocket, mcp: cfg.MCP, metrics: cfg.Metrics,
	}
}

// Declare registers the routes of a server that New completes. It needs none of the server's dependencies and takes most of the time of
// New, so that it can run while the database is opened.
func Declare(version string) *Server {
	s := &Server{
		sessions: &sessions{}, desk: &desk{}, alerts: &alerts{}, notes: &notes{}, entities: &entities{}, account: &account{}, system: &system{},
		mux: http.NewServeMux(), routes: map[string]route{},
	}
	s.huma = newDocument(s.mux, version)

	for _, operations := range [][]operation{
		s.sessions.operations(), s.desk.operations(), s.alerts.operations(), s.notes.operations(), s.entities.operations(), s.account.operations(),
		s.system.operations(),
	} {
		for _, o := range operations {
			s.register(o)
		}
	}

	s.finishDocument()

	return s
}

// Handler returns the handler of every route.
func (s *Server) Handler() http.Handler {
	return requestid.Middleware(s.observed(s.bounded(s.recovered(http.HandlerFunc(s.serve)))))
}

// BodyBytes returns how much memory request bodies hold.
func (s *Server) BodyBytes() int64 { return int64(s.bodies.all.Held()) }

// OpenAPI returns the document that /openapi.json serves.
func (s *Server) OpenAPI() []byte { return s.document() }
