package loopback_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/loopback"
)

func TestRequestsCarryTheCallersCredentialsAndNothingElse(t *testing.T) {
	t.Parallel()

	from := httptest.NewRequest(http.MethodPost, "http://tarsy.example/mcp", strings.NewReader("{}"))
	from.RemoteAddr = "192.0.2.1:4000"

	// All headers that identify the caller and its origin to the API.
	credentials := http.Header{
		"Authorization": {"Bearer key"}, "Cookie": {"session=a"}, "X-Csrf-Token": {"b"}, "X-Forwarded-For": {"192.0.2.7"}, "X-Forwarded-Proto": {"https"},
		"X-Forwarded-User": {"ann"}, "X-Forwarded-Email": {"ann@example.com"}, "X-Forwarded-Groups": {"sre"}, "Origin": {"https://tarsy.example"},
		"Sec-Fetch-Site": {"same-origin"}, "X-Request-Id": {"r-1"},
	}
	from.Header = credentials.Clone()
	from.Header.Set("Idempotency-Key", "of the message")
	from.Header.Set("Content-Type", "application/json")

	var got *http.Request

	web := &http.Client{Transport: &loopback.Transport{From: from, API: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r

		w.Header().Set("X-Seen", "yes")
		w.WriteHeader(http.StatusTeapot)
	})}}

	response, err := web.Get("http://tarsy.example/api/v1/sessions?limit=1")
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	require.Equal(t, http.StatusTeapot, response.StatusCode)
	require.Equal(t, "yes", response.Header.Get("X-Seen"))
	require.Equal(t, "/api/v1/sessions?limit=1", got.RequestURI)
	require.Equal(t, []string{"tarsy.example", "192.0.2.1:4000"}, []string{got.Host, got.RemoteAddr})
	require.Equal(t, credentials, got.Header)
}

func TestCancelledRequestEndsHandlerBeforeItAnswers(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		ended := false
		transport := &loopback.Transport{From: httptest.NewRequest(http.MethodPost, "/mcp", nil), API: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			<-r.Context().Done()

			ended = true
		})}

		go func() {
			synctest.Wait()
			cancel()
		}()

		response, err := transport.RoundTrip(httptest.NewRequestWithContext(ctx, http.MethodGet, "http://tarsy.example/", http.NoBody))
		if err == nil {
			_ = response.Body.Close()
		}

		require.ErrorIs(t, err, context.Canceled)
		require.True(t, ended)
	})
}

func TestResponseOfPanickingHandlerIsCutOff(t *testing.T) {
	t.Parallel()

	web := &http.Client{Transport: &loopback.Transport{From: httptest.NewRequest(http.MethodPost, "/mcp", nil), API: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "half")

		panic(http.ErrAbortHandler)
	})}}

	response, err := web.Get("http://tarsy.example/")
	require.NoError(t, err)

	text, err := io.ReadAll(response.Body)
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	require.Equal(t, "half", string(text))
	require.NoError(t, response.Body.Close())
}
