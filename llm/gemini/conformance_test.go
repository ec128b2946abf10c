package gemini_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/gemini"
	"tarsy.dev/tarsy/llm/llmtest"
)

// httpClient returns a client with its own connections, which are closed when the test ends.
func httpClient(t *testing.T) *http.Client {
	t.Helper()

	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)

	return &http.Client{Transport: transport}
}

func newClient(t *testing.T, cfg gemini.Config) llm.Client {
	t.Helper()

	if cfg.HTTPClient == nil {
		cfg.HTTPClient = httpClient(t)
	}

	client, err := gemini.New(cfg)
	require.NoError(t, err)

	return client
}

func TestRealGeminiAPIConforms(t *testing.T) {
	t.Parallel()
	llmtest.RunReal(t, llmtest.RealProvider{
		Name: "gemini", KeyVariable: "GEMINI_API_KEY", Model: "gemini-2.5-flash", Effort: "medium",
		New: func(t *testing.T, key string) llm.Client { return newClient(t, gemini.Config{APIKey: key}) },
	})
}
