package provider_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"tarsy.dev/tarsy/internal/config"
	"tarsy.dev/tarsy/internal/kit/mock"
	"tarsy.dev/tarsy/internal/provider"
	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// serve starts a virtual provider that answers from s.
func serve(t *testing.T, s *script.Script) string {
	t.Helper()

	server := httptest.NewServer(mock.New(mock.Config{Script: func(string) *script.Script { return s }}))
	t.Cleanup(server.Close)

	return server.URL
}

// connect creates the providers of a test, whose environment has one key.
func connect(t *testing.T, configured map[string]config.LLMProvider) *provider.Providers {
	t.Helper()

	for name, c := range configured {
		c.Name = name
		configured[name] = c
	}

	providers := provider.New(provider.Config{
		Providers: configured, CachePrompts: true,
		Env: func(name string) (string, bool) {
			value, ok := map[string]string{"KEY": "key-of-the-test", "PROJECT": "p", "LOCATION": "l"}[name]

			return value, ok
		},
	})
	t.Cleanup(providers.Close)

	return providers
}

func ask(t *testing.T, client llm.Client, name string) (llm.Response, error) {
	t.Helper()

	return llm.Collect(client.Generate(t.Context(), &llm.Request{
		Provider: name, Model: "m", Messages: []llm.Message{{Role: llm.RoleUser, Content: "hello"}},
	}), nil)
}

func TestEachProviderTypeIsCalledWithItsSettings(t *testing.T) {
	t.Parallel()

	s := script.New(script.Options{})
	url := serve(t, s)
	settings := config.LLMProvider{
		Model: "m", APIKeyEnv: "KEY", ReasoningEffort: "high", MaxOutputTokens: 9000, ProjectEnv: "PROJECT", LocationEnv: "LOCATION",
		Headers: map[string]config.Secret{"X-Team": "payments"},
	}
	configured := map[string]config.LLMProvider{}

	for name, c := range map[string]struct{ kind, api, base string }{
		"google": {config.ProviderGoogle, "", url}, "vertex": {config.ProviderVertexAI, "", url},
		"chat": {config.ProviderOpenAI, config.APIChat, url + "/v1"}, "responses": {config.ProviderOpenAI, config.APIResponses, url + "/v1"},
		"xai": {config.ProviderXAI, "", url + "/v1"}, "anthropic": {config.ProviderAnthropic, "", url},
	} {
		p := settings
		p.Type, p.API, p.BaseURL = c.kind, c.api, c.base
		configured[name] = p

		require.NoError(t, s.On(script.Match{Header: map[string]script.Text{"X-Team": {Equals: "payments"}}}, script.Reply{Text: "hi"}))
	}

	providers := connect(t, configured)

	for name := range configured {
		response, err := ask(t, providers, name)
		require.NoError(t, err, name)
		require.Equal(t, "hi", response.Text, name)

		calls := s.Calls()
		require.Equal(t, "high", calls[len(calls)-1].Request.ReasoningEffort, name)
		require.Equal(t, 9000, calls[len(calls)-1].Request.MaxOutputTokens, name)
	}
}

func TestUncallableProviderSaysWhatToDo(t *testing.T) {
	t.Parallel()

	providers := connect(t, map[string]config.LLMProvider{
		"keyless":  {Type: config.ProviderOpenAI, Model: "gpt"},
		"unset":    {Type: config.ProviderAnthropic, Model: "claude", APIKeyEnv: "NO_SUCH_KEY"},
		"homeless": {Type: config.ProviderVertexAI, Model: "gemini", ProjectEnv: "PROJECT"},
		"gateway":  {Type: config.ProviderGRPC, Model: "any"},
		"script":   {Type: config.ProviderScripted, Model: "any"},
		"strange":  {Type: "strange", Model: "any"},
	})

	for name, want := range map[string]string{
		"keyless":  "keyless (gpt): there is no API key: name the variable that holds it in api_key_env of llm_providers.keyless",
		"unset":    "unset (claude): there is no API key: set NO_SUCH_KEY and start the server again",
		"homeless": "homeless (gemini): the cloud project or its region is not known: set the variables that project_env and location_env of llm_providers.homeless name",
		"gateway":  "gateway (any): the gateway's address is missing: set base_url of llm_providers.gateway to grpc://host:port, or grpcs:// for TLS",
		"script":   "this server has no scripted models",
		"strange":  `LLM provider "strange" is of type "strange", which this version cannot call`,
	} {
		_, err := ask(t, providers, name)
		require.EqualError(t, err, want, name)
	}

	_, err := ask(t, providers, "keyles")
	require.ErrorContains(t, err, `LLM provider "keyles" is not configured: did you mean keyless?`)
}

