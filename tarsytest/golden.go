package tarsytest

import (
	"bytes"
	"encoding/json"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/kit/golden"
	"tarsy.dev/tarsy/notebook"
)

// Golden compares data with the golden file testdata/golden/<name>, or writes the file with -update.
func Golden(t testing.TB, name string, actual []byte) {
	t.Helper()
	golden.Compare(t, name, actual)
}

// GoldenJSON compares a value, as indented JSON with stable ids, with a golden file.
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

// GoldenEvents compares events with a golden file, one per line, reduced to the fields that matter, and grouped by agent
// where several ran in parallel. Events about the connection rather than the session are left out. Of each streamed text
// one chunk is shown, without its text, because the number of chunks depends on timing. Options.HoldStreams ensures that
// there is one.
func GoldenEvents(t testing.TB, n *Normalizer, name string, events []Event) {
	t.Helper()

	var b bytes.Buffer

	for _, e := range n.events(oneChunkEach(events)) {
		if e.Type == tarsy.TypeTimelineCreated && e.Fields["status"] == string(tarsy.EventStreaming) {
			require.True(t, n.streams, "a golden file with streamed text needs Options.HoldStreams")
		}

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

// oneChunkEach keeps the first chunk of each text and moves it behind the event that begins the text: chunks have no order
// relative to the journal, except that they come between the beginning and the end of their event. A chunk that does not
// stays where it was, so that the golden file differs.
func oneChunkEach(events []Event) []Event {
	chunks, began := map[any]Event{}, map[any]bool{}

	var kept []Event

	for _, e := range events {
		id := e.Fields["event_id"]

		switch e.Type {
		case tarsy.TypeTimelineCreated:
			began[id] = true
		case tarsy.TypeTimelineCompleted:
			began[id] = false
		case tarsy.TypeStreamChunk:
			if _, again := chunks[id]; began[id] && !again {
				chunks[id] = e
			}

			if began[id] {
				continue
			}
		}

		kept = append(kept, e)
	}

	var ordered []Event

	for _, e := range kept {
		ordered = append(ordered, e)

		if chunk, ok := chunks[e.Fields["event_id"]]; ok && e.Type == tarsy.TypeTimelineCreated {
			ordered = append(ordered, chunk)
		}
	}

	return ordered
}

// project returns the fields of an event that a golden file shows, or nil to leave the event out.
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
	case tarsy.TypeStreamChunk:
		keep = []string{"event_type", "event_id"}
	case tarsy.TypeSessionVerdict:
		keep = []string{"outcome", "cause", "confidence"}
	case tarsy.TypeApprovalStatus:
		keep = []string{"approval_id", "event_id", "server_name", "tool_name"}
	case tarsy.TypeChatCreated:
		keep = []string{"chat_id", "created_by"}
	case tarsy.TypeChatUserMessage:
		keep = []string{"chat_id", "message_id", "stage_id", "content"}
	default:
		if !slices.Contains(notebook.NoteEventTypes(), e.Type) {
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

	if approval, ok := e.Fields["approval"].(map[string]any); ok {
		fields["status"] = approval["status"]
	}

	return fields
}
