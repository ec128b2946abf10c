package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jonboulle/clockwork"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	mcpsdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/agent"
	"tarsy.dev/tarsy/internal/kit/wait"
	"tarsy.dev/tarsy/internal/mcp"
)

func TestCallAcceptsBothSpellingsAndCarriesCallID(t *testing.T) {
	t.Parallel()
	server := newServer()
	addTool(server, "echo", true, func(_ context.Context, req *mcpsdk.CallToolRequest) (*mcpsdk.CallToolResult, error) {
		id, _ := req.Params.Meta[mcp.CallIDKey].(string)

		return text(id + " " + string(req.Params.Arguments)), nil
	})
	tools := openOne(t, server, mcp.Config{})

	for _, name := range []string{"srv__echo", "srv.echo"} {
		require.Equal(t, agent.Result{Server: "srv", Tool: "echo", Content: `call-1 {"n":1}`, Attempts: 1},
			call(t, tools, name, `{"n":1}`))
	}
}

func TestArgumentsBecomeObjectWithExactNumbers(t *testing.T) {
	t.Parallel()
	server := newServer()
	addTool(server, "echo", true, func(_ context.Context, req *mcpsdk.CallToolRequest) (*mcpsdk.CallToolResult, error) {
		return text(string(req.Params.Arguments)), nil
	})
	tools := openOne(t, server, mcp.Config{})

	for written, want := range map[string]string{
		`{"n":12345678901234567890,"f":0.10}`: `{"n":12345678901234567890,"f":0.10}`,
		``:                                    `{}`,
		"\t\n":                                `{}`,
		`null`:                                `{}`,
		`[1,2]`:                               `{"input":[1,2]}`,
		`"pods"`:                              `{"input":"pods"}`,
		`9007199254740993`:                    `{"input":9007199254740993}`,
		"{\"a\":\"\xff\"}":                    "{\"a\":\"\uFFFD\"}",
	} {
		require.Equal(t, want, call(t, tools, "srv__echo", written).Content, "%q", written)
	}
	require.JSONEq(t, `{"namespace":"shop","limit":5}`, call(t, tools, "srv__echo", `namespace=shop, limit=5`).Content)
	require.JSONEq(t, `{"input":"{\"n\":"}`, call(t, tools, "srv__echo", `{"n":`).Content)
}

func TestIncompleteObjectIsNotPassedToWritingTool(t *testing.T) {
	t.Parallel()
	server := newServer()
	addTool(server, "write", false, answering("written"))
	tools := openOne(t, server, mcp.Config{})
	for _, written := range []string{`{"n":`, `{"a":1} {"b":2}`} {
		result := call(t, tools, "srv__write", written)
		require.True(t, result.IsError)
		require.Zero(t, result.Attempts)
		require.Contains(t, result.Content, "was not made")
		require.Contains(t, result.Content, `{"n": 1}`, "shows how to write it")
		require.Contains(t, result.Content, `"properties"`)
	}
}

func TestErrorAfterNonObjectArgumentsSaysHowTheyWereParsed(t *testing.T) {
	t.Parallel()
	server := newServer()
	addTool(server, "fails", true, func(context.Context, *mcpsdk.CallToolRequest) (*mcpsdk.CallToolResult, error) {
		return &mcpsdk.CallToolResult{IsError: true, Content: []mcpsdk.Content{&mcpsdk.TextContent{Text: "n is missing"}}}, nil
	})
	addTool(server, "refuses", true, func(context.Context, *mcpsdk.CallToolRequest) (*mcpsdk.CallToolResult, error) {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "n is missing"}
	})
	tools := openOne(t, server, mcp.Config{})
	for _, name := range []string{"srv__fails", "srv__refuses"} {
		result := call(t, tools, name, `many`)
		require.Contains(t, result.Content, "n is missing")
		require.Contains(t, result.Content, `they were parsed as {"input":"many"}. Write one JSON object, for example {"n": 1}.`)
		require.Equal(t, 1, result.Attempts)
		require.NotContains(t, call(t, tools, name, `{"m":1}`).Content, "they were parsed as")
	}
}

