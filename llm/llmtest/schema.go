package llmtest

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
)

// schemaCases returns cases with schemas that MCP servers send for the arguments of tools. Whatever the schema, the call
// succeeds and the API receives an object.
func schemaCases() map[string]func(*fixture) {
	cases := map[string]func(*fixture){}

	for name, schema := range oddSchemas() {
		cases["a tool may have "+name] = func(f *fixture) { oddSchema(f, schema) }
	}

	return cases
}

func oddSchemas() map[string]string {
	return map[string]string{
		"no schema":                      ``,
		"a schema of null":               `null`,
		"a schema of true":               `true`,
		"an empty schema":                `{}`,
		"a schema that is no JSON":       `{"type":`,
		"a schema that is a list":        `[]`,
		"a schema without type":          `{"properties":{"namespace":{"type":"string"}}}`,
		"a list of types":                `{"type":["object","null"],"properties":{"namespace":{"type":["string","null"]}}}`,
		"a type that is no object":       `{"type":"string"}`,
		"no properties":                  `{"type":"object"}`,
		"properties of null":             `{"type":"object","properties":null}`,
		"required of null":               `{"type":"object","properties":{"namespace":{"type":"string"}},"required":null}`,
		"references":                     `{"type":"object","properties":{"namespace":{"$ref":"#/$defs/name"}},"$defs":{"name":{"type":"string"}}}`,
		"references that go in a circle": `{"type":"object","properties":{"namespace":{"$ref":"#/$defs/a"}},"$defs":{"a":{"type":"object","properties":{"a":{"$ref":"#/$defs/a"}}}}}`,
		"references that lead nowhere":   `{"type":"object","properties":{"namespace":{"$ref":"#/$defs/gone"}}}`,
		"anyOf at the top":               `{"anyOf":[{"type":"object","properties":{"namespace":{"type":"string"}}},{"type":"object"}]}`,
		"oneOf within":                   `{"type":"object","properties":{"namespace":{"oneOf":[{"type":"string"},{"type":"integer"}]}}}`,
		"enumerations":                   `{"type":"object","properties":{"namespace":{"enum":["a","b",1,null]},"kind":{"type":"string","enum":[]}}}`,
		"nested arrays":                  `{"type":"object","properties":{"namespace":{"type":"array","items":{"type":"array","items":{"type":"array"}}}}}`,
		"arrays without items":           `{"type":"object","properties":{"namespace":{"type":"array"}}}`,
		"tuples":                         `{"type":"object","properties":{"namespace":{"type":"array","prefixItems":[{"type":"string"},{"type":"integer"}],"items":false}}}`,
		"additional properties":          `{"type":"object","properties":{"namespace":{"type":"object","additionalProperties":{"type":"string"}}},"additionalProperties":true}`,
		"unknown formats":                `{"type":"object","properties":{"namespace":{"type":"string","format":"k8s-quantity"},"n":{"type":"integer","format":"uint64"}}}`,
		"unknown keywords":               `{"$schema":"https://json-schema.org/draft/2020-12/schema","$id":"x","title":"T","type":"object","properties":{"namespace":{"type":"string","x-order":1,"examples":["a"],"default":"a"}},"x-mcp":true}`,
		"properties that are booleans":   `{"type":"object","properties":{"namespace":true,"never":false}}`,
		"a schema of a thousand fields":  hugeSchema(),
		"a schema that is deeply nested": deepSchema(),
	}
}

func hugeSchema() string {
	var fields strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&fields, `"field_%d":{"type":"string","description":%q},`, i, strings.Repeat("long ", 40))
	}

	return `{"type":"object","properties":{` + fields.String() + `"namespace":{"type":"string"}}}`
}

func deepSchema() string {
	const depth = 50

	return `{"type":"object","properties":{"namespace":` +
		strings.Repeat(`{"type":"object","properties":{"a":`, depth) + `{"type":"string"}` + strings.Repeat(`}}`, depth) + `}}`
}

func oddSchema(f *fixture, schema string) {
	f.script.Add(script.Reply{ToolCalls: []llm.ToolCall{{Name: "cluster__get_pods", Arguments: `{"namespace":"shop"}`}}})

	req := f.request()
	req.Tools = []llm.Tool{
		{Name: "cluster__get_pods", Description: "Lists the pods.", Schema: json.RawMessage(schema)},
		podTools()[1],
	}
	if schema == "" {
		req.Tools[0].Schema = nil
	}

	require.Len(f, f.answer(req).ToolCalls, 1)

	seen := f.seen(0).Tools
	require.Len(f, seen, 2)

	var object struct {
		Type       any                        `json:"type"`
		Properties map[string]json.RawMessage `json:"properties"`
	}

	require.NoError(f, json.Unmarshal(seen[0].Schema, &object), "%s", seen[0].Schema)
	require.Equal(f, "object", object.Type)
	require.JSONEq(f, string(podTools()[1].Schema), string(seen[1].Schema), "a good schema stays what it is")

	if strings.Contains(schema, `"properties":{"namespace"`) && !strings.HasPrefix(schema, `{"anyOf"`) {
		require.Contains(f, object.Properties, "namespace")
	}
}
