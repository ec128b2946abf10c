package api_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/api"
	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/internal/postgres"
	"tarsy.dev/tarsy/internal/progress"
)

// investigated stores a session with a stage, an execution and a timeline.
func (f *fixture) investigated(t *testing.T) string {
	t.Helper()

	id := f.session(t, func(s *tarsy.Session) {
		s.MCPSelection = &tarsy.MCPSelection{Servers: []tarsy.MCPServerSelection{{Name: "k8s", Tools: []string{"get"}}}}
	})

	claims, err := f.db.Claim(t.Context(), postgres.ClaimParams{Version: 1, Has: []string{"chain:k8s", "chain:chain", "chain:"}, ServerID: "server-1", Slots: 10, MaxSessions: 10, Lease: time.Minute})
	require.NoError(t, err)

	for _, claim := range claims {
		if claim.SessionID != id {
			continue
		}

		now := f.clock.Now()
		stage := tarsy.Stage{
			ID: ident.New(), SessionID: id, StageName: "look", StageType: tarsy.StageInvestigation, StageIndex: 1, ExpectedAgentCount: 1, Status: tarsy.StatusActive, CreatedAt: now,
		}
		execution := tarsy.Execution{
			ID: ident.New(), SessionID: id, StageID: stage.ID, AgentName: "KubernetesAgent", AgentIndex: 1,
			IterationStrategy: "native-thinking", Status: tarsy.StatusActive, CreatedAt: now,
		}
		event := tarsy.TimelineEvent{
			ID: ident.New(), SessionID: id, StageID: &stage.ID, ExecutionID: &execution.ID, SequenceNumber: 1,
			EventType: tarsy.EventThinking, Status: tarsy.EventStreaming, Content: "hm", CreatedAt: now, UpdatedAt: now,
		}
		_, err := f.db.Hold(claim.Lease).Commit(t.Context(), progress.Step{
			Stages: []tarsy.Stage{stage}, Executions: []tarsy.Execution{execution}, Timeline: []tarsy.TimelineEvent{event},
			Events: []tarsy.Event{tarsy.NewEvent(id, tarsy.TypeStageStatus, tarsy.StageStatusPayload{Type: tarsy.TypeStageStatus}, now)},
		})
		require.NoError(t, err)
	}

	return id
}

func TestEveryRouteReturnsSuccessCodeAndDocumentedBody(t *testing.T) {
	t.Parallel()

	f := newFixture(t, func(cfg *api.Config) {
		cfg.Warnings = func() []api.Warning { return []api.Warning{{ID: "1", Category: "mcp_health", CreatedAt: time.Now()}} }
	})
	id := f.investigated(t)
	key, _ := f.key(t, "ci", tarsy.ScopeRead)

	for _, c := range []struct {
		method, route, path, body string
		status                    int
	}{
		{http.MethodGet, "/livez", "/livez", "", http.StatusOK},
		{http.MethodGet, "/readyz", "/readyz", "", http.StatusOK},
		{http.MethodGet, "/health", "/health", "", http.StatusOK},
		{http.MethodGet, "/openapi.json", "/openapi.json", "", http.StatusOK},
		{http.MethodPost, "/api/v1/alerts", "/api/v1/alerts", `{"alert_type":"kubernetes","data":"x"}`, http.StatusAccepted},
		{http.MethodGet, "/api/v1/alert-types", "/api/v1/alert-types", "", http.StatusOK},
		{http.MethodGet, "/api/v1/sessions", "/api/v1/sessions?limit=1", "", http.StatusOK},
		{http.MethodGet, "/api/v1/sessions/{id}", "/api/v1/sessions/" + id, "", http.StatusOK},
		{http.MethodGet, "/api/v1/sessions/active", "/api/v1/sessions/active", "", http.StatusOK},
		{http.MethodGet, "/api/v1/sessions/filter-options", "/api/v1/sessions/filter-options", "", http.StatusOK},
		{http.MethodGet, "/api/v1/sessions/{id}/status", "/api/v1/sessions/" + id + "/status", "", http.StatusOK},
		{http.MethodGet, "/api/v1/sessions/{id}/summary", "/api/v1/sessions/" + id + "/summary", "", http.StatusOK},
		{http.MethodGet, "/api/v1/sessions/{id}/export", "/api/v1/sessions/" + id + "/export", "", http.StatusOK},
		{http.MethodGet, "/api/v1/sessions/{id}/similar", "/api/v1/sessions/" + id + "/similar", "", http.StatusOK},
		{http.MethodPost, "/api/v1/sessions/{id}/rerun", "/api/v1/sessions/" + id + "/rerun", "", http.StatusAccepted},
		{http.MethodGet, "/api/v1/sessions/{id}/timeline", "/api/v1/sessions/" + id + "/timeline", "", http.StatusOK},
		{http.MethodGet, "/api/v1/sessions/{id}/timeline", "/api/v1/sessions/" + id + "/timeline?preview=1", "", http.StatusOK},
		{http.MethodPost, "/api/v1/sessions/{id}/cancel", "/api/v1/sessions/" + id + "/cancel", "", http.StatusAccepted},
		{http.MethodPost, "/api/v1/sessions/{id}/cancel", "/api/v1/sessions/" + id + "/cancel", "{}", http.StatusAccepted},
		{http.MethodPost, "/api/v1/keys", "/api/v1/keys", `{"name":"bot","scopes":["write"]}`, http.StatusCreated},
		{http.MethodGet, "/api/v1/keys", "/api/v1/keys", "", http.StatusOK},
		{http.MethodDelete, "/api/v1/keys/{id}", "/api/v1/keys/" + key.ID, "", http.StatusOK},
		{http.MethodDelete, "/api/v1/keys/{id}", "/api/v1/keys/" + key.Prefix, "", http.StatusOK},
	} {
		got := f.request(t, c.method, c.path, c.body)
		require.Equal(t, c.status, got.status, "%s %s: %s", c.method, c.path, got.body)
		require.Empty(t, f.api.CheckAnswer(c.method, c.route, c.status, []byte(got.body)), got.body)
		require.Equal(t, "application/json", got.header.Get("Content-Type"), c.path)
		require.Equal(t, "no-store", got.header.Get("Cache-Control"))
		require.Equal(t, "nosniff", got.header.Get("X-Content-Type-Options"))
		require.Contains(t, got.header.Get("Content-Security-Policy"), "default-src 'none'")
		require.NotContains(t, got.body, "$schema")

		if c.method == http.MethodGet {
			head := f.request(t, http.MethodHead, c.path, "")
			require.Equal(t, c.status, head.status, c.path)
			require.Empty(t, head.body)
		}
	}

	require.Equal(t, "websocket ", f.request(t, http.MethodGet, "/api/v1/ws", "").body)
	require.Equal(t, "events "+id, f.request(t, http.MethodGet, "/api/v1/sessions/"+id+"/events?last_event_id=1&follow=true", "").body)
}

