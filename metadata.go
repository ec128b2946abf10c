package tarsy

import (
	"bytes"
	"encoding/json"
	"maps"
)

// Metadata is what a timeline event has besides its content: one JSON object, or nil. The event's type decides which
// struct of metadata_types.go it is; NewMetadata encodes one and MetadataAs decodes one. It stays JSON because rows, REST
// responses and journal events pass it on unread, and because keys written by a newer release must not get lost. Its keys
// are sorted, so that it has the same bytes whether it was encoded here or read from the database, which has an order of
// its own.
type Metadata json.RawMessage

// MetadataType is any of the metadata structs of metadata_types.go.
type MetadataType interface {
	ToolCallMetadata | ToolCallResult | ToolSummaryMetadata | ErrorMetadata | QuestionMetadata | FinalAnalysisMetadata |
		CodeExecutionMetadata | GroundingMetadata | ProviderFallbackMetadata | ContextShortenedMetadata
}

// NewMetadata encodes a metadata struct. It returns nil if the object would have no keys.
func NewMetadata[T MetadataType](value T) Metadata {
	var keys map[string]any

	raw, err := json.Marshal(value)
	if err == nil {
		err = decodeExact(raw, &keys)
	}

	if err != nil {
		// Only the arguments of a tool call could fail, and the agent has encoded them itself.
		panic("tarsy: metadata does not marshal: " + err.Error())
	}

	if len(keys) == 0 {
		return nil
	}

	return sortedMetadata(keys)
}

// sortedMetadata encodes decoded JSON with sorted keys, which always succeeds.
func sortedMetadata(keys any) Metadata {
	var out bytes.Buffer

	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)

	err := encoder.Encode(keys)
	if err != nil {
		panic("tarsy: decoded JSON does not marshal: " + err.Error())
	}

	return bytes.TrimSpace(out.Bytes())
}

// MetadataAs decodes metadata. Unknown keys are ignored and values of an unexpected type leave their field empty, because
// rows of other releases must stay readable.
func MetadataAs[T MetadataType](m Metadata) T {
	var value T

	// Unmarshal fills the fields that it can; see above.
	_ = json.Unmarshal(m, &value)

	return value
}

// Merge adds the keys of next, which replace existing ones. Keys that this release does not know are kept.
func (m Metadata) Merge(next Metadata) Metadata {
	if len(next) == 0 {
		return m
	}

	var merged, added map[string]json.RawMessage

	if json.Unmarshal(m, &merged) != nil || json.Unmarshal(next, &added) != nil || merged == nil {
		return next
	}

	maps.Copy(merged, added)

	return sortedMetadata(merged)
}

// MarshalJSON implements json.Marshaler.
func (m Metadata) MarshalJSON() ([]byte, error) {
	if len(m) == 0 {
		return []byte("null"), nil
	}

	return m, nil
}

// UnmarshalJSON implements json.Unmarshaler.
func (m *Metadata) UnmarshalJSON(raw []byte) error {
	*m = nil

	var keys any

	err := decodeExact(raw, &keys)
	if err == nil && keys != nil {
		*m = sortedMetadata(keys)
	}

	return err
}

// decodeExact decodes a JSON text so that the numbers in it, such as those of a call's arguments, keep all their digits.
func decodeExact(raw []byte, value any) error {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()

	return decoder.Decode(value)
}
