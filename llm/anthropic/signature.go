package anthropic

import (
	"encoding/json"
	"slices"
	"strings"

	"tarsy.dev/tarsy/llm"
)

// piece is a block of an answer as it is stored: the API requires thinking back byte for byte, and in its place. Of text only
// the length is stored and of calls the id, since the message contains them. Data is thinking that the API does not show.
type piece struct {
	Thinking  string `json:"thinking,omitempty"`
	Signature string `json:"signature,omitempty"`
	Data      string `json:"data,omitempty"`
	Text      int    `json:"text,omitempty"`
	Call      string `json:"call,omitempty"`
	// Prefix, set in the first piece, is the digest of everything before the answer, for models that accept their thinking back
	// only if that has not changed.
	Prefix string `json:"prefix,omitempty"`
}

func (p piece) isThought() bool { return p.Text == 0 && p.Call == "" }

// signer returns the signer of a model's answers.
func signer(model string) string { return Name + "/" + model }

// sign returns the signature of an answer that consists of these pieces; nil if there is no thinking in it.
func sign(by, prefix string, all []piece) *llm.Signature {
	if !slices.ContainsFunc(all, piece.isThought) {
		return nil
	}

	all[0].Prefix = prefix

	data, err := json.Marshal(all)
	if err != nil {
		return nil
	}

	return &llm.Signature{By: by, Data: data}
}

// readPieces returns the pieces of an answer. A signature that this client did not write, or that is damaged, is ignored as a
// whole: an answer without its thinking is better than none.
func readPieces(message llm.Message, by string) []piece {
	data := message.SignatureBy(by)
	if data == nil {
		return nil
	}

	var all []piece
	if json.Unmarshal(data, &all) != nil {
		return nil
	}

	for _, p := range all {
		if p.isThought() && p.Data == "" && p.Signature == "" {
			return nil
		}
	}

	return all
}

// signed reports whether the thinking of an answer is available.
func signed(message llm.Message, by string) bool {
	return slices.ContainsFunc(arranged(message, readPieces(message, by)), piece.isThought)
}

// arranged returns the pieces of a message in the order in which they are sent back. If the message was changed, only thinking
// at its start is kept, and none if there was thinking between other pieces, which has no place any more.
func arranged(message llm.Message, all []piece) []piece {
	if fits(message, all) {
		return all
	}

	first := slices.IndexFunc(all, func(p piece) bool { return !p.isThought() })
	if first < 0 {
		first = len(all)
	}

	if slices.ContainsFunc(all[first:], piece.isThought) {
		first = 0
	}

	pieces := slices.Clone(all[:first])
	if message.Content != "" {
		pieces = append(pieces, piece{Text: len(message.Content)})
	}

	for _, call := range message.ToolCalls {
		pieces = append(pieces, piece{Call: call.ID})
	}

	return pieces
}

// fits reports whether a message still matches its pieces.
func fits(message llm.Message, all []piece) bool {
	var (
		size  int
		calls []string
	)

	for _, p := range all {
		if p.Text < 0 || p.Text > len(message.Content)-size {
			return false
		}

		size += p.Text

		if p.Call != "" {
			calls = append(calls, p.Call)
		}
	}

	return size == len(message.Content) && slices.EqualFunc(calls, message.ToolCalls, func(id string, call llm.ToolCall) bool { return id == call.ID })
}

// blocks returns an answer as it is sent back.
func (c *conversation) blocks(message llm.Message) []content {
	all := readPieces(message, c.by)
	if c.bound && len(all) > 0 && all[0].Prefix != c.prefix() {
		all = nil
	}

	var blocks []content

	rest, calls := message.Content, message.ToolCalls

	for _, p := range arranged(message, all) {
		switch {
		case p.Text > 0:
			text := rest[:p.Text]
			rest = rest[p.Text:]

			if !blank(text) {
				blocks = append(blocks, textBlock(strings.ToValidUTF8(text, "\uFFFD")))
			}
		case p.Call != "":
			call := calls[0]
			calls = calls[1:]

			blocks = append(blocks, content{Type: toolUseType, ID: wireID(call.ID), Input: input(call.Arguments), Name: c.names.Wire(call.Name)})
		case p.Data != "":
			blocks = append(blocks, content{Type: redactedThinkingType, Data: p.Data})
		default:
			blocks = append(blocks, content{Type: thinkingType, Signature: &p.Signature, Thinking: &p.Thinking})
		}
	}

	return blocks
}
