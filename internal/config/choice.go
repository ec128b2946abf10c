package config

import (
	"maps"
	"slices"
)

const defaultProviderPath = "defaults.llm_provider"

// defaultProviders returns the names of the built-in models that defaults.llm_provider is chosen from, in order of preference.
func defaultProviders() []string {
	return []string{builtinProvider, "anthropic-default", "openai-default", "xai-default"}
}

// DefaultProviders returns the built-in models that the default is chosen from, in order of preference.
func DefaultProviders() []LLMProvider {
	var all []LLMProvider
	builtins := builtinProviders(noVariables)
	for _, name := range defaultProviders() {
		provider := builtins[name]
		provider.Name = name
		all = append(all, provider)
	}
	return all
}

// KeyVariables returns the environment variables with the API keys of the models that the default is chosen from.
func KeyVariables() []string {
	variables := []string{googleKey, geminiKey}
	for _, provider := range DefaultProviders()[1:] {
		variables = append(variables, provider.APIKeyEnv)
	}
	return variables
}

// chooseProvider sets defaults.llm_provider if no file does: to the first built-in default model whose key is set, else to the first entry
// of the files whose key is set. Without any key it remains unchanged, and doctor reports the missing key.
func (c *Config) chooseProvider(env func(string) (string, bool)) {
	if _, written := c.marks[defaultProviderPath]; written {
		return
	}
	names := defaultProviders()
	for _, name := range slices.Sorted(maps.Keys(c.LLMProviders)) {
		if c.Written("llm_providers", name) {
			names = append(names, name)
		}
	}
	for _, name := range names {
		variable := c.LLMProviders[name].APIKeyEnv
		if isSet(env, variable) {
			c.Defaults.LLMProvider = name
			c.marks[defaultProviderPath] = mark{origin: originEnv + variable}
			return
		}
	}
}

// ChosenBy returns the environment variable whose key determined defaults.llm_provider, or "" if a file sets it or no key is set.
func (c *Config) ChosenBy() string {
	if m := c.marks[defaultProviderPath]; m.place.File == "" && m.origin != "" {
		return c.LLMProviders[c.Defaults.LLMProvider].APIKeyEnv
	}
	return ""
}

// LacksKey reports whether no file sets a default model and no API key is set that would determine one.
func (c *Config) LacksKey() bool {
	_, decided := c.marks[defaultProviderPath]
	return !decided
}

func isSet(env func(string) (string, bool), variable string) bool {
	if variable == "" {
		return false
	}
	value, _ := env(variable)
	return value != ""
}

func noVariables(string) (string, bool) { return "", false }
