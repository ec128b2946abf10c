package e2e

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
)

// podAlerts returns alerts of one group, one for each pod.
func podAlerts(alertname, namespace string, count int) []firingAlert {
	alerts := make([]firingAlert, count)
	for i := range alerts {
		pod := "pod-" + strconv.Itoa(i)
		alerts[i] = firingAlert{
			Labels: map[string]string{
				"alertname": alertname, "namespace": namespace, "pod": pod, "severity": "warning", "service": "checkout", "node": "node-1",
			},
			Annotations:  map[string]string{"summary": alertname + " of " + pod, "runbook_url": "https://runbooks.example.com/checkout"},
			GeneratorURL: "http://prometheus.example.com/graph?g0.expr=up", StartsAt: time.Now(),
		}
	}

	return alerts
}

// counts returns how often alerts were received, by session.
func counts(sessions []alertSession) map[string]int64 {
	all := map[string]int64{}
	for _, s := range sessions {
		all[s.ID] = s.Occurrences
	}

	return all
}

// A real Alertmanager groups alerts, sends them, repeats them and reports that they are resolved.
func TestAlertmanagerGroupsBecomeSessionsAndStorm(t *testing.T) {
	t.Parallel()

	m := newMonitored(t)
	few, many := podAlerts("HighLatency", "shop", 3), podAlerts("CrashLoop", "payments", stormThreshold+3)
	m.Fire(slices.Concat(few, many)...)

	var sessions []alertSession

	until(t, "sessions for both groups", func() bool {
		sessions = m.Investigated()

		return len(sessions) > len(few)
	})
	require.Len(t, sessions, len(few)+1, "one session for each alert of the small group and one for the storm")

	byFingerprint, storm := map[string]string{}, ""

	for _, s := range sessions {
		if s.Storm {
			storm = s.ID
		} else {
			byFingerprint[s.Fingerprint] = s.ID
		}
	}

	own := make([]string, len(few))

	for i, alert := range few {
		own[i] = byFingerprint[m.fingerprintOf(alert)]
		require.NotEmpty(t, own[i], "%v", alert.Labels)

		session := m.WaitFor(own[i], tarsy.SessionCompleted)
		require.Equal(t, alert.Annotations["summary"], session.Title)
		require.Equal(t, tarsy.SeverityWarning, session.Severity)
		require.Equal(t, "checkout", session.Service)
		require.Equal(t, alert.Labels, session.Labels)
		require.Contains(t, session.Links, tarsy.AlertLink{Kind: tarsy.LinkGenerator, URL: alert.GeneratorURL})
		require.Contains(t, session.AlertData, "pod-")
		require.True(t, session.Alert.Firing)
		require.WithinDuration(t, alert.StartsAt, *session.StartsAt, time.Second)
	}

	state := m.WaitFor(storm, tarsy.SessionCompleted).Alert
	require.Equal(t, int64(len(many)), state.Members)
	require.Equal(t, int64(len(many)), state.FiringMembers)

	// The repeat interval is short: the same delivery arrives again and changes nothing.
	until(t, "a repeated delivery of each group", func() bool {
		return m.repeated("HighLatency") && m.repeated("CrashLoop")
	})
	require.Equal(t, counts(sessions), counts(m.Investigated()), "a repeated delivery changes nothing")

	m.Fire(few[0].resolved())
	until(t, "the end of an alert", func() bool { return !m.Session(own[0]).Alert.Firing })
	require.NotNil(t, m.Session(own[0]).Alert.ResolvedAt)
	require.True(t, m.Session(own[1]).Alert.Firing, "the others fire")

	for i := range many {
		many[i] = many[i].resolved()
	}

	m.Fire(many...)
	until(t, "the end of the storm", func() bool { return !m.Session(storm).Alert.Firing })
	require.Zero(t, m.Session(storm).Alert.FiringMembers)
	require.Len(t, m.Investigated(), len(sessions), "no session was created for the end of an alert")

	for _, delivery := range m.gateway.Answered() {
		require.Equal(t, http.StatusOK, delivery.Status, delivery.Answer)
	}
}

