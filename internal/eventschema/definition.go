package eventschema

import (
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/schema"
	"tarsy.dev/tarsy/notebook"
)

const idPattern = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"

// definition is a schema that fields refer to, by the tag `schema` or by their type.
type definition struct {
	name   string
	schema *jsonschema.Schema
	of     reflect.Type // nil if only tags refer to it
}

// definitions returns the shared definitions. Formats are for people and generators; patterns are what is validated.
func definitions() []definition {
	return []definition{
		{"id", &jsonschema.Schema{Type: "string", Format: "uuid", Pattern: "^" + idPattern + "$"}, nil},
		{"timestamp", &jsonschema.Schema{
			Type: "string", Format: "date-time",
			Pattern: `^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?(Z|[+-][0-9]{2}:[0-9]{2})$`,
		}, reflect.TypeFor[time.Time]()},
		{"code", &jsonschema.Schema{Type: "string", Pattern: "^[a-z][a-z0-9_]*$"}, reflect.TypeFor[tarsy.Code]()},
		{"call", &jsonschema.Schema{Type: "string", Pattern: `^[1-9][0-9]*\.[1-9][0-9]*\.[1-9][0-9]*$`}, nil},
		{"session_channel", &jsonschema.Schema{Type: "string", Pattern: "^" + tarsy.ChannelSessionPrefix + idPattern + "$"}, nil},
		enumDefinition("session_status", tarsy.SessionStatuses()),
		enumDefinition("work_status", tarsy.WorkStatuses()),
		enumDefinition("stage_type", tarsy.StageTypes()),
		enumDefinition("event_type", eventTypes()),
		enumDefinition("event_status", tarsy.EventStatuses()),
		enumDefinition("outcome", tarsy.Outcomes()),
		enumDefinition("confidence", tarsy.Confidences()),
		enumDefinition("approval_status", tarsy.ApprovalStatuses()),
	}
}

func enumDefinition[S ~string](name string, values []S) definition {
	return definition{name, enum(values), reflect.TypeFor[S]()}
}

// object returns the schema of the JSON object that structs are encoded as.
func object(description string, structs ...reflect.Type) *jsonschema.Schema {
	s := schema.Format{JSON: true, Value: valueSchema}.Object(structs...)
	s.Description = description

	return s
}

// valueSchema returns the schema of a value that is described by a tag of its field, or by its type regardless of its kind.
func valueSchema(t reflect.Type, f schema.Field) *jsonschema.Schema {
	if value, ok := f.Tag.Lookup("const"); ok {
		return schema.Constant(value)
	}

	if name, ok := f.Tag.Lookup("schema"); ok && t.Kind() != reflect.Slice {
		return taggedSchema(name)
	}

	if t.Kind() == reflect.Bool && strings.HasSuffix(f.Tag.Get("json"), ",omitempty") {
		return schema.Constant(true) // false is omitted
	}

	switch t {
	case reflect.TypeFor[tarsy.ForcedConclusion]():
		return enum(tarsy.ForcedConclusions())
	case reflect.TypeFor[tarsy.Metadata]():
		return &jsonschema.Schema{Type: "object"}
	}

	for _, d := range definitions() {
		if d.of == t {
			return schema.Ref(d.name)
		}
	}

	return nil
}

// taggedSchema returns the schema named by the tag `schema`: a shared definition, or one that only a few fields use.
func taggedSchema(name string) *jsonschema.Schema {
	switch name {
	case "channel":
		return anyOf(schema.Constant(tarsy.ChannelSessions), schema.Constant(notebook.ChannelNotes), schema.Ref("session_channel"))
	case "journal_channel":
		return anyOf(schema.Constant(notebook.ChannelNotes), schema.Ref("session_channel"))
	case "terminal_status":
		return enum(chosen(tarsy.SessionStatuses(), tarsy.SessionStatus.Terminal))
	case "early_conclusion":
		return enum(chosen(tarsy.ForcedConclusions(), tarsy.ForcedConclusion.Early))
	}

	if !slices.ContainsFunc(definitions(), func(d definition) bool { return d.name == name }) {
		panic("eventschema: there is no definition " + name)
	}

	return schema.Ref(name)
}

func anyOf(schemas ...*jsonschema.Schema) *jsonschema.Schema {
	return &jsonschema.Schema{AnyOf: schemas}
}

func chosen[S any](values []S, is func(S) bool) []S {
	return slices.DeleteFunc(slices.Clone(values), func(v S) bool { return !is(v) })
}

func enum[S ~string](values []S) *jsonschema.Schema {
	return &jsonschema.Schema{Type: "string", Enum: schema.Values(values)}
}
