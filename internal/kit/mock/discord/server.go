package discord

import (
	"cmp"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"

	"github.com/jonboulle/clockwork"

	"tarsy.dev/tarsy/internal/kit/mock/virtual"
)

// Config configures a server. The zero value is a guild with one channel, general, and a bot that accepts any token.
type Config struct {
	Setup

	// Clock times heartbeats, rate limits, messages and expectations; nil means the real clock.
	Clock clockwork.Clock
	// Logger receives faults of the server itself; nil discards them.
	Logger *slog.Logger
}

// Server is a virtual Discord. It is safe for concurrent use.
type Server struct {
	setup   Setup
	clock   clockwork.Clock
	mux     *http.ServeMux
	gateway *gateway
	limiter *limiter
	play    *conversation

	// serial allows one request, message or step at a time to read and change the world, in one order for all clients.
	serial sync.Mutex
	world  *world

	host virtual.Host
	// journal has the actions of the bot; unknownRequests describes requests to unknown operations.
	journal         virtual.Journal[Action]
	unknownRequests virtual.Journal[string]
}

// New returns a server, or an error with all problems of its setup. The server answers once its Handler is served; Start
// serves it on its own port. Stop ends either.
func New(cfg Config) (*Server, error) {
	s := &Server{setup: cfg.Setup, clock: cmp.Or(cfg.Clock, clockwork.NewRealClock()), mux: http.NewServeMux()}

	world, problems := build(&s.setup, s.clock.Now())
	if len(problems) > 0 {
		lines := mapped(problems, Problem.String)

		return nil, errors.New("the setup of Discord is wrong:\n" + strings.Join(lines, "\n"))
	}

	s.world = world
	s.limiter = newLimiter(s.clock, s.setup.RateLimits)
	s.gateway = newGateway(&s.setup, s.clock)
	s.gateway.snapshot, s.gateway.members = s.snapshot, s.memberChunk

	s.serveREST(s.mux)
	s.serveControl(cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler)))
	s.mux.Handle("GET "+gatewayPath, s.gateway)
	s.mux.Handle("GET "+gatewayPath+"/{$}", s.gateway)
	s.mux.Handle("GET "+gatewayPath+resumePath, s.gateway)
	s.mux.Handle("GET "+gatewayPath+resumePath+"/{$}", s.gateway)

	s.play = newConversation(s, s.setup.Conversation)

	return s, nil
}

// Handler serves everything below Path and ControlPath.
func (s *Server) Handler() http.Handler { return s.mux }

// Start serves on a free port of the loopback interface.
func (s *Server) Start() error { return s.host.Start(s.mux) }

// Stop ends the conversation, breaks all connections and waits for them. It can be called more than once, and before Start.
func (s *Server) Stop() {
	s.play.stop()
	s.host.Stop()
	s.gateway.stop()
}

// URL returns the root for clients, such as http://127.0.0.1:4711/discord: REST is below /api/v10.
func (s *Server) URL() string { return s.host.URL() + Path }

// API returns the base URL of the REST API.
func (s *Server) API() string { return s.URL() + "/api/v10" }

// Gateway returns the address of the gateway.
func (s *Server) Gateway() string { return "ws" + strings.TrimPrefix(s.URL(), "http") + "/gateway" }

// Token returns an accepted token. Without one in the setup it is derived from the ID of the bot, like real ones: some
// clients read the ID from it.
func (s *Server) Token() string {
	if s.setup.Token != "" {
		return s.setup.Token
	}

	return base64.RawStdEncoding.EncodeToString([]byte(s.world.bot.id)) + ".mock.mock"
}

// snapshot returns what a client receives when it identifies.
func (s *Server) snapshot() (object, []event) {
	s.serial.Lock()
	defer s.serial.Unlock()

	guilds := mapped(s.world.guilds, func(g *guild) event {
		return event{name: "GUILD_CREATE", intents: intentGuilds, guild: g.id, data: s.world.guildCreate(g)}
	})

	return userObject(s.world.bot), guilds
}

// Unexpected describes each request to an operation that does not exist.
func (s *Server) Unexpected() []string { return s.unknownRequests.List() }

// Unused describes the steps of the conversation that were not completed, and the forced 429s that were not used.
func (s *Server) Unused() []string {
	unused := s.play.unused()
	if n := s.limiter.pending(); n > 0 {
		unused = append(unused, fmt.Sprintf("Discord: %d forced answers of 429", n))
	}

	return unused
}
