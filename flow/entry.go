package flow

import (
	"encoding/json"
	"fmt"
	"reflect"
)

// Entry is an element of a branch's journal: a value and the name of its type. An entry read from a file or a database is
// decoded only when its value is requested, so a journal can contain types that the program does not know.
type Entry struct {
	// Type is the name of the value's Go type with its package, such as "console.Line".
	Type string

	value any
	raw   json.RawMessage
}

// NewEntry wraps a value.
func NewEntry[T any](value T) Entry { return Entry{Type: TypeName[T](), value: value} }

// TypeName returns the name under which entries of a type are stored.
func TypeName[T any]() string { return reflect.TypeFor[T]().String() }

// Is reports whether the entry is of type T.
func Is[T any](e Entry) bool { return e.Type == TypeName[T]() }

// As returns the value of an entry of type T.
func As[T any](e Entry) (T, error) {
	var value T

	if known, ok := e.value.(T); ok {
		return known, nil
	}

	if !Is[T](e) {
		return value, fmt.Errorf("the entry is of type %s, not %s", e.Type, TypeName[T]())
	}

	err := json.Unmarshal(e.raw, &value)
	if err != nil {
		return value, fmt.Errorf("decode an entry of type %s: %w", e.Type, err)
	}

	return value, nil
}

// storedEntry is the encoding of an entry in files and databases.
type storedEntry struct {
	Type  string          `json:"type"`
	Value json.RawMessage `json:"value"`
}

// MarshalJSON implements json.Marshaler.
func (e Entry) MarshalJSON() ([]byte, error) {
	raw := e.raw
	if raw == nil {
		encoded, err := json.Marshal(e.value)
		if err != nil {
			return nil, fmt.Errorf("encode an entry of type %s: %w", e.Type, err)
		}

		raw = encoded
	}

	return json.Marshal(storedEntry{Type: e.Type, Value: raw})
}

// UnmarshalJSON implements json.Unmarshaler.
func (e *Entry) UnmarshalJSON(data []byte) error {
	var stored storedEntry

	err := json.Unmarshal(data, &stored)
	if err != nil {
		return err
	}

	*e = Entry{Type: stored.Type, raw: stored.Value}

	return nil
}

// String renders the entry for logs and failed tests.
func (e Entry) String() string {
	if e.value != nil {
		return fmt.Sprintf("%s%+v", e.Type, e.value)
	}

	return e.Type + string(e.raw)
}
