package openai_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

func (s *server) get(t *testing.T, path, version string) (int, string) {
	t.Helper()

	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+path, nil)
	require.NoError(t, err)

	if version != "" {
		request.Header.Set("Anthropic-Version", version)
		request.Header.Set("X-Api-Key", "key")
	}

	status, _, body := s.do(t, request)

	return status, string(body)
}

func TestModelsAreListedAndAnyModelExists(t *testing.T) {
	t.Parallel()

	s := serve(t)

	status, body := s.get(t, "/v1/models", "")
	require.Equal(t, http.StatusOK, status)
	require.Contains(t, body, `{"object":"list","data":[{"id":"gpt-5.1","object":"model","created":1735689600,"owned_by":"system"}`)

	for _, path := range []string{"/v1/models/", "/models/"} {
		status, body = s.get(t, path+"meta/llama-4", "")
		require.Equal(t, http.StatusOK, status)
		require.JSONEq(t, `{"id":"meta/llama-4","object":"model","created":1735689600,"owned_by":"system"}`, body)
	}
}

func TestModelsAreListedInCallerAPIFormat(t *testing.T) {
	t.Parallel()

	s := serve(t)

	_, body := s.get(t, "/v1/models", "2023-06-01")
	require.Contains(t, body, `"has_more"`)

	_, body = s.get(t, "/v1/models/claude-x", "2023-06-01")
	require.Contains(t, body, `"display_name":"claude-x"`)
}
