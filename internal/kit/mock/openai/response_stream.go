package openai

import (
	"strconv"

	"tarsy.dev/tarsy/internal/kit/mock/exchange"
	"tarsy.dev/tarsy/llm"
)

// Begin implements exchange.Encoder.
func (e *responseEncoder) Begin(buf []byte) []byte {
	e.begin()

	for _, name := range []string{"response.created", "response.in_progress"} {
		buf = e.event(buf, name)
		buf = append(buf, `,"response":`...)
		buf = e.appendResponse(buf, statusInProgress, "", nil, nil)
		buf = end(buf)
	}

	return buf
}

// Chunk implements exchange.Encoder.
func (e *responseEncoder) Chunk(buf []byte, chunk llm.Chunk) []byte {
	if _, thinks := chunk.(llm.ThinkingChunk); !thinks {
		buf = e.signHidden(buf)
	}

	switch c := chunk.(type) {
	case llm.TextChunk:
		buf = e.write(buf, kindMessage)
		buf = e.textDelta(buf, "response.output_text.delta", `,"content_index":0`, c.Text, `,"logprobs":[]`)
	case llm.ThinkingChunk:
		buf = e.write(buf, kindReasoning)
		buf = e.textDelta(buf, "response.reasoning_summary_text.delta", `,"summary_index":0`, c.Text, "")
	case llm.ToolCallChunk:
		buf = e.streamCall(buf, c.Call)
	case llm.CodeExecutionChunk:
		buf = e.startItem(buf, item{kind: kindCode, result: c.Result})
		buf = e.progress(buf, "response.code_interpreter_call.in_progress")
		buf = e.textDelta(buf, "response.code_interpreter_call_code.delta", "", c.Code, "")
		buf = e.textDone(buf, "response.code_interpreter_call_code.done", "", "code", "")
		buf = e.progress(buf, "response.code_interpreter_call.interpreting")
		buf = e.progress(buf, "response.code_interpreter_call.completed")
		buf = e.finishItem(buf, statusCompleted)
	case llm.GroundingChunk:
		buf = e.search(buf, c)
	}

	return buf
}

// signHidden adds an empty reasoning item to the start of an answer that has a signature but does not start with thinking,
// as the API does when no summary is requested.
func (e *responseEncoder) signHidden(buf []byte) []byte {
	if len(e.items) > 0 || e.exchange.Signature == "" {
		return buf
	}

	buf = e.startItem(buf, item{kind: kindReasoning})
	e.sign(&e.items[e.open])
	buf = e.wholeItem(buf, "response.output_item.done", statusCompleted)
	e.open = -1

	return buf
}

// search sends a search and cites its sources: in the text that is being written, or else in the next text.
func (e *responseEncoder) search(buf []byte, c llm.GroundingChunk) []byte {
	e.cited = append(e.cited, c.Sources...)
	buf = e.startItem(buf, item{kind: kindSearch, queries: c.Queries, sources: c.Sources})
	buf = e.progress(buf, "response.web_search_call.in_progress")
	buf = e.progress(buf, "response.web_search_call.searching")
	buf = e.progress(buf, "response.web_search_call.completed")

	return e.finishItem(buf, statusCompleted)
}

// write makes sure that the open item is of the given kind: a message, or reasoning.
func (e *responseEncoder) write(buf []byte, k kind) []byte {
	if e.open >= 0 && e.items[e.open].kind == k {
		return buf
	}

	buf = e.startItem(buf, item{kind: k})

	if k == kindMessage {
		buf = e.itemEvent(buf, "response.content_part.added", `,"content_index":0`)
		buf = append(buf, `,"part":`...)
		buf = e.items[e.open].appendPart(buf)

		return end(buf)
	}

	buf = e.itemEvent(buf, "response.reasoning_summary_part.added", `,"summary_index":0`)

	return end(append(buf, `,"part":{"type":"summary_text","text":""}`...))
}

// startItem ends the open item and starts another.
func (e *responseEncoder) startItem(buf []byte, begun item) []byte {
	buf = e.finishItem(buf, statusCompleted)
	e.open = len(e.items)

	i := e.addItem(begun)
	if i.kind == kindReasoning {
		i.derive()
	}

	return e.wholeItem(buf, "response.output_item.added", statusInProgress)
}

// finishItem ends the open item, if there is one. status is the status of the response.
func (e *responseEncoder) finishItem(buf []byte, status string) []byte {
	if e.open < 0 {
		return buf
	}

	i := &e.items[e.open]
	i.text = e.text.String()

	switch i.kind {
	case kindMessage:
		buf = e.cite(buf, i)
		buf = e.textDone(buf, "response.output_text.done", `,"content_index":0`, "text", `,"logprobs":[]`)
		buf = e.itemEvent(buf, "response.content_part.done", `,"content_index":0`)
		buf = append(buf, `,"part":`...)
		buf = end(i.appendPart(buf))
	case kindReasoning:
		e.sign(i)

		buf = e.textDone(buf, "response.reasoning_summary_text.done", `,"summary_index":0`, "text", "")
		buf = e.itemEvent(buf, "response.reasoning_summary_part.done", `,"summary_index":0`)
		buf = append(buf, `,"part":{"type":"summary_text","text":`...)
		buf = exchange.AppendString(buf, i.text)
		buf = end(append(buf, '}'))
	case kindCall:
		buf = e.textDone(buf, "response.function_call_arguments.done", "", "arguments", "")
	case kindCustom:
		buf = e.textDone(buf, "response.custom_tool_call_input.done", "", "input", "")
	case kindSearch, kindCode, kindRun:
	}

	buf = e.wholeItem(buf, "response.output_item.done", e.statusOf(e.open, status))
	e.open = -1
	e.text.Reset()

	return buf
}

