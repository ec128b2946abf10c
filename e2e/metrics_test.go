package e2e

import (
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
	"tarsy.dev/tarsy/tarsytest"
)

// metricOf is the value of one series on /metrics; it must be there.
func metricOf(t *testing.T, app *tarsytest.App, series string) float64 {
	t.Helper()

	resp := app.Do(http.MethodGet, "/metrics", nil)
	require.Equal(t, http.StatusOK, resp.Status)

	found := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(series) + ` (\S+)$`).FindSubmatch(resp.Body)
	require.NotNil(t, found, "%s is not in\n%s", series, resp.Body)

	value, err := strconv.ParseFloat(string(found[1]), 64)
	require.NoError(t, err)

	return value
}

func TestMetricsCountAnInvestigation(t *testing.T) {
	t.Parallel()

	pods := tarsytest.NewMCPServer("kubernetes", tarsytest.Tool{Name: "get_pods", ReadOnly: true, Text: "password: hunter2-hunter2"})
	app := tarsytest.New(t, tarsytest.Options{MCP: []*tarsytest.MCPServer{pods}})
	app.Script.Add(
		script.Reply{
			ToolCalls: []llm.ToolCall{{Name: "kubernetes__get_pods", Arguments: "{}"}},
			Usage:     &llm.UsageChunk{InputTokens: 100, OutputTokens: 10, CachedTokens: 60},
		},
		script.Reply{Text: "The pod ran out of memory.", Usage: &llm.UsageChunk{InputTokens: 200, OutputTokens: 20}},
		script.Reply{Text: "Out of memory."},
	)

	session := app.Run("test", "app-1 was killed")
	require.Equal(t, tarsy.SessionCompleted, session.Status)
	app.WaitAnswer("/metrics", "the end of the session", func(r tarsytest.Response) bool {
		return strings.Contains(string(r.Body), `tarsy_sessions_finished_total{outcome="none",status="completed"} 1`)
	})

	call := app.Trace(session.ID).Stages[0].Executions[0].LLMInteractions[0]
	input := 0

	for _, c := range app.LLMInteractions(session.ID) {
		input += c.Usage.InputTokens
	}

	labels := `{model="` + call.ModelName + `",outcome="success",provider="` + call.Provider + `",purpose="iteration"}`
	require.InDelta(t, 2, metricOf(t, app, "tarsy_llm_calls_total"+labels), 0)
	require.InDelta(t, input, metricOf(t, app, `tarsy_llm_tokens_total{kind="input",model="`+call.ModelName+`",provider="`+call.Provider+`"}`), 0)
	require.InDelta(t, 1, metricOf(t, app, `tarsy_tool_calls_total{outcome="success",server="kubernetes"}`), 0)
	require.InDelta(t, 1, metricOf(t, app, `tarsy_masked_secrets_total{gate="tool_result"}`), 0)
	require.InDelta(t, 1, metricOf(t, app, `tarsy_database_up`), 0)
	require.InDelta(t, 0, metricOf(t, app, `tarsy_queue_depth`), 0)
	require.Positive(t, metricOf(t, app, "tarsy_steps_total"))
	require.Positive(t, metricOf(t, app, `tarsy_http_requests_total{code="200",method="GET",route="/metrics"}`))
	require.Positive(t, metricOf(t, app, `tarsy_db_pool_max_connections{pool="work"}`))
}
