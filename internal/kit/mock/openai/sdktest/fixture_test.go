// Package sdktest_test checks the mock of OpenAI's API with OpenAI's own library. It contains nothing else: the library
// takes long to compile, and no other package links it.
package sdktest_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"go.uber.org/goleak"

	"tarsy.dev/tarsy/internal/kit/mock/exchange"
	"tarsy.dev/tarsy/internal/kit/mock/openai"
	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// server is the API behind a script.
type server struct {
	*httptest.Server
	script *script.Script
}

func serve(t *testing.T, replies ...script.Reply) *server {
	t.Helper()

	s := &server{script: script.New(script.Options{})}
	s.script.Add(replies...)

	config := &exchange.Config{
		Lane: func(*http.Request) (string, *script.Script, *llm.Error) { return "", s.script, nil },
		Done: func(*exchange.Exchange) {}, Now: time.Now,
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
