package inbox_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/alert"
	"tarsy.dev/tarsy/internal/chain"
	"tarsy.dev/tarsy/internal/config"
	"tarsy.dev/tarsy/internal/engine"
	"tarsy.dev/tarsy/internal/inbox"
	"tarsy.dev/tarsy/internal/postgres"
	"tarsy.dev/tarsy/internal/postgres/pgtest"
	"tarsy.dev/tarsy/internal/triage"
)

const chains = `
defaults: {llm_provider: told, alert_type: test}
llm_providers: {told: {type: scripted}}
agents: {Tester: {custom_instructions: Test.}}
agent_chains:
  test: {alert_types: [test], stages: [{name: look, agents: [{name: Tester}]}]}
  payments: {alert_types: [pay], stages: [{name: look, agents: [{name: Tester}]}]}
`

// fixture is an inbox as the server configures it, with its own database.
type fixture struct {
	*inbox.Inbox

	db   *postgres.DB
	desk *triage.Desk
	// confirmed are the URLs of confirmed subscriptions; refused, if set, is the error of every confirmation.
	confirmed []string
	refused   error
	// certificates are the certificates by URL; asked are the requested URLs.
	certificates map[string][]byte
	asked        []string
}

// newFixture creates an inbox with the alerts section of a configuration. Runbooks can be fetched from https://runbooks.example
// only.
func newFixture(t *testing.T, alerts string) *fixture {
	t.Helper()

	cfg, err := config.Load(config.Source{Files: []config.File{
		{Name: "chains.yaml", Text: []byte(chains)}, {Name: "alerts.yaml", Text: []byte(alerts)},
	}})
	require.NoError(t, err)

	clock := clockwork.NewFakeClockAt(time.Date(2026, 11, 16, 12, 0, 0, 0, time.UTC))
	db, err := postgres.Open(t.Context(), postgres.Config{URL: pgtest.New(t), Clock: clock})
	require.NoError(t, err)
	db.Start()
	t.Cleanup(db.Stop)

	catalog := chain.NewCatalog(cfg)
	same := func(text string) string { return text }
	intake := engine.NewIntake(engine.IntakeConfig{
		DB: db, Route: func(a tarsy.Alert) (chain.Route, error) { return catalog.Route(a, nil) },
		TakesQuestions: catalog.TakesQuestions, Decode: catalog.Decode, Mask: same, Clock: clock,
	})
	desk := triage.New(triage.Config{
		DB: db, Intake: intake, Mask: same, Clock: clock,
		Settings: triage.Settings{Window: time.Hour, Threshold: 5, StormWindow: 10 * time.Minute, FlappingAfter: 4, FlappingWindow: time.Hour},
	})

	f := &fixture{db: db, desk: desk}
	f.Inbox = inbox.New(inbox.Config{
		Reader: inbox.Reader{
			Config: cfg, Chains: catalog, AllowsRunbook: func(url string) bool { return strings.HasPrefix(url, "https://runbooks.example/") },
		},
		Intake: intake, Desk: desk, Env: func(string) (string, bool) { return "", false },
		Confirm: func(_ context.Context, s alert.Subscription) error {
			f.confirmed = append(f.confirmed, s.URL)

			return f.refused
		},
		Certificate: func(_ context.Context, address string) ([]byte, error) {
			f.asked = append(f.asked, address)

			if found := f.certificates[address]; found != nil {
				return found, nil
			}

			return nil, errors.New("not found")
		},
	})

	return f
}

// submit submits an alert and returns its session as stored.
func (f *fixture) submit(t *testing.T, a tarsy.Alert) tarsy.SessionDetail {
	t.Helper()

	session, err := f.Submit(t.Context(), a)
	require.NoError(t, err)

	return f.session(t, session.ID)
}

func (f *fixture) session(t *testing.T, id string) tarsy.SessionDetail {
	t.Helper()

	detail, err := f.db.SessionDetail(t.Context(), id)
	require.NoError(t, err)

	return *detail
}

// deliver posts a body to a receiver and returns the session of its first alert.
func (f *fixture) deliver(t *testing.T, source, name, body string) tarsy.SessionDetail {
	t.Helper()

	result, err := f.Deliver(t.Context(), source, name, "ana", []byte(body))
	require.NoError(t, err)
	require.NotEmpty(t, result.Alerts)
	require.NotNil(t, result.Alerts[0].SessionID, result.Alerts[0].Reason)

	return f.session(t, *result.Alerts[0].SessionID)
}

// sessions returns the number of sessions.
func (f *fixture) sessions(t *testing.T) int {
	t.Helper()

	all, err := f.db.Sessions(t.Context(), tarsy.SessionFilter{Limit: 100, Order: tarsy.OrderNewest})
	require.NoError(t, err)

	return len(all)
}
