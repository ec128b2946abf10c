package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	mcpsdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/agent"
	"tarsy.dev/tarsy/internal/mcp"
)

// roleVariable turns the test binary into an MCP server on its standard streams.
const roleVariable = "TARSY_MCP_TEST_ROLE"

func TestMain(m *testing.M) {
	if role := os.Getenv(roleVariable); role != "" {
		os.Exit(play(role))
	}
	goleak.VerifyTestMain(m)
}

func play(role string) int {
	if code, played := playLinux(role); played {
		return code
	}
	switch role {
	case "broken":
		fmt.Fprintln(os.Stderr, "cannot read /etc/demo.conf")

		return 3
	case "http":
		return serveHTTP()
	case "help":
		printHelp()

		return 1
	case "chatty":
		return serveChatty()
	case "stubborn":
		signal.Ignore(syscall.SIGTERM)
	case "deaf":
		select {}
	}
	server := processServer()
	if role == "huge" {
		addHugeTools(server)
	}
	err := server.Run(context.Background(), &mcpsdk.StdioTransport{})
	if role == "stubborn" {
		select {}
	}
	if err != nil {
		return 1
	}

	return 0
}

// serveChatty prints the NOISE of its environment on stdout: at the start, and before and after every message.
func serveChatty() int {
	noise, err := strconv.Unquote(os.Getenv("NOISE"))
	if err != nil {
		return 2
	}
	fmt.Print(noise)
	if os.Getenv("EXIT") != "" {
		code, _ := strconv.Atoi(os.Getenv("EXIT"))

		return code
	}
	if processServer().Run(context.Background(), &mcpsdk.IOTransport{Reader: os.Stdin, Writer: chatty{os.Stdout, noise}}) != nil {
		return 1
	}

	return 0
}

type chatty struct {
	io.WriteCloser

	noise string
}

func (c chatty) Write(data []byte) (int, error) {
	if _, err := io.WriteString(c.WriteCloser, c.noise+string(data)+c.noise); err != nil {
		return 0, err
	}

	return len(data), nil
}

// printHelp writes the output of a program with missing configuration: the reason, then pages of help.
func printHelp() {
	fmt.Fprintln(os.Stderr, "npm warn exec The following package was not found and will be installed: kubernetes-mcp-server")
	fmt.Fprintln(os.Stderr, "\x1b[31mError: no current-context is set\x1b[0m, token "+os.Getenv("SECRET"))
	// Long enough to be cut within the secret.
	fmt.Fprintln(os.Stderr, "Error: "+strings.Repeat("-", 285)+os.Getenv("SECRET"))
	for i := range 500 {
		fmt.Fprintf(os.Stderr, "      --flag-%d string   what to do on an error, or if a file cannot be read (default \"stop\")\n", i)
	}
	fmt.Fprintln(os.Stderr, "see --help")
}

// processServer has tools that describe the process, and one that dies in the middle of a call until it finds the file that its
// predecessor left.
func processServer() *mcpsdk.Server {
	server := mcpsdk.NewServer(&mcpsdk.Implementation{Name: "process"}, nil)
	die := func(_ context.Context, req *mcpsdk.CallToolRequest) (*mcpsdk.CallToolResult, error) {
		mark := filepath.Join(os.Getenv("MARK_DIR"), req.Params.Name)
		if _, err := os.Stat(mark); err == nil {
			return text("alive again"), nil
		}
		if err := os.WriteFile(mark, nil, 0o600); err != nil {
			return nil, err
		}
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	}
	addTool(server, "die_reading", true, die)
	addTool(server, "die_writing", false, die)
	addTool(server, "about", true, func(context.Context, *mcpsdk.CallToolRequest) (*mcpsdk.CallToolResult, error) {
		pgid, err := syscall.Getpgid(0)
		if err != nil {
			return nil, err
		}
		data, err := json.Marshal(about{
			Pid: os.Getpid(), Pgid: pgid, Inherited: os.Getenv("HOME"), Own: os.Getenv("OWN"), Overridden: os.Getenv("LANG"),
		})

		return text(string(data)), err
	})
	addTool(server, "variables", true, func(context.Context, *mcpsdk.CallToolRequest) (*mcpsdk.CallToolResult, error) {
		return text(strings.Join(os.Environ(), "\n") + "\n"), nil
	})
	addTool(server, "spawn", false, func(context.Context, *mcpsdk.CallToolRequest) (*mcpsdk.CallToolResult, error) {
		child := exec.Command("sleep", "600")
		if os.Getenv(roleVariable) == "stubborn" {
			child.Stderr = os.Stderr
		}
		if err := child.Start(); err != nil {
			return nil, err
		}

		return text(strconv.Itoa(child.Process.Pid)), nil
	})

	return server
}

