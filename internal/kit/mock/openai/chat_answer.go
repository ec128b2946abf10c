package openai

import (
	"strconv"
	"unicode/utf8"

	"tarsy.dev/tarsy/internal/kit/mock/exchange"
	"tarsy.dev/tarsy/llm"
)

// chatEncoder writes one chat completion.
type chatEncoder struct {
	exchange *exchange.Exchange
	model    string
	// usage means that the caller wants the usage at the end of the stream.
	usage bool
	// custom has the names of the tools whose input is text.
	custom map[string]bool

	// prefix starts every chunk of the stream, up to the choices.
	prefix []byte
	role   bool
	calls  int
	text   int
}

// head appends the fields that answers and chunks have in common.
func (e *chatEncoder) head(buf []byte, object string) []byte {
	buf = append(buf, `{"id":"`...)
	buf = seedOf(e.exchange).appendID(buf, "chatcmpl-", 0)
	buf = append(buf, `","object":"`...)
	buf = append(buf, object...)
	buf = append(buf, `","created":`...)
	buf = strconv.AppendInt(buf, e.exchange.Entry.Start.Unix(), 10)
	buf = append(buf, `,"model":`...)
	buf = exchange.AppendString(buf, e.model)

	return append(buf, `,"service_tier":"default","system_fingerprint":"fp_virtual","choices":[`...)
}

// Whole implements exchange.Encoder.
func (e *chatEncoder) Whole(buf []byte, answer llm.Response) []byte {
	buf = e.head(buf, "chat.completion")
	buf = append(buf, `{"index":0,"message":{"role":"assistant","content":`...)

	if answer.Text == "" && len(answer.ToolCalls) > 0 {
		buf = append(buf, "null"...)
	} else {
		buf = exchange.AppendString(buf, answer.Text)
	}

	if answer.Thinking != "" {
		buf = append(buf, `,"reasoning_content":`...)
		buf = exchange.AppendString(buf, answer.Thinking)
	}

	for i, call := range answer.ToolCalls {
		buf = append(buf, separator(i, `,"tool_calls":[`)...)
		buf = append(buf, `{"id":`...)
		buf = e.appendCall(buf, call, call.Arguments)
		buf = append(buf, '}')
	}

	if len(answer.ToolCalls) > 0 {
		buf = append(buf, ']')
	}

	buf = append(buf, `,"refusal":null,"annotations":[`...)

	n := 0
	for _, grounding := range answer.Groundings {
		buf = appendChatCitations(buf, grounding.Sources, &n, utf8.RuneCountInString(answer.Text))
	}

	e.calls = len(answer.ToolCalls)
	buf = append(buf, `]},"logprobs":null,"finish_reason":"`...)
	buf = append(buf, e.finish(answer.End)...)
	buf = append(buf, `"}],"usage":`...)
	buf = appendChatUsage(buf, answer.Usage)

	return append(buf, '}')
}

// Begin implements exchange.Encoder.
func (e *chatEncoder) Begin(buf []byte) []byte {
	e.prefix = append(e.prefix, "data: "...)
	e.prefix = e.head(e.prefix, "chat.completion.chunk")

	return buf
}

// Chunk implements exchange.Encoder.
func (e *chatEncoder) Chunk(buf []byte, chunk llm.Chunk) []byte {
	switch c := chunk.(type) {
	case llm.TextChunk:
		buf = e.open(buf, false)
		buf = e.delta(buf)
		buf = append(buf, `"content":`...)
		buf = exchange.AppendString(buf, c.Text)
		e.text += utf8.RuneCountInString(c.Text)

		return e.close(buf, "")
	case llm.ThinkingChunk:
		buf = e.open(buf, false)
		buf = e.delta(buf)
		buf = append(buf, `"reasoning_content":`...)
		buf = exchange.AppendString(buf, c.Text)

		return e.close(buf, "")
	case llm.ToolCallChunk:
		return e.call(e.open(buf, true), c.Call)
	case llm.GroundingChunk:
		buf = e.open(buf, false)
		buf = e.delta(buf)
		buf = append(buf, `"annotations":[`...)
		n := 0
		buf = appendChatCitations(buf, c.Sources, &n, e.text)

		return e.close(append(buf, ']'), "")
	default:
		return buf
	}
}

// call sends a call the way models write one: its name, then its arguments piece by piece.
func (e *chatEncoder) call(buf []byte, call llm.ToolCall) []byte {
	index := e.calls
	e.calls++

	buf = e.delta(buf)
	buf = append(buf, `"tool_calls":[{"index":`...)
	buf = strconv.AppendInt(buf, int64(index), 10)
	buf = append(buf, `,"id":`...)
	buf = e.appendCall(buf, call, "")
	buf = e.close(append(buf, `}]`...), "")

	for rest := call.Arguments; rest != ""; {
		piece := firstPiece(rest)
		rest = rest[len(piece):]

		buf = e.delta(buf)
		buf = append(buf, `"tool_calls":[{"index":`...)
		buf = strconv.AppendInt(buf, int64(index), 10)
		buf = append(buf, e.argumentsHead(call.Name)...)
		buf = exchange.AppendString(buf, piece)
		buf = e.close(append(buf, `}}]`...), "")
	}

	return buf
}

// End implements exchange.Encoder.
func (e *chatEncoder) End(buf []byte, usage llm.UsageChunk, end llm.EndChunk) []byte {
	return e.end(buf, e.finish(end), usage)
}