func TestErrorNamesProviderAndVariableButNotKey(t *testing.T) {
	t.Parallel()

	s := script.New(script.Options{})
	s.Add(script.Reply{Err: &llm.Error{Status: 401, Message: "no such key"}}, script.Reply{Err: &llm.Error{Status: 404, Message: "no such model"}})

	providers := connect(t, map[string]config.LLMProvider{
		"gpt": {Type: config.ProviderOpenAI, Model: "gpt-5", APIKeyEnv: "KEY", BaseURL: serve(t, s) + "/v1"},
	})

	_, err := ask(t, providers, "gpt")
	require.Equal(t, llm.ClassAuth, llm.AsError(err).Class)
	require.ErrorContains(t, err, "gpt (gpt-5): ")
	require.ErrorContains(t, err, "no such key")
	require.ErrorContains(t, err, "check the key in KEY, and that it may use gpt-5")
	require.NotContains(t, err.Error(), "key-of-the-test")

	_, err = ask(t, providers, "gpt")
	require.Equal(t, llm.ClassInvalid, llm.AsError(err).Class)
	require.ErrorContains(t, err, "check model and base_url of llm_providers.gpt")
}

func TestRedirectsAreNotFollowed(t *testing.T) {
	t.Parallel()

	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("a key was taken elsewhere") }))
	t.Cleanup(elsewhere.Close)

	server := httptest.NewServer(http.RedirectHandler(elsewhere.URL, http.StatusTemporaryRedirect))
	t.Cleanup(server.Close)

	configured := map[string]config.LLMProvider{}
	for name, kind := range map[string]string{
		"openai": config.ProviderOpenAI, "anthropic": config.ProviderAnthropic, "google": config.ProviderGoogle, "xai": config.ProviderXAI,
	} {
		configured[name] = config.LLMProvider{Type: kind, Model: "m", APIKeyEnv: "KEY", BaseURL: server.URL}
	}

	providers := connect(t, configured)

	for name := range configured {
		_, err := ask(t, providers, name)
		require.ErrorContains(t, err, "redirects to another host: check base_url", name)
	}
}

func TestCheckIsOneSmallCall(t *testing.T) {
	t.Parallel()

	s := script.New(script.Options{})
	s.Add(script.Reply{Text: "ready", Usage: &llm.UsageChunk{InputTokens: 9, OutputTokens: 1}}, script.Reply{Err: &llm.Error{Status: 500, Message: "oops"}})

	providers := connect(t, map[string]config.LLMProvider{
		"gpt": {Type: config.ProviderOpenAI, Model: "gpt-5", APIKeyEnv: "KEY", BaseURL: serve(t, s) + "/v1"},
	})

	check := providers.Check(t.Context(), "gpt")
	require.NoError(t, check.Err)
	require.Equal(t, "gpt-5", check.Model)
	require.Equal(t, 9, check.Usage.InputTokens)
	require.Positive(t, check.FirstChunk)
	require.Less(t, s.Calls()[0].Request.MaxOutputTokens, 1000)

	require.Equal(t, llm.ClassTransient, llm.AsError(providers.Check(t.Context(), "gpt").Err).Class)
}

// A type that the configuration accepts but that has no client would fail at the first alert.
func TestEveryTypeOfTheConfigurationHasAClient(t *testing.T) {
	t.Parallel()

	for _, kind := range config.ProviderKinds() {
		providers := connect(t, map[string]config.LLMProvider{"own": {Type: kind.Type, BaseURL: "http://127.0.0.1:1"}})

		_, err := ask(t, providers, "own")
		require.Error(t, err, "nobody answers")
		require.NotContains(t, err.Error(), "cannot call", kind.Type)
	}

	_, err := ask(t, connect(t, map[string]config.LLMProvider{"own": {Type: "new"}}), "own")
	require.ErrorContains(t, err, "which this version cannot call")
}
