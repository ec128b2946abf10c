package e2e

import (
	"testing"
	"time"

	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/tarsytest"
)

// Sessions of one alert share a thread for a day. Its first message shows the current state of the alert.
func TestSlackThreadCollectsSessionsOfAlert(t *testing.T) {
	t.Parallel()

	clock := clockwork.NewFakeClockAt(beginning())
	w := newSlack(t, clock)
	app := tarsytest.New(t, tarsytest.Options{Clock: clock, Config: w.Config(slackAnnAsks) + alertsTest + "  deduplicate: {window: 30m}\n", Env: w.Env()})
	modelAnswers(app, nil)

	alert := fires("DiskFull", "shop", "a")
	first := app.WaitFor(investigates(t, app, alert), tarsy.SessionCompleted).ID
	parent := w.Await("alerts", first)
	require.Empty(t, parent.ThreadTS)
	require.NotContains(t, parent.Shown(), "Latest:", "it is the latest message itself")

	// The alert is repeated and resolved: the first message shows it, and nobody is notified. The clock stands still until it is
	// shown: the interval until the next update begins when the sender looks for changes, which it may be doing already.
	require.Equal(t, tarsy.ActionCount, notify(app, alert.describes("again"))[0].Action)
	require.Equal(t, parent.TS, w.Await("alerts", "received 2 times").TS)
	notify(app, alert.resolved())

	// The message is updated every five seconds at most, whatever else is sent in the meantime. Another alert has another thread.
	clock.Advance(5*time.Second - time.Millisecond)

	other := app.WaitFor(investigates(t, app, fires("DiskFull", "shop", "b")), tarsy.SessionCompleted).ID
	require.Empty(t, w.Await("alerts", other).ThreadTS)
	w.AwaitSent(app)
	require.NotContains(t, w.Await("alerts", first).Shown(), "alert resolved")
	clock.Advance(time.Millisecond)

	resolved := w.Await("alerts", "alert resolved")
	require.Equal(t, parent.TS, resolved.TS)
	require.Len(t, resolved.Updates, 2)
	require.Equal(t, 5*time.Second, resolved.Updates[1].Sub(resolved.Updates[0]))
	require.Len(t, w.Sent(""), 2)

	// The alert is investigated again: there is a reply, and the first message links to the newest session.
	clock.Advance(time.Hour)
	second := app.WaitFor(investigates(t, app, alert.describes("and again")), tarsy.SessionCompleted).ID
	require.NoError(t, w.Wait(w.ctx(), "the reply", func() bool { return len(w.Replies(parent.TS)) == 1 }))
	require.Contains(t, w.Replies(parent.TS)[0].Shown(), second)
	// The thread has two investigations once the reply is recorded. An earlier update is followed by another one.
	w.AwaitSent(app)
	clock.Advance(5 * time.Second)

	updated := w.Await("alerts", "2 investigations")
	require.Equal(t, parent.TS, updated.TS)
	require.Contains(t, updated.Shown(), "sessions/"+first, "its own text is still there")
	require.Contains(t, updated.Shown(), "sessions/"+second)
	require.NotContains(t, updated.Shown(), "alert resolved")

	// After a day the alert gets another thread.
	clock.Advance(24 * time.Hour)

	third := app.WaitFor(investigates(t, app, alert.describes("a day later")), tarsy.SessionCompleted).ID
	require.Empty(t, w.Await("alerts", third).ThreadTS)
	w.AwaitSent(app)
	require.Len(t, w.Sent(""), 4)
}

// Announcements of one alert that are sent at the same time share one thread.
func TestSlackAnnouncementsThatRaceShareThread(t *testing.T) {
	t.Parallel()

	w := newSlack(t, nil)
	options := tarsytest.Options{Config: w.Config("on: [started, finished]") + chatty, MCP: []*tarsytest.MCPServer{oomTools()}}
	app := tarsytest.New(t, options)
	modelAnswers(app, nil)

	// Without a token nothing is sent yet.
	for range 3 {
		app.Run("test", "disk full")
	}

	app.Exec(`UPDATE sessions SET fingerprint = 'the same'`)

	database := app.Database
	app.Stop()

	options.Database, options.Env = database, w.Env()
	again := tarsytest.New(t, options)
	w.AwaitSent(again)

	sent, parents := w.Sent(""), 0
	require.Len(t, sent, 6)

	for _, m := range sent {
		if m.ThreadTS == "" {
			parents++
		}
	}

	require.Equal(t, 1, parents)
	require.Contains(t, w.Await("alerts", "3 investigations").Shown(), "*Latest:* Inconclusive")
}

// Somebody deletes the thread: the next announcement starts another one.
func TestSlackBeginsThreadAgainAfterItsDeletion(t *testing.T) {
	t.Parallel()

	clock := clockwork.NewFakeClockAt(beginning())
	w := newSlack(t, clock)
	app := tarsytest.New(t, tarsytest.Options{Clock: clock, Config: w.Config("") + alertsTest + "  deduplicate: {window: 1m}\n", Env: w.Env()})
	modelAnswers(app, nil)

	alert := fires("DiskFull", "shop", "a")
	first := app.WaitFor(investigates(t, app, alert), tarsy.SessionCompleted).ID
	require.NoError(t, w.Delete("alerts", w.Await("alerts", first).TS))
	clock.Advance(time.Hour)

	second := app.WaitFor(investigates(t, app, alert.describes("again")), tarsy.SessionCompleted).ID
	require.Empty(t, w.Await("alerts", second).ThreadTS)
	require.NotContains(t, w.Await("alerts", second).Shown(), first)
}
