package metrics_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/metrics"
	"tarsy.dev/tarsy/internal/progress"
	"tarsy.dev/tarsy/llm"
)

func newMetrics() *metrics.Metrics {
	return metrics.New(metrics.Config{
		Version: "1.2.3", Providers: []string{"gemini", "backup"}, Models: []string{"flash"}, Servers: []string{"kubernetes"},
	})
}

// scrape returns the series with their values, without those of Go and the process.
func scrape(t *testing.T, m *metrics.Metrics) map[string]string {
	t.Helper()

	recorded := httptest.NewRecorder()
	m.Handler().ServeHTTP(recorded, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil))
	require.Equal(t, http.StatusOK, recorded.Code, recorded.Body)

	series := map[string]string{}

	for line := range strings.Lines(recorded.Body.String()) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), "} "); ok && strings.HasPrefix(name, "tarsy_") {
			series[name+"}"] = value
		} else if name, value, ok := strings.Cut(strings.TrimSpace(line), " "); ok && strings.HasPrefix(name, "tarsy_") {
			series[name] = value
		}
	}

	return series
}

// llmStep is a step with one LLM call.
func llmStep(change func(*tarsy.LLMInteraction)) progress.Step {
	call := tarsy.LLMInteraction{
		Provider: "gemini", ModelName: "flash", InteractionType: tarsy.InteractionIteration, Attempts: 1, DurationMs: 1500,
		Usage: tarsy.Usage{InputTokens: 100, OutputTokens: 20, ThinkingTokens: 5, CachedTokens: 40, CostUSD: 0.25},
	}
	change(&call)

	return progress.Step{LLMInteractions: []tarsy.LLMInteraction{call}}
}

func TestLLMCallsOfStepAreCounted(t *testing.T) {
	t.Parallel()

	m := newMetrics()
	m.Committed(llmStep(func(*tarsy.LLMInteraction) {}))
	m.Committed(llmStep(func(c *tarsy.LLMInteraction) { c.Attempts, c.ErrorCode = 3, "llm_quota" }))

	fallback := tarsy.NewMetadata(tarsy.ProviderFallbackMetadata{From: "gemini", To: "backup"})
	m.Committed(progress.Step{Timeline: []tarsy.TimelineEvent{{EventType: tarsy.EventProviderFallback, Metadata: fallback}}})
	m.NoteCall("backup", "flash", "note_extraction", tarsy.Usage{InputTokens: 7}, nil)
	m.NoteCall("backup", "flash", "note_extraction", tarsy.Usage{}, &llm.Error{Class: llm.ClassAuth})

	got := scrape(t, m)
	for name, value := range map[string]string{
		`tarsy_llm_calls_total{model="flash",outcome="success",provider="gemini",purpose="iteration"}`:        "1",
		`tarsy_llm_calls_total{model="flash",outcome="llm_quota",provider="gemini",purpose="iteration"}`:      "1",
		`tarsy_llm_calls_total{model="flash",outcome="success",provider="backup",purpose="note_extraction"}`:  "1",
		`tarsy_llm_calls_total{model="flash",outcome="llm_auth",provider="backup",purpose="note_extraction"}`: "1",
		`tarsy_llm_tokens_total{kind="input",model="flash",provider="gemini"}`:                                "200",
		`tarsy_llm_tokens_total{kind="output",model="flash",provider="gemini"}`:                               "40",
		`tarsy_llm_tokens_total{kind="thinking",model="flash",provider="gemini"}`:                             "10",
		`tarsy_llm_tokens_total{kind="cached",model="flash",provider="gemini"}`:                               "80",
		`tarsy_llm_cost_usd_total{model="flash",provider="gemini"}`:                                           "0.5",
		`tarsy_llm_retries_total{provider="gemini"}`:                                                          "2",
		`tarsy_llm_fallbacks_total{provider="gemini"}`:                                                        "1",
		`tarsy_llm_call_duration_seconds_count{provider="gemini"}`:                                            "2",
		`tarsy_llm_call_duration_seconds_sum{provider="gemini"}`:                                              "3",
		`tarsy_steps_total`: "3",
	} {
		require.Equal(t, value, got[name], name)
	}
}

