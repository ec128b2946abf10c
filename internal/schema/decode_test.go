package schema_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/schema"
)

type document struct {
	Count  int             `yaml:"count" doc:"A number." min:"1" max:"9"`
	Seed   uint64          `yaml:"seed" doc:"A seed."`
	Wait   time.Duration   `yaml:"wait" doc:"A wait." max:"1m"`
	Level  level           `yaml:"level" doc:"A level."`
	Value  json.RawMessage `yaml:"value" doc:"Any value."`
	Object json.RawMessage `yaml:"object" doc:"An object." kinds:"object"`
	Free   map[string]any  `yaml:"free" doc:"Whatever."`
	Parts  []part          `yaml:"parts" doc:"Parts."`
	Spare  *part           `yaml:"spare" doc:"A part."`
	Names  []string        `yaml:"names" doc:"Names." enum:"a,b,7" nonempty:"true"`
}

type part struct {
	Name    string `yaml:"name" doc:"A name." short:"true" required:"true"`
	Pattern string `yaml:"pattern" doc:"A pattern." format:"regexp"`
}

// level decodes itself.
type level int

func (l *level) UnmarshalText(text []byte) error {
	*l = level(len(text))
	if *l > 4 {
		return errors.New("expected a short word")
	}
	return nil
}

func (*level) JSONSchema() *jsonschema.Schema {
	return &jsonschema.Schema{MaxLength: new(4)}
}

// read decodes text and returns its problems, one per line.
func read(text string, env func(string) (string, bool)) (document, []string) {
	var doc document
	d := schema.NewDecoder(env)
	d.RefuseNull = true
	d.File("f.yaml", []byte(text), &doc)
	var problems []string
	for _, p := range d.Problems {
		problems = append(problems, p.String())
	}
	schema.Check(&doc, d.Marks, func(path, message, hint string) {
		at := schema.PlaceOf(d.Marks, path)
		problems = append(problems, schema.Problem{
			File: at.File, Line: at.Line, Column: at.Column, Path: path, Message: message, Hint: hint,
		}.String())
	})
	return doc, problems
}

func TestAnyValueBecomesJSONInOrder(t *testing.T) {
	t.Parallel()
	doc, problems := read("value: &v {z: 1, a: [true, null, 1.5, 0x10, \"t<>\"]}\nobject: {<<: *v, b: *v}\nfree: {x: {y: [1]}, n: ~}\n", nil)
	require.Empty(t, problems)
	require.JSONEq(t, `{"z":1,"a":[true,null,1.5,16,"t<>"]}`, string(doc.Value))
	require.True(t, strings.HasPrefix(string(doc.Value), `{"z"`))
	require.JSONEq(t, `{"b":{"z":1,"a":[true,null,1.5,16,"t<>"]},"z":1,"a":[true,null,1.5,16,"t<>"]}`, string(doc.Object))
	require.Equal(t, map[string]any{"x": map[string]any{"y": []any{json.Number("1")}}, "n": nil}, doc.Free)
}