func TestUnknownNameReturnsNearestFirst(t *testing.T) {
	t.Parallel()
	server := newServer()
	for _, name := range []string{"get_events", "get_pods", "get_pod_logs", "delete_pod"} {
		addTool(server, name, true, answering("ok"))
	}
	cfg := mcp.Config{Transport: inMemory(map[string]*mcpsdk.Server{"k8s": server}).transport}
	tools := open(t, cfg,
		tarsy.MCPServerSelection{Name: "k8s", Tools: []string{"get_pods", "get_events", "get_pod_logs"}}, tarsy.MCPServerSelection{Name: "gone"})

	listed, err := tools.List(t.Context())
	require.NoError(t, err)
	require.Len(t, listed, 3, "the allow-list holds")

	for _, c := range []struct{ name, reason, nearest, server, tool string }{
		{"k8s__get_pod", `offers no tool "get_pod"`, "k8s__get_pods", "k8s", "get_pod"},
		{"k8s.delete_pod", `offers no tool "delete_pod"`, "", "k8s", "delete_pod"},
		{"get_event", `no such MCP server`, "k8s__get_events", "", ""},
		{"kube__get_pod_log", `no such MCP server`, "k8s__get_pod_logs", "", ""},
		{"gone__x", `"gone" is not available`, "", "gone", "x"},
		{"", "is not the name of a tool", "", "", ""},
		{"k8s__get_pods; rm -rf /", "is not the name of a tool", "k8s__get_pods", "", ""},
		{strings.Repeat("x", 5000), "is not the name of a tool", "", "", ""},
	} {
		result := call(t, tools, c.name, `{}`)
		require.True(t, result.IsError, c.name)
		require.Contains(t, result.Content, c.reason)
		require.Equal(t, c.server, result.Server)
		require.Equal(t, c.tool, result.Tool)
		require.Zero(t, result.Attempts)
		require.NotContains(t, result.Content, "- k8s__delete_pod")
		require.Less(t, len(result.Content), 1000)
		if c.nearest != "" {
			require.Contains(t, result.Content, "nearest first:\n- "+c.nearest+"\n", c.name)
		}
	}

	result, err := tools.Call(t.Context(), called(t, tools, agent.Call{ID: "call-1", Name: "k8s__get_pod", Shown: []string{"k8s__get_events"}}))
	require.NoError(t, err)
	require.Contains(t, result.Content, "nearest first:\n- k8s__get_events")
	require.NotContains(t, result.Content, "- k8s__get_pods", "what the model is not shown is not suggested")
}

func TestSeparatorsInNamesOfToolsArePartOfThem(t *testing.T) {
	t.Parallel()
	server := newServer()
	addTool(server, "b__d", true, answering("underscores"))
	addTool(server, "v1.get", true, answering("dot"))
	cfg := mcp.Config{Transport: inMemory(map[string]*mcpsdk.Server{"a": server}).transport}
	tools := open(t, cfg, tarsy.MCPServerSelection{Name: "a"})

	require.Equal(t, "underscores", call(t, tools, "a__b__d", "").Content)
	require.Equal(t, "underscores", call(t, tools, "a.b__d", "").Content)
	require.Equal(t, "dot", call(t, tools, "a__v1.get", "").Content)
	require.Equal(t, "dot", call(t, tools, "a.v1.get", "").Content)
}

func TestListFollowsPagesInOrderAndTrustsOnlyAnnotations(t *testing.T) {
	t.Parallel()
	paged := mcpsdk.NewServer(&mcpsdk.Implementation{Name: "paged"}, &mcpsdk.ServerOptions{PageSize: 2})
	for _, name := range []string{"e", "a", "d", "b", "c"} {
		addTool(paged, name, name == "a", answering("ok"))
	}
	bare := newServer()
	bare.AddTool(&mcpsdk.Tool{Name: "get_x", InputSchema: json.RawMessage(`{"type":"object"}`)}, answering("ok"))
	servers := map[string]*mcpsdk.Server{"z": paged, "m": bare, "empty": newServer()}
	cfg := mcp.Config{Transport: inMemory(servers).transport}
	tools := open(t, cfg, tarsy.MCPServerSelection{Name: "z"}, tarsy.MCPServerSelection{Name: "empty"}, tarsy.MCPServerSelection{Name: "m"})
	require.Empty(t, tools.Unavailable(), "a server without tools is no failure")

	listed, err := tools.List(t.Context())
	require.NoError(t, err)
	var names, reads []string
	for _, tool := range listed {
		names = append(names, tool.WireName())
		if tool.ReadOnly {
			reads = append(reads, tool.WireName())
		}
	}
	require.Empty(t, cmp.Diff([]string{"z__a", "z__b", "z__c", "z__d", "z__e", "m__get_x"}, names))
	require.Equal(t, []string{"z__a"}, reads, "no annotation means that it writes")
	require.JSONEq(t, `{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`, string(listed[0].Schema))
}

