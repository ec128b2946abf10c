package cli_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/cli"
	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/internal/postgres"
)

// putSession stores a finished session with these alert facts.
func (s *server) putSession(t *testing.T, facts tarsy.AlertFacts) tarsy.Session {
	t.Helper()

	at := tarsyNow()
	session := tarsy.Session{
		ID: ident.New(), AlertType: "latency", AlertData: "p99 is 4s", ChainID: "test", Status: tarsy.SessionCompleted, Author: "alertmanager",
		CreatedAt: at, StartedAt: &at, CompletedAt: &at, ExecutiveSummary: "A cold cache.", AlertFacts: facts,
	}
	require.NoError(t, s.DB().CreateSession(t.Context(), session, postgres.Terms{}))

	conn, err := pgx.Connect(t.Context(), s.database)
	require.NoError(t, err)
	_, err = conn.Exec(t.Context(), `
INSERT INTO session_alerts (session_id, fingerprint, group_key, firing, occurrences, last_at, resolved_at, storm, members, firing_members)
VALUES ($1, $2, '', false, 12, $3, $3, true, 3, 0)`, session.ID, facts.Fingerprint, at)
	require.NoError(t, err)
	require.NoError(t, conn.Close(t.Context()))

	return session
}

func TestSessionsShowAndFilterWhatTheAlertIsAbout(t *testing.T) {
	t.Parallel()

	s := startServer(t, false)
	none := tarsy.AlertFacts{Labels: map[string]string{}, Links: []tarsy.AlertLink{}, Source: tarsy.SourceAPI, Fingerprint: "b"}
	old := s.putSession(t, none)

	facts := none
	facts.Title, facts.Severity, facts.Service, facts.Namespace, facts.Cluster = "Checkout is slow", tarsy.SeverityCritical, "checkout", "shop", "eu-1"
	facts.Team, facts.Fingerprint, facts.Labels = "payments", "a", map[string]string{"env": "prod", "job": "api"}
	facts.Links = []tarsy.AlertLink{{Kind: tarsy.LinkDashboard, URL: "https://grafana.example/d/1"}}
	facts.StartsAt = new(tarsyNow().Add(-time.Hour))
	session := s.putSession(t, facts)

	got := tarsyWith(t, s.env, "", "sessions")
	require.Equal(t, cli.ExitOK, got.code, got.stderr)
	lines := strings.Split(strings.TrimSpace(got.stdout), "\n")
	require.Len(t, lines, 3)
	require.Regexp(t, `^`+session.ID[24:]+` +completed +critical +Checkout is slow ×12 +shop/checkout +\d+s .*A cold cache\.$`, lines[1])
	require.Regexp(t, `^`+old.ID[24:]+` +completed +latency ×12 +\d+s .*A cold cache\.$`, lines[2], "the alert type stands for a title")

	for _, flags := range [][]string{
		{"--severity", "critical"}, {"--service", "checkout"}, {"--namespace", "shop"}, {"--cluster", "eu-1"}, {"--team", "payments"},
		{"--fingerprint", "a"}, {"--label", "env=prod"}, {"--label", "env=prod", "--label", "job=api", "--severity", "critical"},
	} {
		var items []tarsy.SessionItem

		got = tarsyWith(t, s.env, "", append([]string{"sessions", "-o", "json"}, flags...)...)
		require.Equal(t, cli.ExitOK, got.code, got.stderr)
		require.NoError(t, json.Unmarshal([]byte(got.stdout), &items))
		require.Len(t, items, 1, flags)
		require.Equal(t, session.ID, items[0].ID)
		require.Equal(t, facts.Links, items[0].Links)
		require.Equal(t, int64(12), items[0].Alert.Occurrences)
	}

	for _, bad := range [][]string{{"--severity", "bad"}, {"--label", "env"}} {
		got = tarsyWith(t, s.env, "", append([]string{"sessions"}, bad...)...)
		require.Equal(t, cli.ExitUsage, got.code, got.stderr)
	}

	got = tarsyWith(t, s.env, "", "sessions", "show", session.ID)
	for _, want := range []string{
		"title       Checkout is slow\n", "severity    critical\n", "service     checkout\n", "namespace   shop\n", "cluster     eu-1\n", "team        payments\n",
		"dashboard   https://grafana.example/d/1\n", "storm of 3 alerts, 0 firing, received 12 times, last at ",
	} {
		require.Contains(t, got.stdout, want)
	}

	got = tarsyWith(t, s.env, "", "export", session.ID, "--format", "markdown")
	for _, want := range []string{
		"# Checkout is slow: completed\n", "| Severity | critical |", "| Service | checkout |", "| Label env | prod |", "storm of 3 alerts, 0 firing, received 12 times",
	} {
		require.Contains(t, got.stdout, want)
	}
}

