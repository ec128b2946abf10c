package e2e

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/kit/mock/slack"
	"tarsy.dev/tarsy/llm/script"
	"tarsy.dev/tarsy/tarsytest"
)

func TestSlackAnnouncesEndAndFailureOfSession(t *testing.T) {
	t.Parallel()

	app, w := newSlackApp(t, slackAnnAsks)
	app.Script.Route("Investigator", says("The disk is full."), script.Reply{Err: errors.New("the model is broken")})
	app.Script.Route("ExecSummaryAgent", says("A **leak** filled the disk, see [the log](https://evil.example)."))

	completed := app.Run("test", "disk full").ID
	message := w.Await("alerts", "leak")
	require.Contains(t, message.Shown(), "Inconclusive: disk full\n", "the title of the alert, not its type")
	require.Contains(t, message.Shown(), "A *leak* filled the disk, see the log (https://evil.example).", "a link shows where it leads")
	require.Contains(t, message.Shown(), "<https://tarsy.example.org/sessions/"+completed+"|Open in TARSy>")
	require.Empty(t, message.ThreadTS)

	failed := app.Submit("test", "disk full again")
	app.WaitFor(failed, tarsy.SessionFailed)
	message = w.Await("alerts", "Investigation failed: disk full again\n")
	require.Contains(t, message.Shown(), app.Session(failed).ErrorMessage)
	w.AwaitSent(app)
	require.Len(t, w.Sent(""), 2)
}

// Titles, facts and model texts can mention nobody, and cannot hide links or characters.
func TestSlackMessageMakesHostileTextHarmless(t *testing.T) {
	t.Parallel()

	const hostile = "<!channel> <@" + slackAnn + "> @here <https://evil.example|safe> *bold* &amp; \u202e\u0000 ```"

	w := newSlack(t, nil)
	app := tarsytest.New(t, tarsytest.Options{
		Config: w.Config(`on: [started, finished], templates: {started: "Now: {{.Title}} {{.Service}}"}`) + alertsTest + "  deduplicate: {window: 1m}\n", Env: w.Env(),
	})
	app.Script.Route("Investigator", says(hostile))
	app.Script.Route("ExecSummaryAgent", says("Summary: "+hostile+strings.Repeat(" <!here>", 3000)))

	alert := fires("Disk", "shop", "a", "service", hostile)
	alert.Annotations["summary"] = hostile
	notify(app, alert)
	w.Await("alerts", "Summary: <!channel>")
	w.AwaitSent(app)

	for _, m := range w.Sent("") {
		require.Empty(t, m.Mentions, m.Shown())
		require.NotContains(t, string(m.Blocks)+m.Text, "<https://evil")
		require.NotContains(t, string(m.Blocks)+m.Text, "\u202e")
		require.NotContains(t, m.Shown(), "@here", "the name of everybody is broken up")
	}

	require.Contains(t, w.Await("alerts", "Now: ").Shown(), "Now: <!channel>")
	require.Contains(t, w.Await("alerts", "Summary: ").Shown(), "The text is longer than what is posted here.")
}

