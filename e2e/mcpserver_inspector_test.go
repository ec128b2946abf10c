package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/notebook"
	"tarsy.dev/tarsy/tarsytest"
)

// inspector is the official MCP inspector, a third-party program: scripts/install-packages.sh installs a pinned version.
// Each call runs the program once.
type inspector struct {
	program string
	// target has the arguments that specify the server.
	target []string
	// environment is the inspector's environment.
	environment []string
}

// inspectorProgram returns the path of the inspector. Without one it skips the test, so call it before anything is scripted.
func inspectorProgram(t *testing.T) string {
	t.Helper()

	cache, err := filepath.Abs("../.cache")
	require.NoError(t, err)

	program := filepath.Join(cache, "mcp-inspector", "node_modules", "@modelcontextprotocol", "inspector", "clients", "launcher", "build", "index.js")
	if _, err := os.Stat(program); err != nil {
		reason, _ := os.ReadFile(filepath.Join(cache, "mcp-inspector.reason"))
		if len(reason) == 0 {
			reason = []byte("run make packages")
		}

		t.Skipf("the MCP inspector is not installed: %s", strings.TrimSpace(string(reason)))
	}

	return program
}

func newInspector(t *testing.T, target ...string) *inspector {
	t.Helper()

	// The inspector keeps files in the home directory.
	return &inspector{program: inspectorProgram(t), target: target, environment: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir()}}
}

// run runs the inspector and returns its output and exit code.
func (i *inspector) run(t *testing.T, arguments ...string) (stdout []byte, stderr string, code int) {
	t.Helper()

	ctx, cancel := context.WithTimeout(t.Context(), nodePatience)
	defer cancel()

	var out, errors bytes.Buffer

	command := exec.CommandContext(ctx, "node", append(append([]string{i.program, "--cli"}, i.target...), arguments...)...)
	command.Env, command.Stdout, command.Stderr = i.environment, &out, &errors

	err := command.Run()
	if _, failed := err.(*exec.ExitError); err != nil && !failed { //nolint:errorlint // that of Run itself
		require.NoError(t, err)
	}

	return out.Bytes(), errors.String(), command.ProcessState.ExitCode()
}

// call calls a tool and returns the text of its result, and whether it is an error.
func (i *inspector) call(t *testing.T, tool string, arguments map[string]string) (text string, failed bool) {
	t.Helper()

	words := []string{"--method", "tools/call", "--tool-name", tool}
	for name, value := range arguments {
		words = append(words, "--tool-arg", name+"="+value)
	}

	stdout, stderr, code := i.run(t, words...)

	var result struct {
		Content []struct{ Text string } `json:"content"`
		IsError bool                    `json:"isError"`
	}

	require.NoError(t, json.Unmarshal(stdout, &result), "%s ended with %d: %s%s", tool, code, stdout, stderr)
	require.Len(t, result.Content, 1, tool)

	return result.Content[0].Text, result.IsError
}

// TestOfficialInspectorUsesTheTools uses the inspector because its client is written in another language, and because it
// checks the schemas of tools for what models of different providers understand.
func TestOfficialInspectorUsesTheTools(t *testing.T) {
	t.Parallel()
	inspectorProgram(t)

	app := tarsytest.New(t, tarsytest.Options{Config: withChatAndVerdict, RequireKey: true})
	app.Token = app.Key("an assistant", tarsy.ScopeWrite)
	app.Entity(notebook.EntityTask, "Bound the cart cache")
	scriptTools(t, app, "It leaks.", "Since Tuesday.")

	bearer := func(key string) []string {
		return []string{app.URL + "/mcp", "--transport", "http", "--header", "Authorization: Bearer " + key}
	}
	web := newInspector(t, bearer(app.Token)...)
	stdio := newInspector(t, buildProgram(t), "mcp", "-e", "TARSY_SERVER="+app.URL, "-e", "TARSY_TOKEN="+app.Token)

	for name, i := range map[string]*inspector{"http": web, "stdio": stdio} {
		stdout, stderr, code := i.run(t, "--method", "tools/list", "--strict")
		require.Zero(t, code, "%s: %s", name, stderr)

		var listed struct{ Tools []struct{ Name string } }

		require.NoError(t, json.Unmarshal(stdout, &listed), "%s", stdout)

		for _, tool := range listed.Tools {
			require.Contains(t, ownTools(), tool.Name)
		}

		require.Len(t, listed.Tools, len(ownTools()), name)
	}

	succeeds := func(i *inspector, tool string, arguments map[string]string) string {
		text, failed := i.call(t, tool, arguments)
		require.False(t, failed, "%s: %s", tool, text)

		return text
	}

	match := submitted.FindStringSubmatch(succeeds(web, "submit_alert", map[string]string{"data": "web is slow"}))
	require.NotNil(t, match)

	id := match[1]
	require.Contains(t, succeeds(stdio, "get_session", map[string]string{"session_id": id, "wait_seconds": "60"}), "Cause: web leaks memory")
	require.Contains(t, succeeds(web, "ask", map[string]string{"session_id": id, "question": "Since when?"}), "Since Tuesday.")
	require.Contains(t, succeeds(stdio, "list_sessions", map[string]string{"limit": "1"}), id)
	require.Contains(t, succeeds(web, "search_past_investigations", map[string]string{"query": "slow"}), id)
	require.Contains(t, succeeds(stdio, "list_tasks", nil), "Bound the cart cache")

	reader := newInspector(t, bearer(app.Key("a reader", tarsy.ScopeRead))...)
	text, failed := reader.call(t, "submit_alert", map[string]string{"data": "web is slow"})
	require.True(t, failed)
	require.Contains(t, text, `needs the role responder (scope "write")`)

	_, stderr, code := newInspector(t, bearer("tarsy_unknown")...).run(t, "--method", "tools/list", "--stored-auth-only")
	require.NotZero(t, code, fmt.Sprint("without a key: ", stderr))
	require.Len(t, app.Sessions(""), 1)
}
