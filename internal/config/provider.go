package config

// The kinds of LLM provider.
const (
	ProviderGoogle    = "google"
	ProviderOpenAI    = "openai"
	ProviderAnthropic = "anthropic"
	ProviderXAI       = "xai"
	ProviderVertexAI  = "vertexai"
	ProviderScripted  = "scripted"
)

// LLMProvider is one entry of llm_providers: a model and the way to it.
type LLMProvider struct {
	Name string `yaml:"-"`

	Type                string       `yaml:"type" doc:"Who runs the model; scripted plays the demo's scripts." enum:"google,openai,anthropic,xai,vertexai,scripted" required:"true"`
	Model               string       `yaml:"model" doc:"The model's name at the provider."`
	APIKeyEnv           string       `yaml:"api_key_env" doc:"Environment variable that holds the API key." format:"env" secret:"env"`
	CredentialsEnv      string       `yaml:"credentials_env" doc:"Environment variable that holds the path of a credentials file." format:"env" secret:"env"`
	ProjectEnv          string       `yaml:"project_env" doc:"Environment variable that holds the cloud project." format:"env" secret:"env"`
	LocationEnv         string       `yaml:"location_env" doc:"Environment variable that holds the cloud region." format:"env" secret:"env"`
	BaseURL             string       `yaml:"base_url" doc:"Address of the API, if not the provider's own." format:"url" secret:"url"`
	NativeTools         *NativeTools `yaml:"native_tools" doc:"Tools that the provider runs, while no MCP tools are bound."`
	ReasoningEffort     string       `yaml:"reasoning_effort" doc:"How hard the model thinks, in the provider's words." later:"true"`
	MaxToolResultTokens int          `yaml:"max_tool_result_tokens" doc:"Longest tool result that the model is given; longer ones are cut." min:"100"`
}
