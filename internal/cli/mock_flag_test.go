package cli_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/cli"
)

func TestMockKeepsConfiguredNumberOfRequests(t *testing.T) {
	t.Parallel()

	m := startMock(t, "--journal", "2", "--script", scriptFile(t, "version: 1\nreplies: [{text: scripted, times: forever}]\n"))
	for range 3 {
		m.ask(t, "/v1/chat/completions", mockChat)
	}

	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, m.url+"/_mock/journal", http.NoBody)
	require.NoError(t, err)

	request.Close = true

	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)

	defer response.Body.Close()

	journal, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	require.Equal(t, 2, strings.Count(string(journal), `"path":"/v1/chat/completions"`), string(journal))
	require.Equal(t, cli.ExitOK, m.end(t))
}

// A script whose first token would take an hour is answered immediately.
func TestMockRunsAtConfiguredSpeed(t *testing.T) {
	t.Parallel()

	script := scriptFile(t, "version: 1\nprofile: {ttft: 1h, tps: 1}\nreplies: [{text: scripted at last, times: forever}]\n")
	for _, speed := range []string{"0", "100000000"} {
		m := startMock(t, "--speed", speed, "--script", script)
		_, answer := m.ask(t, "/v1/chat/completions", mockChat)
		require.Contains(t, answer, "scripted at last")
		require.Equal(t, cli.ExitOK, m.end(t))
	}
}
