package anthropic

import (
	"encoding/json"
	"fmt"
	"strings"

	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/internal/wire"
)

// answer converts the events of one stream to chunks.
type answer struct {
	by, prefix string
	names      llm.ToolNames
	yield      func(llm.Chunk, error) bool

	blocks map[wire.Count]*block
	pieces []piece
	// foreign reports blocks that cannot be sent back, such as tools run by the API itself; the thinking between them cannot be
	// sent back either.
	foreign bool
	native  natives
	// unconfirmedCall is a call whose arguments are not valid JSON. It may have been cut off; the end of the answer decides.
	unconfirmedCall *llm.ToolCall
	usage           usage
	stop            stopReason
	// explanation is the model's explanation of a refusal.
	explanation string
}

// block is an open content block.
type block struct {
	kind, id, name string
	// text is the thinking, or the input of a call.
	text      strings.Builder
	data      string
	signature string
	// size is the length of a text.
	size int
	// start is the block as received at its start.
	start json.RawMessage
}

// take handles one event; over reports whether it was the last.
func (a *answer) take(event *event) (over bool, err error) {
	switch event.Type {
	case "message_start":
		a.usage.start(event.Message.Usage)

		return false, nil
	case "content_block_start":
		return false, a.begin(event)
	case "content_block_delta":
		return false, a.extend(event)
	case "content_block_stop":
		return false, a.finish(event.Index)
	case "message_delta":
		a.usage.update(event.Usage)
		a.stop, a.explanation = event.Delta.StopReason, string(event.Delta.StopDetails.Explanation)

		return false, nil
	case "message_stop":
		return true, a.end()
	default:
		// Ignore events that are not known yet.
		return false, nil
	}
}

func (a *answer) send(chunk llm.Chunk) error {
	if !a.yield(chunk, nil) {
		return errStopped
	}

	return nil
}

func (a *answer) sendAll(chunks []llm.Chunk) error {
	for _, chunk := range chunks {
		if err := a.send(chunk); err != nil {
			return err
		}
	}

	return nil
}

func (a *answer) sendText(text string) error {
	if text == "" {
		return nil
	}

	return a.send(llm.TextChunk{Text: text})
}

func (a *answer) sendThinking(text string) error {
	if text == "" {
		return nil
	}

	return a.send(llm.ThinkingChunk{Text: text})
}

// begin opens a block.
func (a *answer) begin(event *event) error {
	var first blockStart

	// A malformed block is treated as a block of unknown kind.
	_ = wire.Unmarshal(event.ContentBlock, &first)

	b := &block{
		kind: string(first.Type), id: string(first.ID), name: string(first.Name), signature: string(first.Signature), start: event.ContentBlock,
	}

	if a.blocks == nil {
		a.blocks = map[wire.Count]*block{}
	}

	a.blocks[event.Index] = b

	if err := a.sendPendingCall(""); err != nil {
		return err
	}

	if err := a.sendAll(a.native.begin(b)); err != nil {
		return err
	}

	switch b.kind {
	case textType:
		b.size = len(first.Text)

		return a.sendText(string(first.Text))
	case thinkingType:
		b.text.WriteString(string(first.Thinking))

		return a.sendThinking(string(first.Thinking))
	case redactedThinkingType:
		b.data = string(first.Data)
	}

	return nil
}

// extend adds a piece to an open block.
func (a *answer) extend(event *event) error {
	b, delta := a.blocks[event.Index], &event.Delta
	if b == nil {
		return fmt.Errorf("the Anthropic API sent a piece of block %d, which is not open", event.Index)
	}

	switch delta.Type {
	case "text_delta":
		b.size += len(delta.Text)

		return a.sendText(string(delta.Text))
	case "thinking_delta":
		b.text.WriteString(string(delta.Thinking))

		return a.sendThinking(string(delta.Thinking))
	case "signature_delta":
		b.signature += string(delta.Signature)
	case "input_json_delta":
		b.text.WriteString(string(delta.PartialJSON))
	case "citations_delta":
		a.native.cite(delta.Citation)
	}

	return nil
}

// finish closes a block.
func (a *answer) finish(index wire.Count) error {
	b := a.blocks[index]
	if b == nil {
		return fmt.Errorf("the Anthropic API ended block %d, which is not open", index)
	}

	delete(a.blocks, index)

	switch b.kind {
	case textType:
		if b.size > 0 {
			a.pieces = append(a.pieces, piece{Text: b.size})
		}

		return a.sendAll(a.native.finish(b))
	case thinkingType:
		a.pieces = append(a.pieces, piece{Thinking: b.text.String(), Signature: b.signature})
	case redactedThinkingType:
		a.pieces = append(a.pieces, piece{Data: b.data})
	case toolUseType:
		a.pieces = append(a.pieces, piece{Call: b.id})

		call := llm.ToolCall{ID: b.id, Name: a.names.Name(b.name), Arguments: b.input()}
		if !json.Valid([]byte(call.Arguments)) {
			a.unconfirmedCall = &call

			return nil
		}

		return a.send(llm.ToolCallChunk{Call: call})
	default:
		a.foreign = true

		return a.sendAll(a.native.finish(b))
	}

	return nil
}

// input returns the input of a call. Input that came in one piece is in the start of the block.
func (b *block) input() string {
	if b.text.Len() > 0 {
		return b.text.String()
	}

	var first struct {
		Input json.RawMessage `json:"input"`
	}
	if json.Unmarshal(b.start, &first) != nil || len(first.Input) == 0 || first.Input[0] != '{' {
		return "{}"
	}

	return string(first.Input)
}

// sendPendingCall sends the unconfirmed call, unless the answer was cut off.
func (a *answer) sendPendingCall(stop stopReason) error {
	call := a.unconfirmedCall
	a.unconfirmedCall = nil

	if call == nil || stop == stopMaxTokens || stop == stopContextFull {
		return nil
	}

	return a.send(llm.ToolCallChunk{Call: *call})
}

// end ends the answer.
func (a *answer) end() error {
	if len(a.blocks) > 0 || a.stop == "" {
		return errCut
	}

	if err := a.sendPendingCall(a.stop); err != nil {
		return err
	}

	if err := a.sendAll(a.native.rest()); err != nil {
		return err
	}

	reason, err := a.reason()
	if err != nil {
		return err
	}

	if err := a.send(a.usage.chunk()); err != nil {
		return err
	}

	var signature *llm.Signature
	if !a.foreign {
		signature = sign(a.by, a.prefix, a.pieces)
	}

	return a.send(llm.EndChunk{Reason: reason, Signature: signature})
}

// reason returns why the answer ended; a withheld answer is an error.
func (a *answer) reason() (llm.StopReason, error) {
	switch a.stop {
	case stopToolUse:
		return llm.StopToolCalls, nil
	case stopMaxTokens:
		return llm.StopMaxTokens, nil
	case stopSequence:
		return llm.StopSequence, nil
	case stopRefusal:
		message := "the model refused to answer"
		if a.explanation != "" {
			message += ": " + a.explanation
		}

		return "", &llm.Error{Class: llm.ClassSafety, Code: string(a.stop), Message: message}
	case stopContextFull:
		return "", &llm.Error{Class: llm.ClassContextTooLong, Code: string(a.stop), Message: "the conversation and its answer fill the model's context"}
	default:
		// The end of a turn, a turn paused by the API, or a reason that is not known yet.
		return llm.StopEnd, nil
	}
}
