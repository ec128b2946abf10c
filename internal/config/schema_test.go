package config_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/config"
)

type node = map[string]any

func schemaRoot(t *testing.T) node {
	t.Helper()
	var root node
	require.NoError(t, json.Unmarshal(config.Schema(), &root))
	return root
}

// deref follows references and returns the long form of values that also have a short one.
func deref(root, n node) node {
	if ref, ok := n["$ref"].(string); ok {
		defs, _ := root["$defs"].(node)
		target, _ := defs[strings.TrimPrefix(ref, "#/$defs/")].(node)
		return deref(root, target)
	}
	if list, ok := n["anyOf"].([]any); ok {
		for _, option := range list {
			if object, _ := option.(node); object["type"] == "object" {
				return object
			}
		}
	}
	return n
}

// find follows a path such as agent_chains.*.stages[].name through the schema.
func find(root node, path string) bool {
	at := root
	for step := range strings.SplitSeq(strings.ReplaceAll(path, "[]", ".[]"), ".") {
		at = deref(root, at)
		key := map[string]string{"*": "additionalProperties", "[]": "items"}[step]
		next, ok := at[key].(node)
		if key == "" {
			properties, _ := at["properties"].(node)
			next, ok = properties[step].(node)
		}
		if !ok {
			return false
		}
		at = next
	}
	return true
}

// schemaKeys lists every key of the schema, with map entries as *.
func schemaKeys(t *testing.T) []string {
	t.Helper()
	root := schemaRoot(t)
	var keys []string
	var list func(path string, at node)
	list = func(path string, at node) {
		at = deref(root, at)
		if items, ok := at["items"].(node); ok {
			list(path+"[]", items)
			return
		}
		if entry, ok := at["additionalProperties"].(node); ok {
			list(path+".*", entry)
			return
		}
		properties, ok := at["properties"].(node)
		if !ok {
			keys = append(keys, strings.TrimSuffix(strings.TrimPrefix(path, "."), "[]"))
			return
		}
		for key, property := range properties {
			list(path+"."+key, property.(node))
		}
	}
	list("", root)
	sort.Strings(keys)
	return keys
}

func publishedKeys(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "keys.txt"))
	require.NoError(t, err)
	var keys []string
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			keys = append(keys, line)
		}
	}
	return keys
}

func TestSchemaHasEveryKeyOfPublishedTARSy(t *testing.T) {
	t.Parallel()
	root := schemaRoot(t)
	for _, key := range publishedKeys(t) {
		require.True(t, find(root, key), key)
	}
	require.False(t, find(root, "queue.worker_cuont"))
	require.False(t, find(root, "agents.*.nothing"))
}

func TestFixturesSetEverySchemaKey(t *testing.T) {
	t.Parallel()
	var set []string
	for _, fixture := range []string{"full", "more"} {
		c, err := config.Load(config.Source{Path: filepath.Join("testdata", fixture), Env: fullEnv()})
		require.NoError(t, err)
		for _, v := range c.Origins() {
			if v.Origin != "built-in" {
				set = append(set, v.Path)
			}
		}
	}
	all := strings.Join(set, "\n")
	keys := schemaKeys(t)
	require.Greater(t, len(keys), 200)
	var missing []string
	for _, key := range append(keys, publishedKeys(t)...) {
		pattern := regexp.QuoteMeta(key)
		pattern = strings.NewReplacer(`\.\*`, `(\.[\w-]+|\["[^"]*"\])`, `\[\]`, `\[\d+\]`).Replace(pattern)
		if !regexp.MustCompile(`(?m)^` + pattern + `(?:$|[.\[])`).MatchString(all) {
			missing = append(missing, key)
		}
	}
	require.Empty(t, missing, "add these keys to testdata/full")
}

