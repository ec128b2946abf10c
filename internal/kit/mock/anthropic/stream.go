package anthropic

import (
	"strconv"
	"unicode/utf8"

	"tarsy.dev/tarsy/internal/kit/mock/exchange"
	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
)

// kind is the kind of a stream's current block.
type kind int

const (
	none kind = iota
	text
	thoughts
)

// Begin implements exchange.Encoder. The stream starts with the scripted or estimated size of the prompt and the first
// token of the answer; the last event has all counts.
func (e *encoder) Begin(buf []byte) []byte {
	e.name()

	buf = append(buf, "event: message_start\ndata: {\"type\":\"message_start\",\"message\":"...)
	buf = e.appendHead(buf)
	buf = append(buf, `,"content":[],"stop_reason":null,"stop_sequence":null,"stop_details":null,"usage":`...)
	buf = e.appendUsage(buf, e.prompt(1), true)

	return append(buf, "}}\n\n"...)
}

// prompt returns the usage of an unfinished answer: the scripted or estimated size of the prompt, and at most the given
// number of output tokens.
func (e *encoder) prompt(output int) llm.UsageChunk {
	scripted := e.exchange.Usage
	if scripted == nil {
		return llm.UsageChunk{InputTokens: script.InputTokens(e.request), OutputTokens: output}
	}

	return llm.UsageChunk{
		InputTokens: scripted.InputTokens, CachedTokens: scripted.CachedTokens,
		OutputTokens: min(output, scripted.OutputTokens+scripted.ThinkingTokens),
	}
}

// Chunk implements exchange.Encoder.
func (e *encoder) Chunk(buf []byte, chunk llm.Chunk) []byte {
	if _, thinks := chunk.(llm.ThinkingChunk); !thinks {
		buf = e.signHidden(buf)
	}

	switch c := chunk.(type) {
	case llm.TextChunk:
		if e.compacts {
			e.summary = append(e.summary, c.Text...)

			return buf
		}

		e.remember(block{Type: "text", Text: c.Text})

		if e.open != text {
			buf = e.start(e.close(buf), text)
			buf = e.ping(append(buf, `{"type":"text","text":""}`+endOfEvent...))
		}

		buf = e.delta(buf, `"text_delta","text":`)
		buf = exchange.AppendString(buf, c.Text)
		buf = append(buf, endOfDelta...)
	case llm.ThinkingChunk:
		if e.open != thoughts {
			buf = e.think(e.close(buf))
		}

		e.remember(block{Type: "thinking", Thinking: c.Text})
		e.thought = append(e.thought, c.Text...)
		buf = e.delta(buf, `"thinking_delta","thinking":`)
		buf = exchange.AppendString(buf, c.Text)
		buf = append(buf, endOfDelta...)
	case llm.ToolCallChunk:
		buf = e.use(e.close(buf), "tool_use", e.called(c.Call), c.Call.Name, c.Call.Arguments)
	default:
		for _, n := range e.natives(chunk) {
			buf = e.use(e.close(buf), "server_tool_use", n.id, n.name, string(n.input))
			buf = e.start(buf, none)
			buf = append(append(buf, n.result...), endOfEvent...)
			buf = e.stop(buf)
		}
	}

	return buf
}

// signHidden adds an empty thinking block to the start of an answer that has a signature but does not start with thinking,
// as the API does when thinking is hidden.
func (e *encoder) signHidden(buf []byte) []byte {
	if e.blocks > 0 || e.open != none || e.exchange.Signature == "" {
		return buf
	}

	e.remember(block{Type: "thinking"})

	return e.close(e.think(buf))
}

// think starts a thinking block.
func (e *encoder) think(buf []byte) []byte {
	buf = e.start(buf, thoughts)

	return e.ping(append(buf, `{"type":"thinking","thinking":"","signature":""}`+endOfEvent...))
}

