package app

import (
	"context"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/api"
	"tarsy.dev/tarsy/internal/engine"
	"tarsy.dev/tarsy/internal/inbox"
	"tarsy.dev/tarsy/internal/runbook"
)

// door is the intake for everybody outside: alerts go through the inbox, everything else is intake's.
type door struct {
	*engine.Intake

	inbox *inbox.Inbox
}

// Submit implements api.Intake and discord.Intake.
func (d door) Submit(ctx context.Context, alert tarsy.Alert) (tarsy.Session, error) {
	return d.inbox.Submit(ctx, alert)
}

// webhooks is the inbox as the API sees it.
type webhooks struct{ *inbox.Inbox }

// Receivers implements api.Inbox.
func (w webhooks) Receivers() []api.Receiver {
	var all []api.Receiver

	for _, r := range w.Inbox.Receivers() {
		all = append(all, api.Receiver{
			Source: r.Source, Name: r.Name, Path: r.Path(), Auth: api.ReceiverAuth(r.Auth()), TokenEnv: r.TokenEnv, SecretEnv: r.SecretEnv,
		})
	}

	return all
}

// newInbox makes what alerts come in by.
func (a *App) newInbox(intake *engine.Intake, runbooks *runbook.Fetcher, mask func(string) string) *inbox.Inbox {
	return inbox.New(inbox.Config{
		Reader: inbox.Reader{
			Config: a.options.Config, Chains: a.chains,
			// An address that masking changes is refused when it is submitted, so it is not taken from an alert either.
			AllowsRunbook: func(url string) bool { return runbooks.Check(url) == nil && mask(url) == url },
		},
		Intake: intake, Desk: a.desk, Env: a.options.Env,
	})
}
