package api_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/api"
)

func TestSystemMatchesDocument(t *testing.T) {
	t.Parallel()

	f := newFixture(t, func(cfg *api.Config) {
		cfg.Warnings = func() []api.Warning { return []api.Warning{{ID: "1", Category: "mcp_health", Message: "k8s is down"}} }
		cfg.System = api.System{
			MCPServers: func() []api.MCPServer {
				return []api.MCPServer{{
					MCPServerStatus: api.MCPServerStatus{ID: "k8s", Healthy: true, Checked: true, ToolCount: 1},
					Transport:       "stdio", Tools: []api.Tool{{Name: "get", ReadOnly: true, InputSchema: json.RawMessage(`{"type":"object"}`)}},
				}}
			},
			DefaultTools: func(_, alertType string) (api.DefaultTools, error) {
				if alertType == "other" {
					return api.DefaultTools{}, tarsy.FieldErrorf(tarsy.CodeUnknownAlertType, "alert_type", "there is no alert type %q", alertType)
				}

				return api.DefaultTools{AlertType: "kubernetes", ChainID: "k8s", Servers: []api.ServerTools{{Name: "k8s", Tools: []string{"get"}, Known: true}}}, nil
			},
			Providers: func(others bool) []api.Provider {
				listed := []api.Provider{{Name: "gemini", Type: "google", Default: true, InUse: true}}
				if others {
					listed = append(listed, api.Provider{Name: "claude", Type: "anthropic"})
				}

				return listed
			},
			Settings: func() []api.Setting {
				return []api.Setting{{Path: "queue.worker_count", Value: "4", Origin: "built-in"}}
			},
		}
	})

	for path, body := range map[string]string{
		"warnings": `{"warnings":[{"id":"1","category":"mcp_health","message":"k8s is down","details":"","server_id":"","created_at":"0001-01-01T00:00:00Z"}]}`,
		"mcp-servers": `{"servers":[{"id":"k8s","healthy":true,"checked":true,"error":"","tool_count":1,"last_check":null,"transport":"stdio",
			"tools":[{"name":"get","description":"","read_only":true,"input_schema":{"type":"object"}}]}]}`,
		"default-tools": `{"alert_type":"kubernetes","chain_id":"k8s","servers":[{"name":"k8s","tools":["get"],"known":true}],
			"native_tools":{"google_search":false,"code_execution":false,"url_context":false}}`,
		"providers": `{"providers":[{"name":"gemini","type":"google","model":"","base_url":"","default":true,"key_variable":"","key_set":false,"in_use":true}]}`,
		"config":    `{"settings":[{"path":"queue.worker_count","value":"4","origin":"built-in"}]}`,
	} {
		got := f.request(t, http.MethodGet, "/api/v1/system/"+path, "")
		require.Equal(t, http.StatusOK, got.status, got.body)
		require.JSONEq(t, body, got.body)
		require.Empty(t, f.api.CheckAnswer(http.MethodGet, "/api/v1/system/"+path, http.StatusOK, []byte(got.body)))
	}

	reruns := get[struct{ Providers []api.Provider }](t, f, "/api/v1/system/providers?for=reruns")
	require.Len(t, reruns.Providers, 2, "also those that no chain uses")
	f.requireProblem(t, f.request(t, http.MethodGet, "/api/v1/system/providers?for=all", ""), http.StatusBadRequest, tarsy.CodeInvalidParameter)

	problem := f.requireProblem(t, f.request(t, http.MethodGet, "/api/v1/system/default-tools?alert_type=other", ""),
		http.StatusBadRequest, tarsy.CodeUnknownAlertType)
	require.Equal(t, "alert_type", problem.Field)
}

func TestEmptySystemHasEmptyArrays(t *testing.T) {
	t.Parallel()

	f := newFixture(t)

	for path, body := range map[string]string{
		"warnings": `{"warnings":[]}`, "mcp-servers": `{"servers":[]}`, "providers": `{"providers":[]}`, "config": `{"settings":[]}`,
	} {
		require.JSONEq(t, body, f.request(t, http.MethodGet, "/api/v1/system/"+path, "").body)
	}
}
