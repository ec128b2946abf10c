package mcp_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"

	mcpsdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/kit/wait"
	"tarsy.dev/tarsy/internal/mcp"
)

// lineChannel receives the log, line by line.
type lineChannel chan string

func (c lineChannel) Write(data []byte) (int, error) {
	c <- string(data)

	return len(data), nil
}

func TestCallAsksForProgressWhichIsLogged(t *testing.T) {
	t.Parallel()
	server := newServer()
	addTool(server, "slow", true, func(ctx context.Context, req *mcpsdk.CallToolRequest) (*mcpsdk.CallToolResult, error) {
		token, _ := req.Params.GetProgressToken().(string)
		err := req.Session.NotifyProgress(ctx, &mcpsdk.ProgressNotificationParams{
			ProgressToken: token, Progress: 1, Total: 3, Message: "node 1 of 3\n" + strings.Repeat("x", 180) + " SECRET",
		})

		return text("token " + token), err
	})
	logged := make(lineChannel, 100)
	tools := openOne(t, server, mcp.Config{
		Limits: fast, Logger: slog.New(slog.NewJSONHandler(logged, &slog.HandlerOptions{Level: slog.LevelDebug})),
		Mask: func(_, text string) (string, error) { return strings.ReplaceAll(text, "SECRET", "#"), nil },
	})
	require.Equal(t, "token call-1", call(t, tools, "srv__slow", "").Content)
	line := wait.For(t, logged, "the line about the progress")
	require.Contains(t, line, `"msg":"progress of an mcp call","mcp_server":"srv","call_id":"call-1","progress":1,"total":3,"message":"node 1 of 3 xxx`)
	require.NotContains(t, line, "SECRET")
}

func TestHostileProgressDoesNotHarmCall(t *testing.T) {
	t.Parallel()
	raw := &rawServer{onCall: func(id string) []string {
		lines := []string{
			`{"jsonrpc":"2.0","method":"notifications/progress"}`,
			`{"jsonrpc":"2.0","method":"notifications/progress","params":null}`,
			`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":{"a":1},"progress":"much"}}`,
			`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":["call-1"],"progress":-1e308,"message":"a\u0000b"}}`,
		}
		for range 1000 {
			lines = append(lines, `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"another","progress":1}}`)
		}

		return append(lines, `{"jsonrpc":"2.0","id":`+id+`,"result":{"content":[{"type":"text","text":"done"}]}}`)
	}}
	logger := slog.New(slog.NewTextHandler(new(strings.Builder), &slog.HandlerOptions{Level: slog.LevelDebug}))
	tools := open(t, mcp.Config{Transport: raw.transport, Limits: fast, Logger: logger}, tarsy.MCPServerSelection{Name: "raw"})
	for range 2 {
		require.Equal(t, "done", call(t, tools, "raw__write", "").Content)
	}
}
