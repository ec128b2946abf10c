package e2e

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/api"
	"tarsy.dev/tarsy/internal/postgres/pgtest"
	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
	"tarsy.dev/tarsy/tarsytest"
)

const reloadPath = "/api/v1/system/config/reload"

// reloadConfig returns a configuration with one chain, whose two stages are run by an agent with these instructions.
func reloadConfig(instructions, more string) string {
	return fmt.Sprintf(`
agents:
  Investigator: {custom_instructions: %s}
agent_chains:
  test:
    alert_types: [test]
    stages:
      - {name: look, agents: [{name: Investigator}]}
      - {name: conclude, agents: [{name: Investigator}]}
%s`, instructions, more)
}

// reload reloads the configuration of a server.
func reload(t *testing.T, app *tarsytest.App, query string) api.ConfigReload {
	t.Helper()

	response := app.Do(http.MethodPost, reloadPath+query, nil)
	require.Equal(t, http.StatusOK, response.Status, string(response.Body))

	var result api.ConfigReload

	response.Decode(t, &result)

	return result
}

// setting returns a value of the configuration in use.
func setting(t *testing.T, app *tarsytest.App, path string) string {
	t.Helper()

	var config struct {
		Settings []api.Setting `json:"settings"`
	}

	app.Do(http.MethodGet, "/api/v1/system/config", nil).Decode(t, &config)

	for _, s := range config.Settings {
		if s.Path == path {
			return s.Value
		}
	}

	return ""
}

// instructionsOf returns which of the instructions the calls about an alert contained, in order.
func instructionsOf(s *script.Script, alert string) []string {
	var seen []string

	for _, call := range s.Calls() {
		text := fmt.Sprint(call.Request.Messages)
		if !strings.Contains(text, alert) {
			continue
		}

		for _, instructions := range []string{"OLDRECIPE", "NEWRECIPE"} {
			if strings.Contains(text, instructions) {
				seen = append(seen, instructions)
			}
		}
	}

	return seen
}

// answering returns a script that answers every call; the first one about an alert waits at the gate.
func answering(gate *script.Gate, alert string) *script.Script {
	s := script.New(script.Options{})
	s.RouteFunc(func(*llm.Request) bool { return true }, func(r *llm.Request, n int) script.Reply {
		reply := script.Reply{Text: "done"}
		if n == 0 && strings.Contains(fmt.Sprint(r.Messages), alert) {
			reply.Gate = gate
		}

		return reply
	})

	return s
}

func TestReloadAppliesToNewSessionsWhileRunningKeepsRecipe(t *testing.T) {
	t.Parallel()

	gate := script.NewGate()
	model := answering(gate, "first alert")
	app := tarsytest.New(t, tarsytest.Options{Config: reloadConfig("OLDRECIPE", ""), Script: model})

	running := app.Submit("test", "first alert")
	app.WaitGate(gate)

	app.WriteConfig(reloadConfig("NEWRECIPE", "queue: {worker_count: 7, heartbeat_interval: 4s}"))
	result := reload(t, app, "")
	require.True(t, result.Applied)
	require.True(t, result.RestartRequired)
	require.Len(t, result.Changes, 3)
	require.Equal(t, "agents.Investigator.custom_instructions", result.Changes[2].Path)
	require.Equal(t, "new sessions", result.Changes[2].TakesEffect)
	require.Equal(t, "7", setting(t, app, "queue.worker_count"))
	require.Equal(t, "5s", setting(t, app, "queue.heartbeat_interval"), "it needs a restart")

	fresh := app.Run("test", "second alert")
	require.Equal(t, tarsy.SessionCompleted, fresh.Status)

	gate.Open()
	require.Equal(t, tarsy.SessionCompleted, app.WaitFor(running, tarsy.SessionCompleted, tarsy.SessionFailed).Status)

	require.Equal(t, []string{"OLDRECIPE", "OLDRECIPE"}, instructionsOf(model, "first alert"), "also in the stage that began after the reload")
	require.Equal(t, []string{"NEWRECIPE", "NEWRECIPE"}, instructionsOf(model, "second alert"))

	waitMetrics(t, app, `tarsy_config_reloads_total{result="applied"} 1`, "tarsy_config_last_reload_successful 1")
}

func TestSessionTakenOverByServerWithNewConfigKeepsRecipe(t *testing.T) {
	t.Parallel()

	gate := script.NewGate()
	first := tarsytest.New(t, tarsytest.Options{
		Config: reloadConfig("OLDRECIPE", ""), Script: answering(gate, "an alert"), Unwatched: true,
	})
	running := first.Submit("test", "an alert")
	first.WaitGate(gate)

	model := answering(nil, "an alert")
	second := tarsytest.New(t, tarsytest.Options{
		Config: reloadConfig("OTHER", "queue: {worker_count: 0}"), Script: model, Database: first.Database,
	})
	second.WriteConfig(reloadConfig("NEWRECIPE", "queue: {worker_count: 2}"))
	require.True(t, reload(t, second, "").Applied)

	first.Stop()
	require.Equal(t, tarsy.SessionCompleted, second.WaitFor(running, tarsy.SessionCompleted, tarsy.SessionFailed).Status)
	require.Equal(t, []string{"OLDRECIPE", "OLDRECIPE"}, instructionsOf(model, "an alert"))
}

