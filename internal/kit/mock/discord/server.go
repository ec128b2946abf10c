package discord

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/jonboulle/clockwork"
)

// Config is what a server needs. The zero value is a guild with one channel, general, and a bot that any token fits.
type Config struct {
	Setup

	// Clock times heartbeats, rate limits, messages and expectations; nil is the real one.
	Clock clockwork.Clock
	// Logger is told about faults of the server itself; nil is nobody.
	Logger *slog.Logger
}

// Server is a virtual Discord. It is safe for concurrent use.
type Server struct {
	setup   Setup
	clock   clockwork.Clock
	logger  *slog.Logger
	mux     *http.ServeMux
	gateway *gateway
	limiter *limiter
	journal *journal
	play    *conversation

	// serial lets one request, message or step see and change the world at a time, in one order for all clients.
	serial sync.Mutex
	world  *world

	surprises struct {
		sync.Mutex

		list []string
	}

	front struct {
		sync.Mutex

		server  *http.Server
		url     string
		serving sync.WaitGroup
	}
}

// New returns a server, or an error with everything that is wrong with its setup. It answers once its Handler is served;
// Start does that on a port of its own. Stop ends either.
func New(cfg Config) (*Server, error) {
	s := &Server{setup: cfg.Setup, clock: cfg.Clock, logger: cfg.Logger, mux: http.NewServeMux(), journal: newJournal()}
	if s.clock == nil {
		s.clock = clockwork.NewRealClock()
	}

	if s.logger == nil {
		s.logger = slog.New(slog.DiscardHandler)
	}

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
	s.serveControl(s.mux)
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
func (s *Server) Start() error {
	listener, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("start Discord: %w", err)
	}

	s.front.Lock()
	defer s.front.Unlock()

	s.front.url = "http://" + listener.Addr().String() + Path
	s.front.server = &http.Server{Handler: s.Handler(), ReadHeaderTimeout: 30 * time.Second}
	front := s.front.server

	s.front.serving.Go(func() { _ = front.Serve(listener) })

	return nil
}

// Stop ends the conversation, breaks all connections and waits for them. It may be called more than once, and before Start.
func (s *Server) Stop() {
	s.play.stop()

	s.front.Lock()
	if s.front.server != nil {
		_ = s.front.server.Close()
	}
	s.front.Unlock()

	s.gateway.stop()
	s.front.serving.Wait()
}

// URL is the root for clients, such as http://127.0.0.1:4711/discord: REST is below /api/v10.
func (s *Server) URL() string {
	s.front.Lock()
	defer s.front.Unlock()

	return s.front.url
}

// API is the base URL of the REST API.
func (s *Server) API() string { return s.URL() + "/api/v10" }

// Gateway is the address of the gateway.
func (s *Server) Gateway() string { return "ws" + strings.TrimPrefix(s.URL(), "http") + "/gateway" }

// Token is a token that is accepted. Without one in the setup it is made from the id of the bot, as real ones are: some clients
// read the id from it.
func (s *Server) Token() string {
	if s.setup.Token != "" {
		return s.setup.Token
	}

	return base64.RawStdEncoding.EncodeToString([]byte(s.world.bot.id)) + ".mock.mock"
}

// snapshot is what a client is told when it identifies.
func (s *Server) snapshot() (object, []event) {
	s.serial.Lock()
	defer s.serial.Unlock()

	guilds := mapped(s.world.guilds, func(g *guild) event {
		return event{name: "GUILD_CREATE", intents: intentGuilds, guild: g.id, data: s.world.guildCreate(g)}
	})

	return userObject(s.world.bot), guilds
}

// surprise notes a request that nothing here answers.
func (s *Server) surprise(text string) {
	s.surprises.Lock()
	defer s.surprises.Unlock()

	s.surprises.list = append(s.surprises.list, text)
}

// Unexpected describes each request to an operation that does not exist.
func (s *Server) Unexpected() []string {
	s.surprises.Lock()
	defer s.surprises.Unlock()

	return append([]string(nil), s.surprises.list...)
}

// Unused describes the steps of the conversation that were not reached, and 429s that were not used.
func (s *Server) Unused() []string {
	unused := s.play.unused()
	if n := s.limiter.pending(); n > 0 {
		unused = append(unused, fmt.Sprintf("Discord: %d forced answers of 429", n))
	}

	return unused
}
