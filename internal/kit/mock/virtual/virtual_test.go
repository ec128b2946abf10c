package virtual_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/kit/mock/virtual"
)

func TestJournalWaitReturnsFirstFittingEntryAfterNumber(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		var journal virtual.Journal[string]

		journal.Add("a")
		journal.Add("b")

		go func() {
			synctest.Wait() // until the test waits
			journal.Add("c")
		}()

		entry, err := journal.Wait(t.Context(), 1, func(s string) bool { return s != "b" })
		require.NoError(t, err)
		require.Equal(t, "c", entry, "a is before, b does not fit")
		require.Equal(t, []string{"a", "b", "c"}, journal.List())
	})
}

func TestJournalWaitReturnsCauseOfContext(t *testing.T) {
	t.Parallel()

	var journal virtual.Journal[string]

	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("it did not come"))

	entry, err := journal.Wait(ctx, 0, func(string) bool { return true })
	require.EqualError(t, err, "it did not come")
	require.Empty(t, entry)
}

func TestFaultBreaksAsManyRequestsAsItSays(t *testing.T) {
	t.Parallel()

	var faults virtual.Faults[string]

	is := func(want string) func(string) bool { return func(got string) bool { return got == want } }

	faults.Add("once", 0)
	faults.Add("twice", 2)

	require.Equal(t, "twice", *faults.Take(is("twice")))
	require.Equal(t, []virtual.Pending[string]{{Fault: "once", Times: 1}, {Fault: "twice", Times: 1}}, faults.Pending())
	require.Equal(t, "once", *faults.Take(is("once")))
	require.Nil(t, faults.Take(is("once")))
}

func TestHostServesBetweenStartAndStop(t *testing.T) {
	t.Parallel()

	var host virtual.Host

	host.Stop()
	require.NoError(t, host.Start(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok") })))

	get := func() (*http.Response, error) {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, host.URL(), nil)
		require.NoError(t, err)

		return http.DefaultClient.Do(request)
	}

	response, err := get()
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())

	host.Stop()
	host.Stop()

	response, err = get()
	if err == nil {
		_ = response.Body.Close()
	}

	require.Error(t, err)
}

type step struct {
	Say  string `yaml:"say" doc:"Says something."`
	Wait bool   `yaml:"wait" doc:"Waits."`
}

func TestControlRunsStepsAndRefusesWebPages(t *testing.T) {
	t.Parallel()

	mux := http.NewServeMux()
	virtual.Control{
		Path: "/_mock/thing", Logger: slog.New(slog.DiscardHandler), State: func() any { return "state" },
		Lists: []virtual.List{{Name: "sent", Read: func(r *http.Request) any { return r.URL.Query().Get("channel") }}},
		Step:  func(r *http.Request) (any, error) { return virtual.ReadStep[step](r, "say: hello") },
	}.Register(mux)

	for _, c := range []struct{ method, path, body, origin, want string }{
		{http.MethodGet, "", "", "", `"state"`},
		{http.MethodGet, "/sent?channel=general", "", "", `"general"`},
		{http.MethodPost, "/steps", "say: hello", "", `{"Say":"hello","Wait":false}`},
		{http.MethodPost, "/steps", `{"say": "hello", "wait": true}`, "", "a step does exactly one thing, such as say: hello"},
		{http.MethodPost, "/steps", "sya: hello", "", "did you mean say?"},
		{http.MethodPost, "/steps", "say: hello", "https://example.com", "Web pages may not control this server."},
		{http.MethodGet, "/none", "", "", "Available below /_mock/thing: GET (the state), GET sent, POST steps."},
	} {
		request := httptest.NewRequestWithContext(t.Context(), c.method, "/_mock/thing"+c.path, strings.NewReader(c.body))
		if c.origin != "" {
			request.Header.Set("Origin", c.origin)
		}

		response := httptest.NewRecorder()
		mux.ServeHTTP(response, request)
		require.Contains(t, response.Body.String(), c.want, "%s %s %s", c.method, c.path, c.body)
	}
}
