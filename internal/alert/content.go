package alert

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/plaintext"
)

// HasContent reports whether the JSON has any content: a non-blank string, a number or a boolean.
func HasContent(raw []byte) bool {
	var value any

	return depth(raw) > maxDepth || json.Unmarshal(raw, &value) != nil || hasContent(value)
}

func hasContent(value any) bool {
	switch value := value.(type) {
	case nil:
		return false
	case string:
		return strings.ContainsFunc(value, func(r rune) bool { return !unicode.IsSpace(r) && !plaintext.Invisible(r) })
	case []any:
		return slices.ContainsFunc(value, hasContent)
	case map[string]any:
		for _, part := range value {
			if hasContent(part) {
				return true
			}
		}

		return false
	default:
		return true
	}
}

// checkItems rejects a body without alerts and one with an empty alert: there would be nothing to investigate, and all empty
// alerts would share one identity.
func checkItems(items []any) error {
	for i, item := range items {
		if !hasContent(item) && len(items) > 1 {
			return tarsy.Errorf(tarsy.CodeEmptyAlert, "Alert %d of %d contains nothing: none of its fields has a value.", i+1, len(items))
		}
	}

	if len(items) == 0 || !hasContent(items[0]) {
		return tarsy.Errorf(tarsy.CodeEmptyAlert, "The body contains no alert: none of its fields has a value. Send an object with at least a title or a message.")
	}

	return nil
}
