package openai

import (
	"encoding/json"

	"tarsy.dev/tarsy/internal/kit/mock/exchange"
	"tarsy.dev/tarsy/llm"
)

// isCall reports whether the item is a call that the caller runs.
func (k kind) isCall() bool { return k == kindCall || k == kindCustom || k == kindRun }

// appendCall appends a call from the end of its ID on.
func (i *item) appendCall(buf []byte, status string) []byte {
	done := status != statusInProgress

	buf = append(buf, `","type":"`...)

	switch i.kind {
	case kindRun:
		buf = append(append(buf, i.run.item...), `","status":"`...)
		buf = append(append(buf, status...), `","`...)
		buf = append(append(buf, i.run.field...), `":`...)
		buf = append(appendObject(buf, i.call.Arguments), i.run.rest...)
		buf = append(buf, `,"call_id":`...)

		return append(exchange.AppendString(buf, i.call.ID), '}')
	case kindCustom:
		buf = append(append(buf, `custom_tool_call","status":"`...), status...)
		buf = append(buf, `","input":`...)
	default:
		buf = append(append(buf, `function_call","status":"`...), status...)
		buf = append(buf, `","arguments":`...)
	}

	buf = appendDone(buf, done, i.text)
	buf = append(buf, `,"call_id":`...)
	buf = exchange.AppendString(buf, i.call.ID)
	buf = append(buf, `,"name":`...)
	buf = exchange.AppendString(buf, i.call.Name)

	if i.namespace != "" {
		buf = exchange.AppendString(append(buf, `,"namespace":`...), i.namespace)
	}

	return append(buf, '}')
}

// appendObject appends arguments that are JSON on the wire. Arguments that the script makes invalid become a string, which
// stays readable.
func appendObject(buf []byte, arguments string) []byte {
	switch {
	case arguments == "":
		return append(buf, "{}"...)
	case json.Valid([]byte(arguments)):
		return append(buf, arguments...)
	default:
		return exchange.AppendString(buf, arguments)
	}
}

// streamCall sends a call, with its arguments piece by piece where the API does so.
func (e *responseEncoder) streamCall(buf []byte, call llm.ToolCall) []byte {
	begun := e.request.newCall(call)
	buf = e.startItem(buf, begun)

	if begun.kind == kindRun {
		e.text.WriteString(call.Arguments)

		return e.finishItem(buf, statusCompleted)
	}

	event := "response.function_call_arguments.delta"
	if begun.kind == kindCustom {
		event = "response.custom_tool_call_input.delta"
	}

	for rest := call.Arguments; rest != ""; {
		piece := firstPiece(rest)
		rest = rest[len(piece):]
		buf = e.textDelta(buf, event, "", piece, "")
	}

	return e.finishItem(buf, statusCompleted)
}
