package mcp

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	mcpsdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	// usedShare is the divisor for how much of an oversized message is used, relative to the limit. The rest is read and dropped.
	usedShare = 8
	// codeTooLarge is the code of the error that replaces a dropped result. It is outside the range of JSON-RPC.
	codeTooLarge = 1 << 24
	// contentDepth is how many objects and lists are open in the content list: the message, its result and the list.
	contentDepth = 3
	// cutKey is the key in `_meta` for the size of a result that was cut in the middle of a text.
	cutKey = "tarsy.dev/cut-from-bytes"
)

// A messageBuffer collects one message. Beyond its limit, only the outline is read.
type messageBuffer struct {
	limit int
	// stray is true for a line that cannot be a message. What exceeds its limit is dropped.
	stray bool
	// data is the message, or the beginning of one that exceeds limit.
	data []byte
	size int

	large *outline
	// part is the beginning of the message as valid JSON; nil if there is none. inContent is true if the last content of the result is
	// incomplete in it, and inString if a text is.
	part                []byte
	inContent, inString bool
}

// Write implements io.Writer. It never fails.
func (m *messageBuffer) Write(chunk []byte) (int, error) {
	m.size += len(chunk)
	rest := chunk
	if m.large == nil {
		kept := min(len(chunk), max(m.limit-len(m.data), 0))
		m.data, rest = append(m.data, chunk[:kept]...), chunk[kept:]
		if len(rest) == 0 || m.stray {
			return len(chunk), nil
		}
		m.exceed()
	}
	m.large.write(rest)

	return len(chunk), nil
}

// exceed keeps the parts of the message that a response can be built from.
func (m *messageBuffer) exceed() {
	m.large = &outline{}
	used := m.limit / usedShare
	m.large.write(m.data[:used])
	m.part = m.large.closed(m.data[:used])
	m.inContent = m.large.below("result", "content") && len(m.large.frames) > contentDepth
	m.inString = m.large.inString
	m.large.write(m.data[used:])
	m.data = slices.Clone(m.data[:min(keptLineBytes, len(m.data))])
}

// response returns the replacement of a response that exceeds the limit. It is nil if the message is not recognizable as one.
func (m *messageBuffer) response() *jsonrpc.Response {
	o := m.large
	if o == nil || o.broken || !o.over || o.isRequest {
		return nil
	}
	var raw any
	if json.Unmarshal(o.id, &raw) != nil {
		return nil
	}
	id, err := jsonrpc.MakeID(raw)
	if err != nil || !id.IsValid() {
		return nil
	}
	if result := m.result(); result != nil {
		if data, err := json.Marshal(result); err == nil {
			return &jsonrpc.Response{ID: id, Result: data}
		}
	}

	return &jsonrpc.Response{ID: id, Error: &jsonrpc.Error{
		Code: codeTooLarge, Message: fmt.Sprintf("the result has %d bytes, more than the limit of %d MiB, and was dropped", m.size, m.limit>>20),
	}}
}

// result returns the available part of a tool's result; nil if there is none, or if it is the result of another request.
func (m *messageBuffer) result() *mcpsdk.CallToolResult {
	var read struct {
		Result struct {
			Content []json.RawMessage `json:"content"`
		} `json:"result"`
	}
	if json.Unmarshal(m.part, &read) != nil {
		return nil
	}
	result := &mcpsdk.CallToolResult{IsError: m.large.isError}
	used := false
	for i, raw := range read.Result.Content {
		content := contentOf(raw)
		part := m.inContent && i == len(read.Result.Content)-1
		if used = content != nil && (!part || isText(content)); used {
			result.Content = append(result.Content, content)
		}
	}
	if len(result.Content) == 0 {
		return nil
	}
	if used && m.inContent && m.inString {
		result.Meta = mcpsdk.Meta{cutKey: m.size}
	} else {
		result.Content = append(result.Content, &mcpsdk.TextContent{
			Text: fmt.Sprintf("[… cut: the rest of the result, which has %d bytes, was dropped]", m.size),
		})
	}

	return result
}

// contentOf parses one content of a result, which may lack its end; nil if it is unusable.
func contentOf(raw json.RawMessage) mcpsdk.Content {
	var text struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	if json.Unmarshal(raw, &text) == nil && text.Text != "" && (text.Type == "" || text.Type == "text") {
		return &mcpsdk.TextContent{Text: text.Text}
	}
	var one mcpsdk.CallToolResult
	if json.Unmarshal(slices.Concat([]byte(`{"content":[`), raw, []byte(`]}`)), &one) != nil || len(one.Content) != 1 {
		return nil
	}

	return one.Content[0]
}

// isText reports whether a part of a content is useful.
func isText(content mcpsdk.Content) bool {
	if resource, ok := content.(*mcpsdk.EmbeddedResource); ok {
		return resource.Resource != nil && resource.Resource.Text != ""
	}
	_, ok := content.(*mcpsdk.TextContent)

	return ok
}

// cutFrom returns the size of a result that was cut in the middle of a text; 0 if it was not.
func cutFrom(result *mcpsdk.CallToolResult) int {
	size, _ := result.Meta[cutKey].(float64)

	return int(size)
}