// An inhibition rule of Alertmanager holds an alert back until the inhibiting alert is resolved.
func TestInhibitedAlertArrivesWhenInhibitionEnds(t *testing.T) {
	t.Parallel()

	m := newMonitored(t)
	source := firingAlert{
		Labels:   map[string]string{"alertname": "NodeDown", "node": "node-1", "severity": "critical"},
		StartsAt: time.Now(),
	}
	m.Fire(source)
	until(t, "a session for the alert that inhibits", func() bool { return len(m.Investigated()) == 1 })

	// Both belong to one group and are sent together, unless one is inhibited.
	alerts := podAlerts("HighLatency", "shop", 2)
	inhibited, other := alerts[0], alerts[1]
	other.Labels["node"] = "node-2"

	m.Fire(inhibited)
	until(t, "the inhibition", func() bool {
		return slices.ContainsFunc(m.Managed(), func(a managedAlert) bool { return len(a.Status.InhibitedBy) > 0 })
	})
	m.Fire(other)
	until(t, "a session for the alert that is not inhibited", func() bool { return len(m.Investigated()) > 1 })

	before := m.Investigated()
	require.Len(t, before, 2)
	require.Equal(t, m.fingerprintOf(other), before[1].Fingerprint)
	require.Empty(t, m.Suppressed(), "the inhibited alert never arrived")

	expected := m.fingerprintOf(inhibited)
	m.Fire(source.resolved())
	until(t, "a session for the alert that was inhibited", func() bool { return len(m.Investigated()) > 2 })
	require.Equal(t, expected, m.Investigated()[2].Fingerprint)
}

// The server is killed before, during and after deliveries, several times, while alerts fire. Alertmanager repeats
// unanswered deliveries, so nothing is lost; alerts that were stored but not answered are recognized, so nothing is
// investigated twice.
func TestServerKillsLoseNoAlertAndRepeatNoSession(t *testing.T) {
	t.Parallel()

	const groups = 5

	m := newMonitored(t)
	members := podAlerts("Storm", "payments", stormThreshold+3)
	fired := slices.Clone(members)

	for wave, point := range []outagePoint{killAfter, killBefore, killDuring, killAfter, killDuring, killBefore} {
		var alerts []firingAlert
		if wave == 0 {
			alerts = members
		}

		// Every second wave adds to the groups of the previous wave, whose last delivery was cut off.
		for group := range groups {
			pair := podAlerts("Wave", fmt.Sprintf("namespace-%d-%d", wave/2, group), 4)
			alerts = append(alerts, pair[wave%2*2:wave%2*2+2]...)
		}

		fired = append(fired, alerts[len(alerts)-2*groups:]...)

		m.gateway.killAt(point)
		m.Fire(alerts...)
		await(t, m.gateway.killed, "the kill of the server")
		m.gateway.route(startProcess(t, m.settings))
	}

	expected := make([]string, len(fired))
	for i, alert := range fired {
		expected[i] = m.fingerprintOf(alert)
	}

	until(t, "all alerts", func() bool { return len(m.accepted()) >= len(expected) })
	until(t, "the end of all sessions", func() bool {
		return !slices.ContainsFunc(m.Investigated(), func(s alertSession) bool { return s.Status != string(tarsy.SessionCompleted) })
	})

	// A repeated delivery may still arrive: it is counted unless its alerts are exactly those of a previous one.
	require.ElementsMatch(t, expected, m.accepted(), "every alert has one session, or is a member of one storm")

	storms := slices.DeleteFunc(m.Investigated(), func(s alertSession) bool { return !s.Storm })
	require.Len(t, storms, 1)
	require.Equal(t, int64(len(members)), storms[0].Members)

	for _, delivery := range m.gateway.Answered() {
		require.Equal(t, http.StatusOK, delivery.Status, delivery.Answer)
	}
}

// Prometheus evaluates a rule, Alertmanager sends the alert, and a session investigates it; when the metric recovers, the session shows it.
func TestPrometheusRuleIsInvestigatedAndResolved(t *testing.T) {
	t.Parallel()

	program := monitoringProgram(t, "prometheus")
	m := newMonitored(t)
	queue := newMetric(t, "checkout_queue_length")
	queue.value.Store(120)
	startPrometheus(t, program, m.manager, queue, `
groups:
  - name: checkout
    rules:
      - alert: CheckoutQueueLong
        expr: checkout_queue_length > 100
        labels: {severity: critical, team: payments}
        annotations: {summary: "{{ $value }} orders wait in {{ $labels.namespace }}"}
`)

	until(t, "a session for the rule", func() bool { return len(m.Investigated()) > 0 })

	session := m.WaitFor(m.Investigated()[0].ID, tarsy.SessionCompleted)
	require.Equal(t, "120 orders wait in shop", session.Title)
	require.Equal(t, tarsy.SeverityCritical, session.Severity)
	require.Equal(t, "payments", session.Team)
	require.Equal(t, "CheckoutQueueLong", session.Labels["alertname"])
	require.True(t, slices.ContainsFunc(session.Links, func(l tarsy.AlertLink) bool {
		return l.Kind == tarsy.LinkGenerator && strings.Contains(l.URL, "checkout_queue_length")
	}), "%v", session.Links)

	queue.value.Store(3)
	until(t, "the end of the alert", func() bool { return !m.Session(session.ID).Alert.Firing })
	require.Len(t, m.Investigated(), 1)
}
