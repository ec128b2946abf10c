package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/internal/problem"
)

type silences struct {
	Silences []tarsy.Silence `json:"silences"`
}

type suppressedPage struct {
	Alerts     []tarsy.SuppressedAlert `json:"alerts"`
	NextCursor string                  `json:"next_cursor"`
}

func TestSilencedAlertIsListedAndCanBeInvestigated(t *testing.T) {
	t.Parallel()

	f := newFixture(t, locked)
	_, write := f.key(t, "ana", tarsy.ScopeWrite)

	got := f.request(t, http.MethodPost, "/api/v1/silences", `{"matchers": ["namespace=\"A\""], "reason": "load test", "duration": "2h"}`, write...)
	require.Equal(t, http.StatusCreated, got.status, got.body)
	silence := decode[tarsy.Silence](t, got)
	require.Equal(t, "ana", silence.Author)
	require.Equal(t, 2*time.Hour, silence.EndsAt.Sub(silence.StartsAt))

	result := f.delivered(t, "alertmanager/default", alertmanager("firing", "A", "B"), write...)
	require.Equal(t, tarsy.ActionSilence, result.Alerts[0].Action)
	require.Nil(t, result.Alerts[0].SessionID)
	require.Equal(t, tarsy.ActionInvestigate, result.Alerts[1].Action)
	require.Equal(t, 1, f.sessions(t))

	listed := get[suppressedPage](t, f, "/api/v1/suppressed?reason=silence&severity=critical&search=fires", write...).Alerts
	require.Len(t, listed, 1)
	require.Equal(t, *result.Alerts[0].SuppressedID, listed[0].ID)
	require.Equal(t, "A fires", listed[0].Title)
	require.Empty(t, get[suppressedPage](t, f, "/api/v1/suppressed?reason=storm", write...).Alerts)

	started := f.request(t, http.MethodPost, "/api/v1/suppressed/"+listed[0].ID+"/investigate", "", write...)
	require.Equal(t, http.StatusAccepted, started.status, started.body)
	require.Equal(t, 2, f.sessions(t))

	session := get[tarsy.SessionDetail](t, f, started.header.Get("Location"), write...)
	require.Equal(t, "ana", session.Author)
	require.Equal(t, "A fires", session.Title)

	ended := f.request(t, http.MethodDelete, "/api/v1/silences/"+silence.ID, "", write...)
	require.Equal(t, http.StatusOK, ended.status, ended.body)
	require.Equal(t, "ana", decode[tarsy.Silence](t, ended).EndedBy)
	require.Empty(t, get[silences](t, f, "/api/v1/silences", write...).Silences)
	require.Len(t, get[silences](t, f, "/api/v1/silences?all=true", write...).Silences, 1)
}

func TestSuppressedAlertsAreReadPageByPage(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	f.request(t, http.MethodPost, "/api/v1/silences", `{"matchers": ["severity=critical"], "reason": "all", "ends_at": "2026-11-16T10:00:00Z"}`)

	for i := range 5 {
		f.delivered(t, "alertmanager/default", alertmanager("firing", fmt.Sprintf("A%d", i)))
		f.clock.Advance(time.Second)
	}

	var titles []string

	path := "/api/v1/suppressed?limit=2"
	for {
		page := get[suppressedPage](t, f, path)
		for _, a := range page.Alerts {
			titles = append(titles, a.Title)
		}

		if page.NextCursor == "" {
			break
		}

		path = "/api/v1/suppressed?limit=2&cursor=" + page.NextCursor
	}

	require.Equal(t, []string{"A4 fires", "A3 fires", "A2 fires", "A1 fires", "A0 fires"}, titles)
}

func TestBadSilencesAreRefused(t *testing.T) {
	t.Parallel()

	f := newFixture(t)

	for body, field := range map[string]string{
		`{"reason": "r", "duration": "1h"}`:                                                         "matchers",
		`{"matchers": [], "reason": "r", "duration": "1h"}`:                                         "matchers",
		`{"matchers": ["x"], "reason": "r", "duration": "1h"}`:                                      "matchers",
		`{"matchers": ["a=~\"(\""], "reason": "r", "duration": "1h"}`:                               "matchers",
		`{"matchers": ["a=b"], "duration": "1h"}`:                                                   "reason",
		`{"matchers": ["a=b"], "reason": "r"}`:                                                      "ends_at",
		`{"matchers": ["a=b"], "reason": "r", "duration": "1h", "ends_at": "2026-12-01T00:00:00Z"}`: "ends_at",
		`{"matchers": ["a=b"], "reason": "r", "duration": "soon"}`:                                  "duration",
		`{"matchers": ["a=b"], "reason": "r", "duration": "-1h"}`:                                   "duration",
		`{"matchers": ["a=b"], "reason": "r", "ends_at": "tomorrow"}`:                               "ends_at",
		`{"matchers": ["a=b"], "reason": "r", "ends_at": "2026-11-15T09:00:00Z"}`:                   "ends_at",
		`{"matchers": ["a=b"], "reason": "r", "ends_at": "2028-11-15T09:00:00Z"}`:                   "ends_at",
		`{"matchers": ["a=b"], "reason": "r", "starts_at": "now", "duration": "1h"}`:                "starts_at",
		`{"matchers": ["a=b"], "reason": "` + strings.Repeat("x", 10000) + `", "duration": "1h"}`:   "reason",
		`{"matchers": "a=b", "reason": "r", "duration": "1h"}`:                                      "matchers",
	} {
		got := f.request(t, http.MethodPost, "/api/v1/silences", body)
		require.Equal(t, http.StatusBadRequest, got.status, "%s: %s", body, got.body)
		require.Equal(t, field, decode[problem.Problem](t, got).Field, "%s: %s", body, got.body)
	}

	require.Empty(t, get[silences](t, f, "/api/v1/silences?all=true").Silences)

	for _, c := range []struct {
		method, path string
		status       int
	}{
		{http.MethodDelete, "/api/v1/silences/x", http.StatusNotFound},
		{http.MethodDelete, "/api/v1/silences/" + ident.New(), http.StatusNotFound},
		{http.MethodGet, "/api/v1/silences?all=maybe", http.StatusBadRequest},
		{http.MethodPost, "/api/v1/suppressed/x/investigate", http.StatusNotFound},
		{http.MethodPost, "/api/v1/suppressed/" + ident.New() + "/investigate", http.StatusNotFound},
		{http.MethodGet, "/api/v1/suppressed?reason=boredom", http.StatusBadRequest},
		{http.MethodGet, "/api/v1/suppressed?severity=bad", http.StatusBadRequest},
		{http.MethodGet, "/api/v1/suppressed?session_id=x", http.StatusBadRequest},
		{http.MethodGet, "/api/v1/suppressed?cursor=x", http.StatusBadRequest},
		{http.MethodGet, "/api/v1/suppressed?limit=0", http.StatusBadRequest},
		{http.MethodGet, "/api/v1/suppressed?search=" + strings.Repeat("x", 201), http.StatusBadRequest},
	} {
		got := f.request(t, c.method, c.path, "")
		require.Equal(t, c.status, got.status, "%s %s: %s", c.method, c.path, got.body)
	}
}
