package config

import (
	"maps"
	"slices"
	"strings"
)

// The kinds of LLM provider.
const (
	ProviderGoogle    = "google"
	ProviderOpenAI    = "openai"
	ProviderAnthropic = "anthropic"
	ProviderXAI       = "xai"
	ProviderVertexAI  = "vertexai"
	ProviderGRPC      = "grpc"
	ProviderScripted  = "scripted"
)

// ProviderKind describes a type of LLM provider. A new type needs an entry here, a client in internal/provider and a package in llm.
type ProviderKind struct {
	Type string
	// URL is the address of its API; empty if the client determines it, or if there is no fixed one.
	URL string
	// Key is whether it has an API key, which is required unless base_url is set.
	Key bool
	// Cloud is whether it belongs to a cloud project in a region.
	Cloud bool
	// OpenAI is whether it offers the two APIs of OpenAI.
	OpenAI bool
	// Convention is its name in the OpenTelemetry conventions, if different from Type.
	Convention string
}

// ProviderKinds returns all types, in display order.
func ProviderKinds() []ProviderKind {
	return []ProviderKind{
		{Type: ProviderGoogle, URL: "https://generativelanguage.googleapis.com", Key: true, Convention: "gcp.gemini"},
		{Type: ProviderOpenAI, URL: "https://api.openai.com", Key: true, OpenAI: true},
		{Type: ProviderAnthropic, URL: "https://api.anthropic.com", Key: true},
		{Type: ProviderXAI, URL: "https://api.x.ai", Key: true, OpenAI: true, Convention: "x_ai"},
		{Type: ProviderVertexAI, Cloud: true, Convention: "gcp.vertex_ai"},
		{Type: ProviderGRPC},
		{Type: ProviderScripted},
	}
}

// KindOfProvider returns the description of a type; for an unknown type only Type is set.
func KindOfProvider(name string) ProviderKind {
	for _, kind := range ProviderKinds() {
		if kind.Type == name {
			return kind
		}
	}
	return ProviderKind{Type: name}
}

func providerTypes() []string {
	var names []string
	for _, kind := range ProviderKinds() {
		names = append(names, kind.Type)
	}
	return names
}

// Kind returns the description of the provider's type.
func (p LLMProvider) Kind() ProviderKind { return KindOfProvider(p.Type) }

// The two APIs of OpenAI and of compatible providers.
const (
	APIChat      = "chat"
	APIResponses = "responses"
)

// LLMProvider is one entry of llm_providers: a model and how to reach it.
type LLMProvider struct {
	Name string `yaml:"-"`

	Type                string            `yaml:"type" doc:"Provider of the model; openai includes compatible servers, grpc is your own gateway, scripted plays the demo's scripts." enum:"@provider" required:"true"`
	Model               string            `yaml:"model" doc:"Name of the model at the provider." reload:"sessions"`
	API                 string            `yaml:"api" doc:"OpenAI API to use (types openai and xai); the default is responses for OpenAI itself and Azure, chat otherwise." enum:"chat,responses"`
	APIKeyEnv           string            `yaml:"api_key_env" doc:"Environment variable that holds the API key." format:"env" secret:"env" only:"keyed"`
	CredentialsEnv      string            `yaml:"credentials_env" doc:"Environment variable that holds the path of a credentials file (vertexai)." format:"env" secret:"env" only:"vertexai"`
	ProjectEnv          string            `yaml:"project_env" doc:"Environment variable that holds the cloud project (vertexai)." format:"env" secret:"env" only:"vertexai"`
	LocationEnv         string            `yaml:"location_env" doc:"Environment variable that holds the cloud region (vertexai)." format:"env" secret:"env" only:"vertexai"`
	BaseURL             string            `yaml:"base_url" doc:"Base URL of the API; the default is the provider's. Required for type grpc, with grpc:// or grpcs://." format:"llm_url" secret:"url" only:"called"`
	Headers             map[string]Secret `yaml:"headers" doc:"Headers sent with each request." secret:"value" only:"called"`
	NativeTools         *NativeTools      `yaml:"native_tools" doc:"Tools that the provider runs; used only while no MCP tools are bound." reload:"sessions"`
	ReasoningEffort     string            `yaml:"reasoning_effort" doc:"Reasoning effort; the values depend on the provider."`
	MaxOutputTokens     int               `yaml:"max_output_tokens" doc:"Maximum number of output tokens; the default is the provider's limit." min:"1"`
	MaxToolResultTokens int               `yaml:"max_tool_result_tokens" doc:"Maximum length of a tool result in tokens; longer ones are truncated for the model." min:"100" reload:"sessions"`
}

