package e2e

import (
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/kit/slowness"
	"tarsy.dev/tarsy/internal/kit/wait"
	"tarsy.dev/tarsy/internal/postgres/pgtest"
	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
	"tarsy.dev/tarsy/tarsytest"
)

// The MCP servers of these scenarios are third-party programs: scripts/install-packages.sh installs pinned versions.
const (
	everythingServer = "server-everything"
	filesystemServer = "server-filesystem"
)

// nodePatience is how long these scenarios wait: Node.js programs start slowly on a busy machine.
var nodePatience = slowness.Scale(2 * time.Minute)

// realServer returns the program of an installed server. Without it the test is skipped, with the reason that the installation recorded.
func realServer(t *testing.T, name string) string {
	t.Helper()

	cache, err := filepath.Abs("../.cache")
	require.NoError(t, err)

	program := filepath.Join(cache, "mcp-servers", "node_modules", "@modelcontextprotocol", name, "dist", "index.js")
	if _, err := os.Stat(program); err != nil {
		reason, _ := os.ReadFile(filepath.Join(cache, "mcp-servers.reason"))
		if len(reason) == 0 {
			reason = []byte("run make packages")
		}

		t.Skipf("the MCP server %s is not installed: %s", name, strings.TrimSpace(string(reason)))
	}

	return program
}

// realWorld starts a server process that connects to the configured MCP servers, and returns an App that runs no sessions,
// through which the test submits and watches.
func realWorld(t *testing.T, servers map[string]string, replies ...script.Reply) *tarsytest.App {
	t.Helper()

	text, ids := "mcp_servers:\n", make([]string, 0, len(servers))
	for id, transport := range servers {
		text += fmt.Sprintf("  %s: {transport: %s}\n", id, transport)
		ids = append(ids, id)
	}

	text += fmt.Sprintf("agents:\n  Investigator: {mcp_servers: [%s]}\n", strings.Join(ids, ", ")) +
		"agent_chains:\n  test: {alert_types: [test], stages: [{name: analysis, agents: [{name: Investigator}]}]}\n"

	database := pgtest.New(t)
	app := tarsytest.New(t, tarsytest.Options{Config: text + "queue: {worker_count: 0}\n", Database: database, Patience: nodePatience})
	app.Script.Add(replies...)
	startProcess(t, processSettings{
		Database: database,
		Model:    serveModel(t, app.Script),
		Config:   text + "llm_providers: {test: {type: scripted, model: test-model}}\ndefaults: {llm_provider: test}\n",
	})

	return app
}

// stdioTransport returns a transport that runs a Node.js program.
func stdioTransport(program string, args ...string) string {
	words := []string{strconv.Quote(program)}
	for _, arg := range args {
		words = append(words, strconv.Quote(arg))
	}

	return fmt.Sprintf("{type: stdio, command: node, args: [%s]}", strings.Join(words, ", "))
}

// listenEverything runs server-everything on a port, and waits until it listens.
func listenEverything(t *testing.T, mode, port string) *process {
	t.Helper()

	command := exec.Command("node", realServer(t, everythingServer), mode)
	command.Env = append(os.Environ(), "PORT="+port)
	p := runProcess(t, command)
	p.Log.WaitLine("on port " + port)

	return p
}

// freePort returns a port on which nothing listens and which the operating system assigns only on request: ports below
// 32768 are not ephemeral. Node.js takes seconds to start on a busy machine, and by then another test's connection may have
// got an ephemeral port. The SSE server would not even fail: it reports that it runs, and exits.
func freePort(t *testing.T) string {
	t.Helper()

	const first, count, attempts = 20000, 12000, 100

	for range attempts {
		port := strconv.Itoa(first + rand.IntN(count))

		listener, err := net.Listen("tcp", ":"+port) // on every address, as Node.js does
		if err == nil {
			require.NoError(t, listener.Close())

			return port
		}
	}

	require.FailNow(t, "no free port found")
	panic("unreachable")
}

