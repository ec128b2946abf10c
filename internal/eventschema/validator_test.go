package eventschema_test

import (
	"encoding/json"
	"maps"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/eventschema"
	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/notebook"
)

func TestMessagesOfEveryTypeAreValid(t *testing.T) {
	t.Parallel()

	validator, whole := eventschema.NewValidator(), published(t)
	seen := map[string]bool{}

	for _, m := range samples(t) {
		kind, _ := m["type"].(string)
		seen[kind] = true

		require.NoError(t, validator.Validate(m), "%v", m)
		require.NoError(t, whole.Validate(m), "%v", m)
	}

	for _, k := range eventschema.Kinds() {
		require.True(t, seen[k.Type], "no sample of %s", k.Type)
	}
}

// published returns the published document as a third party would read it.
func published(t *testing.T) *jsonschema.Resolved {
	t.Helper()

	var schema jsonschema.Schema

	require.NoError(t, json.Unmarshal(eventschema.Document(), &schema))

	resolved, err := schema.Resolve(nil)
	require.NoError(t, err)

	return resolved
}

func TestMissingExtraOrWrongFieldsAreInvalid(t *testing.T) {
	t.Parallel()

	validator, whole := eventschema.NewValidator(), published(t)
	refuse := func(m message, what, field string) {
		t.Helper()
		require.Error(t, validator.Validate(m), "%s %s: %v", what, field, m)
		require.Error(t, whole.Validate(m), "%s %s: %v", what, field, m)
	}

	for _, sample := range samples(t) {
		kind, _ := sample["type"].(string)

		for _, field := range required(t, kind) {
			m := maps.Clone(sample)
			delete(m, field)
			refuse(m, "without", field)
		}

		for field := range sample {
			// Arguments can be anything.
			if kind == tarsy.TypeApprovalStatus && field == "arguments" {
				continue
			}

			if metadata, ok := sample[field].(message); ok {
				m, inner := maps.Clone(sample), maps.Clone(metadata)
				m[field], inner["surprise"] = inner, "x"
				refuse(m, "with a key more in", field)
			}

			m := maps.Clone(sample)
			m[field] = []any{"neither text nor a number nor an object"}
			refuse(m, "with a wrong", field)
		}

		m := maps.Clone(sample)
		m["surprise"] = "x"
		refuse(m, "with", "surprise")
	}
}

func required(t *testing.T, kind string) []string {
	t.Helper()

	var schema jsonschema.Schema

	require.NoError(t, json.Unmarshal(eventschema.Document(), &schema))

	return schema.Defs[kind].Required
}

func TestWrongValuesAreNamed(t *testing.T) {
	t.Parallel()

	validator := eventschema.NewValidator()

	for kind, wrong := range map[string]map[string][]any{
		tarsy.TypeSessionStatus: {
			"status": {"active", ""}, "session_id": {"1", "0190F3E0-0000-7000-8000-000000000000"}, "timestamp": {"yesterday", "2026-11-15"},
			"db_event_id": {0.0, -1.0, 1.5}, "channel": {"sessions", "session:1"}, "concluded_early": {"iterations"}, "error_code": {"No!"},
		},
		tarsy.TypeStageStatus:       {"status": {"active", "pending"}, "stage_type": {"summary"}, "stage_index": {0.0}},
		tarsy.TypeTimelineCreated:   {"event_type": {"mood"}, "status": {"started"}, "sequence_number": {0.0}},
		tarsy.TypeTimelineCompleted: {"status": {"active"}, "metadata": {message{}, nil, message{"code": 7.0}}},
		tarsy.TypeStreamChunk:       {"offset": {-1.0}, "fence": {0.0}},
		tarsy.TypeSessionChanged:    {"version": {0.0}, "channel": {"notes"}, "behind": {false, true}},
		notebook.TypeNoteProcessed:  {"status": {"deleted", "open"}},
		notebook.TypeEntityUpdated:  {"status": {"done", "deleted"}},
		notebook.TypeReviewResolved: {"status": {"done"}},
		notebook.TypeProjectChanged: {"status": {"open"}},
		notebook.TypeEpicChanged:    {"status": {"active"}},
		"end":                       {"status": {"in_progress"}},
		"subscription.confirmed":    {"channel": {"", "session:x"}},
	} {
		good := sampleOf(t, kind)

		for field, values := range wrong {
			for _, value := range values {
				m := maps.Clone(good)
				m[field] = value
				require.ErrorContains(t, validator.Validate(m), kind, "%s is %v", field, value)
			}
		}
	}

	thinking := sampleOf(t, tarsy.TypeTimelineCreated)
	thinking["event_type"] = string(tarsy.EventThinking)
	require.ErrorContains(t, validator.Validate(thinking), "llm_thinking has no metadata")
	require.Error(t, published(t).Validate(thinking))

	require.ErrorContains(t, validator.Validate(message{}), "has a type")
	require.ErrorContains(t, validator.Validate(message{"type": 1.0}), "has a type")
	require.ErrorContains(t, validator.Validate(message{"type": "session.exploded"}), `"session.exploded" is not a type of message`)
}

// sampleOf returns a message of the kind; for timeline events, one with metadata.
func sampleOf(t *testing.T, kind string) message {
	t.Helper()

	for _, m := range samples(t) {
		_, hasMetadata := m["metadata"]
		isTimeline := kind == tarsy.TypeTimelineCreated || kind == tarsy.TypeTimelineCompleted

		if m["type"] == kind && hasMetadata == isTimeline {
			return m
		}
	}

	require.Fail(t, "no sample of "+kind)

	return nil
}

func BenchmarkValidate(b *testing.B) {
	validator := eventschema.NewValidator()
	m := message{
		"type": "timeline_event.created", "event_id": ident.New(), "session_id": ident.New(), "sequence_number": 3.0,
		"event_type": "llm_tool_call", "status": "streaming", "content": "", "timestamp": "2026-11-15T05:00:00Z",
		"metadata":    message{"call": "1.1.1", "server_name": "s", "tool_name": "t", "arguments": message{"a": "b"}},
		"db_event_id": 4.0, "channel": tarsy.SessionChannel(ident.New()),
	}
	require.NoError(b, validator.Validate(m))

	for b.Loop() {
		_ = validator.Validate(m)
	}
}

func BenchmarkNewValidator(b *testing.B) {
	for b.Loop() {
		eventschema.NewValidator()
	}
}
