package provider

import (
	"errors"
	"fmt"
	"net/url"

	"tarsy.dev/tarsy/internal/config"
	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/anthropic"
	"tarsy.dev/tarsy/llm/gemini"
	"tarsy.dev/tarsy/llm/grpc"
	"tarsy.dev/tarsy/llm/openai"
)

var errNoScript = errors.New("this server has no scripted models")

// clients returns the functions that create clients, by provider type.
func (p *Providers) clients() map[string]func(config.LLMProvider) (llm.Client, error) {
	return map[string]func(config.LLMProvider) (llm.Client, error){
		config.ProviderGoogle: p.google, config.ProviderOpenAI: p.openai, config.ProviderAnthropic: p.anthropic, config.ProviderXAI: p.xai,
		config.ProviderVertexAI: p.vertex, config.ProviderGRPC: p.grpc, config.ProviderScripted: p.scripted,
	}
}

// connect creates the client of a provider.
func (p *Providers) connect(c config.LLMProvider) (llm.Client, error) {
	client := p.clients()[c.Type]
	if client == nil {
		return nil, fmt.Errorf("LLM provider %q is of type %q, which this version cannot call", c.Name, c.Type)
	}

	return client(c)
}

func (p *Providers) scripted(config.LLMProvider) (llm.Client, error) {
	if p.cfg.Scripted == nil {
		return nil, errNoScript
	}

	return p.cfg.Scripted, nil
}

func (p *Providers) anthropic(c config.LLMProvider) (llm.Client, error) {
	key, err := p.key(c)
	if err != nil {
		return nil, err
	}

	return anthropic.New(anthropic.Config{APIKey: key, BaseURL: c.BaseURL, HTTPClient: p.http, Headers: c.HeaderValues()})
}

// xai uses the protocol of OpenAI's Chat Completions.
func (p *Providers) xai(c config.LLMProvider) (llm.Client, error) {
	if c.BaseURL == "" {
		c.BaseURL = c.Kind().URL + "/v1"
	}

	return p.openai(c)
}

func (p *Providers) google(c config.LLMProvider) (llm.Client, error) {
	key, err := p.key(c)
	if err != nil {
		return nil, err
	}

	return gemini.New(gemini.Config{APIKey: key, BaseURL: c.BaseURL, HTTPClient: p.http, Headers: c.HeaderValues()})
}

// vertex finds its credentials in a file or in the platform's default location. A custom base URL is called without them unless
// a file is set.
func (p *Providers) vertex(c config.LLMProvider) (llm.Client, error) {
	if reason := c.Unsupported(); reason != "" {
		return nil, &llm.Error{Class: llm.ClassInvalid, Message: reason, Hint: fmt.Sprintf("change llm_providers.%s", c.Name)}
	}

	cfg := gemini.Config{
		Vertex: true, BaseURL: c.BaseURL, CheckRedirect: refuseRedirect, Headers: c.HeaderValues(),
		Project: p.value(c.ProjectEnv), Location: p.value(c.LocationEnv), CredentialsFile: p.value(c.CredentialsEnv),
	}

	if cfg.Project == "" || cfg.Location == "" {
		return nil, &llm.Error{
			Class: llm.ClassAuth, Message: "the cloud project or its region is not known",
			Hint: fmt.Sprintf("set the variables that project_env and location_env of llm_providers.%s name", c.Name),
		}
	}

	if c.BaseURL != "" && cfg.CredentialsFile == "" {
		cfg.HTTPClient = p.http
	}

	return gemini.New(cfg)
}

// openai calls OpenAI or a compatible server.
func (p *Providers) openai(c config.LLMProvider) (llm.Client, error) {
	key, err := p.key(c)
	if err != nil {
		return nil, err
	}

	return openai.New(openai.Config{APIKey: key, BaseURL: c.BaseURL, API: c.API, HTTPClient: p.http, Headers: c.HeaderValues()})
}

func (p *Providers) grpc(c config.LLMProvider) (llm.Client, error) {
	target, err := url.Parse(c.BaseURL)
	if err != nil || target.Host == "" {
		return nil, &llm.Error{
			Class: llm.ClassInvalid, Message: "the gateway's address is missing",
			Hint: fmt.Sprintf("set base_url of llm_providers.%s to grpc://host:port, or grpcs:// for TLS", c.Name),
		}
	}

	return grpc.New(grpc.Config{
		Target: target.Host, TLS: target.Scheme == "grpcs", APIKey: p.value(c.APIKeyEnv), Headers: c.HeaderValues(),
	})
}

// key returns the API key of a provider. A server with a custom URL may need none.
func (p *Providers) key(c config.LLMProvider) (string, error) {
	key := p.value(c.APIKeyEnv)

	switch {
	case key != "" || (c.APIKeyEnv == "" && c.BaseURL != ""):
		return key, nil
	case c.APIKeyEnv == "":
		return "", &llm.Error{
			Class: llm.ClassAuth, Message: "there is no API key",
			Hint: fmt.Sprintf("name the variable that holds it in api_key_env of llm_providers.%s", c.Name),
		}
	default:
		return "", &llm.Error{
			Class: llm.ClassAuth, Message: "there is no API key",
			Hint: fmt.Sprintf("set %s and start the server again", c.APIKeyEnv),
		}
	}
}

func (p *Providers) value(variable string) string {
	if variable == "" {
		return ""
	}

	value, _ := p.cfg.Env(variable)

	return value
}
