package e2e

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/tarsytest"
)

func TestOnlyKnownOriginsMayConnect(t *testing.T) {
	t.Parallel()

	app := tarsytest.New(t, tarsytest.Options{
		Config: "system: {allowed_ws_origins: ['https://dashboard.example.com', '*.internal.example']}\n" + oneAgent,
	})
	app.Script.Add(says("Analysed."), says("Summed up."))
	sessionID := app.Run("test", "watched").ID

	tests := map[string]struct {
		origin  string
		allowed bool
	}{
		"no page":                      {"", true},
		"the server's own":             {app.URL, true},
		"configured":                   {"https://dashboard.example.com", true},
		"configured by pattern":        {"http://team.internal.example", true},
		"foreign":                      {"https://evil.example", false},
		"configured in other scheme":   {"http://dashboard.example.com", false},
		"ends like a configured one":   {"https://evildashboard.example.com", false},
		"begins like a configured one": {"https://dashboard.example.com.evil.example", false},
		"own host, other port":         {"http://127.0.0.1:1", false},
		"sandboxed page":               {"null", false},
	}

	for name, test := range tests {
		header := http.Header{}
		if test.origin != "" {
			header.Set("Origin", test.origin)
		}

		socket, answer := app.DialSocket(header)
		events := app.Do(http.MethodGet, "/api/v1/sessions/"+sessionID+"/events", nil, "Origin", test.origin)

		if test.allowed {
			require.NotNil(t, socket, "%s: %s", name, answer.Body)
			socket.Subscribe(tarsy.SessionChannel(sessionID))
			socket.WaitStatus("completed")
			socket.Close()
			require.Equal(t, http.StatusOK, events.Status, name)
			require.Equal(t, 1, strings.Count(string(events.Body), "event: end\n"), name)

			continue
		}

		for _, refusal := range []tarsytest.Response{answer, events} {
			require.Nil(t, socket, name)
			require.Equal(t, http.StatusForbidden, refusal.Status, name)
			require.Equal(t, string(tarsy.CodeForbiddenOrigin), refusal.Problem(t).Code, name)
		}
	}
}
