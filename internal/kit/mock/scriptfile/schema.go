package scriptfile

import (
	"reflect"

	"tarsy.dev/tarsy/internal/kit/mock/discord"
	"tarsy.dev/tarsy/internal/schema"
)

// Schema returns the JSON Schema of the format, which docs/script.schema.json publishes. It accepts what Parse does, but
// for what a schema cannot say: names of gates, regular expressions, replies that nothing can reach.
func Schema() []byte {
	rules := map[reflect.Type]map[string]any{
		reflect.TypeFor[Text]():         {"minProperties": 1},
		reflect.TypeFor[Chunk]():        {"minProperties": 1, "maxProperties": 1},
		reflect.TypeFor[discord.Step](): {"minProperties": 1, "maxProperties": 1},
		reflect.TypeFor[Error]():        {"anyOf": []any{requires("status"), requires("class"), requires("message")}},
	}

	var never []any
	for _, pair := range exclusive {
		never = append(never, map[string]any{"not": requires(pair[0], pair[1])})
	}

	for _, by := range []string{"error", "fault"} {
		never = append(never, beforeContent(by))
	}

	rules[reflect.TypeFor[Reply]()] = map[string]any{"allOf": never}

	return schema.Format{Title: "TARSy script", Rules: rules}.Schema(reflect.TypeFor[File]())
}

func requires(keys ...string) map[string]any { return map[string]any{"required": keys} }

// beforeContent refuses content that would come after the end of the answer.
func beforeContent(by string) map[string]any {
	later := map[string]any{
		"type": "object", "required": []string{"after_chunks"}, "properties": map[string]any{"after_chunks": map[string]any{"minimum": 1}},
	}

	var some []any
	for _, key := range content {
		some = append(some, requires(key))
	}

	return map[string]any{
		"if": map[string]any{
			"required": []string{by}, "properties": map[string]any{by: map[string]any{"not": later}},
		},
		"then": map[string]any{"not": map[string]any{"anyOf": some}},
	}
}
