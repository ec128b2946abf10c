package tarsytest

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"
	mcpsdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"tarsy.dev/tarsy/internal/app"
	"tarsy.dev/tarsy/internal/config"
	"tarsy.dev/tarsy/internal/postgres/pgtest"
	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
)

// DefaultConfig is the configuration of an App whose Options have none: the alert type "test" is investigated in one
// stage, "analysis", by the agent "Investigator" with all MCP servers of the test.
const DefaultConfig = `
agents:
  Investigator:
    custom_instructions: Find out what happened.
    mcp_servers: [%s]
agent_chains:
  test:
    alert_types: [test]
    stages:
      - name: analysis
        agents: [{name: Investigator}]
`

// Options say what to boot. The zero value is a server with the default configuration, an empty script and no tools.
type Options struct {
	// Config is YAML; the provider "test" is there already and is the default.
	Config string
	// NoVerdicts switches verdicts off. Without it sessions end with a verdict, as on any server: that of the script if it has a route for
	// "VerdictAgent", and otherwise one of the kit, see WithVerdicts.
	NoVerdicts bool
	// Script answers LLM calls; nil means an empty one, see App.Script.
	Script *script.Script
	// LLM answers instead of Script; for verdicts see WithVerdicts.
	LLM llm.Client
	// HoldStreams has the model end the call of an agent only when the readers of its session (Watch, Events, Follow) have a chunk of each text
	// of the call. GoldenEvents needs it. A session that nobody reads does not go on.
	HoldStreams bool
	// Providers lets the providers of Config answer, over the wire, instead of Script; NewLLMServer makes somebody to
	// talk to.
	Providers bool
	// Env are the environment variables that the configuration names.
	Env map[string]string
	// MCP are the servers behind the ids in the configuration; those that it does not mention are added to it.
	MCP []*MCPServer
	// Web are the hosts on the internet that the server can reach, by name.
	Web map[string]http.Handler
	// Clock is a fake clock, or nil for the real one.
	Clock *clockwork.FakeClock
	// Database is the address of a database to share with another App; empty means a fresh one.
	Database string
	// RequireKey switches authentication on.
	RequireKey bool
	// WorkersOff boots a server that captures notes and does not process them; see App.StartWorkers.
	WorkersOff bool
	// Patience is how long a wait for an event lasts before it fails the test; zero means long.
	Patience time.Duration
	// Unwatched lets the script be asked what it does not know, or not be asked what it knows, without failing the test.
	Unwatched bool
}

// App is a running server and the means to drive it.
type App struct {
	// URL is the server's address, such as http://127.0.0.1:54321.
	URL string
	// Token is sent with every request when it is not empty.
	Token string
	// Script is what the model answers.
	Script *script.Script
	// Database is the address of the database, to be shared with another App.
	Database string
	// ServerID names this server in leases.
	ServerID string

	t        testing.TB
	app      *app.App
	clock    clockwork.Clock
	patience time.Duration
	config   *configText
	// holder is nil unless the model is held, see Options.HoldStreams.
	holder *holder
}

// Main runs a package's tests, which is what a *testing.M does, checks for leaked goroutines and releases the test
// databases.
func Main(m interface{ Run() int }) {
	goleak.VerifyTestMain(pgtest.Wrap(m), pgtest.IgnoreGoroutines()...)
}

// New boots a server. It is stopped when the test ends.
func New(t testing.TB, options Options) *App {
	t.Helper()

	options = options.withDefaults(t)

	var held *holder

	if options.HoldStreams {
		require.NotNil(t, options.LLM, "Options.HoldStreams cannot hold what Options.Providers answer")

		held = newHolder(options.LLM, options.Patience)
		options.LLM = held
	}

	clock := clockwork.NewRealClock()
	if options.Clock != nil {
		clock = options.Clock
	}

	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()

	text := &configText{text: options.Config}
	load := func() (*config.Config, error) { return loadConfig(options, text.read()) }

	cfg, err := load()
	require.NoError(t, err)

	server, err := app.New(ctx, app.Options{
		Config: cfg,
		Load: func() (*config.Config, func(), error) {
			cfg, err := load()

			return cfg, func() {}, err
		},
		DatabaseURL:  options.Database,
		Listen:       "127.0.0.1:0",
		RequireKey:   options.RequireKey,
		JobsOff:      options.WorkersOff,
		LLM:          options.LLM,
		Env:          options.lookup,
		MCPTransport: transports(options.MCP),
		Web:          newWeb(t, options.Web),
		Clock:        clock,
		Logger:       slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn})),
		Version:      "test",
	})
	require.NoError(t, err)

	a := &App{
		URL: "http://" + server.Addr(), Script: options.Script, Database: options.Database, ServerID: server.ServerID(),
		t: t, app: server, clock: clock, patience: options.Patience, config: text, holder: held,
	}

	t.Cleanup(func() {
		a.Stop()

		if unexpected := options.Script.Unexpected(); len(unexpected) > 0 && !options.Unwatched {
			t.Errorf("the script has no reply for these calls:\n%s", strings.Join(unexpected, "\n"))
		}

		if unused := options.Script.Unused(); len(unused) > 0 && !options.Unwatched {
			t.Errorf("the script has unused replies:\n%s", strings.Join(unused, "\n"))
		}
	})
	require.NoError(t, server.Start(ctx))

	return a
}

