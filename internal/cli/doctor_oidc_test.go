package cli_test

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/cli"
	"tarsy.dev/tarsy/internal/kit/mock/issuer"
)

const oidcDoctorConfig = `
llm_providers: {scripted: {type: scripted}}
defaults: {llm_provider: scripted}
agents: {A: {}}
agent_chains: {c: {alert_types: [a], stages: [{name: s, agents: [{name: A}]}]}}
system:
  dashboard_url: https://tarsy.example.com
  auth: {oidc: {issuer: 'ISSUER', client_id: tarsy, client_secret_env: OIDC_SECRET}, default_role: viewer}
`

func TestDoctorReadsDiscoveryDocumentOfIssuer(t *testing.T) {
	t.Parallel()

	server := httptest.NewServer(issuer.New(issuer.Config{ClientID: "tarsy"}))
	t.Cleanup(server.Close)

	doctor := func(address, secret string) result {
		dir := writeConfig(t, strings.ReplaceAll(oidcDoctorConfig, "ISSUER", address))

		return tarsyWith(t, []string{"OIDC_SECRET=" + secret}, "", doctorArgs(t, "--config-dir", dir)...)
	}

	got := doctor(server.URL, "good-secret")
	require.Equal(t, cli.ExitOK, got.code, got.stdout)
	require.Contains(t, got.stdout, "ok    OpenID Connect: "+server.URL+" answers; it must know the redirect URL https://tarsy.example.com/api/v1/login/oidc/callback\n")
	require.NotContains(t, got.stdout+got.stderr, "good-secret")

	got = doctor(server.URL, "")
	require.Equal(t, cli.ExitOK, got.code, got.stdout)
	require.Contains(t, got.stdout, "environment variable OIDC_SECRET is not set")

	got = doctor(server.URL+"/", "good-secret")
	require.Equal(t, cli.ExitOK, got.code, got.stdout)
	require.Regexp(t, `warn  OpenID Connect: .*did not match the issuer URL returned by provider`, got.stdout)
}

func TestConfigCheckReportsUnsetSecretOfIssuer(t *testing.T) {
	t.Parallel()

	got := tarsyWith(t, nil, "", "config", "check", "--config-dir", writeConfig(t, strings.ReplaceAll(oidcDoctorConfig, "ISSUER", "https://id.example.com")))
	require.Equal(t, cli.ExitOK, got.code, got.stdout+got.stderr)
	require.Contains(t, got.stdout+got.stderr, "system.auth.oidc.client_secret_env: environment variable OIDC_SECRET is not set")
}
