package e2e

import (
	"context"
	"iter"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
	"tarsy.dev/tarsy/tarsytest"
)

func TestCancelDuringLLMCall(t *testing.T) {
	t.Parallel()

	const thinking = "I begin to think about"

	app := tarsytest.New(t, tarsytest.Options{HoldStreams: true})
	gate := script.NewGate()
	app.Script.Add(script.Reply{Thinking: thinking + " it, but never end.", Gate: gate, GateAfter: 5})

	sessionID := app.Submit("test", "cancel me")
	socket := app.Watch(sessionID)
	app.WaitGate(gate)
	socket.WaitType(tarsy.TypeStreamChunk)
	app.Cancel(sessionID)
	socket.WaitStatus("cancelled")

	session := app.Session(sessionID)
	require.Equal(t, tarsy.SessionCancelled, session.Status)
	require.Equal(t, "cancelled", session.ErrorCode)
	require.Equal(t, []string{"pending", "in_progress", "cancelling", "cancelled"}, statuses(app, sessionID))
	requireClosed(t, app, session, "cancelled")
	requireReleased(t, app)

	shown := event(t, app.Timeline(sessionID), tarsy.EventThinking)
	require.Equal(t, tarsy.EventCancelled, shown.Status)
	require.Equal(t, thinking+" ", shown.Content, "the text so far is kept")
	require.Empty(t, app.LLMInteractions(sessionID), "a call that never finished is no interaction")
	require.True(t, app.Script.Calls()[0].Cancelled)

	tarsytest.GoldenEvents(t, app.Normalizer(sessionID), "cancelled/ws_events.golden", socket.Events())

	refused := app.Do(http.MethodPost, "/api/v1/sessions/"+sessionID+"/cancel", nil)
	require.Equal(t, http.StatusConflict, refused.Status)
	require.Equal(t, string(tarsy.CodeSessionNotRunning), refused.Problem(t).Code)
}

// uncancellableModel is a model that ignores cancellation until it is released.
type uncancellableModel struct{ reached, open chan struct{} }

func (m uncancellableModel) Generate(ctx context.Context, _ *llm.Request) iter.Seq2[llm.Chunk, error] {
	return func(yield func(llm.Chunk, error) bool) {
		close(m.reached)
		<-m.open
		yield(nil, context.Cause(ctx))
	}
}

func TestCancellingTwiceHasOneEffect(t *testing.T) {
	t.Parallel()

	model := uncancellableModel{reached: make(chan struct{}), open: make(chan struct{})}
	app := tarsytest.New(t, tarsytest.Options{LLM: model})
	sessionID := app.Submit("test", "cancel me")
	socket := app.Watch(sessionID)
	app.Await(model.reached, "the model's call")

	app.Cancel(sessionID)
	socket.WaitStatus("cancelling")
	require.Equal(t, tarsy.SessionCancelling, app.Session(sessionID).Status)
	app.Cancel(sessionID)
	app.Cancel(sessionID)
	close(model.open)
	app.WaitFor(sessionID, tarsy.SessionCancelled)

	type row struct{ Kind, Status string }

	require.Equal(t, []row{{"cancel", "done"}}, tarsytest.Rows[row](app, `SELECT kind, status FROM requests`))
	require.Equal(t, []string{"pending", "in_progress", "cancelling", "cancelled"}, statuses(app, sessionID))
	requireReleased(t, app)
}

func TestCancelDuringToolCall(t *testing.T) {
	t.Parallel()

	tool := newHeldTool()
	kubernetes := tarsytest.NewMCPServer("kubernetes", tarsytest.Tool{Name: "drain", Handle: tool.handle})
	app := tarsytest.New(t, tarsytest.Options{MCP: []*tarsytest.MCPServer{kubernetes}})
	app.Script.Add(script.Reply{Text: "I drain the node.", ToolCalls: []llm.ToolCall{{Name: "kubernetes__drain", Arguments: `{"node":"n1"}`}}})

	sessionID := app.Submit("test", "cancel me")
	app.Await(tool.reached, "the tool call")
	app.Cancel(sessionID)
	session := app.WaitFor(sessionID, tarsy.SessionCancelled)

	require.Equal(t, []string{"pending", "in_progress", "cancelling", "cancelled"}, statuses(app, sessionID))
	requireClosed(t, app, session, "cancelled")
	requireReleased(t, app)

	timeline := app.Timeline(sessionID)
	require.Equal(t, tarsy.EventCompleted, event(t, timeline, tarsy.EventResponse).Status, "what was finished stays so")
	require.Equal(t, tarsy.EventCancelled, event(t, timeline, tarsy.EventToolCall).Status)

	interaction := app.MCPInteractions(sessionID)[0]
	require.Equal(t, tarsy.CallUnknown, interaction.Status, "nobody knows whether it took effect")
	require.Len(t, app.Script.Calls(), 1, "the model was not asked again")
}

func TestCancelDuringSummary(t *testing.T) {
	t.Parallel()

	app := tarsytest.New(t, tarsytest.Options{})
	gate := script.NewGate()
	app.Script.Add(says("An analysis."), script.Reply{Text: "A summary.", Gate: gate})

	sessionID := app.Submit("test", "cancel me")
	app.WaitGate(gate)
	app.Cancel(sessionID)
	session := app.WaitFor(sessionID, tarsy.SessionCancelled)

	require.Equal(t, "An analysis.", session.FinalAnalysis)
	require.Empty(t, session.ExecutiveSummary)
	require.Equal(t, tarsy.StatusCompleted, session.Stages[0].Status)
	requireReleased(t, app)
}

// A waiting session is cancelled immediately, whether all workers are busy or this server has none.
func TestCancelPendingSession(t *testing.T) {
	t.Parallel()

	t.Run("no workers", func(t *testing.T) {
		t.Parallel()

		app := tarsytest.New(t, tarsytest.Options{Config: "queue: {worker_count: 0}\n" + oneAgent})
		sessionID := app.Submit("test", "never begun")
		app.Cancel(sessionID)
		requireCancelledBeforeItBegan(t, app, sessionID)
	})

	t.Run("all workers busy", func(t *testing.T) {
		t.Parallel()

		app := tarsytest.New(t, tarsytest.Options{Config: "queue: {worker_count: 1, max_concurrent_sessions: 1}\n" + oneAgent})
		gate := script.NewGate()
		app.Script.Add(script.Reply{Text: "Done.", Gate: gate}, says("Done."))

		busy := app.Submit("test", "keeps the worker busy")
		app.WaitGate(gate)

		waiting := app.Submit("test", "waits")
		app.Cancel(waiting)
		requireCancelledBeforeItBegan(t, app, waiting)

		gate.Open()
		require.Equal(t, tarsy.SessionCompleted, app.WaitFor(busy, tarsy.SessionCompleted).Status)
		requireReleased(t, app)
	})
}

func requireCancelledBeforeItBegan(t *testing.T, app *tarsytest.App, sessionID string) {
	t.Helper()

	session := app.WaitFor(sessionID, tarsy.SessionCancelled)
	require.Nil(t, session.StartedAt)
	require.Empty(t, session.Stages)
	require.Equal(t, []string{"pending", "cancelling", "cancelled"}, statuses(app, sessionID))
}
