package scriptfile

import (
	"reflect"

	"github.com/google/jsonschema-go/jsonschema"

	"tarsy.dev/tarsy/internal/kit/mock/discord"
	"tarsy.dev/tarsy/internal/schema"
)

// Schema returns the JSON Schema of the format, which docs/script.schema.json publishes. It accepts what Parse accepts,
// except for what a schema cannot express: names of gates, regular expressions, unreachable replies.
func Schema() []byte {
	rules := map[reflect.Type]func(*jsonschema.Schema){
		reflect.TypeFor[Text]():         func(s *jsonschema.Schema) { s.MinProperties = new(1) },
		reflect.TypeFor[Chunk]():        oneKey,
		reflect.TypeFor[discord.Step](): oneKey,
		reflect.TypeFor[Error](): func(s *jsonschema.Schema) {
			s.AnyOf = []*jsonschema.Schema{requires("status"), requires("class"), requires("message")}
		},
		reflect.TypeFor[Reply](): replyRules,
	}

	return schema.Format{Rules: rules}.Document("TARSy script", reflect.TypeFor[File]())
}

func oneKey(s *jsonschema.Schema) {
	s.MinProperties, s.MaxProperties = new(1), new(1)
}

// replyRules rejects keys that contradict each other.
func replyRules(s *jsonschema.Schema) {
	for _, pair := range exclusive {
		s.AllOf = append(s.AllOf, &jsonschema.Schema{Not: requires(pair[0], pair[1])})
	}

	s.AllOf = append(s.AllOf, beforeContent("error"), beforeContent("fault"))
}

func requires(keys ...string) *jsonschema.Schema { return &jsonschema.Schema{Required: keys} }

// beforeContent rejects content after the end of the answer.
func beforeContent(by string) *jsonschema.Schema {
	later := requires("after_chunks")
	later.Type, later.Properties = "object", map[string]*jsonschema.Schema{"after_chunks": {Minimum: new(1.0)}}

	early := requires(by)
	early.Properties = map[string]*jsonschema.Schema{by: {Not: later}}

	var some []*jsonschema.Schema
	for _, key := range content {
		some = append(some, requires(key))
	}

	return &jsonschema.Schema{If: early, Then: &jsonschema.Schema{Not: &jsonschema.Schema{AnyOf: some}}}
}
