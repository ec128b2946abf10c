package openai_test

import (
	"bytes"
	"flag"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"tarsy.dev/tarsy/internal/kit/mock/exchange"
	"tarsy.dev/tarsy/internal/kit/mock/openai"
	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
)

var update = flag.Bool("update", false, "rewrite golden files")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// server is the API behind a script, with a fixed clock.
type server struct {
	*httptest.Server
	script *script.Script

	mu      sync.Mutex
	entries []exchange.Entry
}

// done records the journal entry of an exchange.
func (s *server) done(x *exchange.Exchange) {
	s.mu.Lock()
	defer s.mu.Unlock()

	s.entries = append(s.entries, *x.Entry)
}

func serve(t *testing.T, replies ...script.Reply) *server {
	t.Helper()

	s := &server{script: script.New(script.Options{})}
	s.script.Add(replies...)

	config := &exchange.Config{
		Lane: func(*http.Request) (string, *script.Script, *llm.Error) { return "", s.script, nil },
		Done: s.done,
		Now:  func() time.Time { return time.Unix(1763164800, 0) },
	}
	mux := http.NewServeMux()
	api := exchange.API{Name: openai.Name, Routes: openai.Routes(), Error: openai.Error}

	for _, route := range api.Routes {
		mux.Handle(route.Pattern, config.Handler(api, route.Handle))
	}

	s.Server = httptest.NewServer(mux)
	t.Cleanup(s.Close)

	return s
}

// post sends a body unchanged and returns the response.
func (s *server) post(t *testing.T, path, body string) (status int, header http.Header, answer []byte) {
	t.Helper()

	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+path, bytes.NewBufferString(body))
	require.NoError(t, err)

	return s.do(t, request)
}

func (s *server) do(t *testing.T, request *http.Request) (status int, header http.Header, answer []byte) {
	t.Helper()

	response, err := s.Client().Do(request)
	require.NoError(t, err)

	defer response.Body.Close()

	answer, err = io.ReadAll(response.Body)
	require.NoError(t, err)

	return response.StatusCode, response.Header, answer
}

// golden compares data with a file, byte for byte.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()

	path := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.WriteFile(path, got, 0o644))
	}

	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), string(got))
}

// everything is an answer with a chunk of each kind.
func everything() script.Reply {
	return script.Reply{Chunks: []llm.Chunk{
		llm.ThinkingChunk{Text: "Let me "},
		llm.ThinkingChunk{Text: "see.\n"},
		llm.CodeExecutionChunk{Code: "print(1+1)", Result: "2\n"},
		llm.GroundingChunk{Kind: "google_search", Queries: []string{"exit code 137"}, Sources: []llm.Source{{Title: "Codes", URL: "https://example.com/137"}}},
		llm.TextChunk{Text: "It is "},
		llm.TextChunk{Text: "\"2\" \x00\xff żółw"},
		llm.ToolCallChunk{Call: llm.ToolCall{ID: "call_1", Name: "get_pods", Arguments: `{"namespace":"shop","labels":"żółw=1"}`}},
		llm.ToolCallChunk{Call: llm.ToolCall{ID: "call_2", Name: "get_events"}},
		llm.UsageChunk{InputTokens: 100, CachedTokens: 80, OutputTokens: 20, ThinkingTokens: 7},
		llm.EndChunk{Reason: llm.StopToolCalls, Signature: &llm.Signature{By: "script", Data: []byte(`"sealed"`)}},
	}}
}
