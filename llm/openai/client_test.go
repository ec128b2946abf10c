package openai_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/openai"
)

// recorder is a transport that answers every request with an end, and records the request.
type recorder struct {
	request *http.Request
	body    string
}

func (r *recorder) RoundTrip(request *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(request.Body)
	r.request, r.body = request, string(body)

	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/event-stream"}}, Request: request,
		Body: io.NopCloser(strings.NewReader("data: " + chatStop + "\n\ndata: " + completed("") + "\n\n")),
	}, err
}

// send asks a question, and returns the resulting request.
func send(t *testing.T, cfg openai.Config) (*http.Request, string) {
	t.Helper()

	r := &recorder{}
	cfg.HTTPClient = &http.Client{Transport: r}
	client, err := openai.New(cfg)
	require.NoError(t, err)

	req := question()
	req.MaxOutputTokens = 5
	_, err = llm.Collect(client.Generate(t.Context(), req), nil)
	require.NoError(t, err)

	return r.request, r.body
}

func TestServerSelectsAPI(t *testing.T) {
	t.Parallel()

	for name, test := range map[string]struct {
		cfg   openai.Config
		url   string
		limit string
	}{
		"OpenAI":             {openai.Config{}, "https://api.openai.com/v1/responses", "max_output_tokens"},
		"OpenAI, chat":       {openai.Config{API: openai.APIChat}, "https://api.openai.com/v1/chat/completions", "max_completion_tokens"},
		"a server":           {openai.Config{BaseURL: "http://localhost:11434/v1"}, "http://localhost:11434/v1/chat/completions", "max_tokens"},
		"a server, slash":    {openai.Config{BaseURL: "http://localhost:8000/v1/"}, "http://localhost:8000/v1/chat/completions", "max_tokens"},
		"a server, no path":  {openai.Config{BaseURL: "http://localhost:8000"}, "http://localhost:8000/chat/completions", "max_tokens"},
		"a server, response": {openai.Config{BaseURL: "https://api.x.ai/v1", API: openai.APIResponses}, "https://api.x.ai/v1/responses", "max_output_tokens"},
		"Azure, deployment": {
			openai.Config{BaseURL: "https://me.openai.azure.com/openai/deployments/gpt?api-version=2024-10-21&x=1"},
			"https://me.openai.azure.com/openai/deployments/gpt/chat/completions?api-version=2024-10-21&x=1", "max_completion_tokens",
		},
		"Azure, version 1": {
			openai.Config{BaseURL: "https://me.cognitiveservices.azure.com/openai/v1?api-version=preview"},
			"https://me.cognitiveservices.azure.com/openai/v1/responses?api-version=preview", "max_output_tokens",
		},
		"Azure, Foundry": {
			openai.Config{BaseURL: "https://me.services.ai.azure.com/openai/v1/"}, "https://me.services.ai.azure.com/openai/v1/responses", "max_output_tokens",
		},
		"Azure, chat": {
			openai.Config{BaseURL: "https://me.openai.azure.com/openai/v1", API: openai.APIChat},
			"https://me.openai.azure.com/openai/v1/chat/completions", "max_completion_tokens",
		},
		"OpenAI by its address": {openai.Config{BaseURL: "https://api.openai.com/v1"}, "https://api.openai.com/v1/responses", "max_output_tokens"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			request, body := send(t, test.cfg)
			require.Equal(t, test.url, request.URL.String())
			require.Contains(t, body, `"`+test.limit+`":5`)
		})
	}
}

func TestKeyIsSentAsServerExpects(t *testing.T) {
	t.Parallel()

	for name, test := range map[string]struct {
		cfg                   openai.Config
		authorization, apiKey string
	}{
		"OpenAI": {openai.Config{APIKey: "key"}, "Bearer key", ""},
		"none":   {openai.Config{BaseURL: "http://localhost:11434/v1"}, "", ""},
		"Azure":  {openai.Config{APIKey: "key", BaseURL: "https://me.openai.azure.com/openai/v1"}, "", "key"},
		"header": {openai.Config{APIKey: "key", Headers: map[string]string{"Authorization": "Custom"}}, "Custom", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			request, _ := send(t, test.cfg)
			require.Equal(t, test.authorization, request.Header.Get("Authorization"))
			require.Equal(t, test.apiKey, request.Header.Get("Api-Key"))
		})
	}
}

func TestHeadersAreSentWithoutClientFingerprint(t *testing.T) {
	t.Parallel()

	request, _ := send(t, openai.Config{Headers: map[string]string{"X-Team": "sre"}})
	require.Equal(t, "sre", request.Header.Get("X-Team"))

	for name := range request.Header {
		require.NotContains(t, name, "Stainless")
	}
}