// asks returns a reply that calls one tool.
func asks(name, arguments string) script.Reply {
	return script.Reply{ToolCalls: []llm.ToolCall{{Name: name, Arguments: arguments}}}
}

// toolResults returns the tool results in the last LLM call of the investigation.
func toolResults(app *tarsytest.App) []string {
	var results []string

	calls := app.Script.Calls()
	for _, m := range calls[len(calls)-2].Request.Messages {
		if m.Role == llm.RoleTool {
			results = append(results, unmarked(m.Content))
		}
	}

	return results
}

// The same investigation runs over each transport, through a server that exercises the whole protocol.
func TestInvestigationThroughServerEverything(t *testing.T) {
	t.Parallel()

	for _, mode := range []string{"stdio", "streamableHttp", "sse"} {
		t.Run(mode, func(t *testing.T) { // sequential: Node.js starts slowly
			transport := stdioTransport(realServer(t, everythingServer), "stdio")

			if mode != "stdio" {
				port := freePort(t)
				listenEverything(t, mode, port)

				transport = fmt.Sprintf("{type: http, url: \"http://127.0.0.1:%s/mcp\"}", port)
				if mode == "sse" {
					transport = fmt.Sprintf("{type: sse, url: \"http://127.0.0.1:%s/sse\"}", port)
				}
			}

			app := realWorld(t, map[string]string{"everything": transport},
				script.Reply{ToolCalls: []llm.ToolCall{
					{Name: "everything__echo", Arguments: `{"message":"the disk is full ✓"}`},
					{Name: "everything.get-sum", Arguments: `{"a":40,"b":2}`},
					{Name: "everything__get-sum", Arguments: `a=1, b=0.5`},
					{Name: "everything__echo", Arguments: `Error: disk full`},
				}},
				script.Reply{ToolCalls: []llm.ToolCall{
					{Name: "everything__get-sum", Arguments: `{"a":"many"}`},
					{Name: "everything__get-tiny-image"},
					{Name: "everything__get-resource-links", Arguments: `{"count":2}`},
					{Name: "everything__get-resource-reference", Arguments: `{"resourceType":"Text","resourceId":7}`},
					{Name: "everything__get-structured-content", Arguments: `{"location":"Chicago"}`},
				}},
				says("The disk is full."), says("Disk full."))

			session := app.Run("test", "look")
			require.Equal(t, tarsy.SessionCompleted, session.Status, session.ErrorMessage)
			require.Equal(t, "The disk is full.", session.FinalAnalysis)

			var offered []string
			for _, tool := range app.Script.Calls()[0].Request.Tools {
				offered = append(offered, tool.Name)
			}

			require.Subset(t, offered, []string{"everything__echo", "everything__get-sum", "everything__get-env", "everything__get-tiny-image"})

			results := toolResults(app)
			require.Len(t, results, 9)
			require.Equal(t, []string{
				"Echo: the disk is full ✓", "The sum of 40 and 2 is 42.", "The sum of 1 and 0.5 is 1.5.", "Echo: Error: disk full",
			}, results[:4])
			require.Contains(t, results[4], "Invalid arguments for tool get-sum")
			require.Regexp(t, `^Here's the image you requested:\n\[image: image/png, \d+ bytes\]\nThe image above is the MCP logo\.$`, results[5])
			require.Contains(t, results[6], "Here are 2 resource links")
			require.Equal(t, 2, strings.Count(results[6], "\n[resource: demo://resource/dynamic/"))
			require.Regexp(t, `(?s)^Returning resource reference for Resource 7:\n\[resource: demo://\S+ text/plain, \d+ bytes\]\nResource 7: .+`, results[7])
			require.JSONEq(t, `{"temperature":36,"conditions":"Light rain / drizzle","humidity":82}`, results[8])

			for i, call := range app.MCPInteractions(session.ID) {
				require.Equal(t, i == 4, call.IsError, call.ToolName)
				require.True(t, call.ReadOnly, call.ToolName)
				require.Equal(t, 1, call.Attempt)
			}
		})
	}
}

