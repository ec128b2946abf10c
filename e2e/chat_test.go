package e2e

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/llm/script"
	"tarsy.dev/tarsy/tarsytest"
)

// chatty is a chain with one stage that accepts questions.
const chatty = `
agents:
  Investigator: {mcp_servers: [test-mcp]}
agent_chains:
  test:
    alert_types: [test]
    stages: [{name: look, agents: [{name: Investigator}]}]
    chat: {enabled: true}
`

func newChat(t *testing.T, tools *tarsytest.MCPServer, investigation ...script.Reply) (*tarsytest.App, string) {
	t.Helper()

	app := tarsytest.New(t, tarsytest.Options{Config: chatty, MCP: []*tarsytest.MCPServer{tools}})
	app.Script.Route("Investigator", investigation...)
	app.Script.Route("ExecSummaryAgent", says("A leak."))

	return app, app.Run("test", "a chat follows").ID
}

// The second answer is based on the investigation and on the first question with its answer and its tool call.
func TestChatContextAccumulates(t *testing.T) {
	t.Parallel()

	tools := oomTools()
	app, sessionID := newChat(t, tools, tool("get_pod_logs", `{"pod":"app-1"}`), says("The cache leaks."))
	app.Script.Route("ChatAgent", tool("get_pod_status", `{"pod":"app-1"}`), says("It restarted five times."), says("Yes, since Tuesday."))

	first := app.Answer(sessionID, "How often did it restart?")
	second := app.Answer(sessionID, "And is that new?")
	require.Equal(t, tarsy.StatusCompleted, first.Status)
	require.Equal(t, tarsy.StatusCompleted, second.Status)
	require.Equal(t, first.ChatID, second.ChatID, "a session has one chat")
	require.NotEqual(t, first.ChatUserMessageID, second.ChatUserMessageID)
	require.Equal(t, "ChatAgent", first.Executions[0].AgentName)

	var chatRequests []string

	for _, c := range app.Script.Calls() {
		if c.Request.Agent == "ChatAgent" {
			require.NotEmpty(t, c.Request.Tools, "the chat has the chain's tools")
			chatRequests = append(chatRequests, c.Request.Messages[1].Content)
		}
	}

	require.Len(t, chatRequests, 3)
	require.Contains(t, chatRequests[0], "memory limit exceeded", "what the tool said in the investigation")
	require.Contains(t, chatRequests[0], "The cache leaks.")
	require.Contains(t, chatRequests[0], "How often did it restart?")

	for _, known := range []string{
		"The cache leaks.", "How often did it restart?", "Running, 5 restarts", "It restarted five times.", "And is that new?",
	} {
		require.Contains(t, chatRequests[2], known)
	}

	var pairs []string

	for _, e := range app.Timeline(sessionID) {
		if e.EventType == tarsy.EventUserQuestion || e.EventType == tarsy.EventFinalAnalysis {
			pairs = append(pairs, string(e.EventType)+": "+e.Content)
		}
	}

	require.Equal(t, []string{
		"final_analysis: The cache leaks.",
		"user_question: How often did it restart?", "final_analysis: It restarted five times.",
		"user_question: And is that new?", "final_analysis: Yes, since Tuesday.",
	}, pairs)

	n := app.Normalizer(sessionID)
	tarsytest.GoldenJSON(t, n, "chat/timeline.golden", app.Timeline(sessionID))
	requireReleased(t, app)
}

// Cancelling the session ends only the answer that is being written; the next question is answered.
func TestChatCancellation(t *testing.T) {
	t.Parallel()

	app, sessionID := newChat(t, oomTools(), says("The cache leaks."))
	held := script.NewGate()
	app.Script.Route("ChatAgent", script.Reply{Text: "I think that", Gate: held, GateAfter: 1}, says("It is the cache."))

	asked := app.Ask(sessionID, "Why?")
	<-held.Reached()

	busy := app.Do(http.MethodPost, "/api/v1/sessions/"+sessionID+"/chat/messages", map[string]any{"content": "And?"})
	require.Equal(t, http.StatusConflict, busy.Status)
	require.Contains(t, string(busy.Body), "chat_busy")

	// The model may be called before the chat is stored.
	app.Watch(sessionID).WaitType(tarsy.TypeChatCreated)
	require.NotNil(t, app.Session(sessionID).Chat.LastInteractionAt, "the beginning of an answer is an interaction")

	accepted := app.Do(http.MethodPost, "/api/v1/sessions/"+sessionID+"/cancel", nil)
	require.Equal(t, http.StatusAccepted, accepted.Status)
	require.JSONEq(t, `{"session_id": "`+sessionID+`", "status": "completed", "answer": "cancelling"}`, string(accepted.Body))

	cancelled := app.WaitStage(sessionID, asked.StageID)
	require.Equal(t, tarsy.StatusCancelled, cancelled.Status)
	require.Equal(t, tarsy.StatusCancelled, cancelled.Executions[0].Status)

	session := app.Session(sessionID)
	require.Equal(t, tarsy.SessionCompleted, session.Status, "the investigation stays what it was")
	require.Equal(t, []string{"pending", "in_progress", "completed"}, statuses(app, sessionID))

	again := app.Answer(sessionID, "Why then?")
	require.Equal(t, tarsy.StatusCompleted, again.Status)
	requireReleased(t, app)
}

