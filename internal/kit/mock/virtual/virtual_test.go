package virtual_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/kit/mock/virtual"
)

func TestJournalWaitReturnsFirstFittingEntryAfterNumber(t *testing.T) {
	t.Parallel()

	var journal virtual.Journal[string]

	journal.Add("a")
	journal.Add("b")

	found := make(chan string)

	go func() {
		entry, err := journal.Wait(t.Context(), 1, func(s string) bool { return s != "b" })
		found <- entry + errorText(err)
	}()

	journal.Add("c")
	require.Equal(t, "c", <-found, "a is before, b does not fit")
	require.Equal(t, []string{"a", "b", "c"}, journal.List())
}

func TestJournalWaitReturnsCauseOfContext(t *testing.T) {
	t.Parallel()

	var journal virtual.Journal[string]

	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("it did not come")) //nolint:err113 // a test's own

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

func errorText(err error) string {
	if err == nil {
		return ""
	}

	return err.Error()
}
