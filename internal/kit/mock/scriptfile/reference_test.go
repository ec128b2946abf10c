package scriptfile_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/kit/mock/scriptfile"
)

type node = map[string]any

func TestReferenceListsEveryKey(t *testing.T) {
	t.Parallel()

	const begin, end = "<!-- reference: begin -->\n", "<!-- reference: end -->\n"

	path := filepath.Join("..", "..", "..", "..", "docs", "scripts.md")
	text, err := os.ReadFile(path)
	require.NoError(t, err)

	before, rest, ok := strings.Cut(string(text), begin)
	require.True(t, ok)

	_, after, ok := strings.Cut(rest, end)
	require.True(t, ok)

	var root node

	require.NoError(t, json.Unmarshal(scriptfile.Schema(), &root))
	golden(t, path, before+begin+reference(root)+end+after)
}

// reference writes the schema as tables, one for each kind of map.
func reference(root node) string {
	var out strings.Builder

	table(&out, "The file", root)

	defs := root["$defs"].(node)
	for _, name := range slices.Sorted(maps.Keys(defs)) {
		table(&out, name, defs[name].(node))
	}

	return out.String() + "\n"
}

func table(out *strings.Builder, name string, def node) {
	fmt.Fprintf(out, "\n### %s\n\n", name)

	if forms, ok := def["anyOf"].([]any); ok && def["properties"] == nil {
		def = forms[1].(node)
		fmt.Fprintf(out, "Plain text stands for `%s`.\n\n", shortKey(def, forms[0].(node)["description"]))
	}

	required, _ := def["required"].([]any)

	fmt.Fprintf(out, "| key | value | what it is |\n| --- | --- | --- |\n")

	properties := def["properties"].(node)
	for _, key := range slices.Sorted(maps.Keys(properties)) {
		property := properties[key].(node)

		must := ""
		if slices.Contains(required, any(key)) {
			must = " Required."
		}

		fmt.Fprintf(out, "| `%s` | %s | %s%s |\n", key, kind(property), property["description"], must)
	}
}

// shortKey finds the key that the short form sets.
func shortKey(def node, description any) string {
	for key, property := range def["properties"].(node) {
		if property.(node)["description"] == description {
			return key
		}
	}

	return "?"
}

// kind returns the type of a key's value.
func kind(property node) string {
	if ref, ok := property["$ref"].(string); ok {
		return strings.TrimPrefix(ref, "#/$defs/")
	}

	if values, ok := property["enum"].([]any); ok {
		var names []string

		for _, value := range values {
			if text, ok := value.(string); ok {
				names = append(names, "`"+text+"`")
			}
		}

		return strings.Join(names, ", ")
	}

	switch {
	case property["items"] != nil:
		return "list of " + kind(property["items"].(node))
	case property["additionalProperties"] != nil:
		entry, _ := property["additionalProperties"].(node) // true for any value

		return "map of " + kind(entry)
	case property["anyOf"] != nil:
		return "whole number, `forever`"
	case property["pattern"] != nil:
		return "duration"
	case property["type"] == nil:
		return "any value"
	}

	if kinds, ok := property["type"].([]any); ok {
		return map[any]string{"string": "text", "object": "map, text"}[kinds[0]]
	}

	return map[any]string{"integer": "whole number", "number": "number", "boolean": "true, false"}[property["type"]]
}
