package e2e

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/tarsytest"
)

func (c *contracts) timeline(t *testing.T) {
	app, _, sessionID := investigated(t)
	stages := app.Session(sessionID).Stages
	body := get(t, app, "/api/v1/sessions/"+sessionID+"/timeline")
	c.require(t, "Timeline", body, map[string]is{
		"session_id": equal(sessionID), "version": equal(float64(len(app.Journal(sessionID)))), "events": list(9), "next_cursor": isAbsent,
	})

	page := get(t, app, "/api/v1/sessions/"+sessionID+"/timeline?limit=2")
	c.require(t, "Timeline", page, map[string]is{
		"session_id": equal(sessionID), "version": equal(body["version"]), "events": list(2), "next_cursor": that(func(v any) bool { return v != "" }),
	})

	pods := map[string]any{
		"server_name": "kubernetes", "tool_name": "get_pods", "arguments": map[string]any{"namespace": "shop"},
		"is_error": false, "attempt": 1.0, "duration_ms": 0.0, "call": "1.1.1", "result_tokens": 1.0,
	}
	expected := map[string]struct {
		content  []string
		metadata is
	}{
		"llm_thinking":      {[]string{"Hm."}, isNull},
		"llm_response":      {[]string{"I look.", "All is well.", "It is well."}, isNull},
		"llm_tool_call":     {[]string{"pods"}, equal(pods)},
		"final_analysis":    {[]string{"All is well.", "It is well."}, isNull},
		"executive_summary": {[]string{"Well."}, isNull},
		"error":             {[]string{"no quota"}, equal(map[string]any{"code": "llm_error"})},
	}

	events, _ := body["events"].([]any)
	for i, event := range events {
		fields, _ := event.(map[string]any)
		kind, _ := fields["event_type"].(string)
		require.Contains(t, expected, kind)

		stage := stages[0]
		if fields["content"] == "It is well." {
			stage = stages[1]
		}

		contract := map[string]is{
			"id": isID, "session_id": equal(sessionID), "stage_id": equal(stage.ID), "execution_id": equal(stage.Executions[0].ID),
			"sequence_number": equal(float64(i + 1)), "event_type": equal(kind), "status": equal("completed"),
			"created_at": minute(2), "updated_at": minute(2), "completed_at": minute(2),
			"content_length": lengthOf(fields["content"]), "truncated": equal(false),
			"content": oneOf(expected[kind].content), "metadata": expected[kind].metadata,
		}

		switch kind {
		case "executive_summary":
			contract["stage_id"], contract["execution_id"] = isNull, isNull
		case "llm_thinking":
			contract["created_at"] = minute(1)
		case "error":
			contract["execution_id"] = equal(stage.Executions[1].ID)
			contract["created_at"], contract["updated_at"], contract["completed_at"] = minute(1), minute(1), minute(1)
		}

		c.require(t, "TimelineItem", event, contract)
	}
}

func (c *contracts) preview(t *testing.T) {
	long := strings.Repeat("a pod 😀 ", 50)
	app := tarsytest.New(t, everything())
	call := calls("kubernetes__get_pods")
	call.ToolCalls[0].Arguments = `{"selector":"` + strings.Repeat("x", 400) + `"}`
	app.Script.Add(call, says(long), says("Summed up."))
	sessionID := app.Run("test", "an alert").ID

	whole, _ := get(t, app, "/api/v1/sessions/"+sessionID+"/timeline")["events"].([]any)
	preview, _ := get(t, app, "/api/v1/sessions/"+sessionID+"/timeline?preview=100")["events"].([]any)
	require.Len(t, preview, len(whole))

	cut := 0

	for i, event := range whole {
		full, _ := event.(map[string]any)
		id, _ := full["id"].(string)
		content, _ := full["content"].(string)
		metadata, _ := full["metadata"].(map[string]any)
		_, hasArguments := metadata["arguments"]
		short := within(t, preview, i)

		c.requireSome(t, "TimelineItem", full, map[string]is{"content_length": lengthOf(content), "truncated": equal(false)})
		c.requireSome(t, "TimelineItem", short, map[string]is{
			"content_length": lengthOf(content), "truncated": equal(content == long || hasArguments),
			"content": that(func(v any) bool { return strings.HasPrefix(content, v.(string)) && (v != content) == (content == long) }),
		})
		require.Equal(t, full, get(t, app, "/api/v1/sessions/"+sessionID+"/timeline/"+id))

		if short["truncated"] == true {
			cut++
		}

		if hasArguments {
			require.NotContains(t, short["metadata"], "arguments")
		}
	}

	require.Equal(t, 3, cut, "a call, an answer, and the analysis that it is")

	missing := app.Do(http.MethodGet, "/api/v1/sessions/"+sessionID+"/timeline/"+ident.New(), nil)
	require.Equal(t, http.StatusNotFound, missing.Status)
	require.Equal(t, string(tarsy.CodeEventNotFound), missing.Problem(t).Code)
}

// eventOf returns the only event of a type in a session's timeline.
func eventOf(t *testing.T, app *tarsytest.App, sessionID, eventType string) map[string]any {
	t.Helper()

	events := eventsOf(t, app, sessionID, eventType)
	require.Len(t, events, 1, "events of type %s", eventType)

	return events[0]
}

func eventsOf(t *testing.T, app *tarsytest.App, sessionID, eventType string) []map[string]any {
	t.Helper()

	var found []map[string]any

	events, _ := get(t, app, "/api/v1/sessions/"+sessionID+"/timeline")["events"].([]any)
	for i := range events {
		if event := within(t, events, i); event["event_type"] == eventType {
			found = append(found, event)
		}
	}

	return found
}

func TestStageStatusContract(t *testing.T) {
	t.Parallel()

	app, _, sessionID := investigated(t)
	stages := app.Session(sessionID).Stages
	socket := app.Watch(sessionID)
	socket.WaitStatus("completed")

	told := socket.OfType("stage.status")
	require.Len(t, told, 4, "two stages, each with a beginning and an end")

	for i, e := range told {
		stage, status, at := stages[i/2], []string{"started", "completed"}[i%2], min(i+1, 2)
		requireFields(t, "stage.status", e.Fields, map[string]is{
			"type": equal("stage.status"), "channel": equal("session:" + sessionID), "db_event_id": that(func(v any) bool { n, ok := v.(float64); return ok && n > 0 }),
			"session_id": equal(sessionID), "stage_id": equal(stage.ID), "stage_name": equal(stage.StageName), "stage_type": equal(string(stage.StageType)),
			"stage_index": equal(float64(i/2 + 1)), "expected_agent_count": equal(float64(stage.ExpectedAgentCount)), "status": equal(status), "timestamp": minute(at),
		})
	}
}
