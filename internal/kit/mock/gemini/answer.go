package gemini

import (
	"strconv"

	"tarsy.dev/tarsy/internal/kit/mock/exchange"
	"tarsy.dev/tarsy/llm"
)

// form is how a stream is framed.
type form int

const (
	// formArray is a JSON array that is sent element by element.
	formArray form = iota
	// formEvents are server-sent events, with Google's line ends.
	formEvents
)

// encoder writes one answer. It belongs to one exchange.
type encoder struct {
	model    string
	exchange *exchange.Exchange
	form     form
	// thoughts means that the caller wants to see them.
	thoughts bool

	// tail ends every answer and every event.
	tail   string
	events int
	signer signer
	// signed means that the signature has been sent.
	signed bool
}

var _ exchange.Encoder = (*encoder)(nil)

// Whole implements exchange.Encoder. Thoughts come first and calls last, as in the API.
func (e *encoder) Whole(buf []byte, answer llm.Response) []byte {
	e.signer.think(answer.Thinking)
	signature := e.signer.signature(e.exchange.Signature)

	buf = append(buf, `{"candidates":[{"content":{"parts":[`...)
	start := len(buf)

	if answer.Thinking != "" && e.thoughts {
		buf = appendThought(buf, answer.Thinking)
	}

	for _, run := range answer.CodeExecutions {
		buf = appendCode(comma(buf, start), run)
	}

	if answer.Text != "" {
		own := signature
		if len(answer.ToolCalls) > 0 {
			own = ""
		}

		buf = appendText(comma(buf, start), answer.Text, own)
	}

	for i, call := range answer.ToolCalls {
		own := signature
		if i > 0 { // Of several calls only the first is signed.
			own = ""
		}

		buf = appendCall(comma(buf, start), call, own)
	}

	if answer.Text == "" && len(answer.ToolCalls) == 0 && (len(buf) == start || signature != "") {
		buf = appendText(comma(buf, start), "", signature)
	}

	buf = append(buf, `],"role":"model"},"finishReason":"`...)
	buf = append(buf, finishReason(answer.End.Reason)...)
	buf = append(buf, `","index":0`...)
	buf = appendGroundings(buf, answer.Groundings)
	buf = append(buf, `}],`...)
	buf = appendUsage(buf, answer.Usage)

	return append(buf, e.ending()...)
}

// Begin implements exchange.Encoder.
func (e *encoder) Begin(buf []byte) []byte {
	if e.form == formArray {
		return append(buf, '[')
	}

	return buf
}

// Chunk implements exchange.Encoder.
func (e *encoder) Chunk(buf []byte, chunk llm.Chunk) []byte {
	switch c := chunk.(type) {
	case llm.TextChunk:
		return e.event(buf, func(buf []byte) []byte { return appendText(buf, c.Text, "") }, nil)
	case llm.ThinkingChunk:
		e.signer.think(c.Text)

		if !e.thoughts {
			return buf
		}

		return e.event(buf, func(buf []byte) []byte { return appendThought(buf, c.Text) }, nil)
	case llm.ToolCallChunk:
		signature := ""
		if !e.signed {
			signature = e.signer.signature(e.exchange.Signature)
			e.signed = true
		}

		return e.event(buf, func(buf []byte) []byte { return appendCall(buf, c.Call, signature) }, nil)
	case llm.CodeExecutionChunk:
		return e.event(buf, func(buf []byte) []byte { return appendCode(buf, c) }, nil)
	case llm.GroundingChunk:
		return e.event(buf, func(buf []byte) []byte { return appendText(buf, "", "") }, []llm.GroundingChunk{c})
	default:
		return buf
	}
}

// event writes an event of one candidate, which continues.
func (e *encoder) event(buf []byte, parts func(buf []byte) []byte, groundings []llm.GroundingChunk) []byte {
	buf = append(e.open(buf), `{"candidates":[{"content":{"parts":[`...)
	buf = append(parts(buf), `],"role":"model"},"index":0`...)
	buf = append(appendGroundings(buf, groundings), `}],`...)

	return e.close(append(buf, e.ending()...))
}

