package gemini

import (
	"encoding/json"
	"slices"

	"google.golang.org/genai"

	"tarsy.dev/tarsy/llm"
)

// layout is the content of a signature: the parts of which an answer consists, in their order, and their signatures. Google
// requires each signature back on the very part that it came with. Texts and calls are in the message; only signed thoughts are
// stored here, because messages contain no thoughts.
type layout struct {
	Parts []piece `json:"parts"`
}

// piece is a part: a number of bytes of the answer's text, the call with an id, or a thought.
type piece struct {
	Text      int    `json:"text,omitempty"`
	Call      string `json:"call,omitempty"`
	Thought   string `json:"thought,omitempty"`
	IsThought bool   `json:"is_thought,omitempty"`
	Signature []byte `json:"signature,omitempty"`
}

// text adds text to the layout. Consecutive unsigned pieces become one part.
func (l *layout) text(size int, signature []byte) {
	if size == 0 && len(signature) == 0 {
		return
	}

	if last := len(l.Parts) - 1; last >= 0 && len(signature) == 0 {
		if p := &l.Parts[last]; p.Call == "" && !p.IsThought && len(p.Signature) == 0 {
			p.Text += size

			return
		}
	}

	l.Parts = append(l.Parts, piece{Text: size, Signature: signature})
}

func (l *layout) call(id string, signature []byte) {
	l.Parts = append(l.Parts, piece{Call: id, Signature: signature})
}

func (l *layout) thought(text string, signature []byte) {
	if len(signature) > 0 {
		l.Parts = append(l.Parts, piece{Thought: text, IsThought: true, Signature: signature})
	}
}

// signature returns the layout as a signature, nil if nothing in it was signed.
func (l *layout) signature(by string) *llm.Signature {
	if !slices.ContainsFunc(l.Parts, func(p piece) bool { return len(p.Signature) > 0 }) {
		return nil
	}

	data, err := json.Marshal(l)
	if err != nil {
		return nil
	}

	return &llm.Signature{By: by, Data: data}
}

// readLayout returns the layout of a message that by wrote, and an empty one for any other.
func readLayout(message *llm.Message, by string) *layout {
	var l layout

	data := message.SignatureBy(by)
	if data == nil || json.Unmarshal(data, &l) != nil {
		return &layout{}
	}

	return &l
}

// fits reports whether the message still matches the layout.
func (l *layout) fits(message *llm.Message) bool {
	size := 0

	var calls []string

	for _, p := range l.Parts {
		if p.Text < 0 || p.Text > len(message.Content) {
			return false
		}

		size += p.Text

		if p.Call != "" {
			calls = append(calls, p.Call)
		}
	}

	return len(l.Parts) > 0 && size == len(message.Content) && slices.EqualFunc(calls, message.ToolCalls,
		func(id string, call llm.ToolCall) bool { return id == call.ID })
}

// laidOut returns the parts of an answer. If the message was changed, its text is one part, and calls keep their signatures.
func (q *question) laidOut(message *llm.Message, l *layout) []*genai.Part {
	if !l.fits(message) {
		return q.changed(message, l)
	}

	var parts []*genai.Part

	rest, calls := message.Content, message.ToolCalls

	for _, p := range l.Parts {
		part := &genai.Part{ThoughtSignature: p.Signature}

		switch {
		case p.Call != "":
			part.FunctionCall, calls = q.call(calls[0]), calls[1:]
		case p.IsThought:
			part.Thought, part.Text = true, p.Thought
		default:
			part.Text, rest = rest[:p.Text], rest[p.Text:]
		}

		parts = append(parts, part)
	}

	return parts
}

func (q *question) changed(message *llm.Message, l *layout) []*genai.Part {
	var parts []*genai.Part

	signatures := map[string][]byte{}

	for _, p := range l.Parts {
		if p.Call != "" {
			signatures[p.Call] = p.Signature
		}
	}

	if message.Content != "" {
		parts = append(parts, &genai.Part{Text: message.Content})
	}

	for _, call := range message.ToolCalls {
		parts = append(parts, &genai.Part{FunctionCall: q.call(call), ThoughtSignature: signatures[call.ID]})
	}

	return parts
}
