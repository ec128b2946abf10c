package eventschema_test

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/eventschema"
	"tarsy.dev/tarsy/notebook"
)

var update = flag.Bool("update", false, "write the documents instead of comparing with them")

func TestReferenceDescribesEveryEvent(t *testing.T) {
	t.Parallel()

	const begin, end = "<!-- reference: begin -->\n", "<!-- reference: end -->\n"

	path := filepath.Join("..", "..", "docs", "events.md")
	text, err := os.ReadFile(path)
	require.NoError(t, err)

	before, rest, ok := strings.Cut(string(text), begin)
	require.True(t, ok)

	_, after, ok := strings.Cut(rest, end)
	require.True(t, ok)
	golden(t, path, before+begin+reference(definitions(t))+end+after)
}

// reference renders the schema as tables, one for each kind.
func reference(defs map[string]*jsonschema.Schema) string {
	var out strings.Builder

	for _, k := range eventschema.Kinds() {
		if k.Channel == notebook.ChannelNotes {
			continue // all in one table, below
		}

		fmt.Fprintf(&out, "\n### `%s`\n\n%s\n\n| channel | delivery | over |\n| --- | --- | --- |\n| %s | %s | %s |\n\n",
			k.Type, k.When, orNone(k.Channel), delivery(k), k.Over)
		rows(&out, defs, defs[k.Type])
	}

	writeNotes(&out, defs)
	out.WriteString("\n## Types of timeline events\n\nThe `event_type` of `timeline_event.created`, `timeline_event.completed` and `stream.chunk`.\n")

	for _, s := range eventschema.Timeline() {
		fmt.Fprintf(&out, "\n### `%s`\n\nShows %s. Content: %s.\n\n", s.Type, s.What, s.Content)

		if metadata, ok := defs["metadata."+string(s.Type)]; ok {
			rows(&out, defs, metadata)
		} else {
			out.WriteString("No metadata.\n")
		}
	}

	out.WriteString("\n")

	return out.String()
}

// writeNotes renders the events of the journal of notes, which share one payload.
func writeNotes(out *strings.Builder, defs map[string]*jsonschema.Schema) {
	out.WriteString("\n## Events of notes\n\n" +
		"All have the fields of the second table. The field in the first table is always set; the others are set where they apply.\n\n" +
		"| type | always set | `status` | when |\n| --- | --- | --- | --- |\n")

	var shared *jsonschema.Schema

	for _, k := range eventschema.Kinds() {
		if k.Channel != notebook.ChannelNotes {
			continue
		}

		shared = defs[k.Type]
		about := shared.Required[len(shared.Required)-1]
		shared.Required = shared.Required[:len(shared.Required)-1]

		var statuses []string
		for _, status := range shared.Properties["status"].Enum {
			statuses = append(statuses, fmt.Sprintf("`%s`", status))
		}

		fmt.Fprintf(out, "| `%s` | `%s` | %s | %s |\n", k.Type, about, strings.Join(statuses, ", "), k.When)
	}

	kind := *shared.Properties["type"]
	kind.Const, kind.Type = nil, "string"
	shared.Properties["type"] = &kind

	status := *shared.Properties["status"]
	status.Enum = nil
	shared.Properties["status"] = &status

	out.WriteString("\n")
	rows(out, defs, shared)
}

func orNone(channel string) string {
	if channel == "" {
		return "none"
	}

	return "`" + channel + "`"
}

func delivery(k eventschema.Kind) string {
	switch k.Delivery {
	case eventschema.Journal:
		return "persistent: in the journal, in order, none missed"
	case eventschema.Transient:
		return "transient: kept nowhere, may be dropped"
	default:
		return "to this connection only"
	}
}

func rows(out *strings.Builder, defs map[string]*jsonschema.Schema, object *jsonschema.Schema) {
	out.WriteString("| field | value | always | what it is |\n| --- | --- | --- | --- |\n")

	names := slices.SortedFunc(maps.Keys(object.Properties), func(a, b string) int { return weight(object, a, b) })

	for _, name := range names {
		always := "yes"
		if !slices.Contains(object.Required, name) {
			always = ""
		}

		fmt.Fprintf(out, "| `%s` | %s | %s | %s |\n", name, kindOf(defs, object.Properties[name]), always, object.Properties[name].Description)
	}
}

// weight sorts "type" first, then required fields, each by name.
func weight(object *jsonschema.Schema, a, b string) int {
	rank := func(name string) string {
		switch {
		case name == "type":
			return "0"
		case slices.Contains(object.Required, name):
			return "1" + name
		default:
			return "2" + name
		}
	}

	return strings.Compare(rank(a), rank(b))
}

// kindOf describes the type of a field.
func kindOf(defs map[string]*jsonschema.Schema, schema *jsonschema.Schema) string {
	switch {
	case schema.Ref != "":
		return refName(defs, strings.TrimPrefix(schema.Ref, "#/$defs/"))
	case schema.Const != nil:
		return fmt.Sprintf("`%v`", *schema.Const)
	case schema.Enum != nil:
		return listed(schema.Enum)
	case schema.AnyOf != nil:
		var choices []string
		for _, choice := range schema.AnyOf {
			choices = append(choices, kindOf(defs, choice))
		}

		return strings.Join(choices, " or ")
	case schema.Minimum != nil:
		return fmt.Sprintf("whole number from %v", *schema.Minimum)
	case schema.Type == "":
		return "any"
	case schema.Type == "array":
		return "list"
	case schema.Type == "string":
		return "text"
	default:
		return schema.Type
	}
}

func refName(defs map[string]*jsonschema.Schema, def string) string {
	names := map[string]string{
		"id": "UUID", "timestamp": "RFC 3339 time", "code": "code", "session_channel": "`session:<id>`",
		"event_type": "[type of timeline event](#types-of-timeline-events)",
	}
	if name, ok := names[def]; ok {
		return name
	}

	return kindOf(defs, defs[def])
}

func listed(values []any) string {
	var names []string
	for _, v := range values {
		names = append(names, fmt.Sprintf("`%v`", v))
	}

	return strings.Join(names, ", ")
}
