package eventschema_test

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/eventschema"
)

// source is the declarations of a package: constants with their types, and structs with their JSON names.
type source struct {
	constants []constant
	structs   map[string][]string
}

type constant struct{ name, kind, value string }

func parse(t *testing.T, files ...string) source {
	t.Helper()

	s := source{structs: map[string][]string{}}

	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		require.NoError(t, err)

		for _, d := range file.Decls {
			if general, ok := d.(*ast.GenDecl); ok {
				for _, spec := range general.Specs {
					s.add(t, spec)
				}
			}
		}
	}

	return s
}

func (s *source) add(t *testing.T, spec ast.Spec) {
	t.Helper()

	switch spec := spec.(type) {
	case *ast.ValueSpec:
		for i, name := range spec.Names {
			if i >= len(spec.Values) {
				continue
			}

			literal, ok := spec.Values[i].(*ast.BasicLit)
			if !ok || literal.Kind != token.STRING {
				continue
			}

			value, err := strconv.Unquote(literal.Value)
			require.NoError(t, err)

			kind := ""
			if of, ok := spec.Type.(*ast.Ident); ok {
				kind = of.Name
			}

			s.constants = append(s.constants, constant{name.Name, kind, value})
		}
	case *ast.TypeSpec:
		object, ok := spec.Type.(*ast.StructType)
		if !ok {
			return
		}

		s.structs[spec.Name.Name] = nil

		for _, f := range object.Fields.List {
			if f.Tag == nil {
				continue
			}

			tag, _, _ := strings.Cut(reflect.StructTag(strings.Trim(f.Tag.Value, "`")).Get("json"), ",")
			s.structs[spec.Name.Name] = append(s.structs[spec.Name.Name], tag)
		}
	}
}

// values returns the values of the constants of this type whose names have the prefix.
func (s *source) values(prefix, kind string) []string {
	var values []string

	for _, c := range s.constants {
		if c.kind == kind && strings.HasPrefix(c.name, prefix) && c.value != "" {
			values = append(values, c.value)
		}
	}

	return values
}

func vocabulary(t *testing.T) source {
	t.Helper()

	files, err := filepath.Glob("../../*.go")
	require.NoError(t, err)

	return parse(t, slices.DeleteFunc(files, func(f string) bool { return strings.HasSuffix(f, "_test.go") })...)
}

func TestEveryMessageTypeHasSchema(t *testing.T) {
	t.Parallel()

	messages := parse(t, "../../event.go", "../../notebook/note_event.go", "../../message.go")
	types := messages.values("Type", "")
	require.GreaterOrEqual(t, len(types), 17+14)

	var described []string
	for _, k := range eventschema.Kinds() {
		described = append(described, k.Type)
	}

	require.ElementsMatch(t, types, described)
}

func TestEveryPayloadMatchesItsType(t *testing.T) {
	t.Parallel()

	defs := definitions(t)
	fields := map[string][]string{} // of each definition, without what the stream adds

	for _, k := range eventschema.Kinds() {
		fields[k.Type] = slices.Sorted(maps.Keys(defs[k.Type].Properties))
		if k.Delivery != eventschema.Connection {
			fields[k.Type] = slices.DeleteFunc(fields[k.Type], func(name string) bool { return name == "channel" || name == "db_event_id" })
		}
	}

	for _, k := range eventschema.Timeline() {
		if metadata, ok := defs["metadata."+string(k.Type)]; ok {
			fields["metadata."+string(k.Type)] = slices.Sorted(maps.Keys(metadata.Properties))
		}
	}

	declared := parse(t, "../../event.go", "../../notebook/note_event.go", "../../message.go", "../../metadata.go").structs
	declared["ToolCallMetadata"] = append(declared["ToolCallMetadata"], declared["ToolCallResult"]...)
	found := 0

	for name, own := range declared {
		if !strings.HasSuffix(name, "Payload") && !strings.HasSuffix(name, "Frame") && !strings.HasSuffix(name, "Metadata") {
			continue
		}

		found++

		slices.Sort(own)
		require.True(t, slices.ContainsFunc(slices.Collect(maps.Values(fields)), func(have []string) bool { return slices.Equal(have, own) }),
			"no definition has the fields of %s: %v", name, own)
	}

	require.GreaterOrEqual(t, found, 9+1+7+9)
}

func TestEnumsHoldEveryConstant(t *testing.T) {
	t.Parallel()

	all, schema := vocabulary(t), definitions(t)

	for def, kind := range map[string]string{
		"session_status": "SessionStatus", "stage_type": "StageType", "event_type": "EventType", "event_status": "EventStatus",
	} {
		values := all.values("", kind)
		require.NotEmpty(t, values, kind)
		require.ElementsMatch(t, values, schema[def].Enum, kind)
	}

	// Pending work is not announced, and active work is announced as started.
	work := []any{"started"}

	for _, status := range all.values("", "Status") {
		if status != "pending" && status != "active" {
			work = append(work, status)
		}
	}

	require.ElementsMatch(t, work, schema["work_status"].Enum)
}

func TestEveryFieldIsDescribedAndNoOtherAllowed(t *testing.T) {
	t.Parallel()

	for name, def := range definitions(t) {
		if def.Type != "object" {
			continue
		}

		raw, err := json.Marshal(def.AdditionalProperties)
		require.NoError(t, err)
		require.Equal(t, "false", string(raw), name)
		require.NotEmpty(t, def.Description, name)

		for field, schema := range def.Properties {
			require.NotEmpty(t, schema.Description, "%s.%s", name, field)
		}

		requireMinimums(t, name, def)
	}
}

// requireMinimums checks that every number in an object, including nested ones, has a minimum.
func requireMinimums(t *testing.T, path string, object *jsonschema.Schema) {
	t.Helper()

	for field, value := range object.Properties {
		if value.Items != nil {
			value = value.Items
		}

		if value.Type == "integer" || value.Type == "number" {
			require.NotNil(t, value.Minimum, "%s.%s needs the tag minimum", path, field)
		}

		requireMinimums(t, path+"."+field, value)
	}
}

func definitions(t *testing.T) map[string]*jsonschema.Schema {
	t.Helper()

	var schema jsonschema.Schema

	require.NoError(t, json.Unmarshal(eventschema.Document(), &schema))

	return schema.Defs
}

func TestPublishedSchemaIsCurrent(t *testing.T) {
	t.Parallel()

	golden(t, filepath.Join("..", "..", "docs", "events.schema.json"), string(eventschema.Document()))
}

func golden(t *testing.T, path, got string) {
	t.Helper()

	if *update {
		require.NoError(t, os.WriteFile(path, []byte(got), 0o600))
	}

	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), got, "%s is not up to date; run go test ./internal/eventschema -update", filepath.Base(path))
}
