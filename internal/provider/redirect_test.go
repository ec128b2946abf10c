package provider_test

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/config"
	"tarsy.dev/tarsy/internal/provider"
)

// account writes the credentials of a service account that gets its tokens from tokenURL.
func account(t *testing.T, tokenURL string) string {
	t.Helper()

	const bits = 2048

	private, err := rsa.GenerateKey(rand.Reader, bits)
	require.NoError(t, err)

	der, err := x509.MarshalPKCS8PrivateKey(private)
	require.NoError(t, err)

	data, err := json.Marshal(map[string]string{
		"type": "service_account", "project_id": "p", "private_key_id": "1", "client_email": "tarsy@p.example", "client_id": "2",
		"private_key": string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})), "token_uri": tokenURL,
	})
	require.NoError(t, err)

	path := filepath.Join(t.TempDir(), "credentials.json")
	require.NoError(t, os.WriteFile(path, data, 0o600))

	return path
}

// The token of an account is added to every request, including one that follows a redirect to another host.
func TestTokenIsNotSentToRedirectTarget(t *testing.T) {
	t.Parallel()

	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("a call was taken elsewhere, with %q", r.Header.Get("Authorization"))
	}))
	t.Cleanup(elsewhere.Close)

	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/token" {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"access_token":"token-of-the-account","token_type":"Bearer","expires_in":3600}`)

			return
		}

		http.Redirect(w, r, elsewhere.URL, http.StatusTemporaryRedirect)
	}))
	t.Cleanup(server.Close)

	variables := map[string]string{"PROJECT": "p", "LOCATION": "l", "CREDENTIALS": account(t, server.URL+"/token")}
	providers := provider.New(provider.Config{
		Providers: map[string]config.LLMProvider{"vertex": {
			Name: "vertex", Type: config.ProviderVertexAI, Model: "m", BaseURL: server.URL, ProjectEnv: "PROJECT", LocationEnv: "LOCATION", CredentialsEnv: "CREDENTIALS",
		}},
		Env: func(name string) (string, bool) {
			value, ok := variables[name]

			return value, ok
		},
	})
	t.Cleanup(func() {
		providers.Close()
		http.DefaultClient.CloseIdleConnections()
	})

	_, err := ask(t, providers, "vertex")
	require.ErrorContains(t, err, "redirects to another host: check base_url")
}
