package cli_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	mcpsdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/cli"
	"tarsy.dev/tarsy/internal/kit/demo/cluster"
)

const mcpDoctorConfig = `
llm_providers: {scripted: {type: scripted}}
defaults: {llm_provider: scripted}
system: {mcp_startup: STARTUP}
mcp_servers:
  good: {writing_tools: ['rollout_*'], transport: {type: stdio, command: 'BINARY', args: [demo-mcp]}}
  broken:
    transport:
      type: stdio
      command: sh
      args: [-c, 'echo "Error: no current-context is set, token $TOKEN" >&2; seq -f "  --flag-%g string  on error" 2000 >&2; exit 1']
      env: {TOKEN: '{{.BROKEN_TOKEN}}'}
  absent: {transport: {type: stdio, command: tarsy-no-such-program}}
  web: {transport: {type: http, url: 'WEB', bearer_token: '{{.WEB_TOKEN}}'}}
  events: {transport: {type: sse, url: 'EVENTS'}}
  closed: {transport: {type: http, url: 'WEB'}}
  dead: {transport: {type: http, url: 'http://127.0.0.1:1'}}
  unused: {transport: {type: stdio, command: 'false'}}
approvals: {rules: [{server: web, tool: rollout_restart, policy: always}]}
agents: {A: {mcp_servers: [good, broken, absent, web, events, closed, dead]}}
agent_chains: {c: {alert_types: [a], stages: [{name: s, agents: [{name: A}]}]}}
`

func TestDoctorStartsAndCallsMCPServers(t *testing.T) {
	t.Parallel()

	server := cluster.NewServer()
	t.Cleanup(func() {
		for session := range server.Sessions() {
			_ = session.Close()
		}
	})

	get := func(*http.Request) *mcpsdk.Server { return server }
	streamable := mcpsdk.NewStreamableHTTPHandler(get, nil)
	asked := make(chan struct{})
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer web-secret-value" {
			http.Error(w, "no", http.StatusUnauthorized)

			return
		}

		<-asked // answers once doctor has reported that it is waiting
		streamable.ServeHTTP(w, r)
	}))
	t.Cleanup(web.Close)

	events := httptest.NewServer(mcpsdk.NewSSEHandler(get, nil))
	t.Cleanup(events.Close)

	doctor := func(startup string) result {
		dir := writeConfig(t, strings.NewReplacer("BINARY", os.Args[0], "STARTUP", startup, "WEB_TOKEN", "WEB_TOKEN", "WEB", web.URL, "EVENTS", events.URL).Replace(mcpDoctorConfig))
		stdout, stderr := newBuffer(), newBuffer()
		done := make(chan struct{})

		go func() {
			defer close(done)

			select {
			case <-asked:
			default:
				stderr.wait(t, "waiting for MCP server web…")
				close(asked)
			}
		}()

		code := cli.Run(t.Context(), cli.Process{
			Name: "tarsy", Args: doctorArgs(t, "--config-dir", dir),
			Stdin: strings.NewReader(""), Stdout: stdout, Stderr: stderr, Executable: os.Args[0],
			Env: []string{"WEB_TOKEN=web-secret-value", "BROKEN_TOKEN=broken-secret-value"},
		})
		<-done

		return result{code, stdout.String(), stderr.String()}
	}

	got := doctor("lenient")
	require.Equal(t, cli.ExitOK, got.code, got.stdout)

	for _, want := range []string{
		`ok    MCP server good: stdio, \d+ tools\n`,
		`ok    MCP server web: http, \d+ tools\n`,
		`warn  MCP server events: sse, \d+ tools; may change something and need no approval: rollout_restart\n\s+→ list those that change something in mcp_servers.events.writing_tools`,
		`warn  MCP server broken: the process ended: exit status 1; stderr: Error: no current-context is set, token \S*(MASKED|REDACTED)`,
		`→ set KUBECONFIG, or choose a cluster`,
		`warn  MCP server absent: tarsy-no-such-program is not in PATH\n\s+→ install tarsy-no-such-program`,
		`warn  MCP server closed: .*Unauthorized.*\n\s+→ check mcp_servers.closed.transport.bearer_token`,
		`warn  MCP server dead: .*refused.*\n\s+→ check mcp_servers.dead.transport.url`,
	} {
		require.Regexp(t, want, got.stdout)
	}

	require.NotContains(t, got.stdout, "unused")
	require.NotContains(t, got.stdout+got.stderr, "secret-value")
	require.NotContains(t, got.stderr, "waiting for MCP server dead")

	got = doctor("strict")
	require.Equal(t, cli.ExitFailed, got.code, "a strict server would not become ready")
	require.Contains(t, got.stdout, "fail  MCP server broken: ")
	require.Contains(t, got.stdout, "ok    MCP server good: ")
}
