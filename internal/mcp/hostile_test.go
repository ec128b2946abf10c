package mcp_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"strings"
	"testing"
	"unicode/utf8"

	mcpsdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/mcp"
)

// rawServer writes arbitrary bytes, which the SDK's own server would not.
type rawServer struct {
	// list is the result of tools/list; empty means one tool, write.
	list string
	// onList reports whether tools/list is answered; nil means that it is.
	onList func() bool
	// onCall returns the lines that answer a tools/call.
	onCall func(id string) []string
	// calls is how many calls are read before the server stops reading; 0 means all.
	calls int
}

func (r *rawServer) transport(context.Context, string) (mcpsdk.Transport, error) {
	ours, theirs := net.Pipe()
	go r.serve(theirs)

	return &mcpsdk.IOTransport{Reader: ours, Writer: ours}, nil
}

func (r *rawServer) serve(conn net.Conn) {
	reader := bufio.NewReader(conn)
	for calls := 0; r.calls == 0 || calls < r.calls; {
		line, err := reader.ReadBytes('\n')
		if err != nil {
			return
		}
		var request struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
		}
		if json.Unmarshal(line, &request) != nil {
			return
		}
		var answers []string
		switch request.Method {
		case "initialize":
			answers = []string{fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25",`+
				`"capabilities":{"tools":{}},"serverInfo":{"name":"raw","version":"1"}}}`, request.ID)}
		case "tools/list":
			list := r.list
			if list == "" {
				list = `{"tools":[{"name":"write"}]}`
			}
			if r.onList == nil || r.onList() {
				answers = []string{fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, request.ID, list)}
			}
		case "tools/call":
			calls++
			answers = r.onCall(string(request.ID))
		}
		for _, answer := range answers {
			if _, err := conn.Write([]byte(answer + "\n")); err != nil {
				return
			}
		}
	}
}

func TestHostileBytesAreReplaced(t *testing.T) {
	t.Parallel()
	raw := &rawServer{onCall: func(id string) []string {
		return []string{`{"jsonrpc":"2.0","id":` + id + `,"result":{"content":[{"type":"text","text":"a\u0000b` + "\xff\xfe" +
			`c\ud800d ok"}]}}`}
	}}
	tools := open(t, mcp.Config{Transport: raw.transport}, tarsy.MCPServerSelection{Name: "raw"})
	result := call(t, tools, "raw__write", "")
	require.True(t, utf8.ValidString(result.Content))
	require.NotContains(t, result.Content, "\x00")
	require.True(t, strings.HasPrefix(result.Content, "a\uFFFDb\uFFFD"), "%q", result.Content)
	require.True(t, strings.HasSuffix(result.Content, "d ok"), "%q", result.Content)
}

func TestHostileToolListIsSanitised(t *testing.T) {
	t.Parallel()
	raw := &rawServer{list: `{"tools":[{"name":"b","inputSchema":{}},{"name":"rm -rf /"},null,{"name":"a","description":"x\u0000y"},` +
		`{"name":"c","inputSchema":true},{"name":"a"},{"name":""}]}`}
	tools := open(t, mcp.Config{Transport: raw.transport}, tarsy.MCPServerSelection{Name: "raw"})
	require.Empty(t, tools.Unavailable())
	listed, err := tools.List(t.Context())
	require.NoError(t, err)
	var names []string
	for _, tool := range listed {
		names = append(names, tool.Name)
		require.JSONEq(t, `{"type":"object"}`, string(tool.Schema), "a schema that is missing")
		require.False(t, tool.ReadOnly)
	}
	require.Equal(t, []string{"a", "b", "c"}, names)
	require.Equal(t, "x\uFFFDy", listed[0].Description)
}

func TestEndlessToolListMakesServerUnavailable(t *testing.T) {
	t.Parallel()
	raw := &rawServer{list: `{"tools":[` + strings.Repeat(`{"name":"a"},`, 99) + `{"name":"b"}],"nextCursor":"again"}`}
	tools := open(t, mcp.Config{Transport: raw.transport}, tarsy.MCPServerSelection{Name: "raw"})
	require.Contains(t, tools.Unavailable()["raw"], "more than 1000 tools")
}

func TestNonJSONAnswerBreaksOnlyItsSession(t *testing.T) {
	t.Parallel()
	raw := &rawServer{onCall: func(string) []string { return []string{`Listening on port 8080`} }}
	tools := open(t, mcp.Config{Transport: raw.transport, Limits: fast}, tarsy.MCPServerSelection{Name: "raw"})
	for range 2 {
		result := call(t, tools, "raw__write", "")
		require.True(t, result.IsError)
		require.True(t, result.Unknown)
		require.Equal(t, 1, result.Attempts)
	}
}

func TestDeeplyNestedArgumentsReturnResult(t *testing.T) {
	t.Parallel()
	server := newServer()
	addTool(server, "read", true, answering("done"))
	tools := openOne(t, server, mcp.Config{Limits: fast})
	for _, depth := range []int{100, 9_990, 100_000} {
		result := call(t, tools, "srv__read", `{"a":`+strings.Repeat("[", depth)+strings.Repeat("]", depth)+`}`)
		require.True(t, result.IsError || result.Content == "done", result.Content)
		require.False(t, result.Unknown)
	}
	require.Equal(t, "done", call(t, tools, "srv__read", `{}`).Content, "and the next call works")
}
