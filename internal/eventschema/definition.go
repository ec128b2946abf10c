package eventschema

import (
	"reflect"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"tarsy.dev/tarsy"
)

const idPattern = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"

// sharedDefs are the definitions that fields refer to: by the tag `schema`, or by their type. Formats are for people and
// generators; what is checked is the pattern.
func sharedDefs() map[string]*jsonschema.Schema {
	return map[string]*jsonschema.Schema{
		"id": {Type: "string", Format: "uuid", Pattern: "^" + idPattern + "$"},
		"timestamp": {
			Type: "string", Format: "date-time",
			Pattern: `^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?(Z|[+-][0-9]{2}:[0-9]{2})$`,
		},
		"code":            {Type: "string", Pattern: "^[a-z][a-z0-9_]*$"},
		"call":            {Type: "string", Pattern: `^[1-9][0-9]*\.[1-9][0-9]*\.[1-9][0-9]*$`},
		"session_channel": {Type: "string", Pattern: "^" + tarsy.ChannelSessionPrefix + idPattern + "$"},
		"session_status":  enum(tarsy.SessionStatuses()),
		"work_status":     enum(tarsy.WorkStatuses()),
		"stage_type":      enum(tarsy.StageTypes()),
		"event_type":      enum(eventTypes()),
		"event_status":    enum(tarsy.EventStatuses()),
		"outcome":         enum(tarsy.Outcomes()),
		"confidence":      enum(tarsy.Confidences()),
		"approval_status": enum(tarsy.ApprovalStatuses()),
	}
}

// schemaOfType finds the schema of a type that has one of its own, whatever its kind is.
func schemaOfType(t reflect.Type) (*jsonschema.Schema, bool) {
	switch t {
	case reflect.TypeFor[time.Time]():
		return ref("timestamp"), true
	case reflect.TypeFor[tarsy.Code]():
		return ref("code"), true
	case reflect.TypeFor[tarsy.SessionStatus]():
		return ref("session_status"), true
	case reflect.TypeFor[tarsy.WorkStatus]():
		return ref("work_status"), true
	case reflect.TypeFor[tarsy.StageType]():
		return ref("stage_type"), true
	case reflect.TypeFor[tarsy.EventType]():
		return ref("event_type"), true
	case reflect.TypeFor[tarsy.EventStatus]():
		return ref("event_status"), true
	case reflect.TypeFor[tarsy.Outcome]():
		return ref("outcome"), true
	case reflect.TypeFor[tarsy.Confidence]():
		return ref("confidence"), true
	case reflect.TypeFor[tarsy.ApprovalStatus]():
		return ref("approval_status"), true
	case reflect.TypeFor[tarsy.ForcedConclusion]():
		return enum(tarsy.ForcedConclusions()), true
	case reflect.TypeFor[tarsy.Metadata]():
		return &jsonschema.Schema{Type: "object"}, true
	default:
		return nil, false
	}
}

// schemaOfTag finds the schema that the tag `schema` names: a shared definition, or one that only few fields have.
func schemaOfTag(name string) *jsonschema.Schema {
	switch name {
	case "channel":
		return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{constant(tarsy.ChannelSessions), constant(tarsy.ChannelNotes), ref("session_channel")}}
	case "journal_channel":
		return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{constant(tarsy.ChannelNotes), ref("session_channel")}}
	case "terminal_status":
		return enum(chosen(tarsy.SessionStatuses(), tarsy.SessionStatus.Terminal))
	case "early_conclusion":
		return enum(chosen(tarsy.ForcedConclusions(), tarsy.ForcedConclusion.Early))
	}

	if _, ok := sharedDefs()[name]; !ok {
		panic("eventschema: there is no definition " + name)
	}

	return ref(name)
}

func chosen[S any](values []S, is func(S) bool) []S {
	var some []S

	for _, v := range values {
		if is(v) {
			some = append(some, v)
		}
	}

	return some
}

func enum[S ~string](values []S) *jsonschema.Schema {
	schema := &jsonschema.Schema{Type: "string"}
	for _, v := range values {
		schema.Enum = append(schema.Enum, string(v))
	}

	return schema
}

func ref(def string) *jsonschema.Schema { return &jsonschema.Schema{Ref: "#/$defs/" + def} }

func constant(value any) *jsonschema.Schema { return &jsonschema.Schema{Const: &value} }

// nothing is the schema that no value fits; it is written as false.
func nothing() *jsonschema.Schema { return &jsonschema.Schema{Not: &jsonschema.Schema{}} }