func TestSessionShowsSubmittedAlert(t *testing.T) {
	t.Parallel()

	f := newFixture(t)

	got := f.request(t, http.MethodPost, "/api/v1/alerts", `{
		"alert_type": "kubernetes", "data": "pod \u0000down", "runbook": "restart it", "runbook_url": "https://runbooks.example/1",
		"mcp_selection": {"servers": [{"name": "k8s", "tools": ["get"]}, {"name": "logs"}], "native_tools": {"google_search": false}}}`,
		"Content-Type", "application/vnd.alert+json; charset=UTF-8")
	require.Equal(t, http.StatusAccepted, got.status, got.body)

	accepted := decode[struct {
		SessionID string `json:"session_id"`
		Status    string `json:"status"`
		Message   string `json:"message"`
	}](t, got)
	require.Equal(t, "pending", accepted.Status)
	require.Equal(t, "/api/v1/sessions/"+accepted.SessionID, got.header.Get("Location"))

	session := get[tarsy.SessionDetail](t, f, got.header.Get("Location"))
	require.Empty(t, cmp.Diff(tarsy.Session{
		AlertFacts: noFacts(),
		ID:         accepted.SessionID, AlertType: "kubernetes", AlertData: "pod down", ChainID: "k8s", AgentType: "Fixer", StageCount: 1, Status: tarsy.SessionPending,
		Author: "api-client", Runbook: "restart it", RunbookURL: "https://runbooks.example/1",
		MCPSelection: &tarsy.MCPSelection{
			Servers:     []tarsy.MCPServerSelection{{Name: "k8s", Tools: []string{"get"}}, {Name: "logs"}},
			NativeTools: &tarsy.NativeToolsSelection{GoogleSearch: new(bool)},
		},
		CreatedAt: f.clock.Now().UTC(),
	}, session.Session))
}

func TestAlertBodyOfPublishedTARSyIsAccepted(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	submit := func(body string) tarsy.Session {
		got := f.request(t, http.MethodPost, "/api/v1/alerts", body)
		require.Equal(t, http.StatusAccepted, got.status, got.body)

		return get[tarsy.SessionDetail](t, f, got.header.Get("Location")).Session
	}

	session := submit(`{"alert_type": "kubernetes", "data": "pod down", "runbook": " https://runbooks.example/1\n",
		"mcp": {"servers": [{"name": "k8s"}]}, "slack_message_fingerprint": "pod-down \u0000 1"}`)
	require.Empty(t, session.Runbook)
	require.Equal(t, "https://runbooks.example/1", session.RunbookURL, "an address alone is fetched")
	require.Equal(t, []tarsy.MCPServerSelection{{Name: "k8s"}}, session.MCPSelection.Servers)
	require.Equal(t, "pod-down  1", session.SlackMessageFingerprint)

	for _, text := range []string{"https://runbooks.example/1 first, then restart", "ftp://runbooks.example/1", "See\\nhttps://runbooks.example/1"} {
		session = submit(`{"alert_type": "kubernetes", "data": "x", "runbook": "` + text + `"}`)
		require.NotEmpty(t, session.Runbook, text)
		require.Empty(t, session.RunbookURL, text)
	}

	session = submit(`{"alert_type": "kubernetes", "data": "x", "runbook": "https://runbooks.example/1", "runbook_url": "https://runbooks.example/2"}`)
	require.Equal(t, "https://runbooks.example/1", session.Runbook, "as before where both are given")
}

