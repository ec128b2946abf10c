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

// Options configure New. The zero value boots a server with the default configuration, an empty script and no tools.
type Options struct {
	// Config is YAML. The provider "test" is predefined, and is the default.
	Config string
	// NoVerdicts disables verdicts. Without it sessions end with a verdict, as on any server: the script's if it has a
	// route for "VerdictAgent", otherwise the kit's, see WithVerdicts.
	NoVerdicts bool
	// Script answers LLM calls; nil means an empty one, see App.Script.
	Script *script.Script
	// LLM answers instead of Script; for verdicts see WithVerdicts.
	LLM llm.Client
	// HoldStreams delays the end of an agent's model call until every reader of its session (Watch, Events, Follow) has a
	// chunk of each text of the call. GoldenEvents needs it. If nobody reads the session, the call fails after Patience.
	HoldStreams bool
	// Providers makes the providers of Config answer, over the wire, instead of Script; see NewLLMServer.
	Providers bool
	// Env has the environment variables that the configuration refers to.
	Env map[string]string
	// MCP are the servers behind the ids in the configuration. They are added to it unless it has a section mcp_servers.
	MCP []*MCPServer
	// Web has the internet hosts that the server can reach, by name.
	Web map[string]http.Handler
	// Clock is a fake clock, or nil for the real one.
	Clock *clockwork.FakeClock
	// Database is the URL of a database to share with another App; empty means a new one.
	Database string
	// RequireKey enables authentication.
	RequireKey bool
	// WorkersOff boots a server that captures notes but does not process them; see App.StartWorkers.
	WorkersOff bool
	// Patience is how long a wait for an event lasts before it fails the test; zero means a long time.
	Patience time.Duration
	// Unwatched tolerates calls without a scripted reply and scripted replies that are not used, which otherwise fail the test.
	Unwatched bool
}

// App is a running server and the means to drive it.
type App struct {
	// URL is the server's address, such as http://127.0.0.1:54321.
	URL string
	// Token is sent with every request when it is not empty.
	Token string
	// Script answers LLM calls.
	Script *script.Script
	// Database is the URL of the database, to be shared with another App.
	Database string
	// ServerID names this server in leases.
	ServerID string

	t        testing.TB
	app      *app.App
	clock    clockwork.Clock
	patience time.Duration
	config   *configText
	// holder is nil unless Options.HoldStreams is set.
	holder *holder
}

// Main runs the tests of a package, given its *testing.M, checks for leaked goroutines and releases the test databases.
func Main(m interface{ Run() int }) {
	goleak.VerifyTestMain(pgtest.Wrap(m), pgtest.IgnoreGoroutines()...)
}

// New boots a server, which is stopped when the test ends.
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

// Connect returns an App for a server that runs elsewhere, such as in another process. Nothing stops that server; Script
// and ServerID are not set.
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

// Stop gracefully stops a server that New has booted: its sessions are handed over. It is idempotent.
func (a *App) Stop() {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()

	if err := a.app.Stop(ctx); err != nil {
		a.t.Errorf("stop the server: %v", err)
	}
}

// loadConfig reads the test's configuration and adds what every test has: the provider "test", and the MCP servers unless
// the configuration has a section for them.
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

// configText is the test's configuration file, which can change while the server runs.
type configText struct {
	mu   sync.Mutex
	text string
}

func (c *configText) read() string {
	c.mu.Lock()
	defer c.mu.Unlock()

	return c.text
}

// WriteConfig replaces Options.Config. The server reads it on its next configuration reload.
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
