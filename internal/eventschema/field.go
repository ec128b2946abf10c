package eventschema

import (
	"github.com/google/jsonschema-go/jsonschema"

	"tarsy.dev/tarsy"
)

// The shared definitions that fields refer to.
const (
	defID             = "id"
	defTimestamp      = "timestamp"
	defCode           = "code"
	defCall           = "call"
	defSessionChannel = "session_channel"
	defSessionStatus  = "session_status"
	defWorkStatus     = "work_status"
	defStageType      = "stage_type"
	defEventType      = "event_type"
	defEventStatus    = "event_status"
)

const idPattern = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"

// sharedDefs are the definitions of what many fields have in common. Formats are for people and generators; what is
// checked is the pattern.
func sharedDefs() map[string]*jsonschema.Schema {
	return map[string]*jsonschema.Schema{
		defID: {Type: "string", Format: "uuid", Pattern: "^" + idPattern + "$"},
		defTimestamp: {
			Type: "string", Format: "date-time",
			Pattern: `^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?(Z|[+-][0-9]{2}:[0-9]{2})$`,
		},
		defCode:           {Type: "string", Pattern: "^[a-z][a-z0-9_]*$"},
		defCall:           {Type: "string", Pattern: `^[1-9][0-9]*\.[1-9][0-9]*\.[1-9][0-9]*$`},
		defSessionChannel: {Type: "string", Pattern: "^" + tarsy.ChannelSessionPrefix + idPattern + "$"},
		defSessionStatus:  enum(tarsy.SessionStatuses()),
		defWorkStatus:     enum(workStatuses()),
		defStageType:      enum([]tarsy.StageType{tarsy.StageInvestigation, tarsy.StageSynthesis, tarsy.StageChat}),
		defEventType:      enum(eventTypes()),
		defEventStatus: enum([]tarsy.EventStatus{
			tarsy.EventStreaming, tarsy.EventCompleted, tarsy.EventFailed, tarsy.EventCancelled, tarsy.EventTimedOut,
		}),
	}
}

// workStatuses are what stages and executions say on the wire: "started" where the row says "active". A pending one
// says nothing.
func workStatuses() []string {
	return []string{
		tarsy.StageStarted,
		string(tarsy.StatusCompleted), string(tarsy.StatusFailed), string(tarsy.StatusCancelled), string(tarsy.StatusTimedOut),
	}
}

func enum[S ~string](values []S) *jsonschema.Schema {
	schema := &jsonschema.Schema{Type: "string"}
	for _, v := range values {
		schema.Enum = append(schema.Enum, string(v))
	}

	return schema
}

func ref(def string) *jsonschema.Schema { return &jsonschema.Schema{Ref: "#/$defs/" + def} }

func text() *jsonschema.Schema { return &jsonschema.Schema{Type: "string"} }

func atLeast(least float64) *jsonschema.Schema {
	return &jsonschema.Schema{Type: "integer", Minimum: &least}
}

func constant(value any) *jsonschema.Schema { return &jsonschema.Schema{Const: &value} }

// field is the schema of a field and what it means.
type field struct {
	schema *jsonschema.Schema
	doc    string
}

// fieldOf finds the schema of a field of a kind. Fields of one name mean the same in every kind, except those that
// ownField knows.
func fieldOf(kind Kind, name string) (field, bool) {
	if f, ok := ownField(kind, name); ok {
		return f, true
	}

	f, ok := commonFields()[name]

	return f, ok
}

// ownField finds the fields whose values depend on the kind.
func ownField(kind Kind, name string) (field, bool) {
	switch name {
	case "type":
		return field{constant(kind.Type), "What kind of message this is."}, true
	case "channel":
		return channelField(kind), true
	case "status":
		return statusField(kind)
	case "execution_id":
		if kind.Type == tarsy.TypeTimelineCreated || kind.Type == tarsy.TypeStreamChunk {
			return field{ref(defID), "The execution that it belongs to; absent where it concerns the session as a whole."}, true
		}
	case "stage_id":
		switch kind.Type {
		case tarsy.TypeTimelineCreated:
			return field{ref(defID), "The stage that it belongs to; absent where it concerns the session as a whole."}, true
		case tarsy.TypeChatUserMessage:
			return field{ref(defID), "The stage that answers."}, true
		}
	case "content":
		if kind.Type == tarsy.TypeChatUserMessage {
			return field{text(), "What was asked, in Markdown."}, true
		}
	}

	return field{}, false
}