func TestStructuredDataIsStoredAsReadableJSON(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	deep := strings.Repeat("[", 9000) + strings.Repeat("]", 9000)

	for sent, kept := range map[string]string{
		`"text as it is: {\"a\": 1}"`:       `text as it is: {"a": 1}`,
		`{"b":[1,2.50,"<&>"],"a":{},"a":1}`: "{\n  \"b\": [\n    1,\n    2.50,\n    \"<&>\"\n  ],\n  \"a\": {},\n  \"a\": 1\n}",
		`["\\\"{[,", "x"]`:                  "[\n  \"\\\\\\\"{[,\",\n  \"x\"\n]",
		deep:                                deep, // indented it would have 160 MB
	} {
		got := f.request(t, http.MethodPost, "/api/v1/alerts", `{"alert_type":"kubernetes","data":`+sent+`}`)
		require.Equal(t, http.StatusAccepted, got.status, got.body)
		require.Equal(t, kept, get[tarsy.SessionDetail](t, f, got.header.Get("Location")).AlertData)
	}
}

func TestBodyAtExactLimitIsAccepted(t *testing.T) {
	t.Parallel()

	const limit = 1 << 20

	f := newFixture(t)
	body := `{"alert_type":"kubernetes","data":""}`
	body = strings.Replace(body, `""`, `"`+strings.Repeat("x", limit-len(body))+`"`, 1)
	require.Len(t, body, limit)
	require.Equal(t, http.StatusAccepted, f.request(t, http.MethodPost, "/api/v1/alerts", body).status)

	f.requireProblem(t, f.request(t, http.MethodPost, "/api/v1/alerts", body+" "), http.StatusRequestEntityTooLarge, tarsy.CodeTooLarge)
}

func TestSessionAndTimelineCarryVersion(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	id := f.investigated(t)

	session := get[tarsy.SessionDetail](t, f, "/api/v1/sessions/"+id)
	require.EqualValues(t, 1, session.Version)
	require.Len(t, session.Stages, 1)
	require.Len(t, session.Stages[0].Executions, 1)

	timeline := get[struct {
		SessionID string               `json:"session_id"`
		Version   int64                `json:"version"`
		Events    []tarsy.TimelineItem `json:"events"`
	}](t, f, "/api/v1/sessions/"+id+"/timeline")
	require.Equal(t, id, timeline.SessionID)
	require.EqualValues(t, 1, timeline.Version)
	require.Len(t, timeline.Events, 1)
	require.Equal(t, "hm", timeline.Events[0].Content)
}

func TestCancelIsRequestedOnceAndRefusedAfterEnd(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	pending := f.session(t, func(*tarsy.Session) {})

	for range 2 {
		got := f.request(t, http.MethodPost, "/api/v1/sessions/"+pending+"/cancel", "")
		require.Equal(t, http.StatusAccepted, got.status)
		require.JSONEq(t, `{"session_id":"`+pending+`","status":"cancelling"}`, got.body)
	}

	requests, err := f.db.OpenRequests(t.Context(), pending)
	require.NoError(t, err)
	require.Len(t, requests, 1)
	require.Equal(t, "api-client", requests[0].Author)

	over := f.session(t, func(s *tarsy.Session) { s.Status = tarsy.SessionTimedOut })
	problem := f.requireProblem(t, f.request(t, http.MethodPost, "/api/v1/sessions/"+over+"/cancel", ""),
		http.StatusConflict, tarsy.CodeSessionNotRunning)
	require.Contains(t, problem.Detail, "timed_out")
}

func TestHealthCountsQueueAndIsDegradedByWarnings(t *testing.T) {
	t.Parallel()

	var warnings []api.Warning

	f := newFixture(t, func(cfg *api.Config) { cfg.Warnings = func() []api.Warning { return warnings } })
	f.session(t, func(*tarsy.Session) {})
	require.JSONEq(t, `{"status":"healthy","version":"1.2.3","server_id":"server-1","database":"ok",
		"queue":{"waiting":1,"leased":0},"warnings":[],"mcp_servers":[]}`, f.request(t, http.MethodGet, "/health", "").body)

	warnings = []api.Warning{{
		ID: "w", Category: "mcp_health", Message: "k8s is down", Details: "refused", ServerID: "k8s", CreatedAt: f.clock.Now(),
	}}
	require.JSONEq(t, `{"status":"degraded","version":"1.2.3","server_id":"server-1","database":"ok",
		"queue":{"waiting":1,"leased":0},"warnings":[{"id":"w","category":"mcp_health","message":"k8s is down","details":"refused",
		"server_id":"k8s","created_at":"2026-11-15T10:00:00.123456Z"}],"mcp_servers":[]}`, f.request(t, http.MethodGet, "/health", "").body)
}