// End implements exchange.Encoder.
func (e *encoder) End(buf []byte, usage llm.UsageChunk, end llm.EndChunk) []byte {
	buf = e.close(e.signHidden(buf))
	if e.compacts {
		buf = e.streamCompaction(buf)
	}

	e.keep()

	buf = append(buf, "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{"...)
	buf = e.appendStop(buf, end)
	buf = append(buf, `},"usage":`...)
	buf = e.appendUsage(buf, usage, false)

	return append(buf, "}\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"...)
}

// Failure implements exchange.Encoder. An answer that is withheld ends normally, with the stop reason refusal.
func (e *encoder) Failure(buf []byte, failure *llm.Error) []byte {
	if failure.Class == llm.ClassSafety {
		buf = e.close(buf)
		buf = append(buf, "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"refusal\",\"stop_sequence\":null,"...)
		buf = append(buf, `"stop_details":{"type":"refusal","category":null,"explanation":`...)
		buf = exchange.AppendString(buf, failure.Message)
		buf = append(buf, `}},"usage":`...)
		buf = e.appendUsage(buf, e.prompt(0), false)

		return append(buf, "}\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"...)
	}

	buf = append(buf, "event: error\ndata: "...)

	return append(e.Error(buf, failure), "\n\n"...)
}

const (
	endOfEvent = "}\n\n"
	endOfDelta = "}}\n\n"
)

// start starts a block of a kind, up to its content.
func (e *encoder) start(buf []byte, k kind) []byte {
	e.open = k
	buf = append(buf, "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":"...)
	buf = strconv.AppendInt(buf, int64(e.blocks), 10)

	return append(buf, `,"content_block":`...)
}

// ping follows the start of the first block.
func (e *encoder) ping(buf []byte) []byte {
	if e.blocks > 0 {
		return buf
	}

	return append(buf, "event: ping\ndata: {\"type\":\"ping\"}\n\n"...)
}

// delta starts a piece of the open block, up to its value.
func (e *encoder) delta(buf []byte, head string) []byte {
	buf = append(buf, "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":"...)
	buf = strconv.AppendInt(buf, int64(e.blocks), 10)
	buf = append(buf, `,"delta":{"type":`...)

	return append(buf, head...)
}

// close ends the open block, if there is one.
func (e *encoder) close(buf []byte) []byte {
	switch e.open {
	case thoughts:
		return e.sign(buf)
	case text:
		return e.stop(buf)
	default:
		return buf
	}
}

// sign ends a thinking block with its signature.
func (e *encoder) sign(buf []byte) []byte {
	buf = e.delta(buf, `"signature_delta","signature":`)
	buf = exchange.AppendString(buf, e.signature())
	buf = append(buf, endOfDelta...)
	e.thought = e.thought[:0]

	return e.stop(buf)
}

func (e *encoder) stop(buf []byte) []byte {
	buf = append(buf, "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":"...)
	buf = strconv.AppendInt(buf, int64(e.blocks), 10)
	e.blocks++
	e.open = none

	return append(buf, endOfEvent...)
}

// use writes a whole block that calls a tool, with its input in pieces.
func (e *encoder) use(buf []byte, blockType, id, name, input string) []byte {
	buf = e.start(buf, none)
	buf = appendUse(buf, blockType, id, name)
	buf = append(buf, "{}"+endOfUse+endOfEvent...)
	buf = e.ping(buf)

	const head = `"input_json_delta","partial_json":`

	// The API starts with an empty piece.
	buf = append(e.delta(buf, head), `""`+endOfDelta...)

	for input != "" {
		var piece string

		piece, input = cut(input)
		buf = e.delta(buf, head)
		buf = exchange.AppendString(buf, piece)
		buf = append(buf, endOfDelta...)
	}

	return e.stop(buf)
}

// cut cuts off the first bytes of an input, without splitting a rune.
func cut(input string) (piece, rest string) {
	const size = 32

	if len(input) <= size {
		return input, ""
	}

	at := size
	for at > size-utf8.UTFMax && !utf8.RuneStart(input[at]) {
		at--
	}

	return input[:at], input[at:]
}
