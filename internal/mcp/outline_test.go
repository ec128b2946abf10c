package mcp

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	mcpsdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"
)

func TestMessageCutAnywhereBecomesValidJSON(t *testing.T) {
	t.Parallel()
	const message = `data: {"a\"}":[1,{"b":[]},"é\u00e9\ud83d\ude00\\"],"result":{"content":[{"type":"text","text":"x\n\"]}y","n":-1.5e3},true],` +
		`"isError": true}, "id" : 17 ,"jsonrpc":"2.0"}`
	for end := range len(message) {
		o := &outline{}
		o.write([]byte(message[:end]))
		require.False(t, o.broken)
		require.False(t, o.over)
		if closed := o.closed([]byte(message[:end])); closed != nil {
			require.True(t, json.Valid(closed), "%s\n%s", message[:end], closed)
		} else {
			require.Less(t, end, strings.Index(message, "[]")+2, "there was a whole value: %s", message[:end])
		}
	}
	o := &outline{}
	o.write([]byte(message))
	require.True(t, o.over)
	require.Equal(t, "17", string(o.id))
	require.True(t, o.isError)
	require.False(t, o.isRequest)
}

func TestOutlineOfHostileMessageIsBounded(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"deep":     strings.Repeat(`{"a":`, 1_000_000),
		"unclosed": `{"a":[}`,
		"batch":    `[{"jsonrpc":"2.0"}]`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := &outline{}
			o.write([]byte(text))
			require.True(t, o.broken)
			require.Nil(t, o.closed([]byte(text)))
			require.LessOrEqual(t, len(o.frames), maxOutlineDepth+1)
		})
	}
	o := &outline{}
	o.write([]byte(`{"` + strings.Repeat("k", 1<<20) + `":"` + strings.Repeat("v", 1<<20) + `","id":` + strings.Repeat("1", 1<<20)))
	require.LessOrEqual(t, cap(o.text)+cap(o.id), 8*maxOutlineText)
}

func TestOversizedResponseIsReplaced(t *testing.T) {
	t.Parallel()
	large := strings.Repeat(`abcdefg\n`, messageBytes/9+1)
	for name, c := range map[string]struct {
		message string
		// id is nil if there is no response.
		id      any
		dropped bool
		failed  bool
		cut     bool
		begins  string
		last    string
	}{
		"id first": {message: `{"jsonrpc":"2.0","id":3,"result":{"content":[{"type":"text","text":"` + large + `"}]}}`,
			id: int64(3), cut: true, begins: "abcdefg\n"},
		"id last": {message: `{"result":{"content":[{"text":"` + large + `","type":"text"}],"isError":true},"jsonrpc":"2.0","id":"x-1"}`,
			id: "x-1", cut: true, failed: true, begins: "abcdefg\n"},
		"ids in the text": {message: `{"result":{"id":8,"content":[{"type":"text","text":",\"id\":9,` + large + `"}],"id":7},"id":5}`,
			id: int64(5), cut: true, begins: `,"id":9,abc`},
		"image after text": {message: `{"id":3,"result":{"content":[{"type":"text","text":"short"},{"type":"image","mimeType":"image/png","data":"x!` + large + `"}]}}`,
			id: int64(3), begins: "short", last: "[… cut: the rest"},
		"structured content": {message: `{"id":3,"result":{"content":[{"type":"text","text":"short"}],"structuredContent":{"a":"` + large + `"}}}`,
			id: int64(3), begins: "short", last: "[… cut: the rest"},
		"numbers beside text": {message: `{"id":3,"result":{"content":[{"type":"text","text":"short","n":[` + strings.Repeat("1,", messageBytes/2) + `1]}]}}`,
			id: int64(3), begins: "short", last: "[… cut: the rest"},
		"resource": {message: `{"id":3,"result":{"content":[{"type":"resource","resource":{"uri":"file:///a","text":"` + large + `"}}]}}`,
			id: int64(3), cut: true, begins: "[resource: file:///a"},
		"whole image":   {message: `{"id":3,"result":{"content":[{"type":"image","mimeType":"image/png","data":"` + strings.Repeat("abcd", messageBytes/4) + `"}]}}`, id: int64(3), dropped: true},
		"image":         {message: `{"id":3,"result":{"content":[{"type":"image","mimeType":"image/png","data":"x!` + large + `"}]}}`, id: int64(3), dropped: true},
		"tool list":     {message: `{"id":3,"result":{"tools":[{"name":"a","description":"` + large + `"}]}}`, id: int64(3), dropped: true},
		"error":         {message: `{"id":3,"error":{"code":1,"message":"` + large + `"}}`, id: int64(3), dropped: true},
		"request":       {message: `{"jsonrpc":"2.0","id":3,"method":"ping","params":{"a":"` + large + `"}}`},
		"notification":  {message: `{"jsonrpc":"2.0","method":"notifications/message","params":{"a":"` + large + `"}}`},
		"without an id": {message: `{"jsonrpc":"2.0","result":{"a":"` + large + `"}}`},
		"null id":       {message: `{"jsonrpc":"2.0","id":null,"result":{"a":"` + large + `"}}`},
		"not ended":     {message: `{"jsonrpc":"2.0","id":3,"result":{"a":"` + large},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			buffer := &messageBuffer{limit: messageBytes}
			_, err := strings.NewReader(c.message).WriteTo(buffer)
			require.NoError(t, err)
			require.LessOrEqual(t, cap(buffer.data)+cap(buffer.part), 2*messageBytes/usedShare)
			response := buffer.response()
			if c.id == nil {
				require.Nil(t, response)

				return
			}
			require.NotNil(t, response)
			require.Equal(t, c.id, response.ID.Raw())
			if c.dropped {
				var wire *jsonrpc.Error
				require.ErrorAs(t, response.Error, &wire)
				require.Equal(t, int64(codeTooLarge), wire.Code)

				return
			}
			var result mcpsdk.CallToolResult
			require.NoError(t, json.Unmarshal(response.Result, &result))
			require.Equal(t, c.failed, result.IsError)
			read := textOf(&result)
			require.True(t, strings.HasPrefix(read, c.begins), "%.100s", read)
			require.Equal(t, c.cut, cutFrom(&result) == len(c.message))
			if c.cut {
				require.Greater(t, len(read), messageBytes/usedShare/2)
			} else {
				require.Contains(t, read, c.last)
			}
		})
	}
}