// A question that a session does not accept is refused with a stable code, and leaves nothing behind.
func TestRefusedQuestionsLeaveNothingBehind(t *testing.T) {
	t.Parallel()

	app, sessionID := newChat(t, oomTools(), says("The cache leaks."))
	held := script.NewGate()
	app.Script.Route("Investigator", script.Reply{Text: "Looking", Gate: held})
	running := app.Submit("test", "still running")
	<-held.Reached()

	tests := map[string]struct {
		session string
		body    any
		status  int
		code    string
	}{
		"running session": {running, map[string]any{"content": "Why?"}, http.StatusConflict, "session_not_finished"},
		"no session":      {ident.New(), map[string]any{"content": "Why?"}, http.StatusNotFound, "session_not_found"},
		"no id":           {"none", map[string]any{"content": "Why?"}, http.StatusNotFound, "session_not_found"},
		"no content":      {sessionID, map[string]any{}, http.StatusBadRequest, "missing_field"},
		"blank":           {sessionID, map[string]any{"content": " \n"}, http.StatusBadRequest, "invalid_field"},
		"too long":        {sessionID, map[string]any{"content": strings.Repeat("x", tarsy.MaxQuestionBytes+1)}, http.StatusRequestEntityTooLarge, "payload_too_large"},
		"unknown field":   {sessionID, map[string]any{"content": "Why?", "stage_id": "x"}, http.StatusBadRequest, "unknown_field"},
		"no JSON":         {sessionID, "Why?", http.StatusBadRequest, "invalid_json"},
	}

	for name, test := range tests {
		resp := app.Do(http.MethodPost, "/api/v1/sessions/"+test.session+"/chat/messages", test.body)
		require.Equal(t, test.status, resp.Status, "%s: %s", name, resp.Body)
		require.Contains(t, string(resp.Body), `"code":"`+test.code+`"`, name)
	}

	app.Cancel(running)
	app.WaitFor(running, tarsy.SessionCancelled)

	resp := app.Do(http.MethodPost, "/api/v1/sessions/"+running+"/chat/messages", map[string]any{"content": "Why?"})
	require.Equal(t, http.StatusConflict, resp.Status, "a cancelled session takes no questions")

	type count struct{ N int }

	require.Equal(t, []count{{0}}, tarsytest.Rows[count](app, `SELECT (SELECT count(*) FROM chats) + (SELECT count(*) FROM chat_user_messages)
		+ (SELECT count(*) FROM requests WHERE kind = 'chat') AS n`))
	require.Nil(t, app.Session(sessionID).Chat)
}

func TestChainWithoutChatRefusesQuestions(t *testing.T) {
	t.Parallel()

	app := tarsytest.New(t, tarsytest.Options{})
	app.Script.Add(says("The cache leaks."), says("A leak."))
	session := app.Run("test", "no chat")

	resp := app.Do(http.MethodPost, "/api/v1/sessions/"+session.ID+"/chat/messages", map[string]any{"content": "Why?"})
	require.Equal(t, http.StatusConflict, resp.Status)
	require.Contains(t, string(resp.Body), `"code":"chat_disabled"`)
}

// Failed sessions accept questions too: that is when people have them.
func TestFailedSessionAcceptsQuestions(t *testing.T) {
	t.Parallel()

	app := tarsytest.New(t, tarsytest.Options{Config: chatty, MCP: []*tarsytest.MCPServer{oomTools()}})
	app.Script.Route("Investigator", script.Reply{Err: errors.New("quota exceeded")})
	app.Script.Route("ChatAgent", script.Reply{Err: errors.New("still no quota")}, says("Your quota is used up."))

	session := app.Run("test", "fails")
	require.Equal(t, tarsy.SessionFailed, session.Status)

	failed := app.Answer(session.ID, "Why did it fail?")
	require.Equal(t, tarsy.StatusFailed, failed.Status)
	require.Equal(t, "still no quota", failed.ErrorMessage)

	answered := app.Answer(session.ID, "And now?")
	require.Equal(t, tarsy.StatusCompleted, answered.Status)
	require.Contains(t, requestOf(t, app, "ChatAgent").Messages[1].Content, "quota exceeded")

	after := app.Session(session.ID)
	require.Equal(t, tarsy.SessionFailed, after.Status)
	require.Equal(t, session.ErrorMessage, after.ErrorMessage)
}
