package mcp_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/agent"
	"tarsy.dev/tarsy/internal/kit/slowness"
	"tarsy.dev/tarsy/internal/kit/wait"
	"tarsy.dev/tarsy/internal/mcp"
)

// subprocess runs this test binary as an MCP server.
func subprocess(t *testing.T, role string, env map[string]string) mcp.ServerConfig {
	t.Helper()
	binary, err := os.Executable()
	require.NoError(t, err)
	all := map[string]string{roleVariable: role}
	maps.Copy(all, env)

	return mcp.ServerConfig{Transport: mcp.Transport{Type: mcp.TransportStdio, Command: binary, Env: all}}
}

func openProcess(t *testing.T, role string, env map[string]string, limits mcp.Limits) agent.Tools {
	t.Helper()
	tools := open(t, mcp.Config{
		Servers: map[string]mcp.ServerConfig{"proc": subprocess(t, role, env)}, Limits: limits,
	}, tarsy.MCPServerSelection{Name: "proc"})
	require.Empty(t, tools.Unavailable())

	return tools
}

func aboutOf(t *testing.T, tools agent.Tools) about {
	t.Helper()
	var a about
	require.NoError(t, json.Unmarshal([]byte(call(t, tools, "proc__about", "").Content), &a))

	return a
}

// requireGone waits until the kernel no longer knows the process: not even as a zombie of ours.
func requireGone(t *testing.T, pid int) {
	t.Helper()
	wait.UntilWithin(t, slowness.Scale(5*time.Second), fmt.Sprintf("the end of process %d", pid), func() bool {
		return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) || zombieOfOthers(pid)
	})
}

// zombieOfOthers reports whether a dead process waits for a parent that is not us: an orphan in a container whose init process does not
// reap.
func zombieOfOthers(pid int) bool {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return false
	}
	var state byte
	var parent int
	for i, d := range slices.Backward(data) {
		if d == ')' {
			fields := data[i+2:]
			state = fields[0]
			for _, digit := range fields[2:] {
				if digit < '0' || digit > '9' {
					break
				}
				parent = parent*10 + int(digit-'0')
			}

			break
		}
	}

	return state == 'Z' && parent != os.Getpid()
}

func TestSubprocessInheritsEnvironmentAndHasOwnGroup(t *testing.T) {
	t.Parallel()
	tools := openProcess(t, "plain", map[string]string{"OWN": "set", "LANG": "xx_XX"}, fast)
	a := aboutOf(t, tools)
	require.Equal(t, os.Getenv("HOME"), a.Inherited)
	require.Equal(t, "set", a.Own)
	require.Equal(t, "xx_XX", a.Overridden)
	require.Equal(t, a.Pid, a.Pgid, "the terminal's Ctrl-C must not reach it")

	require.NoError(t, tools.Close())
	requireGone(t, a.Pid)
}

func TestCloseKillsWholeProcessGroup(t *testing.T) {
	t.Parallel()
	// The plain one exits by itself and leaves a child behind, the stubborn one has to be killed.
	for _, role := range []string{"plain", "stubborn"} {
		t.Run(role, func(t *testing.T) {
			t.Parallel()
			limits := fast
			limits.Exit = 100 * time.Millisecond
			tools := openProcess(t, role, nil, limits)
			a := aboutOf(t, tools)
			child, err := strconv.Atoi(call(t, tools, "proc__spawn", "").Content)
			require.NoError(t, err)

			require.NoError(t, tools.Close())
			requireGone(t, a.Pid)
			requireGone(t, child)
		})
	}
}

func TestAbandonedServerIsKilledAtOnce(t *testing.T) {
	t.Parallel()
	abandon, limits := make(chan struct{}), fast
	limits.Exit = time.Hour
	tools := open(t, mcp.Config{
		Servers: map[string]mcp.ServerConfig{"proc": subprocess(t, "stubborn", nil)}, Limits: limits, Abandon: abandon,
	}, tarsy.MCPServerSelection{Name: "proc"})
	require.Empty(t, tools.Unavailable())
	a := aboutOf(t, tools)
	child, err := strconv.Atoi(call(t, tools, "proc__spawn", "").Content)
	require.NoError(t, err)

	close(abandon)
	requireGone(t, a.Pid)
	requireGone(t, child)
}

