package gemini_test

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/gemini"
)

// credentialsFile writes a service account whose tokens come from tokenURL, and returns the path of the file.
func credentialsFile(t *testing.T, tokenURL string) string {
	t.Helper()

	private, err := rsa.GenerateKey(rand.Reader, 2048)
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

func TestVertexAIUsesCredentialsFile(t *testing.T) {
	t.Parallel()

	tokens := serve(t, func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(rw, `{"access_token":"token-of-the-account","token_type":"Bearer","expires_in":3600}`)
	})
	w := answering(t, done)

	client, err := gemini.New(gemini.Config{
		Vertex: true, Project: "p", Location: "us-central1", BaseURL: w.URL, CredentialsFile: credentialsFile(t, tokens.URL),
	})
	require.NoError(t, err)

	response, err := llm.Collect(client.Generate(t.Context(), ask()), nil)
	require.NoError(t, err)
	require.Equal(t, "ok", response.Text)
	require.Equal(t, "Bearer token-of-the-account", w.requests[0].Header.Get("Authorization"))
	require.Empty(t, w.requests[0].Header.Get("X-Goog-Api-Key"))
	require.Len(t, tokens.requests, 1)
}

func TestMissingCredentialsAreReported(t *testing.T) {
	t.Parallel()

	_, err := gemini.New(gemini.Config{Vertex: true, Project: "p", CredentialsFile: filepath.Join(t.TempDir(), "none.json")})
	require.ErrorContains(t, err, "find the credentials of Vertex AI")
}

func TestVertexAIReportsStopReason(t *testing.T) {
	t.Parallel()

	w := answering(t, `{"candidates": [{"finishReason": "SAFETY","finishMessage": "because","index": 0}]}`)
	client := newClient(t, gemini.Config{Vertex: true, Project: "p", Location: "l", BaseURL: w.URL})

	_, err := llm.Collect(client.Generate(t.Context(), ask()), nil)
	require.ErrorContains(t, err, "the answer was withheld: because (SAFETY)")
	require.Equal(t, llm.ClassSafety, llm.AsError(err).Class)
}
