package openai_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/openai"
)

func TestReasoningModelsGetNoStopWhereRefused(t *testing.T) {
	t.Parallel()

	for _, test := range []struct {
		base, model string
		stops       bool
	}{
		{"https://api.openai.com/v1", "gpt-5", false},
		{"https://api.openai.com/v1", "gpt-4.1", true},
		{"https://me.openai.azure.com/openai/v1", "my-deployment", false},
		{"https://api.x.ai/v1", "grok-4.3", false},
		{"https://api.x.ai/v1", "grok-4.20-non-reasoning", true},
		{"http://localhost:8000/v1", "qwen3", true},
	} {
		r := &recorder{}
		client, err := openai.New(openai.Config{BaseURL: test.base, API: openai.APIChat, HTTPClient: &http.Client{Transport: r}})
		require.NoError(t, err)

		req := question()
		req.Model, req.Stop = test.model, []string{"Observation:"}
		_, err = llm.Collect(client.Generate(t.Context(), req), nil)
		require.NoError(t, err)
		require.Equal(t, test.stops, strings.Contains(r.body, `"stop"`), "%s %s", test.base, test.model)
	}
}

func TestEncryptedReasoningIsNotSentToAzure(t *testing.T) {
	t.Parallel()

	req := question()
	req.Messages = append(req.Messages, llm.Message{Role: llm.RoleAssistant, Content: "So.", Signature: &llm.Signature{
		By: "openai/gpt-5", Data: json.RawMessage(`{"thoughts":[{"id":"rs_1","sealed":"gAAAA=="}]}`),
	}})

	for base, sent := range map[string]bool{"https://api.openai.com/v1": true, "https://me.openai.azure.com/openai/v1": false} {
		r := &recorder{}
		client, err := openai.New(openai.Config{BaseURL: base, HTTPClient: &http.Client{Transport: r}})
		require.NoError(t, err)

		_, err = llm.Collect(client.Generate(t.Context(), req), nil)
		require.NoError(t, err)
		require.Equal(t, sent, strings.Contains(r.body, "gAAAA=="), base)
	}
}

func TestRefusedExtraIsDroppedFromRequest(t *testing.T) {
	t.Parallel()

	const (
		unverified = `{"error":{"message":"Your organization must be verified to generate reasoning summaries.","type":"invalid_request_error","param":"reasoning.summary","code":"unsupported_value"}}`
		unsealed   = `{"error":{"message":"Encrypted content is not supported with this model.","type":"invalid_request_error","param":"include","code":null}}`
	)

	var bodies []string

	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		bodies = append(bodies, string(body))

		switch {
		case strings.Contains(string(body), `"summary"`):
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, unverified)
		case strings.Contains(string(body), `"include"`):
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, unsealed)
		default:
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, "data: "+textDelta("Yes.")+"\n\ndata: "+completed("")+"\n\n")
		}
	}))
	t.Cleanup(server.Close)

	client, err := openai.New(openai.Config{BaseURL: server.URL, API: openai.APIResponses})
	require.NoError(t, err)

	req := question()
	req.ReasoningEffort = "low"

	for range 2 {
		response, err := llm.Collect(client.Generate(t.Context(), req), nil)
		require.NoError(t, err)
		require.Equal(t, "Yes.", response.Text)
	}

	require.Len(t, bodies, 4, "what was refused is remembered")
	require.Contains(t, bodies[3], `"effort":"low"`)

	// The client does not retry forever if the server keeps refusing.
	s := serve(t, http.StatusBadRequest, "application/json", unverified)
	require.Equal(t, llm.ClassInvalid, s.fails(t, openai.APIResponses).Class)
}
