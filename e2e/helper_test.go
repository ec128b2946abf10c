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

// calls is an answer that calls a tool without arguments.
func calls(names ...string) script.Reply {
	var reply script.Reply
	for _, name := range names {
		reply.ToolCalls = append(reply.ToolCalls, llm.ToolCall{Name: name, Arguments: "{}"})
	}

	return reply
}

// says is an answer of text.
func says(text string) script.Reply { return script.Reply{Text: text} }

// unmarked is what a tool said, without the line above it that names its call.
func unmarked(content string) string {
	mark, said, _ := strings.Cut(content, "\n")
	if calls := tarsy.CitedCalls(mark); len(calls) != 1 || mark != tarsy.CallMark(calls[0]) {
		return "without the number of its call: " + content
	}

	return said
}

// heldTool is a tool whose calls wait until the test lets them go, or until they are cut off.
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

// statuses are the statuses that a session went through, from its journal.
func statuses(app *tarsytest.App, sessionID string) []string {
	var all []string

	for _, e := range app.Journal(sessionID) {
		if payload := decode[tarsy.SessionStatusPayload](e.Payload); e.Type == tarsy.TypeSessionStatus {
			all = append(all, string(payload.Status))
		}
	}

	return all
}

// scriptedCalls are the LLM calls of a session whose replies the test has scripted: all but that for the verdict, which the kit answers.
func scriptedCalls(app *tarsytest.App, sessionID string) []tarsy.LLMInteraction {
	return slices.DeleteFunc(app.LLMInteractions(sessionID), func(c tarsy.LLMInteraction) bool {
		return c.InteractionType == tarsy.InteractionVerdict
	})
}

// requireReleased checks that nobody works on any session, and nothing waits to be worked on.
func requireReleased(t *testing.T, app *tarsytest.App) {
	t.Helper()

	type row struct {
		ID     string
		Status string
	}

	require.Empty(t, tarsytest.Rows[row](app,
		`SELECT id, status FROM sessions WHERE lease_until IS NOT NULL OR runnable_at IS NOT NULL OR open_requests > 0`))
}

// requireClosed checks that everything of a session has ended, all that did not complete with the status.
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

// eventTypes are the types of a timeline's events in order.
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
