package api_test

import (
	"net/http"
	"net/url"
	"os"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/api"
)

func TestSessionsReportUsage(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	s := f.traced(t)
	one, three, four := calls(1), calls(3), calls(4)

	detail := get[tarsy.SessionDetail](t, f, "/api/v1/sessions/"+s.id)
	require.Equal(t, tarsy.Spend{Usage: four, ToolCalls: 2}, detail.Spend)
	require.Equal(t, tarsy.Spend{Usage: three, ToolCalls: 2}, detail.Stages[0].Spend)
	require.Equal(t, tarsy.Spend{Usage: three, ToolCalls: 2}, detail.Stages[0].Executions[0].Spend)

	raw := get[map[string]any](t, f, "/api/v1/sessions/"+s.id)
	usage, _ := raw["usage"].(map[string]any)
	require.InDelta(t, four.CostUSD, usage["cost_usd"], 0)
	require.InDelta(t, 2, raw["tool_calls"], 0)

	list := get[struct{ Sessions []tarsy.SessionItem }](t, f, "/api/v1/sessions")
	require.Equal(t, four, list.Sessions[0].Usage)
	require.Equal(t, 2, list.Sessions[0].ToolCalls)
	require.NotEqual(t, one, four)

	for path, route := range map[string]string{"/api/v1/sessions": "/api/v1/sessions", "/api/v1/sessions/" + s.id: "/api/v1/sessions/{id}"} {
		got := f.request(t, http.MethodGet, path, "")
		require.Empty(t, f.api.CheckAnswer(http.MethodGet, route, http.StatusOK, []byte(got.body)), got.body)
	}
}

func TestUsageSummaryCoversRequestedPeriod(t *testing.T) {
	t.Parallel()

	const path = "/api/v1/usage/summary"

	f := newFixture(t, func(cfg *api.Config) { cfg.DailyBudgetUSD = func() float64 { return 50 } })
	f.traced(t)
	f.clock.Advance(time.Minute)

	now := f.clock.Now()
	got := f.request(t, http.MethodGet, path, "")
	require.Equal(t, http.StatusOK, got.status, got.body)
	require.Empty(t, f.api.CheckAnswer(http.MethodGet, path, http.StatusOK, []byte(got.body)), got.body)

	share := tarsy.UsageShare{LLMCalls: 4, Usage: calls(4)}
	named := func(name string) tarsy.UsageShare {
		share.Name = name

		return share
	}
	require.Equal(t, tarsy.UsageSummary{
		From: now.Add(-30 * 24 * time.Hour), To: now, DailyBudgetUSD: 50,
		Total:       tarsy.SpendShare{UsageShare: named(""), ToolCalls: 2},
		ByDay:       []tarsy.SpendShare{{UsageShare: named("2026-11-15"), ToolCalls: 2}},
		ByKind:      []tarsy.SpendShare{{UsageShare: named(tarsy.UsageSessions), ToolCalls: 2}},
		ByAlertType: []tarsy.SpendShare{{UsageShare: named("kubernetes"), ToolCalls: 2}},
		ByModel:     []tarsy.UsageShare{named("gemini")}, ByProvider: []tarsy.UsageShare{named("google")},
	}, get[tarsy.UsageSummary](t, f, path))

	for query, calls := range map[string]int{
		"from=" + moment(now, -1):                            4,
		"from=" + moment(now, -1) + "&to=" + moment(now, 0):  4,
		"to=" + moment(now, -1):                              0,
		"to=" + moment(now, 1000):                            4,
		"from=" + moment(now, -5) + "&to=" + moment(now, -2): 0,
	} {
		require.Equal(t, calls, get[tarsy.UsageSummary](t, f, path+"?"+query).Total.LLMCalls, query)
	}
}

func TestUsageSummaryOfEmptyPeriodIsRefused(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	now := f.clock.Now()

	for query, field := range map[string]string{
		"from=yesterday":                                    "from",
		"to=" + url.QueryEscape("2026-11-15"):               "to",
		"from=" + moment(now, 0):                            "from",
		"from=" + moment(now, 0) + "&to=" + moment(now, 0):  "from",
		"from=" + moment(now, 0) + "&to=" + moment(now, -1): "from",
		"from=" + moment(now, -367*24*60):                   "from",
		"since=" + moment(now, 0):                           "since",
		"from=%00":                                          "from",
	} {
		got := f.requireProblem(t, f.request(t, http.MethodGet, "/api/v1/usage/summary?"+query, ""), http.StatusBadRequest, tarsy.CodeInvalidParameter)
		require.Equal(t, field, got.Field, query)
	}
}

func TestUsageSummaryNeedsReadScope(t *testing.T) {
	t.Parallel()

	f := newFixture(t, locked)
	_, reader := f.key(t, "reader", tarsy.ScopeRead)
	f.requireProblem(t, f.request(t, http.MethodGet, "/api/v1/usage/summary", ""), http.StatusUnauthorized, tarsy.CodeUnauthenticated)
	require.Equal(t, http.StatusOK, f.request(t, http.MethodGet, "/api/v1/usage/summary", "", reader...).status)
}

func TestCostExampleMatchesDocument(t *testing.T) {
	t.Parallel()

	text, err := os.ReadFile("../../docs/costs.md")
	require.NoError(t, err)

	example := regexp.MustCompile("(?s)```json\n(.*?)```").FindSubmatch(text)
	require.NotNil(t, example)
	require.Empty(t, newFixture(t).api.CheckAnswer(http.MethodGet, "/api/v1/usage/summary", http.StatusOK, example[1]))
}
