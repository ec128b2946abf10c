package gemini_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/gemini"
)

// hanging sends one event and waits for the caller to leave, then closes the channel.
func hanging(t *testing.T) (*wire, chan struct{}) {
	t.Helper()

	left := make(chan struct{})

	return serve(t, func(rw http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(rw, "data: "+event(`{"text": "So"}`, "")+"\r\n\r\n")
		rw.(http.Flusher).Flush()
		<-r.Context().Done()
		close(left)
	}), left
}

func TestCancelClosesConnection(t *testing.T) {
	t.Parallel()

	w, left := hanging(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	changed := errors.New("changed my mind")

	_, err := llm.Collect(w.client(t).Generate(ctx, ask()), func(llm.Chunk) error {
		cancel(changed)

		return nil
	})
	require.ErrorIs(t, err, changed)
	<-left
}

func TestStoppedConsumerClosesConnection(t *testing.T) {
	t.Parallel()

	w, left := hanging(t)
	for chunk, err := range w.client(t).Generate(t.Context(), ask()) {
		require.NoError(t, err)
		require.Equal(t, llm.TextChunk{Text: "So"}, chunk)

		break
	}

	<-left
}

func TestConsumerPanicPropagates(t *testing.T) {
	t.Parallel()

	w := answering(t, done)

	require.PanicsWithValue(t, "mine", func() {
		for range w.client(t).Generate(t.Context(), ask()) {
			panic("mine")
		}
	})
}

func TestTruncatedStreamIsTransient(t *testing.T) {
	t.Parallel()

	for name, cut := range map[string]string{
		"between events":      "data: " + event(`{"text": "So"}`, "") + "\r\n\r\n",
		"within an event":     "data: " + event(`{"text": "So"}`, "") + "\r\n\r\ndata: {\"candidates\": [{\"con",
		"before its line end": "data: " + event(`{"text": "So"}`, ""),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			w := serve(t, func(rw http.ResponseWriter, _ *http.Request) {
				_, _ = io.WriteString(rw, cut)
				rw.(http.Flusher).Flush()
				panic(http.ErrAbortHandler)
			})
			chunks, err := w.generate(t, ask())
			require.Equal(t, []llm.Chunk{llm.TextChunk{Text: "So"}}, chunks)
			require.ErrorIs(t, err, io.ErrUnexpectedEOF)

			e := llm.AsError(err)
			require.Equal(t, llm.ClassTransient, e.Class)
			require.True(t, e.Retryable)
		})
	}
}

func TestLineEndingsMayBeMixed(t *testing.T) {
	t.Parallel()

	w := serve(t, func(rw http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(rw, "data: "+event(`{"text": "a"}`, "")+"\r\n\r\ndata: "+event(`{"text": "b"}`, "")+"\n\ndata: "+done+"\r\n\r\n")
	})
	chunks, err := w.generate(t, ask())
	require.NoError(t, err)
	require.Equal(t, []llm.Chunk{llm.TextChunk{Text: "a"}, llm.TextChunk{Text: "b"}, llm.TextChunk{Text: "ok"}}, chunks[:3])
}

func TestNothingIsReadFromEnvironment(t *testing.T) {
	other := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("the environment chose the server") })

	for name, value := range map[string]string{
		"GOOGLE_API_KEY": "of-the-environment", "GEMINI_API_KEY": "of-the-environment", "GOOGLE_GENAI_USE_VERTEXAI": "true",
		"GOOGLE_GENAI_USE_ENTERPRISE": "true", "GOOGLE_CLOUD_PROJECT": "of-the-environment", "GOOGLE_CLOUD_LOCATION": "of-the-environment",
		"GOOGLE_CLOUD_REGION": "of-the-environment", "GOOGLE_GEMINI_BASE_URL": other.URL, "GOOGLE_VERTEX_BASE_URL": other.URL,
	} {
		t.Setenv(name, value)
	}

	_, err := gemini.New(gemini.Config{})
	require.ErrorContains(t, err, "needs an API key")

	_, err = gemini.New(gemini.Config{Vertex: true})
	require.ErrorContains(t, err, "needs a project")

	w := answering(t, done)

	for path, cfg := range map[string]gemini.Config{
		"/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse": {APIKey: key},
		"/v1beta1/projects/p/locations/global/publishers/google/models/gemini-2.5-flash:streamGenerateContent?alt=sse": {
			Vertex: true, Project: "p",
		},
		"/v1beta1/projects/p/locations/eu/publishers/google/models/gemini-2.5-flash:streamGenerateContent?alt=sse": {
			Vertex: true, Project: "p", Location: "eu",
		},
		"/v1beta1/publishers/google/models/gemini-2.5-flash:streamGenerateContent?alt=sse": {Vertex: true, APIKey: key},
	} {
		// Without a base URL, the client uses Google's own address, which the transport records.
		seen := make(chan string, 1)
		cfg.HTTPClient = &http.Client{Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
			seen <- r.URL.Host

			r.URL.Scheme, r.URL.Host = "http", w.Listener.Addr().String()

			return httpClient(t).Transport.RoundTrip(r)
		})}

		_, err := llm.Collect(newClient(t, cfg).Generate(t.Context(), ask()), nil)
		require.NoError(t, err)
		require.Regexp(t, `^(generativelanguage|aiplatform|aiplatform\.eu\.rep)\.googleapis\.com$`, <-seen)

		last := w.requests[len(w.requests)-1]
		require.Equal(t, path, last.Path)
		require.Equal(t, cfg.APIKey, last.Header.Get("X-Goog-Api-Key"))
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestBaseURLMayIncludeVersion(t *testing.T) {
	t.Parallel()

	for suffix, path := range map[string]string{
		"": "/v1beta/", "/": "/v1beta/", "/v1beta/": "/v1beta/", "/v1alpha": "/v1alpha/", "/proxy/gemini": "/proxy/gemini/v1beta/", "/proxy/v1beta": "/proxy/v1beta/",
	} {
		w := answering(t, done)
		client := newClient(t, gemini.Config{APIKey: key, BaseURL: w.URL + suffix, Headers: map[string]string{"X-Team": "sre"}})
		_, err := llm.Collect(client.Generate(t.Context(), ask()), nil)
		require.NoError(t, err)
		require.Equal(t, path+"models/gemini-2.5-flash:streamGenerateContent?alt=sse", w.requests[0].Path)
		require.Equal(t, "sre", w.requests[0].Header.Get("X-Team"))
	}
}