// People read the answer while it is written. A message that is redelivered, or is also delivered as a mention, is one question.
func TestSlackThreadAnswersQuestionsOnce(t *testing.T) {
	t.Parallel()

	const secret = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"

	long := "First look.\n\n```go\n" + strings.Repeat("fmt.Println(\"a line <of> code\")\n", 500) + "```\n\nThat is all."
	gate := script.NewGate()

	app, w := newSlackApp(t, slackAnnAsks)
	app.Script.Route("Investigator", says("The disk is full."))
	app.Script.Route("ExecSummaryAgent", says("A leak."))
	app.Script.Route("ChatAgent", tool("get_pod_status", `{"pod":"app-1"}`),
		script.Reply{Text: long, Trickle: true, Pace: &script.Pace{TokensPerSecond: 1000}, Gate: gate, GateAfter: 1900})

	sessionID := app.Run("test", "disk full").ID
	thread := w.Await("alerts", "A leak.").TS
	w.AwaitReady()

	// The connection breaks, and the question still arrives, as do its redeliveries.
	w.Disconnect(true)
	w.LoseAcks(1)
	w.Write("ann", "<@tarsy> Why? My token is "+secret, thread)
	app.WaitGate(gate)
	require.NoError(t, w.Wait(w.ctx(), "another connection", func() bool { return w.Opened() >= 2 && w.Connected() == 1 }))

	begun := w.Await("alerts", "fmt.Println")
	require.Contains(t, begun.Shown(), "Tool call: test-mcp.get_pod_status\n\nFirst look.")
	require.Equal(t, thread, begun.ThreadTS)

	// One question at a time; only the person who asked sees that.
	w.Write("ann", "And now?", thread)
	require.Equal(t, slackAnn, w.Await("alerts", "Another question is being answered").Ephemeral)
	gate.Open()
	w.Await("alerts", "That is all.")
	w.AwaitSent(app)

	var all strings.Builder

	parts := w.Replies(thread)
	require.Len(t, parts, 2, "a message has several sections")

	require.NotEmpty(t, parts[0].Updates, "it was written bit by bit")

	for _, m := range parts {
		all.WriteString(m.Shown())

		for i := 1; i < len(m.Updates); i++ {
			require.GreaterOrEqual(t, m.Updates[i].Sub(m.Updates[i-1]), time.Second)
		}
	}

	require.Equal(t, 500, strings.Count(all.String(), "a line <of> code"))

	// Everything is delivered again, much later.
	messages, lost, repeated := len(w.Messages("")), 0, 0

	for _, e := range w.Envelopes() {
		require.True(t, e.Acked, "%+v", e)

		lost += e.LostAcks
		repeated += e.Attempts - 1
		w.Redeliver(e.ID)

		_, err := w.WaitAck(w.ctx(), e.ID)
		require.NoError(t, err)
	}

	w.AwaitSent(app)
	require.Equal(t, 1, lost)
	require.Positive(t, repeated)
	require.LessOrEqual(t, repeated, 6, "one acknowledgement was lost, and envelopes may have been sent to a connection that broke")
	require.LessOrEqual(t, w.Opened(), 4, "no loop of connections; a busy machine may need another one")
	require.Len(t, w.Messages(""), messages)
	require.Equal(t, 1, strings.Count(fmt.Sprint(w.Messages("")), "Another question is being answered"))
	require.Len(t, tarsytest.Rows[struct{ ID string }](app, `SELECT id FROM chat_user_messages`), 1)
	require.Empty(t, tarsytest.Rows[struct{ ID string }](app, `SELECT id FROM requests WHERE status = 'open'`))

	asked := event(t, app.Timeline(sessionID), tarsy.EventUserQuestion)
	require.True(t, strings.HasPrefix(asked.Content, "Why? My token is"), asked.Content)
	require.NotContains(t, asked.Content, secret)
	require.Equal(t, "slack:ann", tarsy.MetadataAs[tarsy.QuestionMetadata](asked.Metadata).Author)

	row := auditLog(t, app)[0]
	require.Equal(t, "session.ask", row.Action)
	require.Equal(t, tarsy.ActorSlack, row.ActorKind)
}

