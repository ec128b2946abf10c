package tarsytest

import (
	"bytes"
	"encoding/json"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/golden"
)

// Golden compares data with the golden file testdata/golden/<name>, or writes it when -update is given.
func Golden(t testing.TB, name string, actual []byte) {
	t.Helper()
	golden.Compare(t, name, actual)
}

// GoldenJSON compares a value as indented JSON with stable ids.
func GoldenJSON(t testing.TB, n *Normalizer, name string, value any) {
	t.Helper()

	raw, err := json.Marshal(value)
	require.NoError(t, err)

	var generic any

	require.NoError(t, json.Unmarshal(raw, &generic))

	var b bytes.Buffer

	// A golden file is for people to read: no HTML escapes.
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	require.NoError(t, encoder.Encode(generic))
	Golden(t, name, n.Normalize(b.Bytes()))
}

// GoldenEvents compares a sequence of events, one a line, reduced to the fields that matter, agent by agent where
// several ran at once. What belongs to the connection rather than to the session is left out, and so are stream chunks:
// how many a reader gets depends on when it came.
func GoldenEvents(t testing.TB, n *Normalizer, name string, events []Event) {
	t.Helper()

	var b bytes.Buffer

	for _, e := range n.events(events) {
		fields := project(e)
		if fields == nil {
			continue
		}

		raw, err := json.Marshal(fields)
		require.NoError(t, err)
		b.Write(append(raw, '\n'))
	}

	Golden(t, name, n.Normalize(b.Bytes()))
}

// project keeps the fields of an event that a golden file shows; nil leaves the event out.
func project(e Event) map[string]any {
	var keep []string

	switch e.Type {
	case tarsy.TypeSessionStatus:
		keep = []string{"status", "concluded_early", "error_code"}
	case tarsy.TypeStageStatus:
		keep = []string{"stage_name", "stage_type", "stage_index", "stage_id", "status"}
	case tarsy.TypeExecutionStatus:
		keep = []string{"agent_name", "stage_id", "status"}
	case tarsy.TypeTimelineCreated, tarsy.TypeTimelineCompleted:
		keep = []string{"event_type", "event_id", "stage_id", "status"}
	case tarsy.TypeChatCreated:
		keep = []string{"chat_id", "created_by"}
	case tarsy.TypeChatUserMessage:
		keep = []string{"chat_id", "message_id", "stage_id", "content"}
	default:
		if !slices.Contains(tarsy.NoteEventTypes(), e.Type) {
			return nil
		}

		keep = []string{"note_id", "entity_id", "review_id", "project_id", "epic_id", "tag", "session_id", "status", "entity_count", "error", "author"}
	}

	fields := map[string]any{"type": e.Type}

	for _, k := range keep {
		if v, ok := e.Fields[k]; ok {
			fields[k] = v
		}
	}

	return fields
}
