package people

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/plaintext"
)

// maxDepth limits the nesting of arguments.
const maxDepth = 100

// arguments validates the arguments that a person approves for a call. They are not modified: the call is made exactly as
// approved, or not at all. So a secret is rejected rather than masked.
func (d *Desk) arguments(raw json.RawMessage) (json.RawMessage, error) {
	refused := func(format string, args ...any) (json.RawMessage, error) {
		return nil, tarsy.FieldErrorf(tarsy.CodeInvalidField, "arguments", format, args...)
	}

	if len(raw) > tarsy.MaxApprovalArguments {
		return refused("arguments is longer than %d bytes", tarsy.MaxApprovalArguments)
	}

	var object map[string]any

	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()

	if err := decoder.Decode(&object); err != nil || object == nil {
		return refused("arguments must be a JSON object")
	}

	if !storable(object, maxDepth) {
		return refused("arguments must not contain NUL characters, invalid UTF-8, numbers outside the range of 64-bit floats, or more than %d levels", maxDepth)
	}

	var text bytes.Buffer

	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)

	if err := encoder.Encode(object); err != nil {
		return refused("arguments must be a JSON object")
	}

	encoded := bytes.TrimSpace(text.Bytes())
	if d.cfg.Mask(string(encoded)) != string(encoded) {
		return refused("arguments contain what looks like a secret; secrets are neither stored nor sent to tools")
	}

	return encoded, nil
}

// storable reports whether the database can store a value unchanged.
func storable(value any, depth int) bool {
	if depth < 0 {
		return false
	}

	switch v := value.(type) {
	case string:
		return v == plaintext.Clean(v) && !strings.ContainsRune(v, '\ufffd')
	case json.Number:
		_, err := strconv.ParseFloat(v.String(), 64)

		return err == nil
	case []any:
		for _, item := range v {
			if !storable(item, depth-1) {
				return false
			}
		}
	case map[string]any:
		for name, item := range v {
			if !storable(name, depth) || !storable(item, depth-1) {
				return false
			}
		}
	}

	return true
}
