package mcpserver

import (
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	mcpsdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/client"
)

// overStdio connects to the tools of an API like a program that has started tarsy mcp.
func overStdio(t *testing.T, api http.Handler) *mcpsdk.ClientSession {
	t.Helper()

	server := httptest.NewServer(api)
	web := &http.Client{Transport: &http.Transport{}}
	c, err := client.New(client.Config{Server: server.URL, HTTP: web})
	require.NoError(t, err)

	theirIn, ourOut := io.Pipe()
	ourIn, theirOut := io.Pipe()
	ended := make(chan error, 1)

	go func() {
		ended <- ServeStdio(t.Context(), StdioConfig{Client: c, Version: "1", Logger: slog.New(slog.DiscardHandler), In: theirIn, Out: theirOut})
	}()

	session, err := mcpsdk.NewClient(&mcpsdk.Implementation{Name: "test", Version: "1"}, nil).
		Connect(t.Context(), &mcpsdk.IOTransport{Reader: ourIn, Writer: ourOut}, nil)
	require.NoError(t, err)
	t.Cleanup(func() {
		_ = session.Close()
		require.NoError(t, <-ended)
		web.CloseIdleConnections()
		server.Close()
	})

	return session
}

func textOfCall(t *testing.T, session *mcpsdk.ClientSession, tool, arguments string) (text string, failed bool) {
	t.Helper()

	result, err := session.CallTool(t.Context(), &mcpsdk.CallToolParams{Name: tool, Arguments: json.RawMessage(arguments)})
	require.NoError(t, err)
	require.Len(t, result.Content, 1)

	return result.Content[0].(*mcpsdk.TextContent).Text, result.IsError
}

func TestAlertDataMayBeTextObjectOrList(t *testing.T) {
	t.Parallel()

	received := make(chan string, 1)
	session := overStdio(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body struct {
			Data json.RawMessage `json:"data"`
		}

		_ = json.NewDecoder(r.Body).Decode(&body)
		received <- string(body.Data)

		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusAccepted)
		_, _ = io.WriteString(w, `{"session_id":"0197b0aa-0000-7000-8000-000000000001","status":"pending"}`)
	}))

	for data, want := range map[string]string{
		`"disk full"`: `"disk full"`,
		`{"labels":{"pod":"a"},"count":12345678901234567890}`: `{"labels":{"pod":"a"},"count":12345678901234567890}`,
		`[{"a":1}]`:       `[{"a":1}]`,
		`"{\"a\": 1}"`:    `{"a":1}`,
		`"{not JSON"`:     `"{not JSON"`,
		`"12"`:            `"12"`,
		`"\u0000 \ud800"`: `"\u0000 ` + "\uFFFD" + `"`,
	} {
		text, failed := textOfCall(t, session, "submit_alert", `{"data":`+data+`}`)
		require.False(t, failed, text)
		require.Equal(t, want, <-received)
	}
}

func TestWrongArgumentsAreExplained(t *testing.T) {
	t.Parallel()

	session := overStdio(t, http.NotFoundHandler())

	for _, c := range []struct{ tool, arguments, want string }{
		{"submit_alert", `{}`, "- data is missing. It must be text or an object or a list."},
		{"submit_alert", `{"data":7}`, "- data is 7. It must be text or an object or a list."},
		{"submit_alert", `{"data":"x","alertType":"y"}`, `- There is no argument "alertType"; did you mean alert_type? known arguments: alert_type, data, idempotency_key, runbook_url`},
		{"get_session", `{"wait_seconds":"soon"}`, "- session_id is missing. It must be text.\n- wait_seconds is \"soon\". It must be a whole number from 0 to 300."},
		{"list_sessions", `{"limit":51,"severity":"bad"}`, "- limit is 51. It must be a whole number from 1 to 50.\n- severity is \"bad\". It must be one of critical,"},
		{"list_sessions", `{"status":["asleep"]}`, `- status is ["asleep"]. It must be a list of pending, `},
		{"list_sessions", `{"tags":"web"}`, `- tags is "web". It must be a list of texts.`},
		{"list_sessions", `[]`, "- The arguments must be a JSON object."},
	} {
		text, failed := textOfCall(t, session, c.tool, c.arguments)
		require.True(t, failed)
		require.Contains(t, text, "The arguments of "+c.tool+" are wrong; nothing was done.\n"+c.want, c.arguments)
	}
}

func TestMissingKeyIsExplained(t *testing.T) {
	t.Parallel()

	session := overStdio(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/problem+json")
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = io.WriteString(w, `{"status":401,"code":"unauthorized","detail":"An API key is required."}`)
	}))
	text, failed := textOfCall(t, session, "list_sessions", `{}`)
	require.True(t, failed)
	require.Equal(t, "An API key is required; set the environment variable TARSY_TOKEN to an API key in the configuration of the program that starts tarsy mcp; "+
		"tarsy keys create makes one", text)
}
