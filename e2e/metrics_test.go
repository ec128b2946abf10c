package e2e

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
	"tarsy.dev/tarsy/tarsytest"
)

// waitMetrics waits until /metrics has these lines, each a series and its value. Many things are counted just after they
// become visible outside, so a single look may be too early.
func waitMetrics(t *testing.T, app *tarsytest.App, lines ...string) {
	t.Helper()

	app.WaitAnswer("/metrics", strings.Join(lines, ", "), func(r tarsytest.Response) bool {
		require.Equal(t, http.StatusOK, r.Status)

		found := strings.Split(string(r.Body), "\n")

		return !slices.ContainsFunc(lines, func(line string) bool { return !slices.Contains(found, line) })
	})
}

// metricOf returns the current value of one series on /metrics, which must exist. It is for values that are bounded all the
// time; waitMetrics is for those that become exact.
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
	call := app.Trace(session.ID).Stages[0].Executions[0].LLMInteractions[0]
	input := 0

	for _, c := range app.LLMInteractions(session.ID) {
		input += c.Usage.InputTokens
	}

	labels := `{model="` + call.ModelName + `",outcome="success",provider="` + call.Provider + `",purpose="iteration"}`
	waitMetrics(t, app,
		`tarsy_sessions_finished_total{outcome="inconclusive",status="completed"} 1`,
		"tarsy_llm_calls_total"+labels+" 2",
		fmt.Sprintf(`tarsy_llm_tokens_total{kind="input",model=%q,provider=%q} %d`, call.ModelName, call.Provider, input),
		`tarsy_tool_calls_total{outcome="success",server="kubernetes"} 1`,
		`tarsy_masked_secrets_total{gate="tool_result"} 1`,
		"tarsy_database_up 1",
		"tarsy_queue_depth 0",
	)
	require.Positive(t, metricOf(t, app, "tarsy_steps_total"))
	require.Positive(t, metricOf(t, app, `tarsy_http_requests_total{code="200",method="GET",route="/metrics"}`))
	require.Positive(t, metricOf(t, app, `tarsy_db_pool_max_connections{pool="work"}`))
}