func TestExecutionsShareNoSession(t *testing.T) {
	t.Parallel()
	server := newServer()
	addTool(server, "read", true, answering("done"))
	m := inMemory(map[string]*mcpsdk.Server{"srv": server})
	factory := mcp.New(mcp.Config{Transport: m.transport})
	first, err := factory.Open(t.Context(), "first", []tarsy.MCPServerSelection{{Name: "srv"}}, nil)
	require.NoError(t, err)
	second, err := factory.Open(t.Context(), "second", []tarsy.MCPServerSelection{{Name: "srv"}}, nil)
	require.NoError(t, err)
	require.Equal(t, 2, m.opened())
	require.NoError(t, first.Close())
	require.Equal(t, "done", call(t, second, "srv__read", "").Content, "the end of one execution is not felt by the other")
	require.Equal(t, 2, m.opened())
	require.NoError(t, second.Close())
}

func TestServerHasThirtySecondsToStart(t *testing.T) {
	t.Parallel()
	clock := clockwork.NewFakeClock()
	factory := mcp.New(mcp.Config{
		Clock: clock, Limits: mcp.Limits{Exit: 50 * time.Millisecond},
		Transport: func(context.Context, string) (mcpsdk.Transport, error) {
			reader, _ := io.Pipe() // never responds

			return &mcpsdk.IOTransport{Reader: reader, Writer: swallowing{io.Discard}}, nil
		},
	})
	opened := make(chan agent.Tools, 1)
	go func() {
		tools, _ := factory.Open(t.Context(), executionID, []tarsy.MCPServerSelection{{Name: "srv"}}, nil)
		opened <- tools
	}()
	require.NoError(t, clock.BlockUntilContext(t.Context(), 1))
	clock.Advance(30*time.Second - 1)
	require.Empty(t, opened)
	clock.Advance(1)
	tools := <-opened
	require.Contains(t, fmt.Sprint(tools.Unavailable()), "no session within 30s")
	require.NoError(t, tools.Close())
}

func TestSelectingServerTwiceOpensItOnce(t *testing.T) {
	t.Parallel()
	server := newServer()
	for _, name := range []string{"a", "b", "c"} {
		addTool(server, name, true, answering("ok"))
	}
	m := inMemory(map[string]*mcpsdk.Server{"srv": server})
	tools := open(t, mcp.Config{Transport: m.transport},
		tarsy.MCPServerSelection{Name: "srv", Tools: []string{"a"}}, tarsy.MCPServerSelection{Name: "srv", Tools: []string{"c"}})
	listed, err := tools.List(t.Context())
	require.NoError(t, err)
	require.Len(t, listed, 2)
	require.Equal(t, 1, m.opened())
}

func TestToolOutputIsContent(t *testing.T) {
	t.Parallel()
	server := newServer()
	result := func(name string, result *mcpsdk.CallToolResult, err error) {
		addTool(server, name, false, func(context.Context, *mcpsdk.CallToolRequest) (*mcpsdk.CallToolResult, error) {
			return result, err
		})
	}
	size := int64(9)
	result("fails", &mcpsdk.CallToolResult{IsError: true, Content: []mcpsdk.Content{&mcpsdk.TextContent{Text: "no such pod"}}}, nil)
	result("refuses", nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "namespace is required"})
	result("mixed", &mcpsdk.CallToolResult{Content: []mcpsdk.Content{
		&mcpsdk.TextContent{Text: "one"},
		&mcpsdk.ImageContent{MIMEType: "image/png", Data: []byte("1234")},
		&mcpsdk.AudioContent{MIMEType: "audio/wav", Data: []byte("12")},
		&mcpsdk.ResourceLink{URI: "file:///x\ny", Name: "x", MIMEType: "text/plain", Size: &size},
		&mcpsdk.EmbeddedResource{Resource: &mcpsdk.ResourceContents{URI: "mem://a", MIMEType: "text/plain", Text: "abc"}},
		&mcpsdk.EmbeddedResource{Resource: &mcpsdk.ResourceContents{URI: "mem://b", MIMEType: "image/png", Blob: []byte("12")}},
		&mcpsdk.TextContent{Text: "two\n"},
		&mcpsdk.TextContent{Text: "three"},
	}}, nil)
	result("structured", &mcpsdk.CallToolResult{StructuredContent: map[string]any{"pods": 3}}, nil)
	result("both", &mcpsdk.CallToolResult{
		Content: []mcpsdk.Content{&mcpsdk.TextContent{Text: "shown"}}, StructuredContent: map[string]any{"pods": 3},
	}, nil)
	result("empty", &mcpsdk.CallToolResult{}, nil)
	tools := openOne(t, server, mcp.Config{})

	require.Equal(t, agent.Result{Server: "srv", Tool: "fails", Content: "no such pod", IsError: true, Attempts: 1},
		call(t, tools, "srv__fails", ""))

	refused := call(t, tools, "srv__refuses", "")
	require.True(t, refused.IsError)
	require.False(t, refused.Unknown, "the server answered, so the outcome is known")
	require.Equal(t, 1, refused.Attempts)
	require.Contains(t, refused.Content, "namespace is required")

	require.Equal(t, strings.Join([]string{
		"one", "[image: image/png, 4 bytes]", "[audio: audio/wav, 2 bytes]", "[resource: file:///x y text/plain]",
		"[resource: mem://a text/plain, 3 bytes]", "abc", "[resource: mem://b image/png, 2 bytes]", "two", "three",
	}, "\n"), call(t, tools, "srv__mixed", "").Content)
	require.JSONEq(t, `{"pods":3}`, call(t, tools, "srv__structured", "").Content)
	require.Equal(t, "shown", call(t, tools, "srv__both", "").Content)
	require.Empty(t, call(t, tools, "srv__empty", "").Content)
}

