package e2e

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/api"
	"tarsy.dev/tarsy/tarsytest"
)

// twoServers is a chain whose stages share an MCP server, with a provider that has native tools.
const twoServers = `
llm_providers:
  other: {type: google, model: gemini-x, api_key_env: OTHER_KEY, base_url: "https://ada:hunter2@models.example/v1", native_tools: {google_search: true}}
agents: {Looker: {mcp_servers: [kubernetes]}, Reader: {mcp_servers: [kubernetes, logs]}}
agent_chains:
  shop:
    description: What goes wrong in the shop.
    alert_types: [shop]
    stages:
      - {name: look, agents: [{name: Looker}]}
      - {name: read, agents: [{name: Reader, llm_provider: other}]}
defaults: {llm_provider: test, alert_type: shop}
`

func (c *contracts) health(t *testing.T) {
	kubernetes := tarsytest.NewMCPServer("kubernetes", tarsytest.Tool{Name: "get_pods"})
	kubernetes.Break(errors.New("gone"))

	app := tarsytest.New(t, tarsytest.Options{
		Clock: clockwork.NewFakeClockAt(beginning()), MCP: []*tarsytest.MCPServer{kubernetes}, Config: kubernetesAgent,
	})
	waitWarnings(app, 1)

	health := get(t, app, "/health")
	c.require(t, "Health", health, map[string]is{
		"status": equal("degraded"), "version": equal("test"), "server_id": equal(app.ServerID), "database": equal("ok"),
		"queue": equal(map[string]any{"waiting": 0.0, "leased": 0.0}), "warnings": list(1), "mcp_servers": list(1),
	})
	c.require(t, "Warning", within(t, health, "warnings", 0), map[string]is{
		"id": isID, "category": equal("mcp_health"), "message": equal("MCP server kubernetes cannot be reached: make transport: gone"),
		"details": equal(""), "server_id": equal("kubernetes"), "created_at": minute(0),
	})
	c.require(t, "MCPServerStatus", within(t, health, "mcp_servers", 0), map[string]is{
		"id": equal("kubernetes"), "healthy": equal(false), "checked": equal(true), "error": equal("make transport: gone"),
		"tool_count": equal(0.0), "last_check": minute(0),
	})

	for _, path := range []string{"/livez", "/readyz"} {
		c.require(t, "Alive", get(t, app, path), map[string]is{"status": equal("ok")})
	}
}

func (c *contracts) servers(t *testing.T) {
	logs := tarsytest.NewMCPServer("logs")
	logs.Break(errors.New("gone"))

	app := tarsytest.New(t, tarsytest.Options{
		Clock: clockwork.NewFakeClockAt(beginning()), Config: twoServers, Env: map[string]string{"OTHER_KEY": "hunter3"},
		MCP: []*tarsytest.MCPServer{logs, tarsytest.NewMCPServer("kubernetes",
			tarsytest.Tool{Name: "get_pods", Description: "Lists pods.", ReadOnly: true}, tarsytest.Tool{Name: "restart"})},
	})
	app.WaitAnswer("/api/v1/system/mcp-servers", "both servers to be checked", func(r tarsytest.Response) bool {
		return !slices.ContainsFunc(decode[struct{ Servers []api.MCPServer }](r.Body).Servers, func(s api.MCPServer) bool { return !s.Checked })
	})

	servers := get(t, app, "/api/v1/system/mcp-servers")
	c.require(t, "McpServerList", servers, map[string]is{"servers": list(2)})
	c.require(t, "MCPServer", within(t, servers, "servers", 0), map[string]is{
		"id": equal("kubernetes"), "healthy": equal(true), "checked": equal(true), "error": equal(""), "tool_count": equal(2.0),
		"last_check": minute(0), "transport": equal("stdio"), "tools": list(2),
	})
	c.require(t, "MCPServer", within(t, servers, "servers", 1), map[string]is{
		"id": equal("logs"), "healthy": equal(false), "checked": equal(true), "error": equal("make transport: gone"), "tool_count": equal(0.0),
		"last_check": minute(0), "transport": equal("stdio"), "tools": list(0),
	})
	c.require(t, "MCPServerStatus", within(t, get(t, app, "/health"), "mcp_servers", 0), map[string]is{
		"id": equal("kubernetes"), "healthy": equal(true), "checked": equal(true), "error": equal(""), "tool_count": equal(2.0), "last_check": minute(0),
	})
	c.require(t, "Tool", within(t, servers, "servers", 0, "tools", 0), map[string]is{
		"name": equal("get_pods"), "description": equal("Lists pods."), "read_only": equal(true), "input_schema": equal(map[string]any{"type": "object"}),
	})
	c.require(t, "Tool", within(t, servers, "servers", 0, "tools", 1), map[string]is{
		"name": equal("restart"), "description": equal(""), "read_only": equal(false), "input_schema": equal(map[string]any{"type": "object"}),
	})

	warnings := get(t, app, "/api/v1/system/warnings")
	c.require(t, "WarningList", warnings, map[string]is{"warnings": list(1)})
	c.require(t, "Warning", within(t, warnings, "warnings", 0), map[string]is{
		"id": isID, "category": equal("mcp_health"), "message": equal("MCP server logs cannot be reached: make transport: gone"),
		"details": equal(""), "server_id": equal("logs"), "created_at": minute(0),
	})

	for _, path := range []string{"/api/v1/system/default-tools", "/api/v1/system/default-tools?alert_type=shop", "/api/v1/system/default-tools?chain_id=shop"} {
		c.require(t, "DefaultTools", get(t, app, path), map[string]is{
			"alert_type": equal("shop"), "chain_id": equal("shop"), "servers": equal([]any{
				map[string]any{"name": "kubernetes", "tools": []any{"get_pods", "restart"}, "known": true},
				map[string]any{"name": "logs", "tools": []any{}, "known": false},
			}),
			"native_tools": equal(map[string]any{"google_search": true, "code_execution": false, "url_context": false}),
		})
	}

	refused := app.Do(http.MethodGet, "/api/v1/system/default-tools?alert_type=shp", nil)
	require.Equal(t, http.StatusBadRequest, refused.Status)
	require.Equal(t, string(tarsy.CodeUnknownAlertType), refused.Problem(t).Code)
	require.Contains(t, refused.Problem(t).Detail, "did you mean shop")
}

