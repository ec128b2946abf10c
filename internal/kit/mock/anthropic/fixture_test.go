package anthropic_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
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

// post sends a body with the headers that the API requires, except those in without.
func (s *server) post(path, body string, without ...string) (*http.Response, string) {
	s.Helper()

	req, err := http.NewRequestWithContext(s.Context(), http.MethodPost, s.url+path, bytes.NewBufferString(body))
	require.NoError(s, err)

	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-Api-Key", "any")
	req.Header.Set("Anthropic-Version", "2023-06-01")

	for _, name := range without {
		req.Header.Del(name)
	}

	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Do(req)
	require.NoError(s, err)

	defer response.Body.Close()

	answer, err := io.ReadAll(response.Body)
	require.NoError(s, err)

	return response, string(answer)
}