func (e *chatEncoder) end(buf []byte, finish string, usage llm.UsageChunk) []byte {
	buf = e.open(buf, false)
	buf = e.close(e.delta(buf), finish)

	if e.usage {
		buf = append(buf, e.prefix...)
		buf = append(buf, `],"usage":`...)
		buf = appendChatUsage(buf, usage)
		buf = append(buf, "}\n\n"...)
	}

	return append(buf, "data: [DONE]\n\n"...)
}

// Failure implements exchange.Encoder.
func (e *chatEncoder) Failure(buf []byte, failure *llm.Error) []byte {
	if failure.Class == llm.ClassSafety {
		return e.end(buf, "content_filter", llm.UsageChunk{})
	}

	buf = append(buf, "data: "...)
	buf = Error(buf, failure)

	return append(buf, "\n\n"...)
}

// Error implements exchange.Encoder.
func (e *chatEncoder) Error(buf []byte, failure *llm.Error) []byte { return Error(buf, failure) }

// open sends the chunk with the role, which comes first and only once.
func (e *chatEncoder) open(buf []byte, calls bool) []byte {
	if e.role {
		return buf
	}

	e.role = true
	buf = e.delta(buf)
	buf = append(buf, `"role":"assistant","content":`...)

	if calls {
		buf = append(buf, "null"...)
	} else {
		buf = append(buf, `""`...)
	}

	return e.close(append(buf, `,"refusal":null`...), "")
}

func (e *chatEncoder) delta(buf []byte) []byte {
	buf = append(buf, e.prefix...)

	return append(buf, `{"index":0,"delta":{`...)
}

// close ends a chunk; finish is empty for all but the last.
func (e *chatEncoder) close(buf []byte, finish string) []byte {
	buf = append(buf, `},"logprobs":null,"finish_reason":`...)
	buf = appendNullable(buf, finish)
	buf = append(buf, `}]`...)

	if e.usage {
		buf = append(buf, `,"usage":null`...)
	}

	return append(buf, "}\n\n"...)
}

func (e *chatEncoder) finish(end llm.EndChunk) string {
	switch {
	case end.Reason == llm.StopMaxTokens:
		return "length"
	case end.Reason == llm.StopToolCalls, end.Reason == "" && e.calls > 0:
		return "tool_calls"
	default:
		return "stop"
	}
}

// argumentsHead returns what precedes a piece of a call's arguments.
func (e *chatEncoder) argumentsHead(tool string) string {
	if e.custom[tool] {
		return `,"custom":{"input":`
	}

	return `,"function":{"arguments":`
}

// appendCall appends the ID of a call, as a JSON string, and everything after it.
func (e *chatEncoder) appendCall(buf []byte, call llm.ToolCall, arguments string) []byte {
	head, field := `,"type":"function","function":{"name":`, `,"arguments":`
	if e.custom[call.Name] {
		head, field = `,"type":"custom","custom":{"name":`, `,"input":`
	}

	buf = exchange.AppendString(buf, call.ID)
	buf = append(buf, head...)
	buf = exchange.AppendString(buf, call.Name)
	buf = append(buf, field...)
	buf = exchange.AppendString(buf, arguments)

	return append(buf, '}')
}

// appendChatCitations appends sources as annotations of the text so far; n counts them.
func appendChatCitations(buf []byte, sources []llm.Source, n *int, end int) []byte {
	for _, source := range sources {
		buf = append(buf, separator(*n, "")...)
		*n++
		buf = append(buf, `{"type":"url_citation","url_citation":{"start_index":0,"end_index":`...)
		buf = strconv.AppendInt(buf, int64(end), 10)
		buf = appendSource(buf, source)
		buf = append(buf, "}}"...)
	}

	return buf
}

func appendSource(buf []byte, source llm.Source) []byte {
	buf = append(buf, `,"title":`...)
	buf = exchange.AppendString(buf, source.Title)
	buf = append(buf, `,"url":`...)

	return exchange.AppendString(buf, source.URL)
}

func appendChatUsage(buf []byte, usage llm.UsageChunk) []byte {
	output := usage.OutputTokens + usage.ThinkingTokens

	buf = append(buf, `{"prompt_tokens":`...)
	buf = strconv.AppendInt(buf, int64(usage.InputTokens), 10)
	buf = append(buf, `,"completion_tokens":`...)
	buf = strconv.AppendInt(buf, int64(output), 10)
	buf = append(buf, `,"total_tokens":`...)
	buf = strconv.AppendInt(buf, int64(usage.InputTokens+output), 10)
	buf = append(buf, `,"prompt_tokens_details":{"cached_tokens":`...)
	buf = strconv.AppendInt(buf, int64(usage.CachedTokens), 10)
	buf = append(buf, `,"audio_tokens":0},"completion_tokens_details":{"reasoning_tokens":`...)
	buf = strconv.AppendInt(buf, int64(usage.ThinkingTokens), 10)

	return append(buf, `,"audio_tokens":0,"accepted_prediction_tokens":0,"rejected_prediction_tokens":0}}`...)
}

// separator returns what precedes the i-th element of an array: first for the first element, a comma for the others.
func separator(i int, first string) string {
	if i == 0 {
		return first
	}

	return ","
}

// firstPiece returns the part of the arguments that models write in one piece, without splitting a rune.
func firstPiece(text string) string {
	const size = 24

	if len(text) <= size {
		return text
	}

	end := size
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}

	if end == 0 {
		return text[:size]
	}

	return text[:end]
}