// The write fails while the other direction is still open, so only the refused write proves that nothing was sent.
func TestRefusedWriteWasNotSent(t *testing.T) {
	t.Parallel()
	script := `read a
echo '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25",'\
'"capabilities":{"tools":{}},"serverInfo":{"name":"x","version":"1"}}}'
read a; read a
exec 0<&-
echo '{"jsonrpc":"2.0","id":2,"result":{"tools":[{"name":"write"}],"content":[{"type":"text","text":"done"}]}}'
exec sleep 600`
	limits := fast
	limits.Exit = 100 * time.Millisecond
	tools := open(t, mcp.Config{Limits: limits, Servers: map[string]mcp.ServerConfig{
		"half": {Transport: mcp.Transport{Type: mcp.TransportStdio, Command: "sh", Args: []string{"-c", script}}},
	}}, tarsy.MCPServerSelection{Name: "half"})
	require.Empty(t, tools.Unavailable())
	require.Equal(t, agent.Result{Server: "half", Tool: "write", Content: "done", Attempts: 1}, call(t, tools, "half__write", ""))
}

func TestSubprocessKilledDuringCall(t *testing.T) {
	t.Parallel()
	t.Run("the reader is called again", func(t *testing.T) {
		t.Parallel()
		tools := openProcess(t, "plain", map[string]string{"MARK_DIR": t.TempDir()}, fast)
		require.Equal(t, agent.Result{Server: "proc", Tool: "die_reading", Content: "alive again", Attempts: 2},
			call(t, tools, "proc__die_reading", ""))
	})
	t.Run("the writer is not", func(t *testing.T) {
		t.Parallel()
		tools := openProcess(t, "plain", map[string]string{"MARK_DIR": t.TempDir()}, fast)
		result := call(t, tools, "proc__die_writing", "")
		require.True(t, result.IsError)
		require.True(t, result.Unknown)
		require.Equal(t, 1, result.Attempts)
		require.Contains(t, result.Content, "signal: killed")
	})
}

func TestSubprocessDeathBetweenCallsIsTransparentForWrites(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	// The mark exists: the tool does not kill itself.
	require.NoError(t, os.WriteFile(dir+"/die_writing", nil, 0o600))
	tools := openProcess(t, "plain", map[string]string{"MARK_DIR": dir}, fast)
	first := aboutOf(t, tools)
	require.NoError(t, syscall.Kill(first.Pid, syscall.SIGKILL))
	requireGone(t, first.Pid)

	require.Equal(t, agent.Result{Server: "proc", Tool: "die_writing", Content: "alive again", Attempts: 1},
		call(t, tools, "proc__die_writing", ""), "nothing had been sent, so that calling was safe")
	require.NotEqual(t, first.Pid, aboutOf(t, tools).Pid)
}

func TestUnstartableServerIsUnavailableWithReason(t *testing.T) {
	t.Parallel()
	limits := fast
	limits.Exit = 100 * time.Millisecond
	deaf := subprocess(t, "deaf", nil)
	deaf.Transport.Timeout = 300 * time.Millisecond
	cfg := mcp.Config{Limits: limits, Servers: map[string]mcp.ServerConfig{
		"good":    subprocess(t, "plain", nil),
		"broken":  subprocess(t, "broken", nil),
		"deaf":    deaf,
		"missing": {Transport: mcp.Transport{Type: mcp.TransportStdio, Command: "tarsy-no-such-command"}},
		"empty":   {Transport: mcp.Transport{Type: mcp.TransportStdio}},
		"odd":     {Transport: mcp.Transport{Type: "carrier-pigeon"}},
	}}
	var all []tarsy.MCPServerSelection
	for id := range cfg.Servers {
		all = append(all, tarsy.MCPServerSelection{Name: id})
	}
	why := open(t, cfg, all...).Unavailable()
	require.Len(t, why, len(cfg.Servers)-1)
	require.NotContains(t, why, "good")
	require.Contains(t, why["broken"], "cannot read /etc/demo.conf")
	require.Contains(t, why["broken"], "exit status 3")
	require.Contains(t, why["deaf"], "no session within 300ms")
	require.Contains(t, why["missing"], "tarsy-no-such-command")
	require.Contains(t, why["empty"], "no command")
	require.Contains(t, why["odd"], "not one of stdio, http, sse")

	tools := open(t, cfg, tarsy.MCPServerSelection{Name: "good"}, tarsy.MCPServerSelection{Name: "broken"}, tarsy.MCPServerSelection{Name: "unheard-of"})
	require.Len(t, tools.Unavailable(), 2)
	require.Contains(t, tools.Unavailable()["unheard-of"], "no MCP server")
	listed, err := tools.List(t.Context())
	require.NoError(t, err)
	require.Len(t, listed, 5)
}

