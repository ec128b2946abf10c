// Package gemini implements llm.Client for Google's Gemini models, on the Gemini API or on Vertex AI, through Google's own SDK
// and its generateContent methods. It knows the llm contract and that API, but not its callers, and it does not retry. It reads
// nothing from the environment, except for a platform's default credentials if Vertex AI is used without any others.
package gemini

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"regexp"
	"strings"

	"google.golang.org/genai"

	"tarsy.dev/tarsy/llm"
)

// Config is the configuration of a client.
type Config struct {
	// APIKey is the key of the Gemini API. With Vertex it is the key of Vertex AI's express mode, which needs no project.
	APIKey string
	// BaseURL is the address of the API; a version at the end of its path is optional. Empty is Google's own.
	BaseURL string
	// HTTPClient makes the calls; nil is a default client. With Vertex, a given client must add its own credentials.
	HTTPClient *http.Client
	// CheckRedirect is set on the default client; an account's token is sent wherever it lets a call be redirected.
	CheckRedirect func(req *http.Request, via []*http.Request) error
	// Headers are sent with every call.
	Headers map[string]string

	// Vertex selects Vertex AI, in this project and location; an empty location is "global". CredentialsFile is the path of
	// credentials in JSON; empty means the platform's default.
	Vertex          bool
	Project         string
	Location        string
	CredentialsFile string
}

// Client calls Gemini models. It is safe for concurrent use.
type Client struct {
	models *genai.Models
	// name is the name of this client in signatures: what the Gemini API signed is not valid on Vertex AI.
	name string
	// secrets hides the key and the values of the headers.
	secrets *strings.Replacer
}

var _ llm.Client = (*Client)(nil)

// New returns a client. It makes no call.
func New(cfg Config) (*Client, error) {
	settings, err := cfg.settings()
	if err != nil {
		return nil, err
	}

	sdk, err := genai.NewClient(context.Background(), settings)
	if err != nil {
		// The SDK's error contains all of its settings, including the key.
		return nil, errors.New("set up the Gemini SDK: settings are missing")
	}

	name := "gemini"
	if cfg.Vertex {
		name = "vertexai"
	}

	return &Client{models: sdk.Models, name: name, secrets: llm.Secrets(cfg.APIKey, cfg.Headers)}, nil
}

// settings returns the SDK's settings. It sets everything that the SDK would otherwise look up in the environment.
func (cfg Config) settings() (*genai.ClientConfig, error) {
	settings := &genai.ClientConfig{
		Backend: genai.BackendGeminiAPI, APIKey: cfg.APIKey, Project: cfg.Project, Location: cfg.Location,
		HTTPOptions: genai.HTTPOptions{Headers: http.Header{}},
	}

	for name, value := range cfg.Headers {
		settings.HTTPOptions.Headers.Set(name, value)
	}

	switch {
	case cfg.Vertex && cfg.Project == "" && cfg.APIKey == "":
		return nil, errors.New("vertex AI needs a project, or an API key")
	case cfg.Vertex && cfg.Project != "":
		settings.Backend = genai.BackendVertexAI
		if settings.Location == "" {
			settings.Location = "global"
		}
	case cfg.Vertex:
		settings.Backend, settings.Location = genai.BackendVertexAI, ""
	case cfg.APIKey == "":
		return nil, errors.New("the Gemini API needs an API key")
	default:
		settings.Project, settings.Location = "", ""
	}

	settings.HTTPOptions.BaseURL, settings.HTTPOptions.APIVersion = address(cfg.BaseURL)
	if settings.HTTPOptions.BaseURL == "" {
		settings.HTTPOptions.BaseURL = defaultURL(settings)
	}

	client, err := cfg.httpClient()
	if err != nil {
		return nil, err
	}

	settings.HTTPClient = client

	return settings, nil
}

var version = regexp.MustCompile(`^(.*[^/:])/+(v1(?:alpha|beta)?1?)/*$`)

// address splits off the version of an address that has one, since the SDK adds it.
func address(url string) (base, apiVersion string) {
	if found := version.FindStringSubmatch(url); found != nil {
		return found[1], found[2]
	}

	return url, ""
}

func defaultURL(settings *genai.ClientConfig) string {
	switch location := settings.Location; {
	case settings.Backend == genai.BackendGeminiAPI:
		return "https://generativelanguage.googleapis.com/"
	case location == "" || location == "global":
		return "https://aiplatform.googleapis.com/"
	case location == "us" || location == "eu":
		return "https://aiplatform." + location + ".rep.googleapis.com/"
	default:
		return "https://" + location + "-aiplatform.googleapis.com/"
	}
}

// Generate implements llm.Client.
func (c *Client) Generate(ctx context.Context, req *llm.Request) iter.Seq2[llm.Chunk, error] {
	return func(yield func(llm.Chunk, error) bool) {
		if ctx.Err() != nil {
			yield(nil, context.Cause(ctx))

			return
		}

		asked, err := c.newQuestion(req)
		if err != nil {
			yield(nil, err)

			return
		}

		log := &exchange{}
		answer := newAnswer(req, asked.names, c.by(req))

		stopped, err := c.stream(log.in(ctx), asked, func(event *genai.GenerateContentResponse) error {
			return answer.read(event, func(chunk llm.Chunk) bool { return yield(chunk, nil) })
		})

		switch {
		case stopped:
			return
		case err == nil && !answer.ended():
			err = log.err
		}

		if err == nil {
			stopped, err = answer.end(func(chunk llm.Chunk) bool { return yield(chunk, nil) })
		}

		if err != nil && !stopped {
			yield(nil, c.failure(ctx, log, err))
		}
	}
}

// by returns the signer of the model's answers.
func (c *Client) by(req *llm.Request) string { return c.name + "/" + req.Model }

// errStopped reports that the consumer stopped reading; it never leaves the package.
var errStopped = errors.New("the consumer stopped reading")

// stream makes the call and passes each event to visit. The SDK relies on the form of what a server sends and panics if it
// differs: such an event is treated like any other invalid event.
func (c *Client) stream(
	ctx context.Context, asked *question, visit func(event *genai.GenerateContentResponse) error,
) (stopped bool, err error) {
	visiting := false

	defer func() {
		if visiting {
			return // the panic is the consumer's
		}

		if trouble := recover(); trouble != nil {
			err = fmt.Errorf("invalid event: %v", trouble)
		}
	}()

	for event, err := range c.models.GenerateContentStream(ctx, asked.model, asked.contents, asked.config) {
		if err != nil {
			return false, err
		}

		visiting = true
		err = visit(event)
		visiting = false

		if err != nil {
			return errors.Is(err, errStopped), err
		}
	}

	return false, nil
}