func TestConfigIsValidated(t *testing.T) {
	t.Parallel()

	for message, cfg := range map[string]openai.Config{
		"there is no API": {API: "completions"}, "must be an http or https address": {BaseURL: "localhost:8000"}, "read the base URL": {BaseURL: "http://a b/%zz"},
	} {
		_, err := openai.New(cfg)
		require.ErrorContains(t, err, message)
	}
}

// TestEnvironmentIsIgnored runs itself in a process whose environment is full of the library's variables.
func TestEnvironmentIsIgnored(t *testing.T) {
	const inside = "OPENAI_TEST_INSIDE"

	if os.Getenv(inside) == "" {
		command := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestEnvironmentIsIgnored$", "-test.v")
		command.Env = append(os.Environ(), inside+"=1", "OPENAI_API_KEY=env-key", "OPENAI_ADMIN_KEY=env-admin", "OPENAI_BASE_URL=http://127.0.0.1:1/env",
			"OPENAI_ORG_ID=env-org", "OPENAI_PROJECT_ID=env-project", "OPENAI_CUSTOM_HEADERS=X-Env: env", "OPENAI_WEBHOOK_SECRET=env")
		output, err := command.CombinedOutput()
		require.NoError(t, err, "%s", output)
		require.Contains(t, string(output), "--- PASS: TestEnvironmentIsIgnored")

		return
	}

	request, _ := send(t, openai.Config{})
	require.Equal(t, "https://api.openai.com/v1/responses", request.URL.String())

	for name, values := range request.Header {
		require.NotContains(t, strings.Join(values, " "), "env", name)
	}

	require.Empty(t, request.Header.Get("Authorization"))
}

func TestCancelClosesConnection(t *testing.T) {
	t.Parallel()

	for _, api := range []string{openai.APIChat, openai.APIResponses} {
		for _, silent := range []bool{true, false} {
			cancelled(t, api, silent)
		}
	}
}

// cancelled cancels a call: before the server responds if it is silent, in the middle of the stream otherwise.
func cancelled(t *testing.T, api string, silent bool) {
	t.Helper()

	closed, asked := make(chan struct{}), make(chan struct{})
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)

		if !silent {
			_, _ = io.WriteString(w, "data: "+delta(`{"content":"x"}`)+"\n\ndata: "+textDelta("x")+"\n\n")
			_ = http.NewResponseController(w).Flush()
		}

		close(asked)
		<-r.Context().Done()
	}))
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateClosed {
			close(closed)
		}
	}
	server.Start()
	t.Cleanup(server.Close)

	client, err := openai.New(openai.Config{BaseURL: server.URL, API: api})
	require.NoError(t, err)

	reason := errors.New("changed my mind")
	ctx, cancel := context.WithCancelCause(t.Context())

	go func() {
		<-asked

		if silent {
			cancel(reason)
		}
	}()

	_, err = llm.Collect(client.Generate(ctx, question()), func(llm.Chunk) error {
		cancel(reason)

		return nil
	})
	require.ErrorIs(t, err, reason)

	select {
	case <-closed:
	case <-time.After(30 * time.Second): //nolint:forbidigo // llm imports nothing of internal
		require.Fail(t, "the connection is still open")
	}
}

// lingering is the body of an answer whose end comes after its last event, or never if waits is set.
type lingering struct {
	io.Reader
	ctx    context.Context
	waits  bool
	toEnd  bool
	closed bool
}

func (l *lingering) Read(p []byte) (int, error) {
	n, err := l.Reader.Read(p)
	if err == nil {
		return n, nil
	}

	if l.waits {
		<-l.ctx.Done()

		return 0, l.ctx.Err()
	}

	l.toEnd = true

	return 0, io.EOF
}

func (l *lingering) Close() error {
	l.closed = true

	return nil
}

// transport is a function that makes requests.
type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(request *http.Request) (*http.Response, error) { return f(request) }

func TestAnswerIsDrainedForConnectionReuse(t *testing.T) {
	t.Parallel()

	for _, api := range []string{openai.APIChat, openai.APIResponses} {
		for _, waits := range []bool{true, false} {
			var body *lingering

			client, err := openai.New(openai.Config{API: api, HTTPClient: &http.Client{
				Transport: transport(func(request *http.Request) (*http.Response, error) {
					_, _ = io.Copy(io.Discard, request.Body)
					events := strings.NewReader("data: " + chatStop + "\n\ndata: " + completed("") + "\n\ndata: [DONE]\n\n")
					body = &lingering{Reader: events, ctx: request.Context(), waits: waits}

					return &http.Response{StatusCode: http.StatusOK, Body: body, Request: request}, nil
				}),
			}})
			require.NoError(t, err)

			response, err := llm.Collect(client.Generate(t.Context(), question()), nil)
			require.NoError(t, err)
			require.Equal(t, llm.StopEnd, response.End.Reason)
			require.Equal(t, !waits, body.toEnd)
			require.True(t, body.closed)
		}
	}
}
