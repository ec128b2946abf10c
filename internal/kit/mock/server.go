// Package mock is a server that stands in for the APIs of language models: it answers from scripts or tapes, in the formats
// of several providers on one port, and keeps a journal of its requests. The packages it is given decide on the answers and
// on the providers' formats; it knows nothing about files or flags.
package mock

import (
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"tarsy.dev/tarsy/internal/kit/mock/anthropic"
	"tarsy.dev/tarsy/internal/kit/mock/discord"
	"tarsy.dev/tarsy/internal/kit/mock/exchange"
	"tarsy.dev/tarsy/internal/kit/mock/gemini"
	"tarsy.dev/tarsy/internal/kit/mock/issuer"
	"tarsy.dev/tarsy/internal/kit/mock/openai"
	"tarsy.dev/tarsy/internal/kit/mock/slack"
	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
)

// Config configures a server. Script or Tape is required.
type Config struct {
	// Script returns a fresh script that answers the calls of a lane. It is called once for each lane, and again after a
	// reset.
	Script func(lane string) *script.Script
	// Tape, if not nil, returns the tape that answers every request of a lane instead of a script.
	Tape func(lane string) Tape
	// MCP, if not nil, returns fresh MCP servers. It is called at the start and by Reload; they belong to no lane.
	MCP func() MCP
	// Discord, if not nil, returns a fresh virtual Discord, or nil for none. It is called at the start and by Reload; it
	// belongs to no lane.
	Discord func() Virtual
	// Slack is the same for a virtual Slack.
	Slack func() Virtual
	// Issuer, if not nil, is an OpenID Connect issuer, served below /oidc.
	Issuer http.Handler
	// Lane returns the lane of a request, see LaneByHeader and LaneByKey; nil puts all requests into one lane, named "".
	Lane func(r *http.Request) string
	// MaxLanes limits the lanes, JournalSize the entries of the journal. Zero means a sensible default.
	MaxLanes, JournalSize int
	// Models, if not nil, returns the models that the APIs list; none means a few well-known ones.
	Models func() []string
	// Gates, if not nil, returns the names of the existing gates; no other gate can be used then.
	Gates func() []string
	// Logger receives errors of the server itself; nil discards them.
	Logger *slog.Logger
}

// Tape answers requests without a script. It must be safe for concurrent use.
type Tape interface {
	// Answer answers one request; failure encodes an error in the caller's format.
	Answer(x *exchange.Exchange, failure func(buf []byte, e *llm.Error) []byte)
	// Unused describes what was not requested.
	Unused() []string
}

// MCP is a set of scripted MCP servers, at and below /mcp, which report what did not go as planned.
type MCP interface {
	Handler() http.Handler
	Unused() []string
	Unexpected() []string
}

// Virtual is a virtual Discord, at and below /discord and /_mock/discord, or a virtual Slack, at and below /slack and /_mock/slack.
type Virtual interface {
	Handler() http.Handler
	Unused() []string
	Unexpected() []string
	// Stop closes its connections and waits for them.
	Stop()
}

// Server answers requests. It is safe for concurrent use.
type Server struct {
	cfg     Config
	logger  *slog.Logger
	lanes   *lanes
	journal *journal
	apis    []exchange.API
	// calls has the operations of the APIs, control the server's own endpoints.
	calls, control *http.ServeMux
	// static has the operations whose paths have no variable parts, by path: most calls are to these, and need no search.
	static    map[string]*call
	exchanges *exchange.Config
	mcp       atomic.Pointer[tools]
	discord   atomic.Pointer[guilds]
	slack     atomic.Pointer[guilds]
	// unassigned has the unexpected requests without a lane: those that were refused one.
	unassigned lane
}

// New returns a server.
func New(cfg Config) *Server {
	s := &Server{
		cfg: cfg, logger: cfg.Logger, journal: newJournal(cfg.JournalSize),
		calls: http.NewServeMux(), control: http.NewServeMux(), static: map[string]*call{},
		apis: []exchange.API{
			{Name: openai.Name, Routes: openai.Routes(), Error: openai.Error},
			{Name: anthropic.Name, Routes: anthropic.Routes(), Error: anthropic.Error},
			{Name: gemini.Name, Routes: gemini.Routes(), Error: gemini.Error},
		},
	}
	if s.logger == nil {
		s.logger = slog.New(slog.DiscardHandler)
	}

	s.lanes = newLanes(cfg.MaxLanes, s.newLane)
	s.exchanges = &exchange.Config{Lane: s.laneOf, Models: cfg.Models, Done: s.done, Now: time.Now}
	s.routeCalls()
	s.routeControl()
	s.Reload()

	return s
}

// tools are the current MCP servers.
type tools struct {
	MCP

	handler http.Handler
}

// guilds is the current virtual Discord or Slack.
type guilds struct {
	Virtual

	handler http.Handler
}

