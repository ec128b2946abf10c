package tarsy

import (
	"bytes"
	"encoding/json"
	"maps"
)

// Metadata is what a timeline event carries besides its content: one JSON object, or nil. The event's type decides which
// of the structs of metadata_types.go it is; NewMetadata writes one and MetadataAs reads one. It is kept as JSON because
// a row, a REST answer and a journal event pass it on without looking inside, and because keys that a newer release
// has written must not get lost on the way. Its keys are sorted, so that metadata has the same bytes whether it was made
// here or read from the database, which orders them in its own way.
type Metadata json.RawMessage

// MetadataType is any of the structs that are the metadata of a type of timeline event.
type MetadataType interface {
	ToolCallMetadata | ToolCallResult | ToolSummaryMetadata | ErrorMetadata | QuestionMetadata | FinalAnalysisMetadata |
		CodeExecutionMetadata | GroundingMetadata | ProviderFallbackMetadata | ContextShortenedMetadata
}

// NewMetadata encodes a metadata struct. One that says nothing is nil.
func NewMetadata[T MetadataType](value T) Metadata {
	var keys map[string]any

	raw, err := json.Marshal(value)
	if err == nil {
		err = json.Unmarshal(raw, &keys)
	}

	if err != nil {
		// Only the arguments of a tool call could fail, and they were encoded by the agent that made the call.
		panic("tarsy: metadata does not marshal: " + err.Error())
	}

	if len(keys) == 0 {
		return nil
	}

	return sortedMetadata(keys)
}

// sortedMetadata encodes decoded JSON, which always succeeds, as the keys of Metadata are.
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

// MetadataAs decodes metadata. Keys that the struct does not have are ignored, and a value of another kind than
// the struct's leaves its field empty: rows of other releases must stay readable.
func MetadataAs[T MetadataType](m Metadata) T {
	var value T

	// What can be read is read; see above.
	_ = json.Unmarshal(m, &value)

	return value
}

// Merge adds the keys of next, which win over those that are there. Keys that this release does not know stay.
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

	err := json.Unmarshal(raw, &keys)
	if err == nil && keys != nil {
		*m = sortedMetadata(keys)
	}

	return err
}