func TestResultsAreMaskedAndFailClosed(t *testing.T) {
	t.Parallel()
	server := newServer()
	addTool(server, "secret", true, answering("password=hunter2"))
	addTool(server, "poison", true, answering("poison and hunter2"))
	addTool(server, "refuses", true, func(context.Context, *mcpsdk.CallToolRequest) (*mcpsdk.CallToolResult, error) {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "bad token hunter2"}
	})
	mask := func(serverID, text string) (string, error) {
		require.Equal(t, "srv", serverID)
		if strings.Contains(text, "poison and") {
			return text, errors.New("pattern exploded")
		}

		return strings.ReplaceAll(text, "hunter2", "***"), nil
	}
	tools := openOne(t, server, mcp.Config{Mask: mask, Limits: mcp.Limits{ResultBytes: 200}})

	require.Equal(t, "password=***", call(t, tools, "srv__secret", "").Content)
	withheld := call(t, tools, "srv__poison", "")
	require.Contains(t, withheld.Content, "REDACTED")
	require.NotContains(t, withheld.Content, "hunter2")
	require.NotContains(t, call(t, tools, "srv__refuses", "").Content, "hunter2", "errors are masked too")
}

func TestLargeResultsAreCutAfterMasking(t *testing.T) {
	t.Parallel()
	server := newServer()
	addTool(server, "large", true, answering(strings.Repeat("é", 60)+"SECRET"+strings.Repeat("x", 2<<20)))
	addTool(server, "log", true, answering("head"+strings.Repeat("x", 1<<20)+"tail"))
	mask := func(_, text string) (string, error) { return strings.ReplaceAll(text, "SECRET", "#"), nil }
	tools := openOne(t, server, mcp.Config{Mask: mask, Limits: mcp.Limits{ResultBytes: 123, Call: wait.Limit()}})
	require.Equal(t, strings.Repeat("é", 60)+"#xx\n[… cut: the first 123 of 2097278 bytes are shown]",
		call(t, tools, "srv__large", "").Content)

	odd := openOne(t, server, mcp.Config{Limits: mcp.Limits{ResultBytes: 99, Call: wait.Limit()}})
	require.True(t, strings.HasPrefix(call(t, odd, "srv__large", "").Content, strings.Repeat("é", 49)+"\n[… cut"),
		"a character is never cut in two")

	plain := openOne(t, server, mcp.Config{Limits: mcp.Limits{Call: wait.Limit()}})
	require.Contains(t, call(t, plain, "srv__large", "").Content, "the first 1048576 of")

	whole := call(t, plain, "srv__log", "").Content
	require.Len(t, whole, 1<<20)
	require.Contains(t, whole, "cut: about 8 of 1048584 bytes left out")
	require.True(t, strings.HasSuffix(whole, "tail"), "the end of a log usually matters most")
}

// A result of any size costs no more than the part that can be kept, and no half of a secret is left where it is cut.
func TestHugeResultIsMaskedUpToKeptLength(t *testing.T) {
	t.Parallel()
	const limit = 100_000
	huge := strings.Repeat("SECRET ", 1<<18)
	server := newServer()
	addTool(server, "huge", true, answering(huge))
	masked := 0
	mask := func(_, text string) (string, error) {
		masked = len(text)

		return strings.ReplaceAll(text, "SECRET", "#"), nil
	}
	tools := openOne(t, server, mcp.Config{Mask: mask, Limits: mcp.Limits{ResultBytes: limit, Call: wait.Limit()}})
	content := call(t, tools, "srv__huge", "").Content
	require.Less(t, masked, limit+200_000)
	require.NotContains(t, content, "SE", "the masked text is so much shorter that its cut end would show")
	require.Contains(t, content, fmt.Sprintf("of %d bytes are shown]", len(huge)))
}
