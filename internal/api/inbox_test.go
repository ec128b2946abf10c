package api_test

import (
	"testing"
	"time"

	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/api"
	"tarsy.dev/tarsy/internal/chain"
	"tarsy.dev/tarsy/internal/config"
	"tarsy.dev/tarsy/internal/engine"
	"tarsy.dev/tarsy/internal/inbox"
	"tarsy.dev/tarsy/internal/postgres"
	"tarsy.dev/tarsy/internal/triage"
)

const inboxConfig = `
alerts:
  receivers:
    team-a: {source: alertmanager, token_env: TOKEN_A}
    team-b: {source: alertmanager, token_env: TOKEN_B}
    unset: {source: alertmanager, token_env: NOT_SET}
    oncall: {source: pagerduty, secret_env: PAGERDUTY_SECRET}
    status: {source: generic, mapping: {title: name, fingerprint: id, status: state}}
`

// inboxEnv are the tokens and secrets of receivers.
func inboxEnv(name string) (string, bool) {
	value, ok := map[string]string{
		"TOKEN_A": "token-of-team-a", "TOKEN_B": "token-of-team-b", "PAGERDUTY_SECRET": "secret-of-pagerduty",
	}[name]

	return value, ok
}

// realInbox is an inbox as the server has it.
type realInbox struct{ *inbox.Inbox }

func (r realInbox) Receivers() []api.Receiver {
	var all []api.Receiver
	for _, one := range r.Inbox.Receivers() {
		all = append(all, api.Receiver{
			Source: one.Source, Name: one.Name, Path: one.Path(), Auth: api.ReceiverAuth(one.Auth()), TokenEnv: one.TokenEnv, SecretEnv: one.SecretEnv,
		})
	}

	return all
}

// newInbox is an inbox and a desk on a database.
func newInbox(t *testing.T, db *postgres.DB, clock clockwork.Clock) (api.Inbox, api.Triage) {
	t.Helper()

	cfg, err := config.Load(config.Source{Files: []config.File{{Name: "tarsy.yaml", Text: []byte(inboxConfig)}}})
	require.NoError(t, err)

	chains := chain.NewCatalog(cfg)
	same := func(text string) string { return text }
	intake := engine.NewIntake(engine.IntakeConfig{
		DB: db, Route: func(a tarsy.Alert) (chain.Route, error) { return chains.Route(a, nil) },
		TakesQuestions: chains.TakesQuestions, Decode: chains.Decode, Mask: same, Clock: clock,
	})
	desk := triage.New(triage.Config{
		DB: db, Intake: intake, Mask: same, Clock: clock,
		Settings: triage.Settings{Window: time.Hour, Threshold: 5, StormWindow: 10 * time.Minute, FlappingAfter: 4, FlappingWindow: time.Hour},
	})

	return realInbox{inbox.New(inbox.Config{
		Reader: inbox.Reader{Config: cfg, Chains: chains, AllowsRunbook: func(string) bool { return false }}, Intake: intake, Desk: desk, Env: inboxEnv,
	})}, desk
}