// Connect returns the means to drive a server that runs elsewhere, such as a process of its own. Nothing stops that
// server; Script and ServerID are not set.
func Connect(t testing.TB, url, database string) *App {
	t.Helper()

	return &App{URL: url, Database: database, t: t, patience: patience}
}

func (o Options) withDefaults(t testing.TB) Options {
	t.Helper()

	if o.Script == nil {
		o.Script = script.New(script.Options{})
	}

	if o.LLM == nil && !o.Providers {
		o.LLM = o.Script
	}

	if o.LLM != nil {
		o.LLM = WithVerdicts(o.LLM)
	}

	if o.Patience == 0 {
		o.Patience = patience
	}

	if o.Database == "" {
		o.Database = pgtest.New(t)
	}

	return o
}

func (o Options) lookup(name string) (string, bool) {
	value, ok := o.Env[name]

	return value, ok
}

// Stop stops a server that New has booted gracefully: its sessions are handed over. It is idempotent.
func (a *App) Stop() {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()

	if err := a.app.Stop(ctx); err != nil {
		a.t.Errorf("stop the server: %v", err)
	}
}

// loadConfig reads the test's configuration together with what every test has: the provider "test", and the MCP servers
// that the configuration does not mention.
func loadConfig(options Options, text string) (*config.Config, error) {
	ids := make([]string, 0, len(options.MCP))

	for _, s := range options.MCP {
		ids = append(ids, s.ID)
	}

	if text == "" {
		text = fmt.Sprintf(DefaultConfig, strings.Join(ids, ", "))
	}

	var base strings.Builder

	base.WriteString("llm_providers: {test: {type: scripted, model: test-model}}\n")

	var defaults []string
	if !strings.Contains(text, "llm_provider:") {
		defaults = append(defaults, "llm_provider: test")
	}

	if options.NoVerdicts {
		defaults = append(defaults, "verdict: false")
	}

	if len(defaults) > 0 {
		base.WriteString("defaults: {" + strings.Join(defaults, ", ") + "}\n")
	}

	if len(ids) > 0 && !strings.Contains(text, "mcp_servers:\n") {
		base.WriteString("mcp_servers:\n")

		for _, id := range ids {
			base.WriteString("  " + id + ": {transport: {type: stdio, command: in-memory}}\n")
		}
	}

	cfg, err := config.Load(config.Source{Files: []config.File{
		{Name: "test.yaml", Text: []byte(text)},
		{Name: "base.yaml", Text: []byte(base.String())},
	}, Env: options.lookup})
	if err != nil {
		return nil, fmt.Errorf("load the test's configuration: %w", err)
	}

	return cfg, nil
}

// configText is the test's configuration file, which can be changed while the server runs.
type configText struct {
	mu   sync.Mutex
	text string
}

func (c *configText) read() string {
	c.mu.Lock()
	defer c.mu.Unlock()

	return c.text
}

// WriteConfig replaces Options.Config. The server reads it with the next reload of its configuration.
func (a *App) WriteConfig(text string) {
	a.config.mu.Lock()
	defer a.config.mu.Unlock()

	a.config.text = text
}

// transports connects MCP clients to the test's servers.
func transports(servers []*MCPServer) func(ctx context.Context, serverID string) (mcpsdk.Transport, error) {
	return func(ctx context.Context, serverID string) (mcpsdk.Transport, error) {
		i := slices.IndexFunc(servers, func(s *MCPServer) bool { return s.ID == serverID })
		if i < 0 {
			return nil, fmt.Errorf("the test has no MCP server %q", serverID)
		}

		return servers[i].connect(ctx)
	}
}
