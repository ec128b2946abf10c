package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/llm/script"
	"tarsy.dev/tarsy/tarsytest"
)

// masked returns secrets by where they enter. None is real; they are concatenated here so that none occurs in the source.
func masked() map[string]string {
	return map[string]string{
		"alert":      "AKIA" + "QX7DLFWNZ4RT2KPM",
		"tool":       "c3VwZXItc2VjcmV0LXZhbHVl" + "LW9mLXRoZS1kYXRhYmFzZQ==",
		"question":   "hunter2-" + "correct-horse",
		"runbook":    "ghp_" + "n3Vq8ZtYc1LwX0pRb7KdJm5SgUe2FhAi9oTk",
		"configured": "configured-" + "bearer-value-4711",
		"provider":   "AKIA" + "ZZ3DLFWNQ4RT2KPX",
		"inline":     "glpat-" + "Zx71kPp3Qw8ErTy2UiOp",
		"manifest":   "dG9wbGluZQ" + "==",
		"variable":   "Qw8tenant" + "Zx71kPp3",
		"error":      "xoxb-" + "7391846520-1938475620183-Qw7ErTy2UiOp9AsDfGh4JkLz",
	}
}

// Secrets enter at every point: nothing that is stored, streamed or sent to the model contains one of them.
func TestSecretsAreMaskedAtEveryEntryPoint(t *testing.T) {
	t.Parallel()

	secrets := masked()
	web := map[string]http.Handler{"runbooks.example.com": http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		_, _ = w.Write([]byte("Clone with " + secrets["runbook"] + " first."))
	})}
	tools := tarsytest.NewMCPServer("test-mcp",
		tarsytest.Tool{Name: "get_secret", ReadOnly: true, Text: fmt.Sprintf(
			"apiVersion: v1\nkind: Secret\nmetadata:\n  name: db\ndata:\n  password: %s\n", secrets["tool"])},
		tarsytest.Tool{Name: "get_config", ReadOnly: true, Text: "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: app\ndata:\n  mode: verbose\n"},
		tarsytest.Tool{Name: "get_log", ReadOnly: true, Text: "calling upstream with " + secrets["configured"] + " for " + secrets["variable"]},
		tarsytest.Tool{Name: "fail", ReadOnly: true, Handle: func(context.Context, map[string]any) (string, error) {
			return "", fmt.Errorf("slack said no to %s", secrets["error"])
		}},
	)
	app := tarsytest.New(t, tarsytest.Options{Env: map[string]string{"TENANT": secrets["variable"]}, Web: web, MCP: []*tarsytest.MCPServer{tools}, Config: `
defaults: {llm_provider: test, fallback_providers: [{provider: spare}]}
llm_providers: {spare: {type: scripted, model: spare}}
system: {runbooks: {allowed_domains: [runbooks.example.com]}}
mcp_servers:
  test-mcp: {transport: {type: stdio, command: in-memory}}
  other: {transport: {type: http, url: "http://127.0.0.1:1/", bearer_token: "` + secrets["configured"] + `", custom_headers: {X-Tenant: "{{.TENANT}}"}}}
agents: {Investigator: {mcp_servers: [test-mcp]}}
agent_chains:
  test:
    alert_types: [test]
    stages: [{name: look, agents: [{name: Investigator}]}]
    chat: {enabled: true}
`})
	app.Script.Route("Investigator", script.Reply{Err: fmt.Errorf("you sent %s and %s", secrets["provider"], secrets["configured"])})
	app.Script.Route("Investigator", tool("get_secret", `{}`), tool("get_config", `{}`), tool("get_log", `{}`), tool("fail", `{}`), says("Looked."))
	app.Script.Route("ExecSummaryAgent", says("Fine."))
	app.Script.Route("Investigator", says("Looked again."))
	app.Script.Route("ExecSummaryAgent", says("Fine again."))
	app.Script.Route("ChatAgent", says("No."))

	sessionID := app.SubmitAlert(map[string]any{
		"alert_type": "test", "data": map[string]any{"env": "AWS_ACCESS_KEY_ID=" + secrets["alert"]}, "runbook_url": "http://runbooks.example.com/1",
	})
	socket := app.Watch(sessionID)
	socket.WaitStatus("completed")
	socket.WaitStage(app.Ask(sessionID, "Is password: "+secrets["question"]+" right?").StageID)

	inlineID := app.SubmitAlert(map[string]any{
		"alert_type": "test", "runbook": "Clone with " + secrets["inline"] + " first.",
		"data": "apiVersion: v1\nkind: Secret\nmetadata:\n  name: db\ndata:\n  banner: " + secrets["manifest"] + "\n",
	})
	app.Watch(inlineID).WaitStatus("completed")

	places := map[string]string{"WebSocket": raw(t, socket.Events()), "model": raw(t, app.Script.Calls())}

	type row struct{ Text string }

	for _, table := range tarsytest.Rows[row](app, `SELECT table_name AS text FROM information_schema.tables WHERE table_schema = 'public'`) {
		for _, r := range tarsytest.Rows[row](app, fmt.Sprintf(`SELECT row_to_json(x)::text AS text FROM %q x`, table.Text)) {
			places[table.Text] += r.Text + "\n"
		}
	}

	for place, text := range places {
		for gate, secret := range secrets {
			require.NotContains(t, text, secret, "the secret of the %s is in %s", gate, place)
		}
	}

	session := app.Session(sessionID)
	require.Contains(t, session.AlertData, "[MASKED_")
	require.Contains(t, session.Runbook, "[MASKED_")

	inline := app.Session(inlineID)
	require.Contains(t, inline.AlertData, "banner: [MASKED_SECRET_DATA]", "alerts are searched for Kubernetes Secrets")
	require.Contains(t, inline.Runbook, "Clone with [MASKED_TOKEN] first.", "so are runbooks in the alert")
	require.Contains(t, places["chat_user_messages"], "[MASKED_")

	results := map[string]string{}
	for _, c := range app.MCPInteractions(sessionID) {
		results[c.ToolName] = c.ToolResult
	}

	require.Contains(t, results["get_secret"], "name: db", "what is no secret stays")
	require.Contains(t, results["get_secret"], "[MASKED_")
	require.NotContains(t, results["get_config"], "[MASKED_", "a ConfigMap is none")
	require.Contains(t, results["get_log"], "calling upstream with [MASKED_")
	require.Contains(t, results["fail"], "slack said no to [MASKED_")
}

func raw(t *testing.T, value any) string {
	t.Helper()

	text, err := json.Marshal(value)
	require.NoError(t, err)

	return strings.ReplaceAll(string(text), `\u003c`, "<")
}
