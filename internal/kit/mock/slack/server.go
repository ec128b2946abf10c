// Package slack is a virtual Slack on the wire: the methods of the Web API that bots use for messages, files and modals,
// and Socket Mode, complete enough for the usual client libraries to run against it unmodified. Tests determine what people
// write, click and submit, read what the bot sent, and break requests and connections on purpose. There is one workspace
// with one app; slash commands, user groups and permissions are not simulated. The package knows nothing about models or
// TARSy.
package slack

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/jonboulle/clockwork"

	"tarsy.dev/tarsy/internal/kit/mock/virtual"
)

const (
	// Path is the root of everything that clients use.
	Path       = "/slack"
	apiPath    = Path + "/api/"
	socketPath = Path + "/socket"

	teamID = "T0000000001"
	appID  = "A0000000001"
	botID  = "B0000000001"
)

// Setup is who and what exists at the start.
type Setup struct {
	// Token is the accepted bot token and AppToken the accepted app-level token; an empty one accepts any.
	Token, AppToken string
	// Bot is the name of the bot; empty means tarsy.
	Bot string
	// Users are the people, Channels the channels that the bot is in. Without channels, there is one named general.
	Users    []User
	Channels []Channel
	// AckWithin is how long a client may take to acknowledge an envelope before it is sent again; 0 means 3 s, as in Slack.
	AckWithin time.Duration
	// PingEvery is the interval of pings; 0 means 5 s.
	PingEvery time.Duration
}

// User is a person. An empty ID is generated; an empty Email becomes NAME@example.com.
type User struct{ Name, ID, Email string }

// Channel is a channel. An empty ID is generated.
type Channel struct {
	Name, ID string
	// NotJoined means that the bot is not a member until it joins.
	NotJoined bool
}

// Config configures a server.
type Config struct {
	Setup

	// Clock times messages, triggers and envelopes; nil means the real clock.
	Clock clockwork.Clock
	// Logger receives faults of the server itself; nil discards them.
	Logger *slog.Logger
}

// Server is a virtual Slack. It is safe for concurrent use.
type Server struct {
	setup  Setup
	clock  clockwork.Clock
	mux    *http.ServeMux
	self   User
	socket *socketMode

	listener        virtual.Host
	journal         virtual.Journal[Request]
	unknownRequests virtual.Journal[string]
	faults          virtual.Faults[Fault]
	// changes covers everything below, the journal and Socket Mode.
	changes virtual.Changes

	mu            sync.Mutex
	lastTS        int64
	conversations []*conversation
	messages      []*Message
	modals        []*Modal
	files         map[string]*File
	triggers      map[string]*trigger
	responses     map[string]*responseURL
	made          int
	// host is the host name of the last request, for URLs sent to apps.
	host string
}

// New returns a server. It answers once its Handler is served; Start serves it on its own port. Stop ends either.
func New(cfg Config) (*Server, error) {
	s := &Server{
		setup: cfg.Setup, clock: cmp.Or(cfg.Clock, clockwork.NewRealClock()), mux: http.NewServeMux(), triggers: map[string]*trigger{},
		files: map[string]*File{}, responses: map[string]*responseURL{},
	}
	s.setup.Bot = cmp.Or(s.setup.Bot, "tarsy")

	if len(s.setup.Channels) == 0 {
		s.setup.Channels = []Channel{{Name: "general"}}
	}

	s.self = User{Name: s.setup.Bot, ID: "U0000000000"}

	if err := s.name(); err != nil {
		return nil, err
	}

	for _, c := range s.setup.Channels {
		s.conversations = append(s.conversations, &conversation{Channel: c})
	}

	s.socket = newSocketMode(s)
	s.mux.HandleFunc(apiPath+"{method}", s.serveMethod)
	s.mux.HandleFunc("POST "+uploadPath+"{file}", s.serveUpload)
	s.mux.HandleFunc("GET "+downloadPath+"{file}/{name}", s.serveDownload)
	s.mux.HandleFunc("POST "+responsePath+teamID+"/{response}", s.serveResponse)
	s.mux.Handle("GET "+socketPath, s.socket)
	s.serveControl(cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler)))

	return s, nil
}

// name assigns missing IDs, and checks that names and IDs are unique.
func (s *Server) name() error {
	taken := map[string]bool{s.self.ID: true, s.self.Name: true}

	add := func(kind string, n int, name string, id *string) error {
		if *id == "" {
			*id = fmt.Sprintf("%s%010d", kind, n+1)
		}

		if name == "" || taken[name] || taken[*id] {
			return fmt.Errorf("slack: %q (%s) has no name, or a name or ID that exists twice", name, *id)
		}

		taken[name], taken[*id] = true, true

		return nil
	}

	var errs []error

	for i := range s.setup.Users {
		errs = append(errs, add("U", i, s.setup.Users[i].Name, &s.setup.Users[i].ID))
	}

	for i := range s.setup.Channels {
		errs = append(errs, add("C", i, s.setup.Channels[i].Name, &s.setup.Channels[i].ID))
	}

	return errors.Join(errs...)
}

// Handler serves everything below Path and ControlPath.
func (s *Server) Handler() http.Handler { return s.mux }

// Start serves on a free port of the loopback interface.
func (s *Server) Start() error { return s.listener.Start(s.mux) }

// Stop breaks all connections and waits for them. It can be called more than once, and before Start.
func (s *Server) Stop() {
	s.listener.Stop()
	s.socket.stop()
}

// API returns the base URL of the Web API.
func (s *Server) API() string { return s.listener.URL() + Path + "/api" }

// Token returns an accepted bot token.
func (s *Server) Token() string { return cmp.Or(s.setup.Token, "xoxb-mock") }

// AppToken returns an accepted app-level token.
func (s *Server) AppToken() string { return cmp.Or(s.setup.AppToken, "xapp-mock") }

// Unexpected describes each request to a method that does not exist.
func (s *Server) Unexpected() []string { return s.unknownRequests.List() }

// Unused describes faults that are not used up.
func (s *Server) Unused() []string {
	var unused []string

	for _, f := range s.faults.Pending() {
		unused = append(unused, fmt.Sprintf("Slack: a fault for %d requests to %s", f.Times, cmp.Or(f.Fault.Method, "any method")))
	}

	return unused
}

// user finds a person or the bot by name or ID.
func (s *Server) user(ref string) (User, error) {
	ref = strings.TrimPrefix(ref, "@")
	for _, u := range append([]User{s.self}, s.setup.Users...) {
		if u.ID == ref || u.Name == ref {
			return u, nil
		}
	}

	return User{}, fmt.Errorf("there is no user %q", ref)
}

// address returns the URL of this server for apps; the lock is held.
func (s *Server) address() string { return "http://" + s.host }

// makeID returns a new ID; the lock is held.
func (s *Server) makeID(kind string) string {
	s.made++

	return fmt.Sprintf("%s%010d", kind, s.made)
}
