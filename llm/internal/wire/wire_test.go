package wire_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"tarsy.dev/tarsy/llm/internal/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// client returns a client with its own connections.
func client(t *testing.T) *http.Client {
	t.Helper()

	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)

	return &http.Client{Transport: transport}
}

// serve answers every request after reading it, and returns the address.
func serve(t *testing.T, answer func(w http.ResponseWriter, r *http.Request, body string)) string {
	t.Helper()

	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		answer(w, r, string(body))
	}))
	t.Cleanup(server.Close)

	return server.URL
}

func TestPostSendsJSONAndReturnsUnreadAnswer(t *testing.T) {
	t.Parallel()

	address := serve(t, func(w http.ResponseWriter, r *http.Request, body string) {
		if r.Method != http.MethodPost || r.Header.Get("X-Own") != "1" || r.ContentLength != int64(len(body)) {
			t.Errorf("%s with %v", r.Method, r.Header)
		}

		_, _ = io.WriteString(w, body)
	})

	header := http.Header{"X-Own": {"1"}}
	answer, err := wire.Post(t.Context(), client(t), address, header, []string{"<a> & \xff"})
	require.NoError(t, err)

	body, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	require.Equal(t, `["<a> & \ufffd"]`, string(body))
	require.Equal(t, http.Header{"X-Own": {"1"}}, header)
}

func TestErrorStatusIsErrorWithBodyAndHeader(t *testing.T) {
	t.Parallel()

	address := serve(t, func(w http.ResponseWriter, _ *http.Request, _ string) {
		w.Header().Set("Retry-After", "7")
		w.WriteHeader(http.StatusTooManyRequests)
		_, _ = io.WriteString(w, strings.Repeat("x", 1<<20))
	})

	_, err := wire.Post(t.Context(), client(t), address, nil, 1)

	var status *wire.StatusError

	require.ErrorAs(t, err, &status)
	require.Equal(t, http.StatusTooManyRequests, status.Status)
	require.Equal(t, "7", status.Header.Get("Retry-After"))
	require.Len(t, status.Body, 64<<10)
	require.NoError(t, status.Err)
	require.EqualError(t, err, "the server answered HTTP 429")
}

func TestCutErrorBodyIsReportedWithWhatWasRead(t *testing.T) {
	t.Parallel()

	address := serve(t, func(w http.ResponseWriter, _ *http.Request, _ string) {
		w.Header().Set("Content-Length", "100")
		w.WriteHeader(http.StatusBadGateway)
		_, _ = io.WriteString(w, "half")
		_ = http.NewResponseController(w).Flush()

		panic(http.ErrAbortHandler)
	})

	_, err := wire.Post(t.Context(), client(t), address, nil, 1)

	var status *wire.StatusError

	require.ErrorAs(t, err, &status)
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	require.ErrorContains(t, err, "HTTP 502")
	require.Equal(t, "half", string(status.Body))
}

func TestPostEndsWithItsContext(t *testing.T) {
	t.Parallel()

	ctx, cancel := context.WithCancel(t.Context())
	left := make(chan struct{})
	address := serve(t, func(_ http.ResponseWriter, r *http.Request, _ string) {
		cancel()
		<-r.Context().Done()
		close(left)
	})

	_, err := wire.Post(ctx, client(t), address, nil, 1)
	require.ErrorIs(t, err, context.Canceled)
	<-left
}

func TestPostRejectsInvalidValueOrAddress(t *testing.T) {
	t.Parallel()

	_, err := wire.Post(t.Context(), client(t), "http://localhost", nil, func() {})
	require.ErrorContains(t, err, "encode the request")

	_, err = wire.Post(t.Context(), client(t), "http://a b", nil, 1)
	require.Error(t, err)
}

func TestPathIsResolvedBelowBase(t *testing.T) {
	t.Parallel()

	for base, want := range map[string]string{
		"http://h":            "http://h/v1/x",
		"http://h/":           "http://h/v1/x",
		"http://h:80/a/b":     "http://h:80/a/b/v1/x",
		"http://h/a/b/":       "http://h/a/b/v1/x",
		"http://u:p@h/a?b=c":  "http://u:p@h/a/v1/x",
		"http://h/a%2Fb":      "http://h/a%2Fb/v1/x",
		"http://h/a/../b#top": "http://h/b/v1/x",
	} {
		address, err := url.Parse(base)
		require.NoError(t, err)
		require.Equal(t, want, wire.Resolve(address, "v1/x").String(), base)
		require.Equal(t, base, address.String())
	}
}

func TestRedirectToAnotherOriginIsNotFollowed(t *testing.T) {
	t.Parallel()

	elsewhere := serve(t, func(_ http.ResponseWriter, r *http.Request, body string) {
		t.Errorf("a call was taken elsewhere, with %s and %q", body, r.Header.Get("X-Api-Key"))
	})
	address := serve(t, func(w http.ResponseWriter, r *http.Request, body string) {
		switch r.URL.Path {
		case "/near":
			http.Redirect(w, r, "/here", http.StatusTemporaryRedirect)
		case "/here":
			_, _ = io.WriteString(w, body)
		case "/circle":
			http.Redirect(w, r, "/circle", http.StatusTemporaryRedirect)
		default:
			http.Redirect(w, r, elsewhere, http.StatusTemporaryRedirect)
		}
	})
	header := http.Header{"X-Api-Key": {"secret"}}

	_, err := wire.Post(t.Context(), wire.SameOrigin(client(t)), address+"/far", header, 1)
	require.ErrorContains(t, err, "redirects to another address")

	_, err = wire.Post(t.Context(), wire.SameOrigin(client(t)), address+"/circle", header, 1)
	require.ErrorContains(t, err, "stopped after 10 redirects")

	answer, err := wire.Post(t.Context(), wire.SameOrigin(client(t)), address+"/near", header, 1)
	require.NoError(t, err)

	body, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	require.Equal(t, "1", string(body))

	// The client's own rule is applied first.
	own := client(t)
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return errOwn }
	_, err = wire.Post(t.Context(), wire.SameOrigin(own), address+"/far", header, 1)
	require.ErrorIs(t, err, errOwn)
}

var errOwn = errors.New("a rule of the client's own")

func TestNoClientIsTheDefaultOne(t *testing.T) {
	t.Parallel()

	require.Equal(t, http.DefaultClient.Transport, wire.SameOrigin(nil).Transport)
}

// closing is a body that records whether it was closed.
type closing struct {
	io.Reader

	closed bool
}

func (c *closing) Close() error {
	c.closed = true

	return nil
}

type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(request *http.Request) (*http.Response, error) { return f(request) }

func TestPostClosesOnlyErrorBodies(t *testing.T) {
	t.Parallel()

	for status, closed := range map[int]bool{http.StatusOK: false, http.StatusBadRequest: true} {
		body := &closing{Reader: strings.NewReader("x")}
		answering := &http.Client{Transport: transport(func(request *http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: status, Body: body, Request: request}, nil
		})}

		answer, err := wire.Post(t.Context(), answering, "http://localhost", http.Header{}, 1)
		require.Equal(t, closed, err != nil)
		require.Equal(t, closed, body.closed)

		if !closed {
			require.NoError(t, answer.Body.Close())
		}
	}
}
