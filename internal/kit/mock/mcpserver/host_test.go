package mcpserver_test

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	mcpsdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/agent"
	"tarsy.dev/tarsy/internal/kit/mock/mcpserver"
	"tarsy.dev/tarsy/internal/mcp"
)

const podTools = `
      - name: get_pods
        description: List pods.
        read_only: true
        schema: {type: object, properties: {namespace: {type: string}, limit: {type: integer}}, required: [namespace]}
        results:
          - when: {namespace: shop}
            text: "pod a, pod b in {{.namespace}}"
          - when: {namespace: empty}
            json: {items: [], count: 0}
          - when: {namespace: listed}
            json: [1, two]
          - when: {namespace: {matches: "^kube-"}}
            error: "no access to {{.namespace}}"
          - when: {namespace: once}
            text: first
            times: 1
          - when: {namespace: once}
            text: second
            times: 1
      - name: restart
        results: [{text: restarted}]
`

func TestServerFollowsItsScript(t *testing.T) {
	t.Parallel()

	session := open(t, podTools).connect(t)
	require.Equal(t, "Ask first.", session.InitializeResult().Instructions)
	require.Equal(t, "shop", session.InitializeResult().ServerInfo.Name)
	require.Equal(t, "1.2.3", session.InitializeResult().ServerInfo.Version)

	listed, err := session.ListTools(t.Context(), nil)
	require.NoError(t, err)
	require.Len(t, listed.Tools, 2)

	pods, restart := listed.Tools[0], listed.Tools[1]
	require.Equal(t, "List pods.", pods.Description)
	require.True(t, pods.Annotations.ReadOnlyHint)
	require.Equal(t, []any{"namespace"}, pods.InputSchema.(map[string]any)["required"])
	require.False(t, restart.Annotations.ReadOnlyHint)
	require.Equal(t, map[string]any{"type": "object"}, restart.InputSchema)
}

func TestFirstMatchingResultAnswers(t *testing.T) {
	t.Parallel()

	session := open(t, podTools).connect(t)

	for _, c := range []struct {
		arguments, want string
		failed          bool
	}{
		{`{"namespace":"shop"}`, "pod a, pod b in shop", false},
		{`{"namespace":"empty"}`, `{"count":0,"items":[]}`, false},
		{`{"namespace":"listed"}`, `[1,"two"]`, false},
		{`{"namespace":"kube-system"}`, "no access to kube-system", true},
		{`{"namespace":"once"}`, "first", false},
		{`{"namespace":"once"}`, "second", false},
	} {
		text, failed := ask(t, session, "get_pods", c.arguments)
		require.Equal(t, c.want, text)
		require.Equal(t, c.failed, failed)
	}
}

func TestJSONIsAlsoStructuredContent(t *testing.T) {
	t.Parallel()

	session := open(t, podTools).connect(t)

	result, err := session.CallTool(t.Context(), params("get_pods", `{"namespace":"empty"}`))
	require.NoError(t, err)
	require.Equal(t, map[string]any{"items": []any{}, "count": 0.0}, result.StructuredContent)

	result, err = session.CallTool(t.Context(), params("get_pods", `{"namespace":"listed"}`))
	require.NoError(t, err)
	require.Nil(t, result.StructuredContent, "older clients take objects only")
}