func TestInvalidConfigurationChangesNothing(t *testing.T) {
	t.Parallel()

	model := answering(nil, "")
	app := tarsytest.New(t, tarsytest.Options{Config: reloadConfig("OLDRECIPE", ""), Script: model})

	app.WriteConfig(reloadConfig("NEWRECIPE", "queue: {worker_cuont: 7, session_timeout: soon}"))

	for _, query := range []string{"?dry_run=true", ""} {
		problem := app.Do(http.MethodPost, reloadPath+query, nil).Problem(t)
		require.Equal(t, http.StatusConflict, problem.Status)
		require.Equal(t, "invalid_configuration", problem.Code)
		require.Contains(t, problem.Detail, "worker_cuont")
		require.Contains(t, problem.Detail, "session_timeout", "every problem is listed")
	}

	require.Equal(t, tarsy.SessionCompleted, app.Run("test", "an alert").Status)
	require.Equal(t, []string{"OLDRECIPE", "OLDRECIPE"}, instructionsOf(model, "an alert"))

	// A dry run does not count.
	waitMetrics(t, app, `tarsy_config_reloads_total{result="invalid"} 1`, "tarsy_config_last_reload_successful 0")
}

func TestReloadDryRunAppliesNothingAndNeedsAdminScope(t *testing.T) {
	t.Parallel()

	app := tarsytest.New(t, tarsytest.Options{Config: reloadConfig("OLDRECIPE", ""), RequireKey: true})
	app.Token = app.Key("writer", tarsy.ScopeRead, tarsy.ScopeWrite)
	require.Equal(t, http.StatusForbidden, app.Do(http.MethodPost, reloadPath, nil).Status)
	require.Equal(t, http.StatusForbidden, app.Do(http.MethodPost, reloadPath+"?dry_run=true", nil).Status)

	app.Token = app.Key("admin", tarsy.ScopeAdmin)
	app.WriteConfig(reloadConfig("NEWRECIPE", ""))

	for range 2 {
		result := reload(t, app, "?dry_run=true")
		require.False(t, result.Applied)
		require.Len(t, result.Changes, 1)
		require.Equal(t, "OLDRECIPE", *result.Changes[0].Old)
		require.Equal(t, "NEWRECIPE", *result.Changes[0].New)
		require.Equal(t, "OLDRECIPE", setting(t, app, "agents.Investigator.custom_instructions"))
	}

	require.True(t, reload(t, app, "").Applied)
	require.Equal(t, "NEWRECIPE", setting(t, app, "agents.Investigator.custom_instructions"))

	unchanged := reload(t, app, "")
	require.False(t, unchanged.Applied)
	require.Empty(t, unchanged.Changes)
	require.Equal(t, http.StatusBadRequest, app.Do(http.MethodPost, reloadPath+"?dry_run=maybe", nil).Status)
}

func TestRemovedMCPServerIsClosedAfterItsLastExecution(t *testing.T) {
	t.Parallel()

	const before, after = `
agents:
  Investigator: {custom_instructions: Look., mcp_servers: [old]}
agent_chains:
  test: {alert_types: [test], stages: [{name: look, agents: [{name: Investigator}]}]}
mcp_servers:
  old: {transport: {type: stdio, command: in-memory}}
  kept: {transport: {type: stdio, command: in-memory}}
`, `
agents:
  Investigator: {custom_instructions: Look., mcp_servers: [kept]}
agent_chains:
  test: {alert_types: [test], stages: [{name: look, agents: [{name: Investigator}]}]}
mcp_servers:
  kept: {transport: {type: stdio, command: in-memory}}
`

	old := tarsytest.NewMCPServer("old", tarsytest.Tool{Name: "look", ReadOnly: true, Text: "from the old server"})
	kept := tarsytest.NewMCPServer("kept", tarsytest.Tool{Name: "look", ReadOnly: true, Text: "from the kept server"})
	gate := script.NewGate()
	app := tarsytest.New(t, tarsytest.Options{Config: before, MCP: []*tarsytest.MCPServer{old, kept}})
	app.Script.Route("Investigator",
		script.Reply{Gate: gate, ToolCalls: []llm.ToolCall{{Name: "old__look", Arguments: "{}"}}}, script.Reply{Text: "done"},
		script.Reply{ToolCalls: []llm.ToolCall{{Name: "kept__look", Arguments: "{}"}}}, script.Reply{Text: "done"},
	)
	app.Script.Route("ExecSummaryAgent", script.Reply{Text: "in short", Times: 2})

	running := app.Submit("test", "an alert")
	app.WaitGate(gate)

	app.WriteConfig(after)
	require.True(t, reload(t, app, "").Applied)
	app.Await(old.Connected(1), "the connection of the monitor to be closed")

	statuses := string(app.Do(http.MethodGet, "/api/v1/system/mcp-servers", nil).Body)
	require.NotContains(t, statuses, `"old"`)

	gate.Open()
	require.Equal(t, tarsy.SessionCompleted, app.WaitFor(running, tarsy.SessionCompleted, tarsy.SessionFailed).Status)
	require.Len(t, old.Calls(), 1, "the execution keeps its tools")
	app.Await(old.Connected(0), "the connection of the execution to be closed")

	require.Equal(t, tarsy.SessionCompleted, app.Run("test", "another alert").Status)
	require.Len(t, kept.Calls(), 1)
	require.Len(t, old.Calls(), 1)
}

