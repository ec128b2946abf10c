package mcpserver

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	mcpsdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"
)

// A panic here would abort the test.
func TestHostileMessagesAreAnsweredAndDoNotEndTheServer(t *testing.T) {
	t.Parallel()

	h := newTestHandler(http.NotFoundHandler())
	defer h.Close()

	tools := []string{"submit_alert", "list_sessions", "get_session", "ask", "search_past_investigations", "list_tasks", "nothing", ""}
	values := []string{"null", " null ", "{}", "[]", `"x"`, "1", `{"limit":null,"session_id":null,"status":null}`, `{"status":[null],"wait_seconds":-1,"limit":1e300}`, strings.Repeat("[", 5000)}
	messages := []string{`null`, `[]`, " \n[{}]", `{}`, `x`, `{"jsonrpc":"2.0","id":1,"method":"tools/call"}`, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":null}`}

	for _, tool := range tools {
		for _, value := range values {
			messages = append(messages, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"`+tool+`","arguments":`+value+`}}`)
		}
	}

	for _, message := range messages {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "http://127.0.0.1/mcp", strings.NewReader(message))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")

		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		require.Less(t, w.Code, http.StatusInternalServerError, message)
		require.Equal(t, strings.HasPrefix(strings.TrimSpace(message), "["), strings.Contains(w.Body.String(), "batches are not supported"), message)
		require.NotContains(t, w.Body.String(), errInternal.Error(), message)
	}
}

func TestPanicOfHandlerIsAnError(t *testing.T) {
	t.Parallel()

	var log strings.Builder

	handle := recovered(slog.New(slog.NewTextHandler(&log, nil)))(func(context.Context, string, mcpsdk.Request) (mcpsdk.Result, error) { panic("broken") })
	result, err := handle(t.Context(), "tools/call", nil)
	require.Nil(t, result)
	require.ErrorIs(t, err, errInternal)
	require.Contains(t, log.String(), "cause=broken")
}
