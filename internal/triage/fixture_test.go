package triage_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/agent"
	"tarsy.dev/tarsy/internal/chain"
	"tarsy.dev/tarsy/internal/engine"
	"tarsy.dev/tarsy/internal/match"
	"tarsy.dev/tarsy/internal/postgres"
	"tarsy.dev/tarsy/internal/postgres/pgtest"
	"tarsy.dev/tarsy/internal/progress"
	"tarsy.dev/tarsy/internal/triage"
)

const secret = "hunter2"

func epoch() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }

// settings are the settings of most tests.
func settings() triage.Settings {
	return triage.Settings{
		Window: time.Hour, Threshold: 3, StormWindow: 10 * time.Minute, FlappingAfter: 4, FlappingWindow: time.Hour,
	}
}

// fixture is a database with a desk.
type fixture struct {
	*triage.Desk

	t      *testing.T
	url    string
	db     *postgres.DB
	admin  *pgxpool.Pool
	clock  *clockwork.FakeClock
	config triage.Config
}

func newFixture(t *testing.T, change ...func(*triage.Settings)) *fixture {
	t.Helper()

	f := &fixture{t: t, url: pgtest.New(t), clock: clockwork.NewFakeClockAt(epoch())}

	var err error

	f.admin, err = pgxpool.New(t.Context(), f.url)
	require.NoError(t, err)
	t.Cleanup(f.admin.Close)

	f.db = f.server(0)
	f.config = triage.Config{DB: f.db, Intake: f.intake(f.db), Settings: settings(), Mask: mask, Clock: f.clock}

	for _, c := range change {
		c(&f.config.Settings)
	}

	f.Desk = triage.New(f.config)

	return f
}

// server opens another connection to the database. Limit is the maximum number of waiting sessions; 0 means no limit.
func (f *fixture) server(limit int) *postgres.DB {
	f.t.Helper()

	db, err := postgres.Open(f.t.Context(), postgres.Config{URL: f.url, Clock: f.clock, MaxWaiting: limit})
	require.NoError(f.t, err)
	db.Start()
	f.t.Cleanup(db.Stop)

	return db
}

func (f *fixture) intake(db *postgres.DB) *engine.Intake {
	return engine.NewIntake(engine.IntakeConfig{
		DB: db, Clock: f.clock, Mask: mask,
		Route: func(alert tarsy.Alert) (chain.Route, error) {
			if strings.HasPrefix(alert.RunbookURL, "https://elsewhere") {
				return chain.Route{}, tarsy.FieldErrorf(tarsy.CodeInvalidField, "runbook_url", "not allowed")
			}

			if alert.AlertType == "unknown" {
				return chain.Route{}, tarsy.Errorf(tarsy.CodeUnknownAlertType, "there is no such type")
			}

			return chain.Route{Chain: chain.Chain{ID: "chain", Stages: []chain.Stage{{Agents: []chain.Agent{{Spec: agent.Spec{Name: "a"}}}}}}, AlertType: "test"}, nil
		},
	})
}

func mask(text string) string { return strings.ReplaceAll(text, secret, "[MASKED]") }

// firing returns a firing alert of a group.
func firing(group, name string, change ...func(*tarsy.Alert)) tarsy.Alert {
	a := tarsy.Alert{AlertType: "test", Data: "data of " + name, Facts: tarsy.AlertFacts{
		Title: "Title of " + name, Severity: tarsy.SeverityWarning, Labels: map[string]string{"alertname": group, "instance": name},
		Fingerprint: "fp-" + name, GroupKey: "alertmanager:alertname=" + group + ",cluster=", Source: tarsy.SourceAlertmanager,
	}}

	for _, c := range change {
		c(&a)
	}

	return a
}

func resolved(group, name string) tarsy.Alert {
	return firing(group, name, func(a *tarsy.Alert) { a.Resolved = true })
}

// many returns new alerts of a group.
func many(group string, n int) []tarsy.Alert {
	alerts := make([]tarsy.Alert, n)
	for i := range alerts {
		alerts[i] = firing(group, fmt.Sprintf("%s-%d", group, i))
	}

	return alerts
}

// receive submits a delivery that must be accepted.
func (f *fixture) receive(alerts ...tarsy.Alert) []tarsy.DeliveredAlert {
	f.t.Helper()

	result, err := f.Receive(f.t.Context(), tarsy.Delivery{Source: tarsy.SourceAlertmanager, Author: "sender", Alerts: alerts})
	require.NoError(f.t, err)
	require.Len(f.t, result.Alerts, len(alerts))

	return result.Alerts
}

// session submits an alert that must be investigated and returns the session.
func (f *fixture) session(alert tarsy.Alert) string {
	f.t.Helper()

	results := f.receive(alert)
	require.Equal(f.t, tarsy.ActionInvestigate, results[0].Action, results[0].Reason)

	return *results[0].SessionID
}

// detail reads a session as people see it.
func (f *fixture) detail(id string) *tarsy.SessionDetail {
	f.t.Helper()

	detail, err := f.db.SessionDetail(f.t.Context(), id)
	require.NoError(f.t, err)

	return detail
}

func (f *fixture) alert(id string) tarsy.AlertState {
	f.t.Helper()

	detail := f.detail(id)
	require.NotNil(f.t, detail.Alert)

	state := *detail.Alert
	state.LastAt = state.LastAt.UTC()

	for i := range state.Times {
		state.Times[i] = state.Times[i].UTC()
	}

	return state
}

// end completes every waiting session.
func (f *fixture) end() {
	f.t.Helper()

	claims, err := f.db.Claim(f.t.Context(), postgres.ClaimParams{
		Version: 1, Has: []string{"chain:chain"}, ServerID: "server", Slots: 1000, MaxSessions: 1000, Lease: time.Minute,
	})
	require.NoError(f.t, err)

	for _, c := range claims {
		session, now := c.State.Session, f.clock.Now()
		session.Status, session.CompletedAt = tarsy.SessionCompleted, &now
		_, err := f.db.Hold(c.Lease).Commit(f.t.Context(), progress.Step{Session: &session, Release: true})
		require.NoError(f.t, err)
	}
}

// suppressed lists the suppressed alerts.
func (f *fixture) suppressed() []tarsy.SuppressedAlert {
	f.t.Helper()

	all, err := f.Suppressed(f.t.Context(), tarsy.SuppressedFilter{Limit: 1000})
	require.NoError(f.t, err)

	return all
}

// count runs a query that returns a number.
func (f *fixture) count(sql string, args ...any) int {
	f.t.Helper()

	rows, err := f.admin.Query(context.Background(), sql, args...)
	require.NoError(f.t, err)

	n, err := pgx.CollectExactlyOneRow(rows, pgx.RowTo[int])
	require.NoError(f.t, err)

	return n
}

func (f *fixture) sessions() int {
	f.t.Helper()

	return f.count(`SELECT count(*) FROM sessions`)
}

func matchers(t *testing.T, texts ...string) match.Set {
	t.Helper()

	set, err := match.ParseAll(texts)
	require.NoError(t, err)

	return set
}

func actions(results []tarsy.DeliveredAlert) []tarsy.DeliveryAction {
	all := make([]tarsy.DeliveryAction, len(results))
	for i, r := range results {
		all[i] = r.Action
	}

	return all
}
