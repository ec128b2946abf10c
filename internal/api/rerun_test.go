package api_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
)

func TestRerunIsNewSessionWithSameAlertByCaller(t *testing.T) {
	t.Parallel()

	f := newFixture(t, locked)
	_, key := f.key(t, "the one who asks again", tarsy.ScopeWrite)
	first := f.session(t, func(s *tarsy.Session) {
		s.Status, s.AlertData, s.Runbook, s.RunbookURL = tarsy.SessionFailed, "password=[MASKED]", "restart it", "https://runbooks.example/1"
		s.MCPSelection = &tarsy.MCPSelection{Servers: []tarsy.MCPServerSelection{{Name: "k8s", Tools: []string{"get"}}}}
		s.ErrorCode, s.ErrorMessage, s.FinalAnalysis, s.ExecutiveSummary = "llm_error", "no quota", "So far.", "Short."
		s.CurrentStageIndex, s.StartedAt, s.ConcludedEarly = 2, new(s.CreatedAt), "budget"
	})
	before := get[tarsy.SessionDetail](t, f, "/api/v1/sessions/"+first, key...)

	f.clock.Advance(time.Hour)

	got := f.request(t, http.MethodPost, "/api/v1/sessions/"+first+"/rerun", "", key...)
	require.Equal(t, http.StatusAccepted, got.status, got.body)

	accepted := decode[struct {
		SessionID string `json:"session_id"`
		Status    string `json:"status"`
		Message   string `json:"message"`
	}](t, got)
	require.Equal(t, "pending", accepted.Status)
	require.NotEmpty(t, accepted.Message)
	require.NotEqual(t, first, accepted.SessionID)
	require.Equal(t, "/api/v1/sessions/"+accepted.SessionID, got.header.Get("Location"))

	again := get[tarsy.SessionDetail](t, f, got.header.Get("Location"), key...)
	require.Empty(t, cmp.Diff(tarsy.Session{
		AlertFacts: noFacts(),
		ID:         accepted.SessionID, AlertType: "kubernetes", AlertData: "password=[MASKED]", ChainID: "k8s", AgentType: "Fixer", StageCount: 1, Status: tarsy.SessionPending,
		Author: "the one who asks again", Runbook: "restart it", RunbookURL: "https://runbooks.example/1", RerunOf: &first,
		MCPSelection: &tarsy.MCPSelection{Servers: []tarsy.MCPServerSelection{{Name: "k8s", Tools: []string{"get"}}}},
		CreatedAt:    f.clock.Now().UTC(),
	}, again.Session))

	before.Reruns = []string{accepted.SessionID}
	require.Equal(t, before, get[tarsy.SessionDetail](t, f, "/api/v1/sessions/"+first, key...), "the old session is as it was")
}

func TestRerunIsRefusedLikeNewAlert(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	gone := f.session(t, func(s *tarsy.Session) { s.AlertType, s.ChainID = "gone", "gone" })

	f.requireProblem(t, f.request(t, http.MethodPost, "/api/v1/sessions/"+gone+"/rerun", ""), http.StatusBadRequest, tarsy.CodeUnknownAlertType)
	require.Len(t, get[page](t, f, "/api/v1/sessions").Sessions, 1)

	// If only one of them still exists, it decides.
	for _, change := range []func(*tarsy.Session){
		func(s *tarsy.Session) { s.AlertType = "gone" },
		func(s *tarsy.Session) { s.ChainID = "gone" },
	} {
		f.submitted(t, "/api/v1/sessions/"+f.session(t, change)+"/rerun", "")
	}
}

func TestRerunTakesChainProviderAndToolsFromBody(t *testing.T) {
	t.Parallel()

	selected := func(name string) *tarsy.MCPSelection {
		return &tarsy.MCPSelection{Servers: []tarsy.MCPServerSelection{{Name: name}}}
	}

	for name, test := range map[string]struct {
		body, chain, provider string
		selection             *tarsy.MCPSelection
	}{
		"no body":                   {"", "k8s", "gemini", selected("k8s")},
		"an empty body":             {"{}", "k8s", "gemini", selected("k8s")},
		"null is as if left out":    {`{"chain_id":null,"llm_provider":null,"mcp":null}`, "k8s", "gemini", selected("k8s")},
		"another provider":          {`{"llm_provider":"claude"}`, "k8s", "claude", selected("k8s")},
		"the chain's own providers": {`{"llm_provider":""}`, "k8s", "", selected("k8s")},
		"other tools":               {`{"mcp":{"servers":[{"name":"logs"}]}}`, "k8s", "gemini", selected("logs")},
		"other tools by its name":   {`{"mcp_selection":{"servers":[{"name":"logs"}]}}`, "k8s", "gemini", selected("logs")},
		"the same chain":            {`{"chain_id":"k8s"}`, "k8s", "gemini", selected("k8s")},
		"another chain":             {`{"chain_id":"shop"}`, "shop", "gemini", nil},
		"everything":                {`{"chain_id":"shop","llm_provider":"claude","mcp":{"servers":[{"name":"logs"}]}}`, "shop", "claude", selected("logs")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			f := newFixture(t)
			first := f.session(t, func(s *tarsy.Session) { s.LLMProvider, s.MCPSelection = "gemini", selected("k8s") })

			got := f.request(t, http.MethodPost, "/api/v1/sessions/"+first+"/rerun", test.body)
			require.Equal(t, http.StatusAccepted, got.status, got.body)

			again := get[tarsy.SessionDetail](t, f, got.header.Get("Location"))
			require.Equal(t, test.chain, again.ChainID)
			require.Equal(t, test.provider, again.LLMProvider)
			require.Equal(t, test.selection, again.MCPSelection)
		})
	}
}

func TestRerunWithKeyAndAnotherBodyIsConflict(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	path := "/api/v1/sessions/" + f.session(t, func(*tarsy.Session) {}) + "/rerun"

	f.submitted(t, path, `{"llm_provider":"claude"}`, "Idempotency-Key", "k")
	f.submitted(t, path, `{"llm_provider":"claude"}`, "Idempotency-Key", "k")
	f.requireProblem(t, f.request(t, http.MethodPost, path, `{"llm_provider":"gemini"}`, "Idempotency-Key", "k"),
		http.StatusConflict, tarsy.CodeIdempotencyConflict)
	require.Equal(t, 2, f.sessionCount(t))
}