// HeaderValues returns Headers with their values in plain text.
func (p LLMProvider) HeaderValues() map[string]string { return reveal(p.Headers) }

// checkProviders finds entries that no client could be created from.
func (c *Config) checkProviders() []Problem {
	var problems []Problem
	for _, name := range slices.Sorted(maps.Keys(c.LLMProviders)) {
		p, path := c.LLMProviders[name], joinPath("llm_providers", name)
		add := func(key, message, hint string) {
			problems = append(problems, c.problem(joinPath(path, key), message, hint))
		}
		if p.Model == "" && p.Type != "" && p.Type != ProviderScripted {
			add("model", "is required", "the model's name at the provider")
		}
		if p.API != "" && p.Type != "" && !p.Kind().OpenAI {
			add("api", "is only for the types openai and xai", "leave it out")
		}
		isGRPC := strings.HasPrefix(p.BaseURL, "grpc://") || strings.HasPrefix(p.BaseURL, "grpcs://")
		switch {
		case p.Type == ProviderGRPC && p.BaseURL == "":
			add("base_url", "is required", "the address of your gateway, such as grpc://localhost:50051")
		case p.Type == ProviderGRPC && !isGRPC:
			add("base_url", "not the address of a gRPC server", "it starts with grpc://, or with grpcs:// if it is encrypted")
		case p.Type != ProviderGRPC && p.Type != "" && isGRPC:
			add("base_url", "not the address of an HTTP API", "it starts with http:// or https://; gRPC servers are of type grpc")
		}
	}
	return problems
}

// Unsupported returns why no call to this provider can succeed, or "".
func (p LLMProvider) Unsupported() string {
	if p.Type == ProviderVertexAI && strings.HasPrefix(p.Model, "claude") {
		return "Claude models on Vertex AI are not supported yet: use type anthropic, or a Gemini model"
	}
	return ""
}

// SupportWarnings lists the providers in use that cannot work.
func (c *Config) SupportWarnings(used []string) []Warning {
	var warnings []Warning
	for _, name := range used {
		if reason := c.LLMProviders[name].Unsupported(); reason != "" {
			path := joinPath("llm_providers", name)
			at := c.placeOf(path)
			warnings = append(warnings, Warning{File: at.File, Line: at.Line, Column: at.Column, Path: path, Message: reason})
		}
	}
	return warnings
}

// UnsetVariablesOf finds the environment variables that a provider needs and that are not set.
func (c *Config) UnsetVariablesOf(name string, env func(string) (string, bool)) []Problem {
	var problems []Problem
	p, path := c.LLMProviders[name], joinPath("llm_providers", name)
	needsKey := p.BaseURL == "" && p.Kind().Key
	needsProject := p.Kind().Cloud
	for _, v := range []struct {
		key, variable string
		needed        bool
	}{
		{"api_key_env", p.APIKeyEnv, needsKey},
		{"credentials_env", p.CredentialsEnv, false}, // if unset, the machine's credentials are used
		{"project_env", p.ProjectEnv, needsProject},
		{"location_env", p.LocationEnv, needsProject},
	} {
		value, _ := env(v.variable)
		switch {
		case v.variable == "" && v.needed:
			problems = append(problems, c.problem(joinPath(path, v.key), "is required", "type "+p.Type+" does not work without"))
		case v.variable != "" && value == "":
			problems = append(problems, c.problem(joinPath(path, v.key), "environment variable "+v.variable+" is not set", ""))
		}
	}
	return problems
}
