package e2e

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
	"tarsy.dev/tarsy/tarsytest"
)

// calls returns a reply that calls tools without arguments.
func calls(names ...string) script.Reply {
	var reply script.Reply
	for _, name := range names {
		reply.ToolCalls = append(reply.ToolCalls, llm.ToolCall{Name: name, Arguments: "{}"})
	}

	return reply
}

// says returns a reply of text.
func says(text string) script.Reply { return script.Reply{Text: text} }

// unmarked returns a tool's result without the line above it that identifies the call.
func unmarked(content string) string {
	mark, text, _ := strings.Cut(content, "\n")
	if calls := tarsy.CitedCalls(mark); len(calls) != 1 || mark != tarsy.CallMark(calls[0]) {
		return "without the number of its call: " + content
	}

	return text
}

// heldTool is a tool whose calls wait until the test releases them, or until they are cut off.
type heldTool struct {
	reached, open chan struct{}
}

func newHeldTool() *heldTool {
	return &heldTool{reached: make(chan struct{}), open: make(chan struct{})}
}

func (h *heldTool) handle(ctx context.Context, _ map[string]any) (string, error) {
	close(h.reached)

	select {
	case <-h.open:
		return "held and released", nil
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// statuses returns the statuses that a session went through, from its journal.
func statuses(app *tarsytest.App, sessionID string) []string {
	var all []string

	for _, e := range app.Journal(sessionID) {
		if payload := decode[tarsy.SessionStatusPayload](e.Payload); e.Type == tarsy.TypeSessionStatus {
			all = append(all, string(payload.Status))
		}
	}

	return all
}

// scriptedCalls returns the LLM calls of a session whose replies the test has scripted: all except the verdict, which the kit writes.
func scriptedCalls(app *tarsytest.App, sessionID string) []tarsy.LLMInteraction {
	return slices.DeleteFunc(app.LLMInteractions(sessionID), func(c tarsy.LLMInteraction) bool {
		return c.InteractionType == tarsy.InteractionVerdict
	})
}

// requireReleased checks that no server holds a session, and that no session waits to be claimed.
func requireReleased(t *testing.T, app *tarsytest.App) {
	t.Helper()

	type row struct {
		ID     string
		Status string
	}

	require.Empty(t, tarsytest.Rows[row](app,
		`SELECT id, status FROM sessions WHERE lease_until IS NOT NULL OR runnable_at IS NOT NULL OR open_requests > 0`))
}

// requireClosed checks that everything in a session has ended, and that what did not complete has the status.
func requireClosed(t *testing.T, app *tarsytest.App, session tarsy.SessionDetail, status string) {
	t.Helper()

	require.NotNil(t, session.CompletedAt)

	for _, stage := range session.Stages {
		require.Contains(t, []string{"completed", status}, string(stage.Status))
		require.NotNil(t, stage.CompletedAt)

		for _, execution := range stage.Executions {
			require.Contains(t, []string{"completed", status}, string(execution.Status))
			require.NotNil(t, execution.CompletedAt)
		}
	}

	for _, event := range app.Timeline(session.ID) {
		require.Contains(t, []string{"completed", status}, string(event.Status))
		require.NotNil(t, event.CompletedAt)
	}
}

// eventTypes returns the types of a timeline's events, in order.
func eventTypes(timeline []tarsy.TimelineEvent) []tarsy.EventType {
	types := make([]tarsy.EventType, len(timeline))
	for i, e := range timeline {
		types[i] = e.EventType
	}

	return types
}

// event returns the only event of a type.
func event(t *testing.T, timeline []tarsy.TimelineEvent, eventType tarsy.EventType) tarsy.TimelineEvent {
	t.Helper()

	found := slices.DeleteFunc(slices.Clone(timeline), func(e tarsy.TimelineEvent) bool { return e.EventType != eventType })
	require.Len(t, found, 1, "events of type %s", eventType)

	return found[0]
}
