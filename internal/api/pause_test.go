package api_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
)

const pausesPath = "/api/v1/system/pauses"

type pauseList struct {
	Pauses []tarsy.Pause `json:"pauses"`
}

func TestPausedIntakeRefusesAlertsWithReason(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	id := f.over(t, tarsy.SessionCompleted)

	got := f.request(t, http.MethodPut, pausesPath+"/intake", `{"reason": "database upgrade", "duration": "30m"}`)
	require.Equal(t, http.StatusOK, got.status, got.body)
	require.Empty(t, f.api.CheckAnswer(http.MethodPut, pausesPath+"/{kind}", http.StatusOK, []byte(got.body)))

	ends := f.clock.Now().Add(30 * time.Minute).UTC()
	paused := tarsy.Pause{Kind: tarsy.PauseIntake, Reason: "database upgrade", Author: tarsy.DefaultAuthor, PausedAt: f.clock.Now().UTC(), EndsAt: &ends}
	require.Equal(t, paused, decode[tarsy.Pause](t, got))
	require.Equal(t, []tarsy.Pause{paused}, get[pauseList](t, f, pausesPath).Pauses)

	row := f.lastAudited(t)
	require.Equal(t, []string{"pause.set", "pause", "intake"}, []string{row.Action, row.TargetType, row.TargetID})
	require.Equal(t, "database upgrade", row.Details["reason"])

	for path, body := range map[string]string{
		"/api/v1/alerts":                        `{"alert_type": "kubernetes", "data": "x"}`,
		"/api/v1/sessions/" + id + "/rerun":     "",
		"/api/v1/webhooks/alertmanager/default": alertmanagerBody,
	} {
		got := f.request(t, http.MethodPost, path, body)
		require.Contains(t, f.requireProblem(t, got, http.StatusServiceUnavailable, tarsy.CodeIntakePaused).Detail, "database upgrade", path)
		require.Equal(t, "60", got.header.Get("Retry-After"), path)
	}

	health := f.request(t, http.MethodGet, "/health", "").body
	require.Contains(t, health, `"status":"degraded"`)
	require.Contains(t, health, `"category":"paused"`)
	require.Contains(t, health, `"details":"database upgrade"`)

	for range 2 {
		require.Equal(t, http.StatusNoContent, f.request(t, http.MethodDelete, pausesPath+"/intake", "").status, "resuming twice is resuming once")
	}

	require.Empty(t, get[pauseList](t, f, pausesPath).Pauses)
	require.Equal(t, http.StatusAccepted, f.request(t, http.MethodPost, "/api/v1/alerts", `{"alert_type": "kubernetes", "data": "x"}`).status)

	rows := f.audited(t)
	require.Len(t, rows, 2+1, "one for each pause, resume and refused re-run")
	require.Equal(t, "pause.end", rows[len(rows)-1].Action)
}

const alertmanagerBody = `{"version": "4", "status": "firing", "alerts": [{"status": "firing", "labels": {"alertname": "Disk"}, "fingerprint": "a",
	"startsAt": "2026-11-15T10:00:00Z"}]}`

func TestInvalidPauseChangesNothing(t *testing.T) {
	t.Parallel()

	f := newFixture(t)

	for body, field := range map[string]string{
		`{"duration": "soon"}`: "duration",
		`{"duration": "-1m"}`:  "duration",
		`{"duration": "1m", "ends_at": "2026-11-15T12:00:00Z"}`: "duration",
		`{"ends_at": "2026-11-15T09:00:00Z"}`:                   "ends_at",
		`{"duration": "721h"}`:                                  "ends_at",
		`{"ends_at": "tomorrow"}`:                               "ends_at",
	} {
		got := f.request(t, http.MethodPut, pausesPath+"/claiming", body)
		require.Equal(t, field, f.requireProblem(t, got, http.StatusBadRequest, tarsy.CodeInvalidField).Field, body)
	}

	f.requireProblem(t, f.request(t, http.MethodPut, pausesPath+"/coffee", ""), http.StatusNotFound, tarsy.CodeNotFound)
	f.requireProblem(t, f.request(t, http.MethodDelete, pausesPath+"/coffee", ""), http.StatusNotFound, tarsy.CodeNotFound)
	require.Empty(t, get[pauseList](t, f, pausesPath).Pauses)
}
