package cli_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	mcpsdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/app"
	"tarsy.dev/tarsy/internal/auth"
	"tarsy.dev/tarsy/internal/cli"
	"tarsy.dev/tarsy/internal/client"
	"tarsy.dev/tarsy/internal/config"
	"tarsy.dev/tarsy/internal/kit/demo/cluster"
	"tarsy.dev/tarsy/internal/kit/wait"
	"tarsy.dev/tarsy/internal/note/infer"
	"tarsy.dev/tarsy/internal/postgres/pgtest"
	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
)

var update = flag.Bool("update", false, "rewrite golden files and docs/cli.md")

// TestMain also serves the demo's MCP server: the demo starts its own executable, which in tests is the test binary.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "demo-mcp" {
		os.Exit(cli.Run(context.Background(), cli.Process{
			Name: "tarsy", Args: os.Args[1:], Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Env: os.Environ(),
		}))
	}

	// The programs in testdata replace those that would use the network.
	programs, err := filepath.Abs(filepath.Join("testdata", "bin"))
	if err == nil {
		err = os.Setenv("PATH", programs+string(os.PathListSeparator)+os.Getenv("PATH"))
	}

	if err != nil {
		panic(err)
	}

	goleak.VerifyTestMain(afterResigning{pgtest.Wrap(m)})
}

// afterResigning waits until River has stopped in the servers that did not wait for it, since their database was silent. River tries
// three times to give up its leadership, which takes ten seconds and more in which a leak would be reported if such a test was the last.
type afterResigning struct{ tests goleak.TestingM }

func (a afterResigning) Run() int {
	code := a.tests.Run()

	limited, cancel := context.WithTimeout(context.Background(), wait.Limit())
	defer cancel()

	look := time.NewTicker(100 * time.Millisecond)

	defer look.Stop()

	for stacks := make([]byte, 1<<24); bytes.Contains(stacks[:runtime.Stack(stacks, true)], []byte("riverqueue/river")); {
		select {
		case <-limited.Done():
			return code
		case <-look.C:
		}
	}

	return code
}

// result is the result of a command.
type result struct {
	code   int
	stdout string
	stderr string
}

// buffer is a writer that can be read concurrently.
type buffer struct {
	mu      sync.Mutex
	text    bytes.Buffer
	written chan struct{}
}

func newBuffer() *buffer { return &buffer{written: make(chan struct{}, 1)} }

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()

	select {
	case b.written <- struct{}{}:
	default:
	}

	return b.text.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()

	return b.text.String()
}

// wait waits until the text contains wanted.
func (b *buffer) wait(t *testing.T, wanted string) string {
	t.Helper()

	for {
		if text := b.String(); strings.Contains(text, wanted) {
			return text
		}

		select {
		case <-b.written:
		case <-t.Context().Done():
			require.Fail(t, "it was not written", "%q in %q", wanted, b.String())
		}
	}
}

// tarsyWith runs a command with an environment and stdin.
func tarsyWith(t *testing.T, env []string, stdin string, args ...string) result {
	t.Helper()

	stdout, stderr := newBuffer(), newBuffer()
	code := cli.Run(t.Context(), cli.Process{
		Name: "tarsy", Args: args, Stdin: strings.NewReader(stdin), Stdout: stdout, Stderr: stderr, Env: env, Executable: os.Args[0],
	})

	return result{code, stdout.String(), stderr.String()}
}

// server is a real server with a scripted model.
type server struct {
	*app.App

	env      []string
	gate     *script.Gate // blocks replies that wait
	database string
}

const serverConfig = `
system: {dashboard_url: "https://tarsy.example/"}
defaults: {llm_provider: scripted, alert_type: test, verdict: false}
llm_providers: {scripted: {type: scripted}}
mcp_servers:
  cluster: {transport: {type: http, url: "http://replaced.invalid"}}
agents:
  Tester: {mcp_servers: [cluster], custom_instructions: Test.}
agent_chains:
  test: {alert_types: [test, other], stages: [{name: look, agents: [{name: Tester}]}], chat: {enabled: true}}
  silent: {alert_types: [silent], stages: [{name: look, agents: [{name: Tester}]}]}
  judged: {alert_types: [judged], stages: [{name: look, agents: [{name: Tester}]}], verdict: true}
`

// verdict is the model's conclusion, with content that a hostile tool might inject.
const verdict = `{"outcome": "probable_cause", "cause": "the cache of checkout has no bound\u001b[2J [call 1.1.1]", "confidence": "medium",
"confidence_reason": "Memory grows, but the heap was not read. [call 1.1.1]", "impact": "One checkout in eight fails.", "next_steps": [
{"title": "Restart checkout", "why": "It frees the memory for about an hour, which is enough to ship the bound of the cache.",
"command": "kubectl --namespace shop rollout restart deployment/checkout --field-manager tarsy\nkubectl --namespace shop rollout status deployment/checkout",
"url": "https://runbooks.example/checkout", "risk": "low", "reversible": true},
{"title": "Drop the table of carts", "why": "", "command": "", "url": "", "risk": "high", "reversible": false}], "not_checked": ["The database.\u202e"]}`

const analysis = "# Found it\n\nThe cache has no bound.\x1b[2J"

var errModel = errors.New("the model is out of order")

