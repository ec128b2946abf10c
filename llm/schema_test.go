package llm_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"tarsy.dev/tarsy/llm"
)

func TestObjectSchemaIsAlwaysObject(t *testing.T) {
	t.Parallel()

	const empty = `{"type":"object","properties":{}}`

	tests := map[string]struct{ raw, want string }{
		"nothing":    {``, empty},
		"null":       {`null`, empty},
		"true":       {`true`, empty},
		"a list":     {`[{"type":"object"}]`, empty},
		"no JSON":    {`{"type":`, empty},
		"empty":      {`{}`, empty},
		"a string":   {`{"type":"string","enum":["a"]}`, empty},
		"two types":  {`{"type":["object","null"]}`, empty},
		"no list":    {`{"type":"object","required":null}`, empty},
		"no object":  {`{"type":"object","properties":[]}`, empty},
		"its origin": {`{"$schema":"x","$id":"y","type":"object"}`, empty},
		"an ordinary one": {
			`{"type":"object","properties":{"a":{"anyOf":[{"type":"string"},{"$ref":"#/$defs/b"}]}},"required":["a"],"$defs":{"b":{}},"additionalProperties":false}`,
			`{"type":"object","properties":{"a":{"anyOf":[{"type":"string"},{"$ref":"#/$defs/b"}]}},"required":["a"],"$defs":{"b":{}},"additionalProperties":false}`,
		},
		"alternatives": {
			`{"anyOf":[{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]},{"properties":{"b":true}},{"type":"null"},7],"properties":{"b":{}}}`,
			`{"type":"object","properties":{"a":{"type":"string"},"b":{}}}`,
		},
		"all of several": {
			`{"allOf":[{"properties":{"a":{}},"required":["a"]},{"oneOf":[{"properties":{"b":{}},"required":["b"]}],"description":"d"}],"required":["c"]}`,
			`{"type":"object","properties":{"a":{},"b":{}},"required":["c","a"],"description":"d"}`,
		},
		"a reference": {
			`{"$ref":"#/definitions/a~1b","definitions":{"a/b":{"type":"object","properties":{"a":{"$ref":"#/definitions/c"}},"required":["a"]},"c":{"type":"string"}}}`,
			`{"type":"object","properties":{"a":{"$ref":"#/definitions/c"}},"required":["a"],"definitions":{"a/b":{"type":"object","properties":{"a":{"$ref":"#/definitions/c"}},"required":["a"]},"c":{"type":"string"}}}`,
		},
		"lists of nothing in particular": {
			`{"properties":{"command":{"type":"array","description":"d"},"b":{"type":["array","null"]},"c":{"anyOf":[{"type":"array","items":true}]}}}`,
			`{"type":"object","properties":{"command":{"type":"array","description":"d","items":{}},"b":{"type":["array","null"],"items":{}},"c":{"anyOf":[{"type":"array","items":{}}]}}}`,
		},
		"lists by place": {
			`{"properties":{"a":{"type":"array","items":[{"type":"string"},{"type":"array"}],"additionalItems":false},"b":{"items":[]}}}`,
			`{"type":"object","properties":{"a":{"type":"array","items":{"anyOf":[{"type":"string"},{"type":"array","items":{}}]}},"b":{"items":{}}}}`,
		},
		"keywords of old": {
			`{"properties":{"a":{"type":"any","required":true},"b":{"type":"Integer","minimum":1,"exclusiveMinimum":true,"maximum":12345678901234567890,"exclusiveMaximum":false},
				"c":{"type":["string","file"],"enum":[]},"d":{"type":[],"properties":[],"required":[1]}}}`,
			`{"type":"object","properties":{"a":{},"b":{"type":"integer","exclusiveMinimum":1,"maximum":12345678901234567890},"c":{"type":["string"]},"d":{}}}`,
		},
		"arguments that are called like keywords": {
			`{"properties":{"items":{"type":"string"},"type":{"type":"string"},"required":{"type":"boolean"},"properties":{"type":"object","properties":{"enum":{"type":"array","items":{"type":"string"}}}}}}`,
			`{"type":"object","properties":{"items":{"type":"string"},"type":{"type":"string"},"required":{"type":"boolean"},"properties":{"type":"object","properties":{"enum":{"type":"array","items":{"type":"string"}}}}}}`,
		},
		"references that lead nowhere": {`{"allOf":[{"$ref":"#/gone/far"},{"$ref":"https://example.com"},{"$ref":7}]}`, empty},
		"bytes that are no text":       {"{\"title\":\"\xff\"}", `{"type":"object","properties":{},"title":"` + "\uFFFD" + `"}`},
	}

	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.JSONEq(t, test.want, string(llm.ObjectSchema(json.RawMessage(test.raw))))
		})
	}
}

func TestObjectSchemaTerminatesOnCyclicReferences(t *testing.T) {
	t.Parallel()

	// Each part leads to twenty others, and back.
	circle := `{"$ref":"#/$defs/a","$defs":{"a":{"properties":{"x":{}},"anyOf":[` +
		strings.TrimSuffix(strings.Repeat(`{"$ref":"#/$defs/a"},`, 20), ",") + `]}}}`
	require.Contains(t, string(llm.ObjectSchema(json.RawMessage(circle))), `"properties":{"x":{}}`)

	deep := strings.Repeat(`{"anyOf":[`, 5000) + `{}` + strings.Repeat(`]}`, 5000)
	require.JSONEq(t, `{"type":"object","properties":{}}`, string(llm.ObjectSchema(json.RawMessage(deep))))
}

func TestObjectSchemaIsIdempotent(t *testing.T) {
	t.Parallel()

	keyword := rapid.SampledFrom([]string{"type", "properties", "required", "$ref", "$defs", "anyOf", "allOf", "enum", "items", "\xff"})
	value := rapid.SampledFrom([]string{`"object"`, `null`, `7`, `[]`, `{}`, `"#/$defs/a"`, `{"a":{}}`, `["a"]`, `[{"properties":{"b":true}}]`, "\"\xff\""})

	rapid.Check(t, func(t *rapid.T) {
		var fields []string
		for range rapid.IntRange(0, 6).Draw(t, "fields") {
			fields = append(fields, `"`+keyword.Draw(t, "keyword")+`":`+value.Draw(t, "value"))
		}

		object := llm.ObjectSchema(json.RawMessage(`{` + strings.Join(fields, ",") + `}`))

		var read struct {
			Type       string         `json:"type"`
			Properties map[string]any `json:"properties"`
		}

		if err := json.Unmarshal(object, &read); err != nil || read.Type != "object" || read.Properties == nil || !utf8.Valid(object) {
			t.Fatalf("%s: %v", object, err)
		}

		if again := llm.ObjectSchema(object); string(again) != string(object) {
			t.Fatalf("%s became %s", object, again)
		}
	})
}