// The row of a call is stored when it starts, when it ends, and again with the summary of its result.
func TestToolCallIsCountedWhenItEnds(t *testing.T) {
	t.Parallel()

	m := newMetrics()
	event := tarsy.TimelineEvent{ID: "event", EventType: tarsy.EventToolCall}
	call := tarsy.MCPInteraction{ServerName: "kubernetes", TimelineEventID: "event", Status: tarsy.CallStarted}
	step := func(events ...tarsy.TimelineEvent) progress.Step {
		return progress.Step{MCPInteractions: []tarsy.MCPInteraction{call}, Timeline: events}
	}

	m.Committed(step(event))

	// Calls that wait for an approval or are rejected do not run.
	call.Status, call.Approval = tarsy.CallWaiting, &tarsy.Approval{Status: tarsy.ApprovalWaiting}
	m.Committed(step(event))

	call.Status, call.Approval = tarsy.CallFailed, &tarsy.Approval{Status: tarsy.ApprovalRejected}
	m.Committed(step(event))

	// Nor do calls that were only just approved.
	ended := time.Unix(1, 0)
	call.Status, call.Approval = tarsy.CallWaiting, &tarsy.Approval{Status: tarsy.ApprovalApproved}
	m.Committed(step(event))

	call.Approval, call.CompletedAt = &tarsy.Approval{Status: tarsy.ApprovalApproved, StartedAt: &ended}, &ended
	call.Status, call.DurationMs = tarsy.CallCompleted, 200
	m.Committed(step(event))
	m.Committed(step())

	call.Status, call.IsError = tarsy.CallFailed, true
	m.Committed(step(event))

	call.Status = tarsy.CallUnknown
	m.Committed(step(event))

	got := scrape(t, m)
	require.Equal(t, "1", got[`tarsy_tool_calls_total{outcome="success",server="kubernetes"}`])
	require.Equal(t, "1", got[`tarsy_tool_calls_total{outcome="error",server="kubernetes"}`])
	require.Equal(t, "1", got[`tarsy_tool_calls_total{outcome="unknown",server="kubernetes"}`])
	require.Equal(t, "3", got[`tarsy_tool_call_duration_seconds_count{server="kubernetes"}`])
}

func TestSessionIsCountedOnceWhenItEnds(t *testing.T) {
	t.Parallel()

	m := newMetrics()
	session := tarsy.Session{ID: "s", Status: tarsy.SessionInProgress}
	step := func(reported bool) progress.Step {
		s := progress.Step{Session: &session}
		if reported {
			s.Events = []tarsy.Event{tarsy.SessionStatusChanged(session, time.Now())}
		}

		return s
	}

	m.Committed(step(true))

	session.Status, session.Outcome = tarsy.SessionCompleted, tarsy.OutcomeCauseFound
	m.Committed(step(true))
	m.Committed(step(false))

	session.Status, session.Outcome = tarsy.SessionFailed, tarsy.OutcomeNone
	m.Committed(step(true))

	got := scrape(t, m)
	require.Equal(t, "1", got[`tarsy_sessions_finished_total{outcome="cause_found",status="completed"}`])
	require.Equal(t, "1", got[`tarsy_sessions_finished_total{outcome="none",status="failed"}`])
}

// Models choose tool names, and callers choose paths and methods.
func TestHostileNamesCreateNoSeries(t *testing.T) {
	t.Parallel()

	m := newMetrics()
	hostile := func(name string) {
		m.Committed(llmStep(func(c *tarsy.LLMInteraction) {
			c.Provider, c.ModelName, c.InteractionType, c.ErrorCode = name, name, tarsy.InteractionType(name), name
		}))
		m.Committed(progress.Step{
			MCPInteractions: []tarsy.MCPInteraction{{ServerName: name, ToolName: name, TimelineEventID: "e", Status: tarsy.CallFailed, IsError: true}},
			Timeline: []tarsy.TimelineEvent{{ID: "e"}, {
				EventType: tarsy.EventProviderFallback, Metadata: tarsy.NewMetadata(tarsy.ProviderFallbackMetadata{From: name}),
			}},
		})
		m.Committed(progress.Step{
			Session: &tarsy.Session{Status: tarsy.SessionCompleted, Outcome: tarsy.Outcome(name)}, Events: []tarsy.Event{{Type: tarsy.TypeSessionStatus}},
		})
		m.NoteCall(name, name, name, tarsy.Usage{InputTokens: 1}, errors.New(name))
		m.Request("", name, http.StatusNotFound, time.Millisecond, false)
	}

	hostile("a\"} 1\ntarsy_injected{x=\"")

	before := scrape(t, m)
	for i := range 200 {
		hostile("name-" + strconv.Itoa(i))
	}

	require.Len(t, scrape(t, m), len(before))

	for name := range before {
		require.NotContains(t, name, "injected")
	}
}

