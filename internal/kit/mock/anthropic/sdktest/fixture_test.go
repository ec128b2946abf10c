// Package sdktest_test checks the mock of Anthropic's API with Anthropic's own library. It contains nothing else: the
// library takes long to compile, and no other package links it.
package sdktest_test

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"go.uber.org/goleak"

	"tarsy.dev/tarsy/internal/kit/mock/anthropic"
	"tarsy.dev/tarsy/internal/kit/mock/exchange"
	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// server answers from a script, on the API's own routes and those that it shares.
type server struct {
	*testing.T
	*script.Script
	url string
}

func serve(t *testing.T, replies ...script.Reply) *server {
	t.Helper()

	s := script.New(script.Options{})
	s.Add(replies...)

	exchanges := &exchange.Config{
		Lane: func(*http.Request) (string, *script.Script, *llm.Error) { return "", s, nil },
		Done: func(*exchange.Exchange) {}, Now: time.Now,
	}
	api := exchange.API{Name: anthropic.Name, Routes: anthropic.Routes(), Error: anthropic.Error}
	shared := []exchange.Route{
		{Pattern: "GET /v1/models", Handle: anthropic.Models},
		{Pattern: "GET /v1/models/{id}", Handle: func(x *exchange.Exchange) { anthropic.Model(x, x.Request.PathValue("id")) }},
	}
	mux := http.NewServeMux()

	for _, route := range slices.Concat(api.Routes, shared) {
		mux.Handle(route.Pattern, exchanges.Handler(api, route.Handle))
	}

	listening := httptest.NewServer(mux)
	t.Cleanup(listening.Close)

	return &server{T: t, Script: s, url: listening.URL}
}

// thinkingSignature is the signature of the thinking in everything.
const thinkingSignature = "dmlydHVhbCB0aGlua2luZzogHln5aOTPkhGBvhBDSDAzV9s2N/LBqAz2sbxuhLuViUE="

func everything() script.Reply {
	return script.Reply{Chunks: []llm.Chunk{
		llm.ThinkingChunk{Text: "Let me "}, llm.ThinkingChunk{Text: "see."},
		llm.TextChunk{Text: "It is \"the\" "}, llm.TextChunk{Text: "disk.\n"},
		llm.ToolCallChunk{Call: llm.ToolCall{ID: "toolu_a", Name: "get_pods", Arguments: `{"namespace":"shop","names":["a","b","ü"]}`}},
		llm.ToolCallChunk{Call: llm.ToolCall{Name: "get_events"}},
		llm.UsageChunk{InputTokens: 30, OutputTokens: 7, ThinkingTokens: 4, CachedTokens: 10},
	}}
}