func (c *contracts) configuration(t *testing.T) {
	app := tarsytest.New(t, tarsytest.Options{
		Config: strings.Replace(twoServers, "{google_search: true}", "{code_execution: true, url_context: true}", 1),
		Env:    map[string]string{"OTHER_KEY": "hunter3"},
		MCP:    []*tarsytest.MCPServer{tarsytest.NewMCPServer("logs"), tarsytest.NewMCPServer("kubernetes")},
	})

	providers := get(t, app, "/api/v1/system/providers")
	c.require(t, "ProviderList", providers, map[string]is{"providers": list(2)})
	c.require(t, "Provider", within(t, providers, "providers", 0), map[string]is{
		"name": equal("test"), "type": equal("scripted"), "model": equal("test-model"), "base_url": equal(""), "default": equal(true),
		"key_variable": equal(""), "key_set": equal(false), "in_use": equal(true),
	})
	c.require(t, "Provider", within(t, providers, "providers", 1), map[string]is{
		"name": equal("other"), "type": equal("google"), "model": equal("gemini-x"), "base_url": equal("https://hidden@models.example/v1"),
		"default": equal(false), "key_variable": equal("OTHER_KEY"), "key_set": equal(true), "in_use": equal(true),
	})
	c.requireSome(t, "DefaultTools", get(t, app, "/api/v1/system/default-tools"), map[string]is{
		"native_tools": equal(map[string]any{"google_search": false, "code_execution": true, "url_context": true}),
	})

	answer := app.Do(http.MethodGet, "/api/v1/system/config", nil)
	require.NotContains(t, string(answer.Body), "hunter", "neither what is written down nor what a variable holds")

	settings := decode[map[string]any](answer.Body)
	c.require(t, "SettingList", settings, map[string]is{"settings": that(func(v any) bool { return !isEmpty(v) })})
	c.require(t, "Setting", named(t, settings["settings"], "path", "defaults.alert_type"), map[string]is{
		"path": equal("defaults.alert_type"), "value": equal("shop"), "origin": equal("test.yaml:12"),
	})

	types := get(t, app, "/api/v1/alert-types")
	c.require(t, "AlertTypeList", types, map[string]is{"alert_types": that(func(v any) bool { return !isEmpty(v) })})
	c.require(t, "AlertType", named(t, types["alert_types"], "name", "shop"), map[string]is{
		"name": equal("shop"), "chain_id": equal("shop"), "description": equal("What goes wrong in the shop."),
	})

	// The key that this server's provider needs is missing.
	keyless := tarsytest.New(t, tarsytest.Options{
		Providers: true, Clock: clockwork.NewFakeClockAt(beginning()),
		Config: oneAgent + "defaults: {llm_provider: other}\nllm_providers: {other: {type: google, model: gemini-x, api_key_env: OTHER_KEY}}\n",
	})
	c.require(t, "Warning", within(t, get(t, keyless, "/api/v1/system/warnings"), "warnings", 0), map[string]is{
		"id": isID, "category": equal("configuration"), "server_id": equal(""), "created_at": minute(0),
		"message": that(func(v any) bool { return strings.Contains(v.(string), "OTHER_KEY") }), "details": equal("sessions that need it fail"),
	})
}

// named returns the item of a list whose field has the value.
func named(t *testing.T, items any, field, value string) map[string]any {
	t.Helper()

	all, _ := items.([]any)
	i := slices.IndexFunc(all, func(item any) bool { fields, ok := item.(map[string]any); return ok && fields[field] == value })
	require.GreaterOrEqual(t, i, 0, value)

	return within(t, items, i)
}