// Reload removes all lanes, so that their next requests get a fresh script, and replaces the MCP servers, the virtual
// Discord and the virtual Slack. It keeps the journal.
func (s *Server) Reload() {
	s.lanes.forgetAll()
	s.unassigned.forget()
	s.exchanges.Store.Clear(nil)

	if s.cfg.MCP != nil {
		fresh := s.cfg.MCP()
		s.mcp.Store(&tools{MCP: fresh, handler: fresh.Handler()})
	}

	if s.cfg.Discord != nil {
		renew(&s.discord, s.cfg.Discord())
	}

	if s.cfg.Slack != nil {
		renew(&s.slack, s.cfg.Slack())
	}
}

// renew replaces a virtual Discord or Slack with a fresh one, or with none.
func renew(now *atomic.Pointer[guilds], fresh Virtual) {
	var next *guilds
	if fresh != nil {
		next = &guilds{Virtual: fresh, handler: fresh.Handler()}
	}

	if before := now.Swap(next); before != nil {
		// Its clients reconnect, to the fresh one.
		before.Stop()
	}
}

// Stop closes the connections of the virtual Discord and Slack and waits for them. Unused and unexpected requests remain
// available.
func (s *Server) Stop() {
	for _, now := range []*guilds{s.discord.Load(), s.slack.Load()} {
		if now != nil {
			now.Stop()
		}
	}
}

func (s *Server) routeCalls() {
	for _, api := range s.apis {
		for _, route := range api.Routes {
			handle := route.Handle
			if s.cfg.Tape != nil {
				handle = s.playTape(api)
			}

			made := &call{Handler: s.exchanges.Handler(api, handle), api: api}
			s.calls.Handle(route.Pattern, made)

			if path, ok := strings.CutPrefix(route.Pattern, http.MethodPost+" "); ok && !strings.Contains(path, "{") {
				s.static[path] = made
			}
		}
	}

	unknown := s.answerUnknown
	if s.cfg.Tape != nil {
		// A tape can contain operations that scripts do not support, such as files.
		unknown = func(x *exchange.Exchange) {
			api, ok := s.intendedAPI(x.Request)
			if !ok {
				api = s.apis[0]
			}

			s.playTape(api)(x)
		}
	}

	s.calls.Handle("/", &call{Handler: s.exchanges.Handler(exchange.API{Error: s.apis[0].Error}, unknown)})
}

// call is an operation of an API, or of none if it answers unknown paths.
type call struct {
	http.Handler

	api exchange.API
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if made, ok := s.static[r.URL.Path]; ok && r.Method == http.MethodPost {
		made.ServeHTTP(w, r)

		return
	}

	switch path, virtual, workspace := r.URL.Path, s.discord.Load(), s.slack.Load(); {
	case virtual != nil && (below(path, discord.Path) || below(path, discord.ControlPath)):
		virtual.handler.ServeHTTP(w, r)
	case workspace != nil && (below(path, slack.Path) || below(path, slack.ControlPath)):
		workspace.handler.ServeHTTP(w, r)
	case s.cfg.Issuer != nil && below(path, issuer.Path):
		s.cfg.Issuer.ServeHTTP(w, r)
	case strings.HasPrefix(path, "/_mock/"):
		s.control.ServeHTTP(w, r)
	case strings.HasPrefix(path, "/_error/"):
		s.answerError(w, r)
	case s.cfg.MCP != nil && below(path, "/mcp"):
		s.mcp.Load().handler.ServeHTTP(w, r)
	default:
		s.calls.ServeHTTP(w, r)
	}
}

// below reports whether path is root or below it.
func below(path, root string) bool {
	rest, ok := strings.CutPrefix(path, root)

	return ok && (rest == "" || rest[0] == '/')
}

func (s *Server) playTape(api exchange.API) func(x *exchange.Exchange) {
	return func(x *exchange.Exchange) {
		lane, err := s.lanes.get(x.Entry.Lane)
		if err != nil {
			x.Fail(api.Error, err)

			return
		}

		lane.tape.Answer(x, api.Error)
	}
}

func (s *Server) newLane(name string) *lane {
	l := &lane{name: name}

	if s.cfg.Tape != nil {
		l.tape = s.cfg.Tape(name)
	} else {
		l.script = s.cfg.Script(name)
	}

	return l
}

func (s *Server) laneOf(r *http.Request) (string, *script.Script, *llm.Error) {
	name := ""
	if s.cfg.Lane != nil {
		name = s.cfg.Lane(r)
	}

	lane, err := s.lanes.get(name)
	if err != nil {
		return name, nil, err
	}

	return name, lane.script, nil
}

// done adds an exchange to the journal, and to its lane if it was unexpected.
func (s *Server) done(x *exchange.Exchange) {
	s.journal.add(x)

	if !x.Entry.Unexpected {
		return
	}

	lane := s.lanes.find(x.Entry.Lane)
	if lane == nil {
		lane = &s.unassigned
	}

	lane.note(x.Entry)
}
