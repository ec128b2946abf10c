package mcp_test

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"
	mcpsdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/agent"
	"tarsy.dev/tarsy/internal/kit/wait"
	"tarsy.dev/tarsy/internal/mcp"
)

// serveHTTP is the role of an MCP server over HTTP. It listens on ADDRESS and writes its address to the file READY. Its tools kill the
// process in the middle of the first call.
func serveHTTP() int {
	listener, err := net.Listen("tcp", os.Getenv("ADDRESS"))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)

		return 1
	}
	options := &mcpsdk.StreamableHTTPOptions{JSONResponse: os.Getenv("FORM") == "json"}
	if os.Getenv("FORM") == "resumable" {
		options.EventStore = mcpsdk.NewMemoryEventStore(nil)
	}
	server := processServer()
	var handler http.Handler = mcpsdk.NewStreamableHTTPHandler(func(*http.Request) *mcpsdk.Server { return server }, options)
	if os.Getenv("FORM") == "sse" {
		handler = mcpsdk.NewSSEHandler(func(*http.Request) *mcpsdk.Server { return server }, nil)
	}
	if err := os.WriteFile(os.Getenv("READY")+".new", []byte(listener.Addr().String()), 0o600); err != nil {
		return 1
	}
	if err := os.Rename(os.Getenv("READY")+".new", os.Getenv("READY")); err != nil {
		return 1
	}
	_ = http.Serve(listener, handler)

	return 0
}

// httpProcess is this test binary as an MCP server over HTTP, which can be started again at the same address.
type httpProcess struct {
	dir, form, address string

	command *exec.Cmd
}

func startHTTPProcess(t *testing.T, form string) *httpProcess {
	t.Helper()
	p := &httpProcess{dir: t.TempDir(), form: form, address: "127.0.0.1:0"}
	require.NoError(t, p.start())
	wait.Until(t, "the server to be ready", func() bool {
		data, err := os.ReadFile(filepath.Join(p.dir, "ready"))
		p.address = string(data)

		return err == nil
	})
	t.Cleanup(func() {
		_ = p.command.Process.Kill()
		_ = p.command.Wait()
	})

	return p
}

func (p *httpProcess) start() error {
	binary, err := os.Executable()
	if err != nil {
		return err
	}
	p.command = exec.Command(binary)
	p.command.Env = append(os.Environ(), roleVariable+"=http", "MARK_DIR="+p.dir, "FORM="+p.form, "ADDRESS="+p.address,
		"READY="+filepath.Join(p.dir, "ready"))

	return p.command.Start()
}

// countingClock counts the pauses before connection attempts, and closes second at the second one.
type countingClock struct {
	clockwork.Clock

	mu     sync.Mutex
	pauses int
	second chan struct{}
}

func newCountingClock() *countingClock {
	return &countingClock{Clock: clockwork.NewRealClock(), second: make(chan struct{})}
}

func (c *countingClock) NewTimer(d time.Duration) clockwork.Timer {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pauses++
	if c.pauses == 2 {
		close(c.second)
	}

	return c.Clock.NewTimer(d)
}

func (c *countingClock) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()

	return c.pauses
}

func TestHTTPServerRestartDuringReadIsRetriedOnce(t *testing.T) {
	t.Parallel()
	for form, slow := range map[string]bool{
		"stream": true, "json": true, "sse": true,
		// The SDK first tries to resume the response, with its own pauses.
		"resumable": false,
	} {
		t.Run(form, func(t *testing.T) {
			t.Parallel()
			process, clock := startHTTPProcess(t, form), newCountingClock()
			transport := mcp.Transport{Type: mcp.TransportHTTP, URL: "http://" + process.address}
			if form == "sse" {
				transport.Type = mcp.TransportSSE
			}
			tools := open(t, mcp.Config{Clock: clock, Servers: map[string]mcp.ServerConfig{"web": {Transport: transport}}},
				tarsy.MCPServerSelection{Name: "web"})
			restarted, called := make(chan error, 1), make(chan struct{})
			go func() {
				_ = process.command.Wait()
				if slow {
					select {
					case <-clock.second: // the first attempt to reconnect was refused
					case <-called:
					}
				}
				restarted <- process.start()
			}()
			result := call(t, tools, "web__die_reading", "")
			close(called)
			require.NoError(t, <-restarted)
			require.Equal(t, agent.Result{Server: "web", Tool: "die_reading", Content: "alive again", Attempts: 2}, result)
		})
	}
}

func TestHTTPServerKillDuringWriteHasUnknownOutcome(t *testing.T) {
	t.Parallel()
	process := startHTTPProcess(t, "stream")
	tools := openHTTP(t, mcp.Transport{Type: mcp.TransportHTTP, URL: "http://" + process.address}, fast)
	result := call(t, tools, "web__die_writing", "")
	require.True(t, result.Unknown)
	require.Equal(t, 1, result.Attempts)
	require.Contains(t, result.Content, "outcome unknown, check before repeating")
}

func TestUnreachableHTTPServerIsAwaitedOnce(t *testing.T) {
	t.Parallel()
	process, clock := startHTTPProcess(t, "stream"), newCountingClock()
	limits := fast
	limits.Reinit = 600 * time.Millisecond
	tools := open(t, mcp.Config{Clock: clock, Limits: limits, Servers: map[string]mcp.ServerConfig{
		"web": {Transport: mcp.Transport{Type: mcp.TransportHTTP, URL: "http://" + process.address}},
	}}, tarsy.MCPServerSelection{Name: "web"})

	result := call(t, tools, "web__die_reading", "")
	require.True(t, result.IsError)
	require.False(t, result.Unknown)
	require.Equal(t, 1, result.Attempts)
	require.Contains(t, result.Content, "was lost during the call to web__die_reading, and the server could not be reached again")
	waited := clock.count()
	require.Positive(t, waited)

	result = call(t, tools, "web__die_reading", "")
	require.Contains(t, result.Content, "the call to web__die_reading was not made")
	require.Equal(t, waited, clock.count(), "the next call does not wait for it")
}