func TestSelectionRestrictsRealServer(t *testing.T) {
	t.Parallel()

	app := realWorld(t, map[string]string{"everything": stdioTransport(realServer(t, everythingServer))},
		calls("everything__get-env", "everything__echo"), says("Seen."), says("Seen."))
	sessionID := app.SubmitAlert(map[string]any{
		"alert_type": "test", "data": "look",
		"mcp_selection": map[string]any{"servers": []any{map[string]any{"name": "everything", "tools": []string{"echo"}}}},
	})
	app.WaitFor(sessionID, tarsy.SessionCompleted)

	tools := app.Script.Calls()[0].Request.Tools
	require.Len(t, tools, 1)
	require.Equal(t, "everything__echo", tools[0].Name)
	require.Contains(t, toolResults(app)[0], `offers no tool "get-env" here`)
	require.NotContains(t, toolResults(app)[0], os.Getenv("PATH"))
}

// A server that was restarted between two calls does not know the session, and reports that with a specific status.
func TestRealHTTPServerRestartsBetweenTwoCalls(t *testing.T) {
	t.Parallel()

	port, gate := freePort(t), script.NewGate()
	first := listenEverything(t, "streamableHttp", port)
	next := asks("everything__toggle-simulated-logging", `{}`)
	next.Gate = gate
	app := realWorld(t, map[string]string{"everything": fmt.Sprintf("{type: http, url: \"http://127.0.0.1:%s/mcp\"}", port)},
		asks("everything__echo", `{"message":"before"}`), next, says("It answers."), says("It answers."))

	sessionID := app.Submit("test", "look")
	app.WaitGate(gate)
	first.Kill()
	listenEverything(t, "streamableHttp", port)
	gate.Open()

	app.WaitFor(sessionID, tarsy.SessionCompleted)
	require.Equal(t, "Echo: before", toolResults(app)[0])
	require.Contains(t, toolResults(app)[1], "logging", "a tool that writes: the server had not looked at the call")
	require.NotContains(t, toolResults(app)[1], "outcome unknown")
}

func TestInvestigationThroughServerFilesystem(t *testing.T) {
	t.Parallel()

	dir, outside := realDir(t), filepath.Join(realDir(t), "secret.txt")
	require.NoError(t, os.WriteFile(outside, []byte("not for agents"), 0o600))

	var log strings.Builder
	for i := range 500 {
		fmt.Fprintf(&log, "%04d the pod restarts again\n", i)
	}

	require.NoError(t, os.WriteFile(filepath.Join(dir, "app.log"), []byte(log.String()), 0o600))

	app := realWorld(t, map[string]string{"files": stdioTransport(realServer(t, filesystemServer), dir)},
		script.Reply{ToolCalls: []llm.ToolCall{
			{Name: "files__read_text_file", Arguments: fmt.Sprintf(`{"path":%q}`, filepath.Join(dir, "app.log"))},
			{Name: "files__read_text_file", Arguments: filepath.Join(dir, "app.log")},
			{Name: "files__read_text_file", Arguments: fmt.Sprintf(`{"path":%q}`, outside)},
			{Name: "files__read_text_file", Arguments: fmt.Sprintf(`{"path":%q}`, dir+"/../"+filepath.Base(filepath.Dir(outside))+"/secret.txt")},
			{Name: "files__write_file", Arguments: fmt.Sprintf("path: %s\ncontent: |\n  first\n  second\n", filepath.Join(dir, "notes.txt"))},
			{Name: "files__list_directory", Arguments: "path=" + dir},
		}},
		says("The pod restarts."), says("Restarts."))

	session := app.Run("test", "look")
	require.Equal(t, tarsy.SessionCompleted, session.Status, session.ErrorMessage)

	results := toolResults(app)
	require.Len(t, results, 6)
	require.Equal(t, log.String(), results[0], "the whole file")
	require.Equal(t, log.String(), results[1], "the path alone is enough")

	for _, refused := range results[2:4] {
		require.Contains(t, refused, "Access denied")
		require.NotContains(t, refused, "not for agents")
	}

	require.Contains(t, results[4], "Successfully wrote")
	require.Contains(t, results[5], "notes.txt")

	written, err := os.ReadFile(filepath.Join(dir, "notes.txt"))
	require.NoError(t, err)
	require.Equal(t, "first\nsecond\n", string(written))

	calls := app.MCPInteractions(session.ID)
	require.True(t, calls[0].ReadOnly)
	require.False(t, calls[4].ReadOnly)
}

