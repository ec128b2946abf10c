package agent

import (
	"encoding/json"
	"unicode/utf8"

	"tarsy.dev/tarsy/internal/plaintext"
	"tarsy.dev/tarsy/llm"
)

// storedSignature is a signature as it is stored. Its data is a text there: providers refuse a changed one, and a database
// that understood it would rewrite it, or not take it at all.
type storedSignature struct {
	By   string `json:"by"`
	Data string `json:"data"`
}

// signature is what the provider wants back with its answer, as it is stored. One that cannot be is left out: providers
// go on without.
func (a answer) signature() json.RawMessage {
	signature := a.End.Signature
	if signature == nil || !json.Valid(signature.Data) || !utf8.Valid(signature.Data) {
		return nil
	}

	raw, err := json.Marshal(storedSignature{By: plaintext.Clean(signature.By), Data: string(signature.Data)})
	if err != nil {
		return nil
	}

	return raw
}

// readSignature reads what signature wrote.
func readSignature(raw json.RawMessage) *llm.Signature {
	var stored storedSignature
	if raw == nil || json.Unmarshal(raw, &stored) != nil {
		return nil
	}

	return &llm.Signature{By: stored.By, Data: json.RawMessage(stored.Data)}
}
