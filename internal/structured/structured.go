// Package structured reads what models write when they are asked for JSON. A schema made from a Go type goes with the call, and what comes
// back must be exactly one value that fits it: providers hold models to the schema, but not every provider can.
//
// It knows nothing of what is asked.
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

// ErrSchema is the error of an answer that does not fit the schema or breaks one of the rules that come with it. The same question
// may get a better answer, but often gets the same one.
var ErrSchema = errors.New("the model's answer does not fit the schema")

// maxReason is how much of what is wrong with an answer is kept.
const maxReason = 500

// Schema is the schema of an answer of type T: sent with the call, and checked when the answer comes back.
type Schema[T any] struct {
	raw      json.RawMessage
	resolved *jsonschema.Resolved
}

// MustSchema makes the schema of a type, described by the tag doc. Every field is required and no other is allowed; adjust adds what the type cannot express.
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

// JSON is the schema as it is sent.
func (s Schema[T]) JSON() json.RawMessage { return bytes.Clone(s.raw) }

// Decode reads an answer that must be exactly one JSON value that fits the schema.
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

	// The schema allows no other fields; numbers such as 1.0 fit it and not the type.
	if err := json.Unmarshal([]byte(text), &answer); err != nil {
		return answer, fmt.Errorf("%w: %w", ErrSchema, err)
	}

	return answer, nil
}

// unfenced removes a Markdown code fence around an answer: models that are not held to a schema often write one.
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