// realDir returns a directory by the name under which the server will find it.
func realDir(t *testing.T) string {
	t.Helper()

	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)

	return dir
}

// The server dies in the middle of a call. The file that the call reads is a pipe, which shows when the call is in progress.
func TestRealServerDiesDuringCall(t *testing.T) {
	t.Parallel()

	tests := map[string]struct {
		arguments string
		repeated  bool
	}{
		"read_text_file": {`{"path":%q}`, true},
		"edit_file":      {`{"path":%q,"edits":[{"oldText":"a","newText":"b"}]}`, false},
	}

	for tool, test := range tests {
		t.Run(tool, func(t *testing.T) { // sequential, as above
			dir := realDir(t)
			pipe := filepath.Join(dir, "pipe")
			require.NoError(t, syscall.Mkfifo(pipe, 0o600))

			app := realWorld(t, map[string]string{"files": stdioTransport(realServer(t, filesystemServer), dir)},
				asks("files__"+tool, fmt.Sprintf(test.arguments, pipe)), says("Done."), says("Done."))
			sessionID := app.Submit("test", "look")

			first := openPipe(t, pipe)
			killServers(t, dir)

			if test.repeated {
				second := openPipe(t, pipe)
				_, err := second.WriteString("alive again")
				require.NoError(t, err)
				require.NoError(t, second.Close())
			}

			// Not earlier: a second reader would find the end of the pipe.
			require.NoError(t, first.Close())

			app.WaitFor(sessionID, tarsy.SessionCompleted)

			call := app.MCPInteractions(sessionID)[0]
			if test.repeated {
				require.Equal(t, []string{"alive again"}, toolResults(app))
				require.Equal(t, 2, call.Attempt)

				return
			}

			require.Equal(t, tarsy.CallUnknown, call.Status)
			require.Equal(t, 1, call.Attempt)
			require.Contains(t, toolResults(app)[0], "outcome unknown, check before repeating")
		})
	}
}

// openPipe waits until a process reads the pipe, and returns the other end.
func openPipe(t *testing.T, path string) *os.File {
	t.Helper()

	opened := make(chan *os.File, 1)

	go func() {
		file, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err == nil {
			opened <- file
		}
	}()

	return wait.ForWithin(t, nodePatience, opened, "the call to read "+path)
}

// killServers kills the processes that were started with this argument, which no other test uses, and waits until they are gone.
func killServers(t *testing.T, argument string) {
	t.Helper()

	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	require.NoError(t, err)

	if len(files) == 0 {
		t.Skip("processes can be found only where there is a /proc")
	}

	var killed []int

	for _, file := range files {
		line, err := os.ReadFile(file)
		if err != nil || !strings.HasPrefix(string(line), "node\x00") || !strings.HasSuffix(string(line), "\x00"+argument+"\x00") {
			continue
		}

		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		require.NoError(t, err)

		if syscall.Kill(pid, syscall.SIGKILL) == nil {
			killed = append(killed, pid)
		}
	}

	require.NotEmpty(t, killed)
	wait.Until(t, "the killed processes to be gone", func() bool {
		return !slices.ContainsFunc(killed, func(pid int) bool { return syscall.Kill(pid, 0) == nil })
	})
}
