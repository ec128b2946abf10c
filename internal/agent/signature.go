package agent

import (
	"encoding/json"
	"unicode/utf8"

	"tarsy.dev/tarsy/internal/plaintext"
	"tarsy.dev/tarsy/llm"
)

// storedSignature is the stored form of a signature. Its data is stored as text: providers reject a changed signature, and a JSON
// column would rewrite or reject it.
type storedSignature struct {
	By   string `json:"by"`
	Data string `json:"data"`
}

// signature encodes what the provider wants back with its answer. A signature that cannot be stored is omitted: providers continue
// without it.
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

// readSignature decodes what signature encoded.
func readSignature(raw json.RawMessage) *llm.Signature {
	var stored storedSignature
	if raw == nil || json.Unmarshal(raw, &stored) != nil {
		return nil
	}

	return &llm.Signature{By: stored.By, Data: json.RawMessage(stored.Data)}
}