// End implements exchange.Encoder. The signature of an answer without calls is sent with an empty last part, as the API
// does.
func (e *encoder) End(buf []byte, usage llm.UsageChunk, end llm.EndChunk) []byte {
	signature := ""
	if !e.signed {
		signature = e.signer.signature(e.exchange.Signature)
	}

	buf = append(e.open(buf), `{"candidates":[{"content":{"parts":[`...)
	buf = appendText(buf, "", signature)
	buf = append(buf, `],"role":"model"},"finishReason":"`...)
	buf = append(buf, finishReason(end.Reason)...)
	buf = append(buf, `","index":0}],`...)
	buf = appendUsage(buf, usage)

	return e.finish(e.close(append(buf, e.ending()...)))
}

// Failure implements exchange.Encoder. An answer that is withheld ends like a complete one, with another reason.
func (e *encoder) Failure(buf []byte, err *llm.Error) []byte {
	buf = e.open(buf)

	if reason := withheld(err); reason != "" {
		buf = append(buf, `{"candidates":[{"finishReason":"`...)
		buf = append(buf, reason...)
		buf = append(buf, `","index":0,"finishMessage":`...)
		buf = exchange.AppendString(buf, err.Message)
		buf = append(append(buf, `}],`...), e.ending()...)
	} else {
		buf = Error(buf, err)
	}

	return e.finish(e.close(buf))
}

// Error implements exchange.Encoder.
func (e *encoder) Error(buf []byte, err *llm.Error) []byte { return Error(buf, err) }

func (e *encoder) open(buf []byte) []byte {
	e.events++

	switch {
	case e.form == formEvents:
		return append(buf, "data: "...)
	case e.events > 1:
		return append(buf, ",\r\n"...)
	default:
		return buf
	}
}

func (e *encoder) close(buf []byte) []byte {
	if e.form == formEvents {
		return append(buf, "\r\n\r\n"...)
	}

	return buf
}

func (e *encoder) finish(buf []byte) []byte {
	if e.form == formArray {
		return append(buf, ']')
	}

	return buf
}

// ending ends an answer or an event with the model and an ID that is always the same for a request and reply.
func (e *encoder) ending() string {
	if e.tail == "" {
		buf := append(make([]byte, 0, 96), `"modelVersion":`...)
		buf = exchange.AppendString(buf, e.model)
		buf = append(buf, `,"responseId":"`...)
		buf = append(buf, responseID(e.exchange)...)
		e.tail = string(append(buf, `"}`...))
	}

	return e.tail
}

func finishReason(reason llm.StopReason) string {
	if reason == llm.StopMaxTokens {
		return "MAX_TOKENS"
	}

	return "STOP"
}

func appendUsage(buf []byte, usage llm.UsageChunk) []byte {
	total := usage.InputTokens + usage.OutputTokens + usage.ThinkingTokens

	buf = appendCount(buf, `"usageMetadata":{"promptTokenCount":`, usage.InputTokens)
	if usage.CachedTokens > 0 {
		buf = appendCount(buf, `,"cachedContentTokenCount":`, usage.CachedTokens)
	}

	buf = appendCount(buf, `,"candidatesTokenCount":`, usage.OutputTokens)
	buf = appendCount(buf, `,"totalTokenCount":`, total)
	buf = appendCount(buf, `,"promptTokensDetails":[{"modality":"TEXT","tokenCount":`, usage.InputTokens)
	buf = append(buf, `}]`...)

	if usage.ThinkingTokens > 0 {
		buf = appendCount(buf, `,"thoughtsTokenCount":`, usage.ThinkingTokens)
	}

	return append(buf, `},`...)
}

func appendCount(buf []byte, name string, count int) []byte {
	return strconv.AppendInt(append(buf, name...), int64(count), 10)
}