func TestRequestsAreCountedByRoute(t *testing.T) {
	t.Parallel()

	m := newMetrics()
	m.Request("/api/v1/sessions/{id}", http.MethodGet, http.StatusOK, 20*time.Millisecond, false)
	m.Request("/api/v1/ws", http.MethodGet, http.StatusSwitchingProtocols, time.Hour, true)
	m.Request("", http.MethodGet, http.StatusNotFound, time.Millisecond, false)

	got := scrape(t, m)
	require.Equal(t, "1", got[`tarsy_http_requests_total{code="200",method="GET",route="/api/v1/sessions/{id}"}`])
	require.Equal(t, "1", got[`tarsy_http_requests_total{code="101",method="GET",route="/api/v1/ws"}`])
	require.Equal(t, "1", got[`tarsy_http_requests_total{code="404",method="GET",route="other"}`])
	require.Equal(t, "1", got[`tarsy_http_request_duration_seconds_count{method="GET",route="/api/v1/sessions/{id}"}`])
	require.NotContains(t, got, `tarsy_http_request_duration_seconds_count{method="GET",route="/api/v1/ws"}`, "streams are not timed")
}

func TestOtherPartsAreReadWhenScraped(t *testing.T) {
	t.Parallel()

	var texts, dropped int64

	m := newMetrics()
	m.LeaseLost()
	m.AddMasker(func() (int64, int64) { return texts, 2 })
	m.AddBodies(func() int64 { return 7 })
	m.AddStreams(metrics.Streams{
		WebSockets: func() int64 { return 3 }, EventStreams: func() int64 { return 4 },
		DroppedDeltas: func() int64 { return dropped }, DroppedChanges: func() int64 { return 6 },
	})

	texts, dropped = 1, 5

	got := scrape(t, m)
	require.Equal(t, "1", got[`tarsy_lease_losses_total`])
	require.Equal(t, "1", got[`tarsy_masked_secrets_total{gate="text"}`])
	require.Equal(t, "2", got[`tarsy_masked_secrets_total{gate="tool_result"}`])
	require.Equal(t, "3", got[`tarsy_stream_readers{transport="websocket"}`])
	require.Equal(t, "4", got[`tarsy_stream_readers{transport="sse"}`])
	require.Equal(t, "5", got[`tarsy_stream_drops_total{class="delta"}`])
	require.Equal(t, "6", got[`tarsy_stream_drops_total{class="feed"}`])
	require.Equal(t, "7", got[`tarsy_http_body_bytes`])
}

func TestDatabaseIsReadAtMostEveryFiveSeconds(t *testing.T) {
	t.Parallel()

	var (
		reads  int
		failed error
		now    = time.Now()
	)

	m := newMetrics()
	m.AddDatabase(metrics.Database{
		Now:   func() time.Time { return now },
		Pools: func() map[string]*pgxpool.Stat { return nil },
		Workload: func(ctx context.Context) (metrics.Workload, error) {
			_, limited := ctx.Deadline()
			require.True(t, limited)

			reads++

			return metrics.Workload{
				Sessions: map[tarsy.SessionStatus]int{tarsy.SessionPending: reads, tarsy.SessionInProgress: 2}, Waiting: 4, OldestAge: time.Minute, WaitingApprovals: 6, Unnumbered: 5,
			}, failed
		},
	})

	got := scrape(t, m)
	require.Equal(t, "1", got[`tarsy_database_up`])
	require.Equal(t, "1", got[`tarsy_sessions{status="pending"}`])
	require.Equal(t, "2", got[`tarsy_sessions{status="in_progress"}`])
	require.Equal(t, "4", got[`tarsy_queue_depth`])
	require.Equal(t, "60", got[`tarsy_queue_oldest_age_seconds`])
	require.Equal(t, "6", got[`tarsy_approvals_waiting`])
	require.Equal(t, "5", got[`tarsy_journal_lag`])

	now = now.Add(4 * time.Second)
	require.Equal(t, "1", scrape(t, m)[`tarsy_sessions{status="pending"}`])

	now, failed = now.Add(2*time.Second), errors.New("no database")
	got = scrape(t, m)
	require.Equal(t, "0", got[`tarsy_database_up`])
	require.NotContains(t, got, `tarsy_queue_depth`, "old numbers would look like present ones")
	require.NotContains(t, scrape(t, m), `tarsy_queue_depth`)
	require.Equal(t, 2, reads, "a failure is kept as well")

	now, failed = now.Add(6*time.Second), nil
	require.Equal(t, "3", scrape(t, m)[`tarsy_sessions{status="pending"}`])
}