func TestUnmatchedCallIsExplained(t *testing.T) {
	t.Parallel()

	w := open(t, podTools)
	session := w.connect(t)

	ask(t, session, "get_pods", `{"namespace":"once"}`)
	ask(t, session, "get_pods", `{"namespace":"once"}`)

	text, failed := ask(t, session, "get_pods", `{"namespace":"once"}`)
	require.True(t, failed)
	require.Equal(t, `the script has no result for tool get_pods with arguments {"namespace":"once"}: `+
		`result 0: namespace is "once", wanted "shop"; result 1: namespace is "once", wanted "empty"; `+
		`result 2: namespace is "once", wanted "listed"; result 3: namespace is "once", wanted one that matches "^kube-"; `+
		`result 4: fits, but was used 1 of 1 times; result 5: fits, but was used 1 of 1 times`, text)

	text, failed = ask(t, session, "get_pods", `{"namespace":7}`)
	require.True(t, failed)
	require.Contains(t, text, "invalid arguments for tool get_pods")

	text, failed = ask(t, session, "get_pods", `{}`)
	require.True(t, failed)
	require.Contains(t, text, "namespace")

	_, err := session.CallTool(t.Context(), params("get_nodes", `{}`))
	require.ErrorContains(t, err, "get_nodes")

	unexpected := w.host.Unexpected()
	require.Len(t, unexpected, 4)
	require.Contains(t, unexpected[0], "MCP server shop, call 3: the script has no result")
	require.Contains(t, unexpected[3], `there is no tool "get_nodes"`)
}

func TestUnusedResultsAreReported(t *testing.T) {
	t.Parallel()

	w := open(t, podTools)
	require.Equal(t, []string{
		"MCP server shop, tool get_pods, result 4: used 0 of 1 times", "MCP server shop, tool get_pods, result 5: used 0 of 1 times",
	}, w.host.Unused())

	session := w.connect(t)
	ask(t, session, "get_pods", `{"namespace":"once"}`)
	ask(t, session, "get_pods", `{"namespace":"once"}`)
	require.Empty(t, w.host.Unused())
	require.Empty(t, w.host.Unexpected())
}

func TestJournalListsCalls(t *testing.T) {
	t.Parallel()

	w := open(t, podTools)
	session := w.connect(t)

	ask(t, session, "get_pods", `{"namespace":"shop","limit":3}`)
	ask(t, session, "get_pods", `{"namespace":"nope"}`)

	calls := w.host.Calls("shop")
	require.Len(t, calls, 2)
	require.Equal(t, mcpserver.Call{
		Number: 1, Server: "shop", Tool: "get_pods", Arguments: map[string]any{"namespace": "shop", "limit": json.Number("3")},
		Result: 0, Outcome: "text", Done: true, Start: w.clock.Now(),
	}, calls[0])
	require.Equal(t, -1, calls[1].Result)
	require.Equal(t, "unexpected", calls[1].Outcome)

	status, body := w.get(t, "/mcp/shop/_calls")
	require.Equal(t, http.StatusOK, status)

	var shown struct{ Calls []map[string]any }

	require.NoError(t, json.Unmarshal(body, &shown))
	require.Len(t, shown.Calls, 2)
	require.Equal(t, "get_pods", shown.Calls[0]["tool"])
	require.Equal(t, map[string]any{"namespace": "shop", "limit": 3.0}, shown.Calls[0]["arguments"])
	require.EqualValues(t, -1, shown.Calls[1]["result"])
}

func TestJournalIsLimited(t *testing.T) {
	t.Parallel()

	w := open(t, podTools)
	session := w.connect(t)

	for range 1005 {
		ask(t, session, "restart", `{}`)
	}

	ask(t, session, "restart", `{"text":"`+strings.Repeat("x", 1<<20)+`"}`)

	calls := w.host.Calls("shop")
	require.Len(t, calls, 1000)
	require.EqualValues(t, 7, calls[0].Number)
	require.EqualValues(t, 1006, calls[999].Number)
	require.Less(t, len(calls[999].Arguments.(string)), 70_000)
}

func TestUnknownServerIsNotFound(t *testing.T) {
	t.Parallel()

	w := open(t, podTools)

	for _, path := range []string{"/mcp/nope", "/mcp/nope/_calls"} {
		status, body := w.get(t, path)
		require.Equal(t, http.StatusNotFound, status)
		require.JSONEq(t, `{"error":"the script has no MCP server \"nope\"; it has shop"}`, string(body))
	}

	require.Empty(t, w.host.Calls("nope"))
}