func TestEveryTagIsValidated(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"count: 0":                            "f.yaml:1: count: must be at least 1",
		"count: 10":                           "f.yaml:1: count: must be at most 9",
		"seed: ~":                             "f.yaml:1: seed: has no value (leave the key out)",
		"seed: -1":                            "f.yaml:1: seed: expected a whole number that is not negative",
		"wait: 2m":                            "f.yaml:1: wait: must be at most 1m",
		"level: too long":                     "f.yaml:1: level: expected a short word",
		"object: [1]":                         "f.yaml:1: object: expected a map, got a list",
		"value: {a: 1, a: 2}":                 "f.yaml:1: value.a: duplicate key (first set at f.yaml:1)",
		"value: .nan":                         "f.yaml:1: value: is not a JSON value (put it in quotes)",
		"value: *none":                        "f.yaml:1: value: alias *none has no anchor before it",
		`value: ["a\0b"]`:                     "f.yaml:1: value[0]: text must not hold NUL",
		"parts: [a, {pattern: \"(\"}]":        "f.yaml:1: parts[1].pattern: not a regular expression: missing closing ): `(` (see https://github.com/google/re2/wiki/Syntax)\nf.yaml:1: parts[1].name: is required (A name)",
		"names: [7, c]":                       "f.yaml:1: names[1]: unknown value \"c\" (known values: 7, a, b)",
		"names: [\"\"]":                       "f.yaml:1: names[0]: is empty (leave it out)",
		"null: b":                             "f.yaml:1: a key must be plain text (put it in quotes)",
		"names: {a: b}":                       "f.yaml:1: names: expected a list, got a map (write each item on a line that starts with \"- \", or all in [ ])",
		"parts: [{name: {a: b}}]":             "f.yaml:1: parts[0].name: expected text, got a map (put text that starts with { in quotes)\nf.yaml:1: parts[0].name: is required (A name)",
		"value: " + strings.Repeat("[", 1001): "f.yaml:1: nested too deeply (at most 1000 levels)",
	} {
		_, problems := read(text, nil)
		require.Equal(t, want, strings.Join(problems, "\n"), text)
	}
}

func TestAliasExpansionIsBounded(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	text.WriteString("free:\n  a0: &a0 [" + strings.Repeat("x, ", 9) + "x]\n")
	for i := range 9 {
		prev, next := string(rune('0'+i)), string(rune('1'+i))
		text.WriteString("  a" + next + ": &a" + next + " [" + strings.Repeat("*a"+prev+", ", 9) + "*a" + prev + "]\n")
	}
	_, problems := read(text.String(), nil)
	require.Contains(t, strings.Join(problems, "\n"), "too many values")
}

func TestBracesAreTextWithoutVariables(t *testing.T) {
	t.Parallel()
	doc, problems := read(`parts: ["{{.NAME}}"]`, nil)
	require.Empty(t, problems)
	require.Equal(t, "{{.NAME}}", doc.Parts[0].Name)

	doc, problems = read(`parts: ["{{.NAME}}"]`, func(name string) (string, bool) { return "of " + name, true })
	require.Empty(t, problems)
	require.Equal(t, "of NAME", doc.Parts[0].Name)
}

func TestSchemaMatchesTags(t *testing.T) {
	t.Parallel()
	format := schema.Format{Rules: map[reflect.Type]func(*jsonschema.Schema){
		reflect.TypeFor[part](): func(object *jsonschema.Schema) { object.MaxProperties = new(2) },
	}}
	require.JSONEq(t, `{
		"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Document", "type": "object", "additionalProperties": false,
		"properties": {
			"count": {"type": "integer", "minimum": 1, "maximum": 9, "description": "A number."},
			"seed": {"type": "integer", "minimum": 0, "description": "A seed."},
			"wait": {"type": "string", "pattern": "^([0-9]+(\\.[0-9]+)?(ns|us|µs|ms|s|m|h))+$|^0$", "description": "A wait."},
			"level": {"maxLength": 4, "description": "A level."},
			"value": {"description": "Any value."},
			"object": {"type": ["object"], "description": "An object."},
			"free": {"type": "object", "additionalProperties": true, "description": "Whatever."},
			"parts": {"type": "array", "items": {"$ref": "#/$defs/part"}, "description": "Parts."},
			"spare": {"$ref": "#/$defs/part", "description": "A part."},
			"names": {"type": "array", "items": {"enum": ["a", "b", "7", 7]}, "description": "Names."}
		},
		"$defs": {"part": {"anyOf": [
			{"type": ["string", "number", "boolean"], "minLength": 1, "description": "A name."},
			{"type": "object", "additionalProperties": false, "required": ["name"], "maxProperties": 2, "properties": {
				"name": {"type": ["string", "number", "boolean"], "minLength": 1, "description": "A name."},
				"pattern": {"type": ["string", "number", "boolean"], "description": "A pattern."}
			}}
		]}}
	}`, string(format.Document("Document", reflect.TypeFor[document]())))
}
