package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	mcpsdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"tarsy.dev/tarsy/internal/nearest"
)

// checked answers tool calls whose arguments do not match the schema with a description of every problem that a model can act
// on. The SDK's own validation runs afterwards, and reports only the first problem, in JSON Schema terms.
func checked(tool string, schema *jsonschema.Schema) mcpsdk.Middleware {
	return func(next mcpsdk.MethodHandler) mcpsdk.MethodHandler {
		return func(ctx context.Context, method string, request mcpsdk.Request) (mcpsdk.Result, error) {
			call, ok := request.(*mcpsdk.CallToolRequest)
			if !ok || call.Params == nil || call.Params.Name != tool {
				return next(ctx, method, request)
			}

			problems := argumentProblems(schema, call.Params.Arguments)
			if len(problems) == 0 {
				return next(ctx, method, request)
			}

			text := "The arguments of " + tool + " are wrong; nothing was done.\n- " + strings.Join(problems, "\n- ")

			return &mcpsdk.CallToolResult{IsError: true, Content: []mcpsdk.Content{&mcpsdk.TextContent{Text: text}}}, nil
		}
	}
}

// argumentProblems lists the problems of a tool's arguments, in a stable order.
func argumentProblems(schema *jsonschema.Schema, raw json.RawMessage) []string {
	given := map[string]any{}
	if len(raw) > 0 && json.Unmarshal(raw, &given) != nil {
		return []string{"The arguments must be a JSON object."}
	}

	var problems []string

	known := slices.Sorted(maps.Keys(schema.Properties))

	for _, name := range schema.Required {
		if _, found := given[name]; !found {
			problems = append(problems, fmt.Sprintf("%s is missing. It must be %s.", name, allowedValues(schema.Properties[name])))
		}
	}

	for _, name := range slices.Sorted(maps.Keys(given)) {
		property := schema.Properties[name]
		if property == nil {
			problems = append(problems, "There is no argument "+quoted(name)+"; "+nearest.HintWithList(line(name, maxValue), known, "arguments"))

			continue
		}

		if !fits(property, given[name]) {
			problems = append(problems, fmt.Sprintf("%s is %s. It must be %s.", name, quotedJSON(given[name]), allowedValues(property)))
		}
	}

	return problems
}

// maxValue is how much of an invalid value is quoted.
const maxValue = 80

func quoted(text string) string { return fmt.Sprintf("%q", line(text, maxValue)) }

// quotedJSON shows a value as JSON.
func quotedJSON(value any) string {
	data, err := json.Marshal(value)
	if err != nil {
		return "not valid"
	}

	return line(string(data), maxValue)
}

// fits reports whether a value is valid for the schema of one argument.
func fits(schema *jsonschema.Schema, value any) bool {
	resolved, err := schema.Resolve(nil)

	return err == nil && resolved.Validate(value) == nil
}

// allowedValues describes the values allowed by the schema of one argument.
func allowedValues(schema *jsonschema.Schema) string {
	if schema.Type == "array" {
		return "a list of " + listed(schema.Items)
	}

	kinds := schema.Types
	if schema.Type != "" {
		kinds = []string{schema.Type}
	}

	names := map[string]string{"string": "text", "object": "an object", "array": "a list", "integer": "a whole number", "number": "a number", "boolean": "true or false"}
	words := make([]string, 0, len(kinds))

	for _, kind := range kinds {
		words = append(words, names[kind])
	}

	text := strings.Join(words, " or ")
	if len(schema.Enum) > 0 {
		text = "one of " + values(schema.Enum)
	}

	if schema.Minimum != nil && schema.Maximum != nil {
		text += fmt.Sprintf(" from %v to %v", *schema.Minimum, *schema.Maximum)
	}

	return text
}

// listed describes the items of a list.
func listed(items *jsonschema.Schema) string {
	if items == nil || len(items.Enum) == 0 {
		return "texts"
	}

	return values(items.Enum)
}

func values(all []any) string {
	texts := make([]string, len(all))
	for i, value := range all {
		texts[i] = fmt.Sprint(value)
	}

	return strings.Join(texts, ", ")
}