// cite annotates a message with the sources found for it.
func (e *responseEncoder) cite(buf []byte, i *item) []byte {
	for n, source := range e.cited {
		buf = e.itemEvent(buf, "response.output_text.annotation.added", `,"content_index":0`)
		buf = append(buf, `,"annotation_index":`...)
		buf = strconv.AppendInt(buf, int64(n), 10)
		buf = append(buf, `,"annotation":`...)
		buf = end(i.appendCitation(buf, source))
	}

	i.sources, e.cited = e.cited, nil

	return buf
}

// End implements exchange.Encoder.
func (e *responseEncoder) End(buf []byte, usage llm.UsageChunk, ended llm.EndChunk) []byte {
	buf = e.signHidden(buf)

	if len(e.cited) > 0 || len(e.items) == 0 {
		buf = e.write(buf, kindMessage)
	}

	if ended.Reason == llm.StopMaxTokens {
		return e.last(buf, "response.incomplete", statusIncomplete, "max_output_tokens", nil, &usage)
	}

	return e.last(buf, "response.completed", statusCompleted, "", nil, &usage)
}

// Failure implements exchange.Encoder.
func (e *responseEncoder) Failure(buf []byte, failure *llm.Error) []byte {
	if failure.Class == llm.ClassSafety {
		return e.last(buf, "response.incomplete", statusIncomplete, "content_filter", nil, nil)
	}

	// The open item gets no end.
	if e.open >= 0 {
		e.items[e.open].text, e.open = e.text.String(), -1
	}

	return e.last(buf, "response.failed", statusFailed, "", failure, nil)
}

// Error implements exchange.Encoder.
func (e *responseEncoder) Error(buf []byte, failure *llm.Error) []byte { return Error(buf, failure) }

// last ends the stream.
func (e *responseEncoder) last(buf []byte, name, status, reason string, failure *llm.Error, usage *llm.UsageChunk) []byte {
	buf = e.finishItem(buf, status)

	if failure == nil {
		e.keep()
	}

	buf = e.event(buf, name)
	buf = append(buf, `,"response":`...)

	return end(e.appendResponse(buf, status, reason, failure, usage))
}

// event appends the start of an event, with the fields that all events have.
func (e *responseEncoder) event(buf []byte, name string) []byte {
	buf = append(buf, "event: "...)
	buf = append(buf, name...)
	buf = append(buf, "\ndata: {\"type\":\""...)
	buf = append(buf, name...)
	buf = append(buf, `","sequence_number":`...)
	buf = strconv.AppendInt(buf, e.number, 10)
	e.number++

	return buf
}

// itemEvent appends the start of an event of the open item.
func (e *responseEncoder) itemEvent(buf []byte, name, index string) []byte {
	buf = e.event(buf, name)
	buf = append(buf, `,"item_id":"`...)
	buf = append(buf, e.items[e.open].id...)
	buf = append(buf, `","output_index":`...)
	buf = strconv.AppendInt(buf, int64(e.open), 10)

	return append(buf, index...)
}

func (e *responseEncoder) progress(buf []byte, name string) []byte {
	return end(e.itemEvent(buf, name, ""))
}

// textDelta sends a piece of the item's text.
func (e *responseEncoder) textDelta(buf []byte, name, index, text, rest string) []byte {
	e.text.WriteString(text)

	buf = e.itemEvent(buf, name, index)
	buf = append(buf, `,"delta":`...)
	buf = exchange.AppendString(buf, text)

	return end(append(buf, rest...))
}

// textDone sends the whole text of the item again.
func (e *responseEncoder) textDone(buf []byte, name, index, field, rest string) []byte {
	buf = e.itemEvent(buf, name, index)
	buf = append(buf, `,"`...)
	buf = append(buf, field...)
	buf = append(buf, `":`...)
	buf = exchange.AppendString(buf, e.text.String())

	return end(append(buf, rest...))
}

func (e *responseEncoder) wholeItem(buf []byte, name, status string) []byte {
	buf = e.event(buf, name)
	buf = append(buf, `,"output_index":`...)
	buf = strconv.AppendInt(buf, int64(e.open), 10)
	buf = append(buf, `,"item":`...)

	return end(e.items[e.open].append(buf, e.show, status))
}

func end(buf []byte) []byte { return append(buf, "}\n\n"...) }