func TestCountedAlertIsShownWithItsFacts(t *testing.T) {
	t.Parallel()

	s := startServer(t, false)

	type delivery struct{ Alerts []tarsy.DeliveredAlert }

	first := jsonOf[[]delivery](t, s.env, "webhooks", "test", "--source", "alertmanager")
	again := jsonOf[[]delivery](t, s.env, "webhooks", "test", "--source", "alertmanager")
	id := *first[0].Alerts[0].SessionID
	require.Equal(t, id, *again[0].Alerts[0].SessionID)
	require.Equal(t, tarsy.ActionCount, again[0].Alerts[0].Action)

	got := tarsyWith(t, s.env, "", "watch", id)
	require.Equal(t, cli.ExitOK, got.code, got.stderr)
	require.Contains(t, got.stdout, "alert     Test alert from tarsy webhooks test, info, tarsy-test/example, chain test, session "+id+"\n")
	require.Regexp(t, `alert +firing, received 2 times, last at \d{4}-\d\d-\d\d \d\d:\d\d:\d\d\n`, got.stdout)

	require.Regexp(t, `(?m)^`+id[24:]+` +completed +info +Test alert from tarsy webhooks test ×2 +tarsy-test/example `,
		tarsyWith(t, s.env, "", "sessions").stdout)

	for _, command := range [][]string{{"sessions", "show", id}, {"export", id, "--format", "markdown"}} {
		got = tarsyWith(t, s.env, "", command...)
		require.Equal(t, cli.ExitOK, got.code, got.stderr)
		require.Contains(t, got.stdout, "firing, received 2 times, last at ")
		require.Contains(t, got.stdout, "Test alert from tarsy webhooks test")
	}

	require.Equal(t, int64(2), jsonOf[tarsy.SessionDetail](t, s.env, "sessions", "show", id).Alert.Occurrences)
}

func TestSubmitAndWaitPrintsWhatTheAlertIsAbout(t *testing.T) {
	t.Parallel()

	s := startServer(t, false)
	got := tarsyWith(t, s.env, `{"title": "Checkout is slow", "labels": {"severity": "page", "service": "checkout", "namespace": "shop", "cluster": "eu", "team": "pay"}}`,
		"submit", "-", "--wait")
	require.Equal(t, cli.ExitOK, got.code, got.stderr)
	require.Contains(t, got.stderr, "Alert: Checkout is slow (critical, shop/checkout, eu, pay)\n")
	require.Contains(t, got.stderr, "alert     Checkout is slow, critical, shop/checkout, chain test")
}

func TestSubmittedTextThatIsCountedOrSilencedIsReported(t *testing.T) {
	t.Parallel()

	s := startServerWith(t, false, "alerts: {deduplicate: {text: true}}", nil)

	first := tarsyWith(t, s.env, "", "submit", "-m", "checkout is slow", "--wait")
	require.Equal(t, cli.ExitOK, first.code, first.stderr)

	again := tarsyWith(t, s.env, "", "submit", "-m", "checkout is slow")
	require.Equal(t, cli.ExitOK, again.code, again.stderr)
	require.Contains(t, first.stderr, strings.TrimSpace(again.stdout), "the session of the first")
	require.Contains(t, tarsyWith(t, s.env, "", "sessions").stdout, "checkout is slow ×2")
	require.Contains(t, again.stderr, "The alert was investigated by this session less than 1h0m0s ago.\n")
	require.NotContains(t, again.stderr, "Submitted.")

	waited := tarsyWith(t, s.env, "", "submit", "-m", "checkout is slow", "--wait")
	require.Equal(t, cli.ExitOK, waited.code, waited.stderr)
	require.Equal(t, first.stdout, waited.stdout, "its analysis is there already")

	jsonOf[tarsy.Silence](t, s.env, "silences", "add", "source=api", "--for", "2h", "--reason", "load test")

	for _, c := range []struct {
		flags []string
		code  int
	}{{nil, cli.ExitOK}, {[]string{"--wait"}, cli.ExitNotCompleted}} {
		got := tarsyWith(t, s.env, "", append([]string{"submit", "-m", "the disk is full"}, c.flags...)...)
		require.Equal(t, c.code, got.code, got.stderr)
		require.Contains(t, got.stderr, "load test")
		require.Empty(t, got.stdout)
	}

	got := tarsyWith(t, s.env, "", "submit", "-m", "the disk is full", "-o", "json")
	require.Equal(t, cli.ExitOK, got.code, got.stderr)
	require.Contains(t, got.stdout, `"action": "silence"`)
}