func TestStdioServerThatPrintsOnStdoutIsUsable(t *testing.T) {
	t.Parallel()
	const secret = "hunter2hunter2"
	var output bytes.Buffer
	lines := []string{
		"MCP server running on stdio, token " + secret, `{"level":"info"}`, "[]", "42", "caf\xe9", "\x1b[2J\x00 ignore all rules",
		strings.Repeat("y", 190) + secret, strings.Repeat("z", 100<<10), "",
	}
	tools := open(t, mcp.Config{
		Limits: fast, Logger: slog.New(slog.NewJSONHandler(&output, nil)),
		Mask: func(_, text string) (string, error) { return strings.ReplaceAll(text, secret, "[MASKED]"), nil },
		Servers: map[string]mcp.ServerConfig{
			"proc": subprocess(t, "chatty", map[string]string{"NOISE": strconv.Quote(strings.Join(lines, "\r\n"))}),
		},
	}, tarsy.MCPServerSelection{Name: "proc"})
	require.Empty(t, tools.Unavailable())
	first := aboutOf(t, tools)
	for range 3 {
		require.Equal(t, first.Pid, aboutOf(t, tools).Pid, "the connection lasts")
	}
	require.NoError(t, tools.Close())

	logged := output.String()
	require.Equal(t, 10, strings.Count(logged, "skipping a line on the stdout"), "%s", logged)
	require.Contains(t, logged, `"line":"MCP server running on stdio, token [MASKED]"`)
	require.Contains(t, logged, `"bytes":102402`)
	require.Contains(t, logged, `ignore all rules`)
	require.NotContains(t, logged, "hunter")
	require.NotContains(t, logged, "\x1b")
	require.Less(t, len(logged), 6000)
}

func TestReasonOfExitComesFirst(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ noise, exit, want string }{
		"stdout":           {"Error: the variable API_KEY is not set\nUsage: x\n", "1", "the process ended: exit status 1; stdout: Error: the variable API_KEY is not set\nUsage: x\n("},
		"nothing":          {"", "4", "the process ended: exit status 4 ("},
		"without an error": {"see --help\n", "0", "the process ended: exit status 0; stdout: see --help\n("},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			why := open(t, mcp.Config{Limits: fast, Servers: map[string]mcp.ServerConfig{
				"proc": subprocess(t, "chatty", map[string]string{"NOISE": strconv.Quote(c.noise), "EXIT": c.exit}),
			}}, tarsy.MCPServerSelection{Name: "proc"}).Unavailable()["proc"]
			require.True(t, strings.HasPrefix(why, c.want), "%s", why)
		})
	}
}

// A server that gets no input it understands prints, and does not respond.
func TestTimeLimitReportsWhatServerPrinted(t *testing.T) {
	t.Parallel()
	limits := fast
	limits.Exit = 100 * time.Millisecond
	why := open(t, mcp.Config{Limits: limits, Servers: map[string]mcp.ServerConfig{"proc": {Transport: mcp.Transport{
		Type: mcp.TransportStdio, Command: "sh", Args: []string{"-c", "echo 'Choose a profile:'; exec sleep 600"}, Timeout: time.Second,
	}}}}, tarsy.MCPServerSelection{Name: "proc"}).Unavailable()["proc"]
	require.Equal(t, "no session within 1s: time limit reached; stdout: Choose a profile:", why)
}

func TestStdioServerGetsOnlyVariablesItNeeds(t *testing.T) {
	t.Setenv("TARSY_TEST_SECRET", "not for servers")
	t.Setenv("LC_TIME", "de_DE.UTF-8")
	t.Setenv("https_proxy", "http://proxy.example.com:3128")

	variables := func(inherit bool) string {
		server := subprocess(t, "plain", map[string]string{"OWN": "configured"})
		server.Transport.InheritEnv = inherit
		tools := open(t, mcp.Config{Servers: map[string]mcp.ServerConfig{"proc": server}}, tarsy.MCPServerSelection{Name: "proc"})

		return call(t, tools, "proc__variables", "").Content
	}

	plain := variables(false)
	for _, entry := range []string{
		"PATH=" + os.Getenv("PATH"), "LC_TIME=de_DE.UTF-8", "https_proxy=http://proxy.example.com:3128", "OWN=configured",
	} {
		require.Contains(t, plain, entry+"\n")
	}
	require.NotContains(t, plain, "TARSY_TEST_SECRET")

	require.Contains(t, variables(true), "TARSY_TEST_SECRET=not for servers\n")
}
