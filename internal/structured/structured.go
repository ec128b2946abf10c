// Package structured decodes models' responses to requests for JSON. A schema derived from a Go type is sent with the call, and
// the response must be exactly one value that matches it: providers enforce the schema, but not every provider can.
//
// It knows nothing of the content of requests.
package structured

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"tarsy.dev/tarsy/internal/plaintext"
	"tarsy.dev/tarsy/internal/schema"
)

// ErrSchema is the error for a response that does not match the schema or violates one of its rules. A retry can yield a better
// response, but often yields the same.
var ErrSchema = errors.New("the model's answer does not fit the schema")

// maxReason is how much of the description of an error is kept.
const maxReason = 500

// Schema is the schema of a response of type T: sent with the call, and used to validate the response.
type Schema[T any] struct {
	raw      json.RawMessage
	resolved *jsonschema.Resolved
}

// MustSchema returns the schema of a type, described by the tag doc. Every field is required and no others are allowed; adjust
// adds what the type cannot express.
func MustSchema[T any](adjust func(*jsonschema.Schema)) Schema[T] {
	answer := schema.Format{JSON: true}.Object(reflect.TypeFor[T]())
	adjust(answer)

	raw, err := json.Marshal(answer)
	if err != nil {
		panic("structured: " + err.Error())
	}

	resolved, err := answer.Resolve(nil)
	if err != nil {
		panic("structured: " + err.Error())
	}

	return Schema[T]{raw: raw, resolved: resolved}
}

// JSON returns the schema as it is sent.
func (s Schema[T]) JSON() json.RawMessage { return bytes.Clone(s.raw) }

// Decode decodes a response that must be exactly one JSON value that matches the schema.
func (s Schema[T]) Decode(text string) (T, error) {
	var answer T

	text = unfenced(text)

	var value any
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		return answer, fmt.Errorf("%w: it is not JSON: %w", ErrSchema, err)
	}

	if err := s.resolved.Validate(value); err != nil {
		return answer, fmt.Errorf("%w: %s", ErrSchema, plaintext.Cut(err.Error(), maxReason))
	}

	// The schema allows no other fields, but numbers such as 1.0 match it and not the type.
	if err := json.Unmarshal([]byte(text), &answer); err != nil {
		return answer, fmt.Errorf("%w: %w", ErrSchema, err)
	}

	return answer, nil
}

// unfenced removes a Markdown code fence around a response: models without schema enforcement often add one.
func unfenced(text string) string {
	text = strings.TrimSpace(text)

	inner, fenced := strings.CutPrefix(text, "```")
	if !fenced {
		return text
	}

	inner, fenced = strings.CutSuffix(strings.TrimPrefix(inner, "json"), "```")
	if !fenced {
		return text
	}

	return strings.TrimSpace(inner)
}
