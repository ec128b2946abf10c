package e2e

import (
	"net/http"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/kit/wait"
	"tarsy.dev/tarsy/tarsytest"
)

// Every running server schedules the jobs that delete old data, a minute after its start; internal/retention tests what they do.
func TestRetentionJobsAreScheduled(t *testing.T) {
	t.Parallel()

	clock := clockwork.NewFakeClock()
	app := tarsytest.New(t, tarsytest.Options{Clock: clock})

	type job struct{ Kind string }

	planned := func() []job {
		clock.Advance(time.Minute)

		return tarsytest.Rows[job](app, `SELECT DISTINCT kind FROM river_job ORDER BY kind`)
	}
	wait.Until(t, "three jobs to be planned", func() bool { return len(planned()) == 3 })
	require.Equal(t, []job{{"expire_sessions"}, {"purge_sessions"}, {"trim_journals"}}, planned())
}

func TestUserDeletesSession(t *testing.T) {
	t.Parallel()

	app := tarsytest.New(t, tarsytest.Options{})
	app.Script.Add(says("Analysed."), says("Summed up."))
	session := app.Run("test", "to be deleted")
	path := "/api/v1/sessions/" + session.ID

	require.Equal(t, http.StatusNoContent, app.Do(http.MethodDelete, path, nil).Status)

	for _, gone := range []string{path, path + "/timeline", path + "/trace", path + "/events"} {
		require.Equal(t, http.StatusNotFound, app.Do(http.MethodGet, gone, nil).Status, gone)
	}

	require.Equal(t, http.StatusNotFound, app.Do(http.MethodDelete, path, nil).Status)
	require.NotContains(t, string(app.Do(http.MethodGet, "/api/v1/sessions", nil).Body), session.ID)
}
