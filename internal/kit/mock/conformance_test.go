package mock_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/kit/mock"
	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/anthropic"
	"tarsy.dev/tarsy/llm/gemini"
	"tarsy.dev/tarsy/llm/llmtest"
	"tarsy.dev/tarsy/llm/openai"
	"tarsy.dev/tarsy/llm/script"
)

// The clients and the mock server are written independently, each from the provider's documentation. Running the clients'
// conformance suite against the server shows that both understood it the same way. The tests are here because llm must not
// know the mock. The suite counts goroutines, so none of these tests runs in parallel.

// mockAPI returns the mock server as a handler for the suite.
func mockAPI(s *script.Script) http.Handler {
	return mock.New(mock.Config{Script: func(string) *script.Script { return s }})
}

// ownConnections returns an HTTP client whose connections are closed when the test ends.
func ownConnections(t *testing.T) *http.Client {
	t.Helper()

	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)

	return &http.Client{Transport: transport}
}

func TestAnthropicMessagesConform(t *testing.T) {
	llmtest.Run(t, llmtest.Provider{Name: anthropic.Name, Handler: mockAPI, New: newAnthropic})
}

func TestAnthropicMessagesWithThinkingBudgetConform(t *testing.T) {
	llmtest.Run(t, llmtest.Provider{Name: anthropic.Name, Model: "claude-opus-4-5", Handler: mockAPI, New: newAnthropic})
}

func newAnthropic(t *testing.T, url, key string) llm.Client {
	t.Helper()

	client, err := anthropic.New(anthropic.Config{APIKey: key, BaseURL: url, HTTPClient: ownConnections(t)})
	require.NoError(t, err)

	return client
}

func TestGeminiAPIConforms(t *testing.T) {
	llmtest.Run(t, geminiProvider("gemini", "", func(url, key string) gemini.Config {
		return gemini.Config{APIKey: key, BaseURL: url}
	}))
}

func TestVertexAIConforms(t *testing.T) {
	llmtest.Run(t, geminiProvider("vertexai", "gemini-3-flash-preview", func(url, key string) gemini.Config {
		return gemini.Config{
			Vertex: true, Project: "p", Location: "us-central1", BaseURL: url, Headers: map[string]string{"Authorization": "Bearer " + key},
		}
	}))
}

func geminiProvider(name, model string, config func(url, key string) gemini.Config) llmtest.Provider {
	return llmtest.Provider{
		Name: name, Model: model, Handler: mockAPI,
		New: func(t *testing.T, url, key string) llm.Client {
			t.Helper()

			cfg := config(url, key)
			cfg.HTTPClient = ownConnections(t)
			client, err := gemini.New(cfg)
			require.NoError(t, err)

			return client
		},
		// A stop sequence is reported like any other end of an answer.
		Lacks: []llmtest.Feature{llmtest.FeatureStopReason},
	}
}

func TestChatCompletionsConform(t *testing.T) {
	llmtest.Run(t, openaiProvider(openai.APIChat,
		llmtest.FeatureSignature, llmtest.FeatureNativeTools, llmtest.FeatureStopReason))
}

func TestResponsesConform(t *testing.T) {
	llmtest.Run(t, openaiProvider(openai.APIResponses,
		llmtest.FeatureStopSequences, llmtest.FeatureStopReason, llmtest.FeatureURLContext))
}

func openaiProvider(api string, lacks ...llmtest.Feature) llmtest.Provider {
	return llmtest.Provider{Name: "openai", Lacks: lacks, Handler: mockAPI, New: func(t *testing.T, url, key string) llm.Client {
		t.Helper()

		client, err := openai.New(openai.Config{BaseURL: url + "/v1", APIKey: key, API: api})
		require.NoError(t, err)

		return client
	}}
}