// A mention outside the bot's threads is an alert. The result is posted once in the channel.
func TestSlackMentionSubmitsAlert(t *testing.T) {
	t.Parallel()

	app, w := newSlackApp(t, slackAnnAsks+`, submit: {channels: [`+slackAlerts+`], users: [`+slackAnn+`], alert_type: test}`)
	app.Script.Route("Investigator", says("The disk is full."))
	app.Script.Route("ExecSummaryAgent", says("A leak."))
	w.AwaitReady()

	// The first acknowledgement is lost: the mention is delivered twice.
	w.LoseAcks(1)

	mention := w.Write("ann", "<@tarsy> disk *full* on node-7, password=hunter2hunter2", "")
	receipt := w.Await("alerts", "Investigating: disk")
	require.Equal(t, mention.TS, receipt.ThreadTS)
	require.NotContains(t, receipt.Shown(), "hunter2")

	end := w.Await("alerts", "A leak.")
	require.Empty(t, end.ThreadTS)

	_, rest, _ := strings.Cut(receipt.Shown(), "/sessions/")
	id, _, _ := strings.Cut(rest, "|")
	session := app.Session(id)
	require.Equal(t, "slack:ann", session.Author)
	require.Equal(t, "test", session.AlertType)
	require.Equal(t, tarsy.SourceSlack, session.Source)
	require.Contains(t, session.AlertData, "disk *full* on node-7")
	require.NotContains(t, session.AlertData, "hunter2")

	// Only mentions are alerts. Messages are processed in order.
	w.Write("ann", "I am looking at the disk.", "")
	w.Write("ann", "It was full yesterday, too.", mention.TS)
	w.LoseAcks(2)
	w.Write("ann", "<@tarsy>", "")
	require.Equal(t, slackAnn, w.Await("alerts", "Describe the alert after the mention.").Ephemeral)
	w.AwaitSent(app)
	require.NoError(t, w.Wait(w.ctx(), "the acknowledgements", func() bool {
		return !slices.ContainsFunc(w.Envelopes(), func(e slack.Envelope) bool { return !e.Acked })
	}))
	require.Len(t, w.Journal("chat.postEphemeral"), 1, "what is delivered twice is explained once")
	require.Len(t, w.Sent(""), 2, "the receipt and the result, once each")
	require.Len(t, tarsytest.Rows[struct{ ID string }](app, `SELECT id FROM sessions`), 1)
}

// The result of an alert from another channel is announced like any other, and is also a reply to the mention.
func TestSlackRepliesToMentionWithResult(t *testing.T) {
	t.Parallel()

	app, w := newSlackApp(t, `submit: {channels: ["*"], users: ["*"], alert_type: test}`)
	app.Script.Route("Investigator", says("The disk is full."))
	app.Script.Route("ExecSummaryAgent", says("A leak."))
	w.AwaitReady()

	mention, err := w.Say("storage", "bob", "<@tarsy> disk full", "")
	require.NoError(t, err)
	require.Equal(t, mention.TS, w.Await("storage", "Investigating: disk full").ThreadTS)
	require.Equal(t, mention.TS, w.Await("storage", "A leak.").ThreadTS)
	require.Empty(t, w.Await("alerts", "A leak.").ThreadTS)
	w.AwaitSent(app)
	require.Len(t, w.Sent(""), 3)

	ends := tarsytest.Rows[struct{ Thread, First string }](app, `SELECT thread_id AS thread, message_ids[1] AS first FROM announcements WHERE subject = 'end'`)
	require.Equal(t, ends[0].First, ends[0].Thread, "questions are asked under the announcement")
}

func TestSlackIgnoresMessagesThatAreNotAllowed(t *testing.T) {
	t.Parallel()

	for name, test := range map[string]struct{ allowed, user string }{
		"by default":    {"allow: {}", "ann"},
		"other channel": {`allow: {channels: [` + slackStorage + `], users: ["*"]}`, "ann"},
		"other user":    {`allow: {channels: ["*"], users: [` + slackAnn + `]}`, "bob"},
		"the bot":       {`allow: {channels: ["*"], users: ["*"]}, submit: {channels: ["*"], users: ["*"]}`, "tarsy"},
		"to submit":     {`allow: {}, submit: {channels: [` + slackStorage + `], users: ["*"]}`, "ann"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			app, w := newSlackApp(t, test.allowed)
			app.Script.Route("Investigator", says("The disk is full."))
			app.Script.Route("ExecSummaryAgent", says("A leak."))
			app.Run("test", "disk full")

			thread := w.Await("alerts", "A leak.").TS
			w.AwaitReady()
			before := len(w.Messages(""))
			w.Write(test.user, "Why?", thread)
			w.Write(test.user, "<@tarsy> disk full", "")

			require.NoError(t, w.Wait(w.ctx(), "the acknowledgements", func() bool {
				all := w.Envelopes()

				return len(all) == 3 && all[0].Acked && all[1].Acked && all[2].Acked
			}))
			require.Len(t, w.Messages(""), before+2, "the bot is silent")
			require.Empty(t, tarsytest.Rows[struct{ ID string }](app, `SELECT id FROM requests`))
		})
	}
}

