package anthropic

import (
	"encoding/json"

	"tarsy.dev/tarsy/llm/internal/wire"
)

// event is an event of the stream. Its fields depend on its type.
type event struct {
	Type    wire.Text  `json:"type"`
	Index   wire.Count `json:"index"`
	Message struct {
		Usage tokens `json:"usage"`
	} `json:"message"`
	// ContentBlock is decoded separately: some blocks are kept as received.
	ContentBlock json.RawMessage `json:"content_block"`
	Delta        delta           `json:"delta"`
	Usage        tokens          `json:"usage"`
}

// delta is what an event adds to a block or to the message.
type delta struct {
	Type        wire.Text  `json:"type"`
	Text        wire.Text  `json:"text"`
	Thinking    wire.Text  `json:"thinking"`
	Signature   wire.Text  `json:"signature"`
	PartialJSON wire.Text  `json:"partial_json"`
	Citation    citation   `json:"citation"`
	StopReason  stopReason `json:"stop_reason"`
	StopDetails struct {
		Explanation wire.Text `json:"explanation"`
	} `json:"stop_details"`
}

// citation is a page that a text is based on.
type citation struct {
	Title wire.Text `json:"title"`
	URL   wire.Text `json:"url"`
}

// tokens are counts of tokens; nil is a count that the event omits.
type tokens struct {
	InputTokens              *wire.Count `json:"input_tokens"`
	CacheReadInputTokens     *wire.Count `json:"cache_read_input_tokens"`
	CacheCreationInputTokens *wire.Count `json:"cache_creation_input_tokens"`
	OutputTokens             *wire.Count `json:"output_tokens"`
	OutputTokensDetails      *struct {
		ThinkingTokens wire.Count `json:"thinking_tokens"`
	} `json:"output_tokens_details"`
}

// blockStart is the start of a block.
type blockStart struct {
	Type      wire.Text `json:"type"`
	ID        wire.Text `json:"id"`
	Name      wire.Text `json:"name"`
	Text      wire.Text `json:"text"`
	Thinking  wire.Text `json:"thinking"`
	Signature wire.Text `json:"signature"`
	Data      wire.Text `json:"data"`
}

// stopReason is why a model stopped, in the API's terms.
type stopReason = wire.Text

const (
	stopToolUse     stopReason = "tool_use"
	stopMaxTokens   stopReason = "max_tokens"
	stopSequence    stopReason = "stop_sequence"
	stopRefusal     stopReason = "refusal"
	stopContextFull stopReason = "model_context_window_exceeded"
)
