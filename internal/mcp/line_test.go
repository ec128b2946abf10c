package mcp

import (
	"bufio"
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/stretchr/testify/require"
)

const ping = `{"jsonrpc":"2.0","id":7,"method":"ping"}`

// messageBytes is the message limit in these tests.
const messageBytes = 1 << 20

type strayLine struct {
	text string
	size int
}

// readAll returns the methods of the requests in a text, and the lines that are not messages.
func readAll(t *testing.T, text io.Reader) (methods []string, stray []strayLine) {
	t.Helper()
	conn := newLineConn(io.NopCloser(text), nil, messageBytes, func(line []byte, size int) {
		stray = append(stray, strayLine{string(line), size})
	})
	for {
		message, err := conn.Read(t.Context())
		if err != nil {
			require.ErrorIs(t, err, io.EOF)

			return methods, stray
		}
		request, ok := message.(*jsonrpc.Request)
		require.True(t, ok)
		methods = append(methods, request.Method)
	}
}

func TestLinesThatAreNoMessagesAreSkipped(t *testing.T) {
	t.Parallel()
	for name, line := range map[string]string{
		"text":                    "kubernetes-mcp-server running on stdio",
		"log":                     `{"level":"info","msg":"ready"}`,
		"list":                    `[]`,
		"list of others":          `[1, {"a": 2}]`,
		"bracketed log":           `[INFO] starting`,
		"number":                  `42`,
		"string":                  `"text"`,
		"null":                    `null`,
		"half of an object":       `{"jsonrpc":"2.0","id":`,
		"other version":           `{"jsonrpc":"1.0","id":1,"method":"ping"}`,
		"error without an id":     `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}`,
		"invalid UTF-8":           "caf\xe9 \xff\xfe",
		"control characters":      "\x1b[31mready\x1b[0m\x00",
		"brackets without an end": strings.Repeat("[", 20_000),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			methods, stray := readAll(t, strings.NewReader(ping+"\n"+line+"\n"+ping+"\r\n"+line+"\r\n"+ping))
			require.Equal(t, []string{"ping", "ping", "ping"}, methods)
			require.Equal(t, []strayLine{{line, len(line) + 1}, {line, len(line) + 2}}, stray)
		})
	}
}

func TestLinesWithMessagesAreReadInEveryForm(t *testing.T) {
	t.Parallel()
	methods, stray := readAll(t, strings.NewReader("\uFEFF"+ping+"\r\n\n  \t\r\n \uFEFF "+ping+" \n["+ping+","+ping+"]\n["+ping+",3]\n"+ping+ping+"\n"+ping+" done\n"+ping))
	require.Len(t, methods, 9)
	require.Equal(t, []strayLine{{"[" + ping + ",3]", len(ping) + 5}, {ping + " done", len(ping) + 6}}, stray, "blank lines are nothing to report")
}

// endless is a line of size bytes that starts with a text.
func endless(begin string, size int) io.Reader {
	return io.MultiReader(strings.NewReader(begin), io.LimitReader(repeated('x'), int64(size-len(begin)-1)), strings.NewReader("\n"))
}

type repeated byte

func (b repeated) Read(data []byte) (int, error) {
	return copy(data, bytes.Repeat([]byte{byte(b)}, min(len(data), lineChunkBytes))), nil
}

func TestOverlongLineIsReadWithBoundedMemory(t *testing.T) {
	t.Parallel()
	const size = messageBytes + messageBytes/4
	for name, begin := range map[string]string{"text": "", "message": "{"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			reader := bufio.NewReaderSize(io.MultiReader(endless(begin, size), strings.NewReader(ping)), lineChunkBytes)
			line, err := readLine(reader, messageBytes)
			require.NoError(t, err)
			require.Equal(t, size, line.size)
			require.Len(t, line.data, keptLineBytes)
			require.Less(t, cap(line.data)+cap(line.part), 2*keptLineBytes)
			rest, err := readLine(reader, messageBytes)
			require.NoError(t, err)
			require.JSONEq(t, ping, string(rest.data))
		})
	}
}

func TestDefaultLimitOfMessagesIsAsDocumented(t *testing.T) {
	t.Parallel()
	require.Equal(t, 16<<20, Limits{}.withDefaults().MessageBytes, "docs/configuration.md")
}
