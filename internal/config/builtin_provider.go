package config

// The environment variables with the API key for Google's models. The Gemini API documents both; the first wins if both are set.
const (
	googleKey = "GOOGLE_API_KEY"
	geminiKey = "GEMINI_API_KEY"
)

// builtinProviders returns the models that exist without any file, under the same names as in the published TARSy. A key that is not set
// matters only if a chain uses its provider.
func builtinProviders(env func(string) (string, bool)) map[string]LLMProvider {
	google := googleKey
	if !isSet(env, googleKey) && isSet(env, geminiKey) {
		google = geminiKey
	}
	providers := map[string]LLMProvider{
		"openai-default":    {Type: ProviderOpenAI, Model: "gpt-5.2", APIKeyEnv: "OPENAI_API_KEY"},
		"anthropic-default": {Type: ProviderAnthropic, Model: "claude-sonnet-4-6-20260217", APIKeyEnv: "ANTHROPIC_API_KEY"},
		"xai-default":       {Type: ProviderXAI, Model: "grok-4-1-fast-reasoning", APIKeyEnv: "XAI_API_KEY"},
		"vertexai-default": {
			Type: ProviderVertexAI, Model: "claude-sonnet-4-6", ProjectEnv: "GOOGLE_CLOUD_PROJECT", LocationEnv: "GOOGLE_CLOUD_LOCATION",
		},
	}
	for name, model := range map[string]string{
		builtinProvider:      "gemini-3.5-flash",
		"google-image-flash": "gemini-3.1-flash-image-preview",
		"gemini-3-flash":     "gemini-3-flash-preview",
		"gemini-3-pro":       "gemini-3-pro-preview",
		"gemini-3.1-pro":     "gemini-3.1-pro-preview",
		"gemini-3.1-flash":   "gemini-3.1-flash-lite",
		"gemini-3.5-flash":   "gemini-3.5-flash",
		"gemini-2.5-flash":   "gemini-2.5-flash",
		"gemini-2.5-pro":     "gemini-2.5-pro",
	} {
		providers[name] = LLMProvider{
			Type: ProviderGoogle, Model: model, APIKeyEnv: google,
			// The API rejects url_context for models that generate images.
			NativeTools: &NativeTools{GoogleSearch: new(true), CodeExecution: new(false), URLContext: new(name != "google-image-flash")},
		}
	}
	return providers
}
