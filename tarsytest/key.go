package tarsytest

import (
	"context"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/auth"
)

// Key creates an API key without the API, as `tarsy keys create` does, and returns its secret.
func (a *App) Key(name string, scopes ...tarsy.Scope) string {
	a.t.Helper()

	issued, err := auth.Issue(name, scopes, a.clock.Now())
	require.NoError(a.t, err)

	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()

	require.NoError(a.t, a.app.Accounts().CreateKey(ctx, issued.Key, issued.Hash))

	return issued.Secret
}
