package e2e

import (
	"bytes"
	"net/http"
	"net/url"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/kit/mock"
	"tarsy.dev/tarsy/internal/kit/mock/scriptfile"
	"tarsy.dev/tarsy/llm/script"
)

// mockScript streams a paragraph, in pieces as models do.
var mockScript = "version: 1\nroutes:\n  - when: {user: what is wrong}\n    replies: [{text: \"" +
	strings.Repeat("The pod ran out of memory because its cache has no bound. ", 7) + "\", times: forever}]\n"

// mockCosts returns what answers of the mock server allocate, by name. The handler is the one that `tarsy mock` serves.
func mockCosts(t *testing.T) map[string]float64 {
	t.Helper()

	const (
		text    = `"Tell me what is wrong with the checkout service."`
		system  = `"You are a careful engineer."`
		message = `[{"role":"user","content":` + text + `}]`
		gemini  = `{"systemInstruction":{"parts":[{"text":` + system + `}]},"contents":[{"role":"user","parts":[{"text":` + text + `}]}]}`
	)

	costs := map[string]float64{}

	for _, api := range []struct{ name, whole, stream, body string }{
		{"openai", "/v1/chat/completions", "/v1/chat/completions", `{"model":"m","messages":` + message + `}`},
		{"responses", "/v1/responses", "/v1/responses", `{"model":"m","store":false,"instructions":` + system + `,"input":` + message + `}`},
		{"anthropic", "/v1/messages", "/v1/messages", `{"model":"m","max_tokens":1000,"system":` + system + `,"messages":` + message + `}`},
		{"gemini", "/v1beta/models/m:generateContent", "/v1beta/models/m:streamGenerateContent?alt=sse", gemini},
	} {
		streamed := api.body
		if api.whole == api.stream {
			streamed = `{"stream":true,` + api.body[1:]
		}

		costs["mock: allocations per answer ("+api.name+")"], costs["mock: bytes per answer ("+api.name+")"] = mockCost(t, api.whole, api.body)
		costs["mock: allocations per stream ("+api.name+")"], costs["mock: bytes per stream ("+api.name+")"] = mockCost(t, api.stream, streamed)
	}

	return costs
}

// mockCost returns what one answer to a request allocates, on average.
func mockCost(t *testing.T, path, body string) (allocations, size float64) {
	t.Helper()

	const (
		journal = 100
		runs    = 1000
	)

	file, err := scriptfile.Parse("costs.yaml", []byte(mockScript))
	require.NoError(t, err)

	server := mock.New(mock.Config{JournalSize: journal, Script: func(string) *script.Script { return file.ServerScript(nil) }})
	at, err := url.Parse(path)
	require.NoError(t, err)

	var (
		content  mockBody
		recorder = mockRecorder{header: http.Header{}}
		request  = &http.Request{
			Method: http.MethodPost, URL: at, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Body: &content, ContentLength: int64(len(body)),
			Header: http.Header{"Content-Type": {"application/json"}, "X-Api-Key": {"any"}, "Anthropic-Version": {"2023-06-01"}},
		}
		first, last runtime.MemStats
		raw         = []byte(body)
	)

	answer := func() {
		content.Reset(raw)
		clear(recorder.header)
		server.ServeHTTP(&recorder, request)
	}

	// Afterwards the journal is full and all buffers have reached their size.
	for range 2 * journal {
		answer()
	}

	require.Equal(t, http.StatusOK, recorder.status)

	// A collection would empty the pools, and each processor has its own.
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))

	answer()
	runtime.ReadMemStats(&first)

	for range runs {
		answer()
	}

	runtime.ReadMemStats(&last)

	return float64(last.Mallocs-first.Mallocs) / runs, float64(last.TotalAlloc-first.TotalAlloc) / runs
}

// mockBody is a request's body.
type mockBody struct{ bytes.Reader }

func (*mockBody) Close() error { return nil }

// mockRecorder discards what is written.
type mockRecorder struct {
	header http.Header
	status int
}

func (r *mockRecorder) Header() http.Header         { return r.header }
func (r *mockRecorder) Write(p []byte) (int, error) { return len(p), nil }
func (r *mockRecorder) WriteHeader(status int)      { r.status = status }