// model calls a tool, then concludes. Alerts can ask it to fail or to wait for the gate.
func model(gate *script.Gate) llm.Client {
	s := script.New(script.Options{})
	s.RouteFunc(func(*llm.Request) bool { return true }, func(req *llm.Request, _ int) script.Reply {
		all := ""
		answers := 0

		for _, m := range req.Messages {
			if m.Role == llm.RoleAssistant {
				answers++
			}

			if m.Role == llm.RoleUser {
				all += m.Content
			}
		}

		switch {
		case req.Purpose == string(tarsy.InteractionExecutiveSummary):
			return script.Reply{Text: "A cache without bound."}
		case req.Purpose == string(tarsy.InteractionVerdict):
			return script.Reply{Text: verdict}
		case req.Purpose == infer.PurposeExtract && strings.Contains(all, "rotates"):
			return script.Reply{Text: `{"entities": [{"type": "task", "title": "Rotate the keys", "content": "", "owner": "Ana", "due_date": "2026-12-01",
				"tags": [], "evidence": "rotates the keys", "confidence": 0.1}]}`}
		case req.Purpose == infer.PurposeExtract && strings.Contains(all, "nothing"):
			return script.Reply{Text: `{"entities": []}`}
		case strings.Contains(all, "FAIL"):
			return script.Reply{Err: errModel}
		case strings.Contains(all, "SLOW"):
			return script.Reply{Chunks: []llm.Chunk{
				llm.TextChunk{Text: "The **first** paragraph.\x1b[2J\n\nThe sec"}, llm.TextChunk{Text: "ond paragraph."},
			}, Gate: gate, GateAfter: 1}
		case strings.Contains(all, "LONG"):
			return script.Reply{Text: strings.Repeat("A paragraph.\n\n", 10)}
		case strings.Contains(all, "UNCLOSED"):
			return script.Reply{Text: "```\nunclosed"}
		case strings.Contains(all, "BROKEN") && answers == 0:
			return script.Reply{
				Text: "```\nunclosed", ToolCalls: []llm.ToolCall{{Name: "cluster__get_pods", Arguments: `{"namespace":"` + strings.Repeat("x", 100) + `"}`}},
			}
		case strings.Contains(all, "WAIT") && answers == 0:
			return script.Reply{Text: "never", Gate: gate}
		case answers == 0 && len(req.Tools) > 0:
			return script.Reply{
				Thinking: "Look at the pods.", ToolCalls: []llm.ToolCall{{Name: "cluster__get_pods", Arguments: `{"namespace":"shop"}`}},
			}
		default:
			return script.Reply{Text: analysis}
		}
	})

	return s
}

func startServer(t *testing.T, requireKey bool) *server {
	t.Helper()

	return startServerWith(t, requireKey, "", nil)
}

// startServerWith starts a server with a second configuration file and the variables that it references.
func startServerWith(t *testing.T, requireKey bool, more string, env map[string]string) *server {
	t.Helper()

	cfg, err := config.Load(config.Source{Files: []config.File{
		{Name: "test.yaml", Text: []byte(serverConfig)}, {Name: "more.yaml", Text: []byte(more)},
	}})
	require.NoError(t, err)

	gate := script.NewGate()
	database := pgtest.New(t)

	a, err := app.New(t.Context(), app.Options{
		Config: cfg, DatabaseURL: database, Listen: "127.0.0.1:0", RequireKey: requireKey, LLM: model(gate),
		Logger: slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn})),
		Env: func(name string) (string, bool) {
			value, ok := env[name]

			return value, ok
		},
		MCPTransport: func(ctx context.Context, _ string) (mcpsdk.Transport, error) {
			clientEnd, serverEnd := mcpsdk.NewInMemoryTransports()
			_, err := cluster.NewServer().Connect(context.WithoutCancel(ctx), serverEnd, nil)

			return clientEnd, err
		},
	})
	require.NoError(t, err)
	require.NoError(t, a.Start(t.Context()))
	t.Cleanup(func() {
		gate.Open()
		require.NoError(t, a.Stop(context.WithoutCancel(t.Context())))
	})

	return &server{App: a, gate: gate, database: database, env: []string{"TARSY_SERVER=http://" + a.Addr(), "HOME=" + t.TempDir()}}
}

// key creates a key in the server's database and returns the environment with it.
func (s *server) key(t *testing.T, name string, scope tarsy.Scope) []string {
	t.Helper()

	issued, err := auth.Issue(name, []tarsy.Scope{scope}, tarsyNow())
	require.NoError(t, err)
	require.NoError(t, s.Accounts().CreateKey(t.Context(), issued.Key, issued.Hash))

	return append([]string{"TARSY_TOKEN=" + issued.Secret}, s.env...)
}

// until follows a session until it has a status.
func (s *server) until(t *testing.T, id string, status tarsy.SessionStatus) {
	t.Helper()

	c, err := client.New(client.Config{Server: "http://" + s.Addr()})
	require.NoError(t, err)
	defer c.Close()

	for update, err := range c.Follow(t.Context(), id, 0) {
		require.NoError(t, err)

		if e := update.Event; e != nil && e.Type == tarsy.TypeSessionStatus && strings.Contains(string(e.Payload), `"`+string(status)+`"`) {
			return
		}
	}

	require.Fail(t, "the session ended before", status)
}
