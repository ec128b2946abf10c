package anthropic

import (
	"encoding/json"
	"strconv"

	"tarsy.dev/tarsy/internal/kit/mock/exchange"
	"tarsy.dev/tarsy/llm"
)

// encoder writes one answer. It implements exchange.Encoder.
type encoder struct {
	exchange *exchange.Exchange
	id       identity
	request  *llm.Request
	// firstCode means that the caller requested the first version of code execution.
	firstCode bool
	// compacts means that the answer is a summary of the conversation.
	compacts bool
	// threaded is the request if the conversation is to be kept; reply is then the answer as written so far.
	threaded *request
	reply    []block

	// What has been written so far: the number of blocks, the kind of the open one, and the calls.
	blocks      int
	open        kind
	thought     []byte
	summary     []byte
	signed      bool
	calls       int
	nativeCount int
	searched    int
	fetched     int
}

// Whole implements exchange.Encoder. The blocks of a whole answer are in the usual order.
func (e *encoder) Whole(buf []byte, answer llm.Response) []byte {
	e.name()

	buf = e.appendHead(buf)
	buf = append(buf, `,"content":[`...)
	start := len(buf)

	if answer.Thinking != "" || e.exchange.Signature != "" {
		e.remember(block{Type: "thinking", Thinking: answer.Thinking})
		e.thought = append(e.thought, answer.Thinking...)
		buf = append(buf, `{"type":"thinking","thinking":`...)
		buf = exchange.AppendString(buf, answer.Thinking)
		buf = append(buf, `,"signature":`...)
		buf = append(exchange.AppendString(buf, e.signature()), '}', ',')
	}

	for _, c := range answer.Groundings {
		buf = e.appendNatives(buf, c)
	}

	for _, c := range answer.CodeExecutions {
		buf = e.appendNatives(buf, c)
	}

	switch {
	case e.compacts:
		buf = append(appendCompaction(buf, "compaction", answer.Text), ',')
	case answer.Text != "":
		e.remember(block{Type: "text", Text: answer.Text})
		buf = append(buf, `{"type":"text","text":`...)
		buf = append(exchange.AppendString(buf, answer.Text), '}', ',')
	}

	for _, call := range answer.ToolCalls {
		buf = e.appendCall(buf, call)
	}

	if len(buf) > start {
		buf = buf[:len(buf)-1]
	}

	buf = append(buf, `],`...)
	buf = e.appendStop(buf, answer.End)
	buf = append(buf, `,"usage":`...)
	buf = e.appendUsage(buf, answer.Usage, true)
	e.keep()

	return append(buf, '}')
}

// name sends the ID of the request to the caller.
func (e *encoder) name() {
	e.exchange.Writer.Header()["Request-Id"] = []string{string(e.id.append(nil, "req_", 0))}
}

// appendHead appends a message up to its content.
func (e *encoder) appendHead(buf []byte) []byte {
	buf = append(buf, `{"id":"`...)
	buf = e.id.append(buf, "msg_", 0)
	buf = append(buf, `","type":"message","role":"assistant","model":`...)

	return exchange.AppendString(buf, e.request.Model)
}

func (e *encoder) appendNatives(buf []byte, chunk llm.Chunk) []byte {
	for _, n := range e.natives(chunk) {
		buf = appendUse(buf, "server_tool_use", n.id, n.name)
		buf = append(buf, n.input...)
		buf = append(buf, endOfUse...)
		buf = append(buf, ',')
		buf = append(append(buf, n.result...), ',')
	}

	return buf
}

func (e *encoder) appendCall(buf []byte, call llm.ToolCall) []byte {
	buf = appendUse(buf, "tool_use", e.called(call), call.Name)

	switch arguments := []byte(call.Arguments); {
	case len(arguments) == 0:
		buf = append(buf, "{}"...)
	case json.Valid(arguments):
		buf = append(buf, arguments...)
	default:
		// The API's models never answer like this; arguments that the script makes invalid stay readable.
		buf = exchange.AppendString(buf, call.Arguments)
	}

	return append(append(buf, endOfUse...), ',')
}

func (e *encoder) callID(call llm.ToolCall) string {
	if call.ID != "" {
		return call.ID
	}

	return string(e.id.append(nil, "toolu_", e.calls))
}

// appendUse appends a block that calls a tool, up to its input.
func appendUse(buf []byte, kind, id, name string) []byte {
	buf = append(buf, `{"type":"`...)
	buf = append(buf, kind...)
	buf = append(buf, `","id":`...)
	buf = exchange.AppendString(buf, id)
	buf = append(buf, `,"name":`...)
	buf = exchange.AppendString(buf, name)

	return append(buf, `,"input":`...)
}

const endOfUse = `,"caller":{"type":"direct"}}`

// appendStop appends the stop reason.
func (e *encoder) appendStop(buf []byte, end llm.EndChunk) []byte {
	reason, sequence := "end_turn", ""
	if e.compacts {
		reason = "compaction"
	}

	switch end.Reason {
	case llm.StopMaxTokens:
		reason = "max_tokens"
	case llm.StopSequence:
		reason = "stop_sequence"
		if len(e.request.Stop) > 0 {
			sequence = e.request.Stop[0]
		}
	case llm.StopToolCalls:
		reason = "tool_use"
	case llm.StopEnd:
	default:
		if e.calls > 0 {
			reason = "tool_use"
		}
	}

	buf = append(buf, `"stop_reason":"`...)
	buf = append(buf, reason...)
	buf = append(buf, `","stop_sequence":`...)

	if sequence == "" {
		buf = append(buf, "null"...)
	} else {
		buf = exchange.AppendString(buf, sequence)
	}

	return append(buf, `,"stop_details":null`...)
}

// appendUsage appends the token counts. The circumstances are only part of the message, not of its end.
func (e *encoder) appendUsage(buf []byte, usage llm.UsageChunk, message bool) []byte {
	buf = append(buf, `{"input_tokens":`...)
	buf = strconv.AppendInt(buf, int64(max(usage.InputTokens-usage.CachedTokens, 0)), 10)
	buf = append(buf, `,"cache_creation_input_tokens":0,"cache_read_input_tokens":`...)
	buf = strconv.AppendInt(buf, int64(usage.CachedTokens), 10)

	if message {
		buf = append(buf, `,"cache_creation":{"ephemeral_5m_input_tokens":0,"ephemeral_1h_input_tokens":0}`...)
	}

	buf = append(buf, `,"output_tokens":`...)
	buf = strconv.AppendInt(buf, int64(usage.OutputTokens+usage.ThinkingTokens), 10)
	buf = append(buf, `,"output_tokens_details":{"thinking_tokens":`...)
	buf = strconv.AppendInt(buf, int64(usage.ThinkingTokens), 10)
	buf = append(buf, '}')

	// The API omits what does not apply; strict parsers reject null instead.
	if e.searched+e.fetched > 0 {
		buf = append(buf, `,"server_tool_use":{"web_search_requests":`...)
		buf = strconv.AppendInt(buf, int64(e.searched), 10)
		buf = append(buf, `,"web_fetch_requests":`...)
		buf = append(strconv.AppendInt(buf, int64(e.fetched), 10), '}')
	}

	if message {
		buf = append(buf, `,"service_tier":"standard","inference_geo":"not_available"`...)
	}

	return append(buf, '}')
}
