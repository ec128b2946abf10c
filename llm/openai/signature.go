package openai

import (
	"encoding/json"

	"tarsy.dev/tarsy/llm"
)

// signature is what is sent back with an answer of Responses: the thinking, sealed by the provider.
type signature struct {
	Thoughts []thought `json:"thoughts,omitempty"`
	// Phase is the provider's label for the text of the answer: an intermediate comment, or the final answer.
	Phase string `json:"phase,omitempty"`
}

// thought is one item of thinking.
type thought struct {
	ID      string   `json:"id"`
	Sealed  string   `json:"sealed"`
	Summary []string `json:"summary,omitempty"`
	// Before is the id of the call that the thinking led to; empty means the text.
	Before string `json:"before,omitempty"`
}

// by returns the signer of a model's answers.
func (c *Client) by(model string) string { return c.name + "/" + model }

// readSignature returns the signature of a message, if this client wrote it.
func readSignature(message llm.Message, by string) signature {
	var signed signature
	if json.Unmarshal(message.SignatureBy(by), &signed) != nil {
		return signature{}
	}

	return signed
}

// append appends the thinking that led to a call or, if before is empty, to the text.
func (s signature) append(input []any, before string) []any {
	for _, t := range s.Thoughts {
		if t.Before != before || t.Sealed == "" {
			continue
		}

		item := inputThought{Type: reasoningType, ID: t.ID, EncryptedContent: t.Sealed, Summary: []summaryText{}}
		for _, text := range t.Summary {
			item.Summary = append(item.Summary, summaryText{Type: "summary_text", Text: text})
		}

		input = append(input, item)
	}

	return input
}

// sign returns the signature of an answer; nil if there is nothing to send back.
func sign(output []outputItem, by string) *llm.Signature {
	var signed signature

	for i := range output {
		switch output[i].Type {
		case messageType:
			signed.Phase = output[i].Phase
		case reasoningType:
			// Thinking that led to a tool run by the provider is useless without that tool's item, and rejected.
			if i+1 == len(output) || output[i].EncryptedContent == "" {
				continue
			}

			switch next := &output[i+1]; next.Type {
			case messageType:
				signed.Thoughts = append(signed.Thoughts, thoughtOf(&output[i], ""))
			case functionCallType:
				signed.Thoughts = append(signed.Thoughts, thoughtOf(&output[i], next.CallID))
			}
		}
	}

	if len(signed.Thoughts) == 0 && signed.Phase == "" {
		return nil
	}

	data, err := json.Marshal(signed)
	if err != nil {
		return nil
	}

	return &llm.Signature{By: by, Data: data}
}

func thoughtOf(item *outputItem, before string) thought {
	t := thought{ID: item.ID, Sealed: item.EncryptedContent, Before: before}
	for _, summary := range item.Summary {
		t.Summary = append(t.Summary, summary.Text)
	}

	return t
}
