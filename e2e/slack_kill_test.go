package e2e

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/kit/mock/slack"
	"tarsy.dev/tarsy/internal/kit/wait"
	"tarsy.dev/tarsy/tarsytest"
)

// newSlackWorld returns a world whose servers use a virtual Slack.
func newSlackWorld(t *testing.T, i *investigation) (*world, *slackWorld) {
	t.Helper()

	virtual := newSlack(t, nil)
	w := newWorld(t, worldOptions{}, i)
	w.settings.Config += virtual.Config(slackAnnAsks)
	w.settings.Env = virtual.Env()

	return w, virtual
}

// A server is killed after it has committed a session's end: before its announcement reaches Slack, or after that but
// before the server knows. The next server announces it, and it appears once.
func TestSlackAnnouncementSurvivesKill(t *testing.T) {
	t.Parallel()

	for name, afterSending := range map[string]bool{"before sending": false, "after sending": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			i := newInvestigation(t, "announced", pair())
			w, virtual := newSlackWorld(t, i)
			hold := virtual.Hold(afterSending)
			first := w.Start()

			w.SubmitAndWatch(i)
			await(t, hold.reached, "the announcement")
			require.Equal(t, "completed", string(w.Session(i.SessionID).Status), "the end is committed")
			first.Kill()
			virtual.Release()

			w.Start()
			virtual.Await("alerts", i.SessionID)
			virtual.AwaitSent(w.App)
			require.Len(t, virtual.Sent(""), 1)
		})
	}
}

// Slack stores a message and breaks the connection, or returns an error and stores nothing: the message appears once.
func TestSlackMessageWithUnknownResultIsPostedOnce(t *testing.T) {
	t.Parallel()

	for name, fault := range map[string]slack.Fault{
		"stored, no answer":    {Method: slackPost, Unknown: true},
		"refused with a 5xx":   {Method: slackPost, Status: http.StatusServiceUnavailable},
		"the search fails":     {Method: slackHistory, Status: http.StatusInternalServerError},
		"the update is lost":   {Method: slackUpdate, Unknown: true},
		"reply without answer": {Method: slackThreadReads, Status: http.StatusBadGateway},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			app, w := newSlackApp(t, "on: [started, finished]")
			w.Break(fault)

			if name == "the update is lost" {
				w.Break(slack.Fault{Method: slackPost, Unknown: true})
			}

			modelAnswers(app, nil)
			app.Run("test", "disk full")
			w.AwaitSent(app)
			require.Len(t, w.Sent(""), 2)
			w.Await("alerts", "*Latest:* Inconclusive")
			require.Empty(t, w.Unused(), "the fault was met")
		})
	}
}

// One of two servers holds the connection. When it is killed, the other one takes over, and the answer that people wait for
// in Slack arrives once.
func TestSlackConnectionIsTakenOver(t *testing.T) {
	t.Parallel()

	const midText = 5

	i := newInvestigation(t, "taken", pair())
	answer := i.HoldCall("ChatAgent 2", midText)
	again := i.HoldCall("ChatAgent 2", midText)
	w, virtual := newSlackWorld(t, i)
	first := w.Start()

	virtual.AwaitReady()
	w.Start()
	w.SubmitAndWatch(i)

	thread := virtual.Await("alerts", i.SessionID).TS
	require.Equal(t, 1, virtual.Connected())
	require.Len(t, virtual.Sent(""), 1)

	virtual.Write("ann", "is it still slow?", thread)
	await(t, answer.Reached(), "the middle of the answer")

	opened := virtual.Opened()

	first.Kill()
	answer.Open()
	again.Open()

	require.NoError(t, virtual.Wait(virtual.ctx(), "the second server", func() bool { return virtual.Opened() > opened && virtual.Connected() == 1 }))
	virtual.Await("alerts", "This is ChatAgent 2")
	wait.Until(t, "every announcement to be sent", func() bool {
		return len(tarsytest.Rows[struct{ State string }](w.App, `SELECT state FROM announcements WHERE state <> 'sent'`)) == 0
	})
	require.Len(t, virtual.Replies(thread), 1)
	require.LessOrEqual(t, virtual.Opened(), 4, "no loop of connections; a busy machine may need another one")
}

// Questions that a killed server had not acknowledged are answered by the next server, once.
func TestSlackQuestionIsDeliveredToNextServer(t *testing.T) {
	t.Parallel()

	i := newInvestigation(t, "asked", pair())
	w, virtual := newSlackWorld(t, i)
	first := w.Start()

	w.SubmitAndWatch(i)

	thread := virtual.Await("alerts", i.SessionID).TS
	virtual.AwaitReady()
	first.Kill()
	require.NoError(t, virtual.Wait(virtual.ctx(), "the end of the connection", func() bool { return virtual.Connected() == 0 }))
	virtual.Write("ann", "<@tarsy> is it still slow?", thread)

	w.Start()
	virtual.Await("alerts", "This is ChatAgent 2")
	virtual.AwaitSent(w.App)
	require.Len(t, virtual.Replies(thread), 1)
}