func TestSlackSendsToChannelOfTeamWithTemplate(t *testing.T) {
	t.Parallel()

	w := newSlack(t, nil)
	app := tarsytest.New(t, tarsytest.Options{Env: w.Env(), Config: alertsTest + "  deduplicate: {window: 1m}\n" + w.Config(`teams: {storage: `+slackStorage+`}, on: [started, finished], templates: {finished: "*{{.Title}}* of {{default \"nobody\" .Team}} is {{.Status}}: {{.Summary}}"}`)})
	app.Script.Route("Investigator", says("The disk is full."), says("The disk is full."))
	app.Script.Route("ExecSummaryAgent", says("A **leak**."), says("Another leak."))

	alert := fires("Disk", "shop", "a", "team", "storage")
	alert.Annotations["summary"] = "Disk <full>"
	notify(app, alert)
	require.Contains(t, w.Await("storage", "is completed").Shown(), "*Disk <full>* of storage is completed: A *leak*.")
	require.Contains(t, w.Await("storage", "Investigating: Disk <full>").Shown(), "storage")

	app.Run("test", "somebody else")
	require.Contains(t, w.Await("alerts", "of nobody").Shown(), "Another leak.")
	w.AwaitSent(app)
	require.Len(t, w.Sent("storage"), 2)
	require.Len(t, w.Sent("alerts"), 2)
}

// Without the app-level token messages are sent and none are received; without the bot token announcements wait.
func TestSlackWithoutTokensKeepsAnnouncementsAndWarns(t *testing.T) {
	t.Parallel()

	w := newSlack(t, nil)
	options := tarsytest.Options{Config: w.Config(slackAnnAsks) + chatty, MCP: []*tarsytest.MCPServer{oomTools()}}
	app := tarsytest.New(t, options)
	app.Script.Route("Investigator", says("The disk is full."))
	app.Script.Route("ExecSummaryAgent", says("A leak."))
	app.Run("test", "disk full")

	warnings := string(app.Do(http.MethodGet, "/health", nil).Body)
	require.Contains(t, warnings, "environment variable SLACK_BOT_TOKEN is not set")
	require.Contains(t, warnings, "environment variable SLACK_APP_TOKEN is not set")
	require.Empty(t, w.Journal(""))

	database := app.Database
	app.Stop()

	options.Database, options.Env = database, map[string]string{"SLACK_BOT_TOKEN": slackToken}
	again := tarsytest.New(t, options)
	w.Await("alerts", "A leak.")
	w.AwaitSent(again)
	require.Len(t, w.Sent(""), 1)
	require.Empty(t, w.Journal("apps.connections.open"))
}

func TestSlackWaitsInQuietHoursExceptForCriticalAlerts(t *testing.T) {
	t.Parallel()

	clock := clockwork.NewFakeClockAt(tonight)
	w := newSlack(t, nil)
	app := tarsytest.New(t, tarsytest.Options{
		Config: w.Config(slackAnnAsks+", "+atNight) + routePayments + chatty, Env: w.Env(), Clock: clock, MCP: []*tarsytest.MCPServer{oomTools()},
	})
	modelAnswers(app, nil)
	app.Run("test", "disk full")
	app.Run("test", "checkout fails")
	w.Await("alerts", "checkout fails")
	awaitSent(t, app, 1)
	require.Len(t, w.Sent("alerts"), 1, "nothing but the critical one")

	clock.Advance(8 * time.Hour)
	w.Await("alerts", "disk full")
	awaitSent(t, app, 2)
}
