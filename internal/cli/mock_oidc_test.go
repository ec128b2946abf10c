package cli_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/oidc"
)

func TestMockServesAnIssuerBesideTheModel(t *testing.T) {
	t.Parallel()

	m := startMock(t, "--oidc", "--script", scriptFile(t, "version: 1\nreplies: [{text: scripted}]\n"))

	_, text := m.ask(t, "/v1/chat/completions", mockChat)
	require.Contains(t, text, "scripted")

	provider := oidc.New(oidc.Config{Issuer: m.url + "/oidc", ClientID: "tarsy", Scopes: []string{"openid"}})
	require.NoError(t, provider.Discover(t.Context()))
}
