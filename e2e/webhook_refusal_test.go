package e2e

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/tarsytest"
)

// A delivery that does not come from the sender, or cannot be read, is refused with the reason, and nothing is stored.
func TestRefusedDeliveriesLeaveNothing(t *testing.T) {
	t.Parallel()

	app := newSenders(t)
	anonymous := *app
	anonymous.Token = ""

	whole, right := payload(t, "alertmanager"), []string{"Authorization", "Bearer " + receiverToken}

	for name, refused := range map[string]struct {
		receiver string
		body     any
		headers  []string
		status   int
		code     tarsy.Code
	}{
		"no token":              {"alertmanager/cluster", whole, nil, http.StatusUnauthorized, tarsy.CodeUnauthenticated},
		"token of another":      {"grafana/dashboards", payload(t, "grafana"), right, http.StatusUnauthorized, tarsy.CodeUnauthenticated},
		"token for a signature": {"pagerduty/oncall", payload(t, "pagerduty"), right, http.StatusUnauthorized, tarsy.CodeUnauthenticated},
		"signature of another":  {"pagerduty/oncall", payload(t, "pagerduty"), signed([]byte("{}")), http.StatusUnauthorized, tarsy.CodeUnauthenticated},
		"too large": {
			"alertmanager/cluster", `{"version": "4", "alerts": [], "x": "` + strings.Repeat("x", 8<<20) + `"}`, right, http.StatusRequestEntityTooLarge, tarsy.CodeTooLarge,
		},
		"half a body":     {"alertmanager/cluster", whole[:len(whole)/2], right, http.StatusBadRequest, tarsy.CodeInvalidJSON},
		"body of another": {"alertmanager/cluster", payload(t, "pagerduty"), right, http.StatusBadRequest, ""},
	} {
		resp := anonymous.Do(http.MethodPost, "/api/v1/webhooks/"+refused.receiver, refused.body, refused.headers...)
		require.Equal(t, refused.status, resp.Status, "%s: %s", name, resp.Body)

		problem := resp.Problem(t)
		require.NotEmpty(t, problem.Detail, name)

		if refused.code != "" {
			require.Equal(t, string(refused.code), problem.Code, name)
		}
	}

	require.Empty(t, app.Sessions(""))
	require.Empty(t, app.Suppressed(""))
}

// Alertmanager repeats a delivery after a 5xx and drops it after a 429. A full server still accepts what needs no session.
func TestDeliveryToFullServerIsRepeatedLater(t *testing.T) {
	t.Parallel()

	app := tarsytest.New(t, tarsytest.Options{Config: "queue: {worker_count: 0, max_waiting_sessions: 1}\n" + alertsTest + "  storm: {threshold: 0}\n"})
	first := investigates(t, app, fires("DiskFull", "shop", "a"))
	both := notification(fires("DiskFull", "shop", "a"), fires("DiskFull", "shop", "b"))

	for _, path := range []string{"/api/v1/webhooks/alertmanager/default", "/api/v1/alerts"} {
		refused := app.Do(http.MethodPost, path, both)
		require.Equal(t, http.StatusServiceUnavailable, refused.Status, "%s", refused.Body)
		require.Equal(t, "5", refused.Header.Get("Retry-After"))
		require.Equal(t, string(tarsy.CodeOverloaded), refused.Problem(t).Code)
	}

	require.EqualValues(t, 1, app.Session(first).Alert.Occurrences, "nothing of a refused delivery is counted")

	again := notify(app, fires("DiskFull", "shop", "a").describes("91 %"))
	require.Equal(t, []tarsy.DeliveryAction{tarsy.ActionCount}, actions(again))

	app.Cancel(first)
	app.WaitFor(first, tarsy.SessionCancelled)

	// The server counts waiting sessions once a second; Alertmanager repeats for longer than that.
	var accepted tarsy.DeliveryResult

	until(t, "the delivery to be accepted", func() bool {
		resp := app.Do(http.MethodPost, "/api/v1/webhooks/alertmanager/default", both)
		if resp.Status == http.StatusServiceUnavailable {
			return false
		}

		require.Equal(t, http.StatusOK, resp.Status, "%s", resp.Body)
		resp.Decode(t, &accepted)

		return true
	})
	require.False(t, accepted.Repeated, "it was never received")
	require.Equal(t, []tarsy.DeliveryAction{tarsy.ActionCount, tarsy.ActionInvestigate}, actions(accepted.Alerts))
	require.Len(t, app.Sessions(""), 2)
	require.EqualValues(t, 3, app.Session(first).Alert.Occurrences)
}
