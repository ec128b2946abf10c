package e2e

import (
	"net/http"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/kit/mock/slack"
	"tarsy.dev/tarsy/internal/kit/wait"
	"tarsy.dev/tarsy/llm/script"
	"tarsy.dev/tarsy/tarsytest"
)

// newPacedSlack returns a server on a virtual Slack, both on a fake clock.
func newPacedSlack(t *testing.T) (*tarsytest.App, *slackWorld, *clockwork.FakeClock) {
	t.Helper()

	clock := clockwork.NewFakeClockAt(beginning())
	w := newSlack(t, clock)
	app := tarsytest.New(t, tarsytest.Options{Clock: clock, Config: w.Config(slackAnnAsks) + chatty, Env: w.Env(), MCP: []*tarsytest.MCPServer{oomTools()}})

	return app, w, clock
}

// After a 429, nothing at all is posted before Slack allows it.
func TestSlackAnnouncementsWaitForRateLimit(t *testing.T) {
	t.Parallel()

	const limit = 3 * time.Second

	app, w, clock := newPacedSlack(t)
	w.Break(slack.Fault{Method: slackPost, Status: http.StatusTooManyRequests, RetryAfter: limit})
	modelAnswers(app, nil)

	delayed := func() int {
		return len(tarsytest.Rows[struct{ ID string }](app, `SELECT id FROM announcements WHERE state = 'pending' AND error LIKE '%rate limit%' AND attempts = 0`))
	}

	for i, title := range []string{"first alert", "second alert"} {
		app.Run("test", title)
		wait.Until(t, "the announcement to be delayed", func() bool { return delayed() == i+1 })
	}

	posts := w.Journal(slackPost)
	require.Len(t, posts, 1, "the second announcement waits without a request")
	require.Equal(t, http.StatusTooManyRequests, posts[0].Status)

	clock.Advance(limit)
	w.AwaitSent(app)
	require.Len(t, w.Sent(""), 2)

	posts = w.Journal(slackPost)
	require.Len(t, posts, 3)

	for _, p := range posts[1:] {
		require.Equal(t, http.StatusOK, p.Status)
		require.Equal(t, limit, p.At.Sub(posts[0].At))
	}
}

// The answer is ready immediately, and is shown a second after the message that it replaces.
func TestSlackAnswerIsUpdatedOncePerSecond(t *testing.T) {
	t.Parallel()

	gate := script.NewGate()
	app, w, clock := newPacedSlack(t)
	app.Script.Route("ChatAgent", script.Reply{Text: "Because.", Gate: gate})
	modelAnswers(app, nil)
	app.Run("test", "disk full")

	thread := w.Await("alerts", "disk full").TS
	w.AwaitReady()
	w.Write("ann", "Why?", thread)
	w.Await("alerts", "Working on it")
	app.WaitGate(gate)

	type row struct{ ID string }

	wait.Until(t, "the message to be recorded", func() bool {
		return len(tarsytest.Rows[row](app, `SELECT id FROM announcements WHERE subject = 'answer' AND message_ids <> '{}'`)) == 1
	})
	gate.Open()
	wait.Until(t, "the answer to be stored", func() bool {
		return len(tarsytest.Rows[row](app, `SELECT id FROM stages WHERE stage_type = 'chat' AND status = 'completed'`)) == 1
	})
	clock.Advance(time.Second - time.Millisecond)

	// Announcements are read once a second, and the answer with them.
	for _, title := range []string{"second alert", "third alert"} {
		app.Run("test", title)
		w.Await("alerts", title)
	}

	require.Empty(t, w.Journal(slackUpdate))
	clock.Advance(time.Millisecond)

	answer := w.Await("alerts", "Because.")
	w.AwaitSent(app)
	require.Len(t, w.Journal(slackUpdate), 1)
	require.Equal(t, []time.Time{beginning().Add(time.Second)}, answer.Updates)
}
