package mcp

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	mcpsdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	// usedShare is the share of an oversized message's limit that is used of it. The rest is read and dropped.
	usedShare = 8
	// codeTooLarge is the code of the error that stands for a result that was dropped. It is outside of the range of JSON-RPC.
	codeTooLarge = 1 << 24
	// contentDepth is how many objects and lists are open in the list of contents: the message, its result and the list.
	contentDepth = 3
	// cutKey is the key of `_meta` under which the size of a result that was cut in the middle of a text travels.
	cutKey = "tarsy.dev/cut-from-bytes"
)

// A messageBuffer collects one message. What exceeds its limit is read for its outline only.
type messageBuffer struct {
	limit int
	// stray is true of a line that cannot be a message. What exceeds its limit is dropped.
	stray bool
	// data is the message, or the beginning of one that is larger than limit.
	data []byte
	size int

	large *outline
	// part is the beginning of the message as valid JSON; nil if there is none. inContent is true if the last content of the
	// result is not whole there, and inString if a text is not.
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

// exceed keeps of the message what an answer can be made of.
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

// response stands for a response that is larger than the limit. It is nil if that cannot be told from the message.
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

// result is what there is of the result of a tool; nil if there is nothing, or if it is the result of something else.
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

// contentOf reads one content of a result, which may lack its end; nil if it cannot be used.
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

// isText reports whether a part of a content is of use.
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