type about struct {
	Pid, Pgid                  int
	Inherited, Own, Overridden string
}

func text(s string) *mcpsdk.CallToolResult {
	return &mcpsdk.CallToolResult{Content: []mcpsdk.Content{&mcpsdk.TextContent{Text: s}}}
}

func addTool(server *mcpsdk.Server, name string, readOnly bool, handler mcpsdk.ToolHandler) {
	server.AddTool(&mcpsdk.Tool{
		Name:        name,
		Description: "tool " + name,
		InputSchema: json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`),
		Annotations: &mcpsdk.ToolAnnotations{ReadOnlyHint: readOnly},
	}, handler)
}

// executionID is the execution's id in these tests.
const executionID = "exec-1"

// fast are limits for tests without pauses.
var fast = mcp.Limits{BackoffMax: -1}

// memory runs servers in this process and keeps their ends of the connections, to be able to cut them.
type memory struct {
	servers map[string]*mcpsdk.Server

	mu   sync.Mutex
	ends []net.Conn
}

func inMemory(servers map[string]*mcpsdk.Server) *memory { return &memory{servers: servers} }

func (m *memory) transport(ctx context.Context, id string) (mcpsdk.Transport, error) {
	server, ok := m.servers[id]
	if !ok {
		return nil, fmt.Errorf("no server %s", id)
	}
	ours, theirs := net.Pipe()
	if _, err := server.Connect(ctx, &mcpsdk.IOTransport{Reader: theirs, Writer: theirs}, nil); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.ends = append(m.ends, theirs)

	return &mcpsdk.IOTransport{Reader: ours, Writer: ours}, nil
}

func (m *memory) cut() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, end := range m.ends {
		_ = end.Close()
	}
}

func (m *memory) opened() int {
	m.mu.Lock()
	defer m.mu.Unlock()

	return len(m.ends)
}

func open(t *testing.T, cfg mcp.Config, selections ...tarsy.MCPServerSelection) agent.Tools {
	t.Helper()
	tools, err := mcp.New(cfg).Open(t.Context(), executionID, selections, nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, tools.Close()) })

	return tools
}

// openOne opens an in-memory server named "srv".
func openOne(t *testing.T, server *mcpsdk.Server, cfg mcp.Config) agent.Tools {
	t.Helper()
	cfg.Transport = inMemory(map[string]*mcpsdk.Server{"srv": server}).transport
	tools := open(t, cfg, tarsy.MCPServerSelection{Name: "srv"})
	require.Empty(t, tools.Unavailable())

	return tools
}

func call(t *testing.T, tools agent.Tools, name, arguments string) agent.Result {
	t.Helper()
	result, err := tools.Call(t.Context(), called(t, tools, agent.Call{ID: "call-1", Name: name, Arguments: arguments}))
	require.NoError(t, err)

	return result
}

// called resolves the name of a call, as agents do.
func called(t *testing.T, tools agent.Tools, call agent.Call) agent.Call {
	t.Helper()
	listed, err := tools.List(t.Context())
	require.NoError(t, err)
	tool, _ := agent.Resolve(listed, call.Name)
	call.Server, call.Tool = tool.Server, tool.Name
	if call.Shown == nil {
		for _, shown := range listed {
			call.Shown = append(call.Shown, shown.WireName())
		}
	}

	return call
}

func newServer() *mcpsdk.Server {
	return mcpsdk.NewServer(&mcpsdk.Implementation{Name: "test"}, nil)
}

func answering(s string) mcpsdk.ToolHandler {
	return func(context.Context, *mcpsdk.CallToolRequest) (*mcpsdk.CallToolResult, error) { return text(s), nil }
}
