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

// inboxConfig adds receivers and a chain to the built-in configuration.
const inboxConfig = `
mcp_servers:
  k8s: {transport: {type: http, url: "http://127.0.0.1:1"}}
  logs: {transport: {type: http, url: "http://127.0.0.1:1"}}
llm_providers:
  gemini: {type: google, model: gemini-3-pro, api_key_env: GEMINI_KEY}
  claude: {type: anthropic, model: claude-opus-4-5, api_key_env: CLAUDE_KEY}
agents:
  Fixer: {mcp_servers: [k8s, logs]}
agent_chains:
  k8s: {description: Anything of a cluster, alert_types: [kubernetes], stages: [{name: fix, agents: [{name: Fixer}]}]}
  shop: {alert_types: [shop], stages: [{name: fix, agents: [{name: Fixer}]}]}
alerts:
  receivers:
    team-a: {source: alertmanager, token_env: TOKEN_A}
    team-b: {source: alertmanager, token_env: TOKEN_B}
    unset: {source: alertmanager, token_env: NOT_SET}
    oncall: {source: pagerduty, secret_env: PAGERDUTY_SECRET}
    status: {source: generic, mapping: {title: name, fingerprint: id, status: state}}
`

// inboxEnv returns the tokens and secrets of receivers.
func inboxEnv(name string) (string, bool) {
	value, ok := map[string]string{
		"TOKEN_A": "token-of-team-a", "TOKEN_B": "token-of-team-b", "PAGERDUTY_SECRET": "secret-of-pagerduty",
	}[name]

	return value, ok
}

// realInbox is an inbox as in the server.
type realInbox struct{ *inbox.Inbox }

func (r realInbox) Receivers() []api.Receiver {
	var all []api.Receiver
	for _, one := range r.Inbox.Receivers() {
		all = append(all, api.Receiver{
			Source: api.WebhookSource(one.Source), Name: one.Name, Path: one.Path(), Auth: api.ReceiverAuth(one.Auth()), TokenEnv: one.TokenEnv, SecretEnv: one.SecretEnv,
		})
	}

	return all
}

// newInbox returns the intake, the inbox and the triage of a server on a database.
func newInbox(t *testing.T, db *postgres.DB, clock clockwork.Clock) (*engine.Intake, api.Inbox, api.Triage) {
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

	return intake, realInbox{inbox.New(inbox.Config{
		Reader: inbox.Reader{Config: cfg, Chains: chains, AllowsRunbook: func(string) bool { return false }}, Intake: intake, Desk: desk, Env: inboxEnv,
	})}, desk
}
