package e2e

import (
	"strings"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/kit/wait"
	"tarsy.dev/tarsy/tarsytest"
)

const routePayments = "alerts:\n  routes: [{match: [title=\"checkout fails\"], team: payments, severity: critical}, {severity: warning}]\n"

// Sessions of a team are announced in its channel, including their beginning, and the thread under the end accepts questions.
func TestDiscordAnnouncesInTheChannelOfTheTeam(t *testing.T) {
	t.Parallel()

	allowed := strings.ReplaceAll(oncallAsks, alertsID, otherID)
	w := newDiscord(t)
	app := tarsytest.New(t, tarsytest.Options{
		Config: w.Config(allowed+`, on: [started, finished], teams: {payments: "`+otherID+`"}`) + routePayments + chatty, Env: w.Env(),
		MCP: []*tarsytest.MCPServer{oomTools()},
	})
	app.Script.Route("Investigator", says("It is slow."), says("It is full."))
	app.Script.Route("ExecSummaryAgent", says("Slow."), says("Full."))
	app.Script.Route("ChatAgent", says("Because of the network."))

	id := app.Run("test", "checkout fails").ID
	started := w.Await("other", "**Investigation started:** checkout fails")
	require.Contains(t, started.Content, "<https://tarsy.example.org/sessions/"+id+">")

	ended := w.Await("other", "**Inconclusive:** checkout fails")
	thread := w.AwaitThread()
	require.Equal(t, ended.ID, thread.Message)

	w.AwaitReady()
	w.Write(thread.ID, "ann", "Why?")
	w.Await(thread.ID, "Because of the network.")

	app.Run("test", "disk full")
	w.Await("alerts", "**Inconclusive:** disk full")

	type row struct{ Threads, Sent int }

	wait.Until(t, "five announcements and two threads: a beginning opens no thread", func() bool {
		return tarsytest.Rows[row](app, `SELECT count(*) FILTER (WHERE thread_id <> '' AND subject = 'end') AS threads,
count(*) FILTER (WHERE state = 'sent') AS sent FROM announcements`)[0] == row{2, 5}
	})
}

func TestDiscordWaitsInQuietHoursExceptForCriticalAlerts(t *testing.T) {
	t.Parallel()

	w, clock := newDiscord(t), clockwork.NewFakeClockAt(tonight)
	options := tarsytest.Options{Config: w.Config(oncallAllowed+", "+atNight) + routePayments + chatty, Env: w.Env(), Clock: clock, MCP: []*tarsytest.MCPServer{oomTools()}}
	first := tarsytest.New(t, options)
	modelAnswers(first, nil)
	first.Run("test", "disk full")
	first.Run("test", "checkout fails")
	w.Await("alerts", "checkout fails")
	awaitSent(t, first, 1)
	first.Stop()

	options.Database, options.MCP = first.Database, []*tarsytest.MCPServer{oomTools()}
	second := tarsytest.New(t, options)
	modelAnswers(second, nil)
	second.Run("test", "checkout fails")
	awaitSent(t, second, 2)
	require.Len(t, w.Sent().Messages, 2, "nothing but the critical ones")

	clock.Advance(8 * time.Hour)
	w.Await("alerts", "disk full")
	awaitSent(t, second, 3)
	require.Len(t, w.Sent().Messages, 3)
}

// The template's Markdown takes effect; what an alert or a model has written is plain text in it.
func TestDiscordTemplateKeepsHostileTextHarmless(t *testing.T) {
	t.Parallel()

	w := newDiscord(t)
	app := tarsytest.New(t, tarsytest.Options{
		Config: w.Config(oncallAllowed+", on: [started, finished], templates: {started: '**Look:** {{.Title}}', finished: '## {{.Title}} {{.Summary}} {{.URL}}'}") + loneAgent, Env: w.Env(),
	})
	app.Script.Route("Investigator", says("Done."))
	app.Script.Route("ExecSummaryAgent", says("See [the log](https://evil.example) @everyone "+strings.Repeat("x", 5000)))

	app.Run("test", "**disk** @everyone <@123> full {{.Analysis}}")

	started := w.Await("alerts", "**Look:** ")
	require.Contains(t, started.Content, `disk\*\* `)
	require.Contains(t, started.Content, `{{.Analysis}}`)

	ended := w.Await("alerts", "## ")
	require.NotContains(t, ended.Content, "](")
	require.LessOrEqual(t, len([]rune(ended.Content)), 2000)

	for _, m := range w.Sent().Messages {
		require.False(t, m.NotifiedEveryone)
		require.NotContains(t, m.Content, "@everyone")
		require.NotContains(t, m.Content, "<@1")
	}
}

func TestDiscordStaysSilentAboutWhatIsNotAskedFor(t *testing.T) {
	t.Parallel()

	w := newDiscord(t)
	app := tarsytest.New(t, tarsytest.Options{Config: w.Config(oncallAllowed+", on: [failed]") + loneAgent, Env: w.Env()})
	modelAnswers(app, nil)
	app.Run("test", "disk full")
	require.Empty(t, tarsytest.Rows[struct{ ID string }](app, `SELECT id::text FROM announcements`))
}