func TestSchemaRefusesUnknownKeysAndHasEditorHints(t *testing.T) {
	t.Parallel()
	root := schemaRoot(t)
	require.Equal(t, "https://json-schema.org/draft/2020-12/schema", root["$schema"])
	require.Equal(t, false, root["additionalProperties"])
	defs, _ := root["$defs"].(node)
	for name, def := range defs {
		object := deref(root, node{"$ref": "#/$defs/" + name})
		require.Equal(t, false, object["additionalProperties"], name)
		require.NotNil(t, def, name)
		properties, _ := object["properties"].(node)
		for key, property := range properties {
			require.NotEmpty(t, property.(node)["description"], "%s.%s", name, key)
		}
	}
	queue := deref(root, node{"$ref": "#/$defs/Queue"})["properties"].(node)
	require.InDelta(t, 5, queue["worker_count"].(node)["default"], 0)
	require.Equal(t, "40m", queue["session_timeout"].(node)["default"])
	system := fmt.Sprint(deref(root, node{"$ref": "#/$defs/System"}))
	require.Contains(t, system, "enum:[lenient strict]")
	require.Contains(t, system, "Accepted, but has no effect yet.")
}

func TestReferenceListsEveryKey(t *testing.T) {
	t.Parallel()
	const begin, end = "<!-- reference: begin -->\n", "<!-- reference: end -->\n"
	path := filepath.Join("..", "..", "docs", "configuration.md")
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	before, rest, ok := strings.Cut(string(text), begin)
	require.True(t, ok)
	_, after, ok := strings.Cut(rest, end)
	require.True(t, ok)
	root := schemaRoot(t)
	require.ElementsMatch(t, slices.Collect(maps.Keys(root["properties"].(node))), sections)
	golden(t, path, before+begin+reference(root)+end+after)
}

// sections lists the sections of the reference, in the order in which people need them.
var sections = []string{
	"system", "queue", "alerts", "approvals", "notes", "defaults", "agents", "agent_chains", "mcp_servers", "llm_providers", "fallback_lists", "label_maps",
}

// reference formats the schema as tables, one for each section.
func reference(root node) string {
	var out strings.Builder
	for _, section := range sections {
		top := root["properties"].(node)[section].(node)
		fmt.Fprintf(&out, "\n### `%s`\n\n%s\n\n| key | value | built-in | what it is |\n| --- | --- | --- | --- |\n", section, top["description"])
		rows(&out, root, section, top)
	}
	out.WriteString("\n")
	return out.String()
}

func rows(out *strings.Builder, root node, path string, at node) {
	at = deref(root, at)
	if items, ok := at["items"].(node); ok {
		rows(out, root, path+"[]", items)
		return
	}
	if entry, ok := at["additionalProperties"].(node); ok {
		rows(out, root, path+".<name>", entry)
		return
	}
	properties, _ := at["properties"].(node)
	keys := make([]string, 0, len(properties))
	for key := range properties {
		keys = append(keys, key)
	}
	sort.Strings(keys)
	for _, key := range keys {
		property := properties[key].(node)
		def := ""
		if d, ok := property["default"]; ok {
			def = fmt.Sprintf("`%v`", d)
		}
		fmt.Fprintf(out, "| `%s.%s` | %s | %s | %s |\n", path, key, kind(root, property), def, property["description"])
		rows(out, root, path+"."+key, property)
	}
}

// kind returns the name of the type of a key.
func kind(root, property node) string {
	if option, ok := property["anyOf"].([]any); ok {
		first := option[0].(node)
		if values, ok := first["enum"].([]any); ok {
			var names []string
			for _, v := range values {
				if v != "" {
					names = append(names, fmt.Sprintf("`%v`", v))
				}
			}
			return strings.Join(names, ", ")
		}
		if first["pattern"] != nil {
			return "duration"
		}
		return map[string]string{"integer": "whole number", "number": "number", "boolean": "true, false"}[first["type"].(string)]
	}
	property = deref(root, property)
	switch {
	case property["items"] != nil:
		if item := property["items"].(node); item["$ref"] == nil {
			return "list of " + strings.Replace(kind(root, item), "text", "texts", 1)
		}
		return "list"
	case property["type"] == "object":
		return "section"
	default:
		return "text"
	}
}