func TestHangupReloadsConfigurationOfServer(t *testing.T) {
	t.Parallel()

	binary := buildProgram(t)
	dir := t.TempDir()
	write := func(text string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "tarsy.yaml"), []byte(text), 0o600))
	}

	write("queue: {max_concurrent_sessions: 6}")

	database := pgtest.New(t)
	server := startServe(t, binary, dir, database)
	app := tarsytest.Connect(t, server.URL, database)

	write("queue: {max_concurrent_sessions: 7}")

	command := exec.Command(binary, "config", "reload", "--dry-run", "--server", server.URL)
	command.Env = slices.DeleteFunc(os.Environ(), func(entry string) bool { return strings.HasPrefix(entry, "TARSY_") })
	out, err := command.CombinedOutput()
	require.NoError(t, err, string(out))
	require.Regexp(t, `changed\s+queue.max_concurrent_sessions\s+6\s+7\s+at once`, string(out))
	require.Equal(t, "6", setting(t, app, "queue.max_concurrent_sessions"))

	server.Signal(syscall.SIGHUP)
	server.Log.WaitLine("configuration reloaded")
	require.Equal(t, "7", setting(t, app, "queue.max_concurrent_sessions"))

	write("queue: {max_concurrent_sessions: many}\nnothing: true")
	server.Signal(syscall.SIGHUP)
	server.Log.WaitLine("tarsy.yaml:2")
	require.Contains(t, server.Log.String(), "max_concurrent_sessions")
	require.Equal(t, "7", setting(t, app, "queue.max_concurrent_sessions"))
	require.Equal(t, http.StatusOK, server.Ready(), "it goes on with the previous configuration")

	server.Signal(syscall.SIGTERM)
	require.Zero(t, server.WaitExit())
}

// A configuration that is read but not applied leaves nothing behind: the variables next to its files take effect only with it.
func TestVariablesOfConfigurationThatIsNotAppliedDoNotCount(t *testing.T) {
	t.Parallel()

	binary := buildProgram(t)
	dir := t.TempDir()
	write := func(name, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}

	const config = "alerts: {receivers: {team: {source: generic, token_env: TEAM_TOKEN}}}"

	write("tarsy.yaml", config)
	write(".env", "TEAM_TOKEN=the-old-token")

	database := pgtest.New(t)
	data := t.TempDir()
	server := startServe(t, binary, dir, database, "--auth", "on", "--data-dir", data)
	key, err := os.ReadFile(filepath.Join(data, "admin-key"))
	require.NoError(t, err)

	app := tarsytest.Connect(t, server.URL, database)
	accepted := func(token string) bool {
		// A body without an alert is refused after the token was accepted.
		status := app.Do(http.MethodPost, "/api/v1/webhooks/generic/team", []byte("{}"), "Authorization", "Bearer "+token).Status
		require.Contains(t, []int{http.StatusBadRequest, http.StatusUnauthorized}, status)

		return status == http.StatusBadRequest
	}
	reloads := func(flags ...string) error {
		command := exec.Command(binary, append([]string{"config", "reload", "--server", server.URL}, flags...)...)
		command.Env = slices.DeleteFunc(os.Environ(), func(entry string) bool { return strings.HasPrefix(entry, "TARSY_") })
		command.Env = append(command.Env, "TARSY_TOKEN="+strings.TrimSpace(string(key)))

		out, err := command.CombinedOutput()
		if err != nil {
			return fmt.Errorf("%w: %s", err, out)
		}

		return nil
	}

	require.True(t, accepted("the-old-token"))
	write(".env", "TEAM_TOKEN=the-new-token")

	require.NoError(t, reloads("--dry-run"))
	require.True(t, accepted("the-old-token"))
	require.False(t, accepted("the-new-token"))

	write("tarsy.yaml", config+"\nnothing: true")
	require.Error(t, reloads())
	require.True(t, accepted("the-old-token"))

	write("tarsy.yaml", config)
	require.NoError(t, reloads())
	require.True(t, accepted("the-new-token"))
	require.False(t, accepted("the-old-token"))
}
