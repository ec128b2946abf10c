package e2e

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/internal/postgres/pgtest"
	"tarsy.dev/tarsy/tarsytest"
)

func TestServerIsNotReadyWithoutItsDatabase(t *testing.T) {
	t.Parallel()

	app := tarsytest.New(t, tarsytest.Options{})
	require.Equal(t, http.StatusOK, probe(t, app.URL+"/readyz"))

	restore := pgtest.Interrupt(t, app.Database)
	awaitProbe(t, app.URL+"/readyz", http.StatusServiceUnavailable)
	require.Equal(t, http.StatusOK, probe(t, app.URL+"/livez"))
	require.Equal(t, http.StatusServiceUnavailable, probe(t, app.URL+"/api/v1/sessions/"+ident.New()+"/events"))

	restore()
	awaitProbe(t, app.URL+"/readyz", http.StatusOK)
}

func probe(t *testing.T, url string) int {
	t.Helper()

	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	require.NoError(t, err)

	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: patience}
	response, err := client.Do(request)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())

	return response.StatusCode
}

func awaitProbe(t *testing.T, url string, status int) {
	t.Helper()

	for deadline := time.Now().Add(patience); probe(t, url) != status; {
		require.True(t, time.Now().Before(deadline), "timed out waiting for %s to be %d", url, status)
	}
}
