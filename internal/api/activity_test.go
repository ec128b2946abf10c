package api_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
)

func TestStatusAndSummaryShowProgressAndResult(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	id := f.session(t, func(s *tarsy.Session) {
		s.Status, s.StageCount, s.CurrentStageIndex = tarsy.SessionFailed, 3, 2
		s.StartedAt = new(s.CreatedAt.Add(-90 * time.Second))
		s.ErrorCode, s.ErrorMessage, s.FinalAnalysis, s.ExecutiveSummary = "llm_error", "no quota", "So far.", "Short."
	})

	require.Equal(t, tarsy.SessionProgress{
		ID: id, Status: tarsy.SessionFailed, StageCount: 3, CurrentStageIndex: 2, ErrorCode: "llm_error", ErrorMessage: "no quota",
	}, get[tarsy.SessionProgress](t, f, "/api/v1/sessions/"+id+"/status"))
	require.Equal(t, tarsy.SessionSummary{
		ID: id, Status: tarsy.SessionFailed, ExecutiveSummary: "Short.", FinalAnalysis: "So far.", StageCount: 3, DurationMs: 90_000,
	}, get[tarsy.SessionSummary](t, f, "/api/v1/sessions/"+id+"/summary"))
}

func TestActiveSessionsAreSeparateFromQueued(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	waiting := f.session(t, func(*tarsy.Session) {})
	running := f.session(t, func(s *tarsy.Session) { s.Status = tarsy.SessionInProgress })
	f.session(t, func(s *tarsy.Session) { s.Status = tarsy.SessionCompleted })

	found := get[tarsy.ActiveSessions](t, f, "/api/v1/sessions/active")
	require.Len(t, found.Active, 1)
	require.Equal(t, running, found.Active[0].ID)
	require.Len(t, found.Queued, 1)
	require.Equal(t, waiting, found.Queued[0].ID)
	require.Equal(t, []int{1, 1}, []int{found.ActiveTotal, found.QueuedTotal})
}

func TestFilterOptionsMatchListFilters(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	f.session(t, func(s *tarsy.Session) { s.AlertType, s.ChainID, s.Author = "disk", "long", "ann" })
	f.session(t, func(s *tarsy.Session) {
		s.Service, s.Namespace, s.Cluster, s.Team = "checkout", "shop", "eu-1", "payments"
	})
	f.session(t, func(*tarsy.Session) {})

	require.Equal(t, tarsy.FilterOptions{
		AlertTypes: []string{"disk", "kubernetes"}, ChainIDs: []string{"k8s", "long"}, Authors: []string{"ann", "someone"},
		Services: []string{"checkout"}, Namespaces: []string{"shop"}, Clusters: []string{"eu-1"}, Teams: []string{"payments"},
		Severities: tarsy.Severities(), Statuses: tarsy.SessionStatuses(), Outcomes: tarsy.Outcomes(),
		HandlingStates: tarsy.HandlingStates(), Assignees: []string{}, Tags: []string{},
	}, get[tarsy.FilterOptions](t, f, "/api/v1/sessions/filter-options"))
}
