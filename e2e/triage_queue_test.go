package e2e

import (
	"testing"
	"time"

	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/llm/script"
	"tarsy.dev/tarsy/tarsytest"
)

// heldAlerts makes the sessions of these pods wait, each at its own gate.
func heldAlerts(app *tarsytest.App, pods ...string) map[string]*script.Gate {
	gates, texts := map[string]*script.Gate{}, map[string]*script.Gate{}

	for _, pod := range pods {
		gates[pod] = script.NewGate()
		texts[`"pod": "`+pod+`"`] = gates[pod]
	}

	modelAnswers(app, texts)

	return gates
}

// Severe alerts overtake older ones, but not those that have waited for a long time.
func TestCriticalAlertOvertakesUnlessTheOtherWaitedForLong(t *testing.T) {
	t.Parallel()

	clock := clockwork.NewFakeClockAt(beginning())
	app := tarsytest.New(t, tarsytest.Options{
		Clock: clock, Config: alertsTest + "  group_by: [pod]\nqueue: {worker_count: 1, max_concurrent_sessions: 1, severity_ageing: 1s}\n",
	})
	gates := heldAlerts(app, "running", "old", "severe", "late")
	ids := map[string]string{}
	begin := func(pod, severity string) {
		ids[pod] = investigates(t, app, fires("Slow", "shop", pod, "severity", severity))
	}

	begin("running", "info")
	app.WaitGate(gates["running"])
	begin("old", "info")
	clock.Advance(time.Second)
	begin("severe", "critical")
	gates["running"].Open()
	app.WaitGate(gates["severe"])
	require.Equal(t, tarsy.SessionPending, app.Session(ids["old"]).Status)

	// Critical is three levels above info, so three times the ageing is enough.
	clock.Advance(3 * time.Second)
	begin("late", "critical")
	gates["severe"].Open()
	app.WaitGate(gates["old"])
	require.Equal(t, tarsy.SessionPending, app.Session(ids["late"]).Status)

	gates["old"].Open()
	gates["late"].Open()

	for _, id := range ids {
		app.WaitFor(id, tarsy.SessionCompleted)
	}
}

// A team that has reached its limit waits without blocking other teams.
func TestTeamLimitDoesNotBlockOtherTeams(t *testing.T) {
	t.Parallel()

	app := tarsytest.New(t, tarsytest.Options{
		Config: alertsTest + "  group_by: [pod]\nqueue: {worker_count: 3, max_concurrent_sessions: 3, team_limits: {payments: 1}}\n",
	})
	gates := heldAlerts(app, "first", "second", "third")
	first := investigates(t, app, fires("Slow", "shop", "first", "severity", "critical", "team", "payments"))
	app.WaitGate(gates["first"])

	second := investigates(t, app, fires("Slow", "shop", "second", "severity", "critical", "team", "payments"))
	third := investigates(t, app, fires("Slow", "shop", "third", "severity", "info", "team", "web"))
	app.WaitGate(gates["third"])
	require.Equal(t, tarsy.SessionPending, app.Session(second).Status)
	require.Equal(t, "payments", app.Session(second).Team)

	gates["first"].Open()
	app.WaitFor(first, tarsy.SessionCompleted)
	app.WaitGate(gates["second"])
	gates["second"].Open()
	gates["third"].Open()
	app.WaitFor(second, tarsy.SessionCompleted)
	app.WaitFor(third, tarsy.SessionCompleted)
}