func channelField(kind Kind) field {
	const doc = "The channel that it came on."

	switch {
	case kind.Channel == sessionChannel, kind.Type == typeOverflow:
		return field{ref(defSessionChannel), doc}
	case kind.Channel == tarsy.ChannelSessions:
		return field{constant(tarsy.ChannelSessions), doc}
	case kind.Type == typeError:
		return field{text(), "The channel that the client named, as it wrote it."}
	default:
		return field{
			&jsonschema.Schema{AnyOf: []*jsonschema.Schema{constant(tarsy.ChannelSessions), ref(defSessionChannel)}},
			"The channel that the client named.",
		}
	}
}

func statusField(kind Kind) (field, bool) {
	switch kind.Type {
	case tarsy.TypeSessionStatus:
		return field{ref(defSessionStatus), "The session's new status."}, true
	case tarsy.TypeStageStatus, tarsy.TypeExecutionStatus:
		return field{ref(defWorkStatus), "`started`, or how it ended."}, true
	case tarsy.TypeTimelineCreated, tarsy.TypeTimelineCompleted:
		return field{ref(defEventStatus), "`streaming` until the content is final."}, true
	case typeEnd:
		var terminal []tarsy.SessionStatus

		for _, s := range tarsy.SessionStatuses() {
			if s.Terminal() {
				terminal = append(terminal, s)
			}
		}

		return field{enum(terminal), "The session's last status."}, true
	default:
		return field{}, false
	}
}

func commonFields() map[string]field {
	return map[string]field{
		"session_id":           {ref(defID), "The session."},
		"stage_id":             {ref(defID), "The stage."},
		"execution_id":         {ref(defID), "The execution."},
		"event_id":             {ref(defID), "The timeline event."},
		"chat_id":              {ref(defID), "The session's chat."},
		"message_id":           {ref(defID), "The question."},
		"connection_id":        {ref(defID), "The connection, as logs name it."},
		"timestamp":            {ref(defTimestamp), "When it happened."},
		"db_event_id":          {atLeast(1), "The event's number in the session's journal."},
		"error_code":           {ref(defCode), "A stable name for what went wrong."},
		"error_message":        {text(), "What went wrong, for people."},
		"concluded_early":      {enum([]tarsy.ForcedConclusion{tarsy.ForcedDeadline, tarsy.ForcedBudget}), "Why a completed session ended before its agents were done."},
		"stage_name":           {text(), "The stage's name in its chain."},
		"stage_type":           {ref(defStageType), "What the stage is for."},
		"expected_agent_count": {atLeast(1), "How many agents the stage runs at once."},
		"stage_index":          {atLeast(1), "The stage's place in the session, from 1, over all types."},
		"agent_name":           {text(), "The agent; replicas have their number at the end."},
		"agent_index":          {atLeast(1), "The agent's place in its stage, from 1."},
		"sequence_number":      {atLeast(1), "The timeline event's place in the session."},
		"event_type":           {ref(defEventType), "What the timeline event shows."},
		"content":              {text(), "Its text, as far as it is known."},
		"metadata":             {&jsonschema.Schema{Type: "object"}, "More about it; the keys depend on `event_type`."},
		"created_by":           {text(), "Who asked first."},
		"author":               {text(), "Who asked."},
		"delta":                {text(), "The piece of text."},
		"offset":               {atLeast(0), "Where the piece begins, in UTF-16 units."},
		"fence":                {atLeast(1), "Whose text it is: a higher number means that the text starts over."},
		"version":              {atLeast(1), "The number of the session's last event."},
		"behind":               {constant(true), "Changes were dropped: load the list again."},
		"head":                 {atLeast(1), "The number of the last event that is not replayed."},
		"code":                 {ref(defCode), "A stable name for what was wrong."},
		"message":              {text(), "What was wrong, for people."},
		"reason":               {text(), "Why the stream ends, for people."},
	}
}