func TestBrokenScriptIsReported(t *testing.T) {
	t.Parallel()

	servers := mcpserver.Servers{"shop": {Tools: []mcpserver.Tool{{Name: "get_pods"}}}}
	_, err := mcpserver.NewHost(servers, mcpserver.Options{})
	require.ErrorContains(t, err, "shop.tools[0].results: a tool needs at least one result")
	require.Error(t, servers.ServeStdio(t.Context(), "shop"))
}

func TestDelayFollowsClock(t *testing.T) {
	t.Parallel()

	w := open(t, "      - {name: slow, results: [{text: done, delay: 200ms}]}\n")
	session := w.connect(t)
	answered := make(chan string, 1)

	go func() {
		result, err := session.CallTool(t.Context(), params("slow", `{}`))
		if err != nil {
			answered <- err.Error()

			return
		}

		answered <- result.Content[0].(*mcpsdk.TextContent).Text
	}()

	require.NoError(t, w.clock.BlockUntilContext(t.Context(), 1))
	w.clock.Advance(199 * time.Millisecond)
	require.Empty(t, answered)

	calls := w.host.Calls("shop")
	require.Len(t, calls, 1, "a call that runs is in the journal")
	require.False(t, calls[0].Done)

	w.clock.Advance(time.Millisecond)
	require.Equal(t, "done", <-answered)
	require.Equal(t, 200*time.Millisecond, w.host.Calls("shop")[0].Duration)
}

// The product's own client, over both transports.
func TestOwnClientCallsScriptedServers(t *testing.T) {
	t.Parallel()

	binary, err := os.Executable()
	require.NoError(t, err)

	w := open(t, podTools)

	for name, transport := range map[string]mcp.Transport{
		"http":  {Type: mcp.TransportHTTP, URL: w.url + "/mcp/shop"},
		"stdio": {Type: mcp.TransportStdio, Command: binary, Env: map[string]string{roleVariable: script(podTools)}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			factory := mcp.New(mcp.Config{Servers: map[string]mcp.ServerConfig{"cluster": {Transport: transport}}})
			tools, err := factory.Open(t.Context(), "execution", []tarsy.MCPServerSelection{{Name: "cluster"}}, nil)
			require.NoError(t, err)

			defer func() { require.NoError(t, tools.Close()) }()

			listed, err := tools.List(t.Context())
			require.NoError(t, err)
			require.Len(t, listed, 2)

			result, err := tools.Call(t.Context(), agent.Call{ID: "1", Server: "cluster", Tool: "get_pods", Arguments: `{"namespace":"shop"}`})
			require.NoError(t, err)
			require.Equal(t, "pod a, pod b in shop", result.Content)
		})
	}
}

func TestProcessServesItsParent(t *testing.T) {
	t.Parallel()

	session, exited := process(t, podTools)

	text, failed := ask(t, session, "get_pods", `{"namespace":"shop"}`)
	require.False(t, failed)
	require.Equal(t, "pod a, pod b in shop", text)

	_, failed = ask(t, session, "get_pods", `{"namespace":"nope"}`)
	require.True(t, failed)

	require.NoError(t, session.Close())
	require.Zero(t, exited().ExitCode())
}

// process starts a scripted server in a separate process, and returns a function that waits for its end.
func process(t *testing.T, tools string) (*mcpsdk.ClientSession, func() *os.ProcessState) {
	t.Helper()

	binary, err := os.Executable()
	require.NoError(t, err)

	command := exec.Command(binary)
	command.Env = append(os.Environ(), roleVariable+"="+script(tools))
	command.Stderr = io.Discard
	session := connect(t, &mcpsdk.CommandTransport{Command: command})

	return session, func() *os.ProcessState {
		_ = session.Close() // it waits for the process, which a fault may have ended

		return command.ProcessState
	}
}

func (w *world) get(t *testing.T, path string) (int, []byte) {
	t.Helper()

	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Get(w.url + path)
	require.NoError(t, err)

	defer resp.Body.Close()

	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)

	return resp.StatusCode, body
}
