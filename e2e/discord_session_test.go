package e2e

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/internal/kit/mock/discord"
	"tarsy.dev/tarsy/internal/kit/wait"
	"tarsy.dev/tarsy/llm/script"
	"tarsy.dev/tarsy/tarsytest"
)

// newDiscordApp returns a server on a virtual Discord whose chain accepts questions.
func newDiscordApp(t *testing.T, allowed string) (*tarsytest.App, *discordWorld) {
	t.Helper()

	w := newDiscord(t)

	return tarsytest.New(t, tarsytest.Options{
		Config: w.Config(allowed) + chatty, Env: w.Env(), MCP: []*tarsytest.MCPServer{oomTools()},
	}), w
}

func TestDiscordAnnouncesEndOfSession(t *testing.T) {
	t.Parallel()

	app, w := newDiscordApp(t, oncallAllowed)
	w.Force429(discord.Force429{RetryAfter: 10 * time.Millisecond, Times: 2})
	app.Script.Route("Investigator", says("The disk is full."), script.Reply{Err: errors.New("the model is broken")})
	app.Script.Route("ExecSummaryAgent", says("A leak filled the disk, see [the log](https://evil.example). @everyone"))

	completed := app.Run("test", "disk full").ID
	message := w.Await("alerts", "A leak filled the disk")
	require.Contains(t, message.Content, "**Inconclusive:** disk full\n", "the title of the alert, not its type")
	require.Contains(t, message.Content, "\n<https://tarsy.example.org/sessions/"+completed+">")
	require.NotContains(t, message.Content, "](", "a link shows where it leads")
	require.False(t, message.NotifiedEveryone)
	require.Equal(t, message.ID, w.AwaitThread().Message)

	failed := app.Submit("test", "disk full again")
	app.WaitFor(failed, tarsy.SessionFailed)
	message = w.Await("alerts", "**Investigation failed:** disk full again\n")
	require.Contains(t, message.Content, app.Session(failed).ErrorMessage)
	require.Contains(t, message.Content, failed)
	require.Len(t, w.Sent().Messages, 2)
	require.Empty(t, w.Unused(), "both 429s were returned")
}

// People read the answer while it is written, one message for each 2,000 characters, with code blocks kept whole.
func TestDiscordThreadAnswersQuestions(t *testing.T) {
	t.Parallel()

	long := "First look.\n\n```go\n" + strings.Repeat("fmt.Println(\"a line of code\")\n", 150) + "```\n\nThat is all."
	gate := script.NewGate()

	app, w := newDiscordApp(t, oncallAllowed)
	app.Script.Route("Investigator", says("The disk is full."))
	app.Script.Route("ExecSummaryAgent", says("A leak."))
	app.Script.Route("ChatAgent", tool("get_pod_status", `{"pod":"app-1"}`),
		// Text is saved once a second, so the part before the gate must take longer.
		script.Reply{Text: long, Trickle: true, Pace: &script.Pace{TokensPerSecond: 400}, Gate: gate, GateAfter: 1900})

	sessionID := app.Run("test", "disk full").ID
	thread := w.AwaitThread()
	w.AwaitReady()

	// The gateway connection breaks, and the question still arrives.
	w.DropGateway(discord.Drop{})

	_, err := w.WaitConnection(w.ctx(), "the next connection", func(c discord.Connection) bool { return c.Number == 2 && c.How == "resume" })
	require.NoError(t, err)
	require.Equal(t, "server", w.Connections()[0].ClosedBy)

	const secret = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"

	question := w.Write(thread.ID, "ann", "Why? My token is "+secret)
	app.WaitGate(gate)

	begun := w.Await(thread.ID, "fmt.Println")
	require.Contains(t, begun.Content, "-# Tool call: test\\-mcp.get\\_pod\\_status\n\nFirst look.")
	require.Equal(t, question.ID, begun.ReplyTo)
	require.Contains(t, w.Sent().Typing, thread.Name)

	// One question at a time.
	w.Write(thread.ID, "ann", "And now?")
	w.Await(thread.ID, "Another question is being answered")
	gate.Open()
	w.Await(thread.ID, "That is all.")

	var all strings.Builder

	parts := 0

	for _, m := range w.Sent().Messages {
		if m.ChannelID != thread.ID || strings.Contains(m.Content, "Another question") {
			continue
		}

		parts++

		require.LessOrEqual(t, len(m.Content), 2000)
		require.Zero(t, strings.Count(m.Content, "```")%2, "each message is complete: %s", m.Content)
		all.WriteString(m.Content)
	}

	require.Equal(t, 3, parts)
	require.LessOrEqual(t, len(w.Connections()), 4, "no loop of connections; a busy machine may need another one")
	require.Equal(t, 150, strings.Count(all.String(), "a line of code"))

	asked := event(t, app.Timeline(sessionID), tarsy.EventUserQuestion)
	require.NotContains(t, asked.Content, secret)
	require.Contains(t, asked.Content, "Why? My token is")
	require.Equal(t, "discord:ann", tarsy.MetadataAs[tarsy.QuestionMetadata](asked.Metadata).Author)
}

// Discord shows a typing indicator for ten seconds, so it is repeated every eight while an answer is written.
func TestDiscordShowsTypingAtIntervals(t *testing.T) {
	t.Parallel()

	w, clock, gate := newDiscord(t), clockwork.NewFakeClockAt(beginning()), script.NewGate()
	app := tarsytest.New(t, tarsytest.Options{Config: w.Config(oncallAllowed) + chatty, Env: w.Env(), Clock: clock, MCP: []*tarsytest.MCPServer{oomTools()}})
	app.Script.Route("ChatAgent", script.Reply{Text: "Because.", Gate: gate})
	modelAnswers(app, nil)
	app.Run("test", "disk full")

	thread := w.AwaitThread()
	typed := func() int {
		return len(slices.DeleteFunc(w.Sent().Typing, func(channel string) bool { return channel != thread.Name }))
	}

	w.AwaitReady()
	w.Write(thread.ID, "ann", "Why?")
	app.WaitGate(gate)
	wait.Until(t, "the first typing", func() bool { return typed() == 1 })

	clock.Advance(8*time.Second - time.Millisecond)

	// Announcements are read once a second, and the answer with them.
	for _, title := range []string{"second alert", "third alert"} {
		app.Run("test", title)
		w.Await("alerts", title)
	}

	require.Equal(t, 1, typed())
	clock.Advance(time.Millisecond)
	wait.Until(t, "the second typing", func() bool { return typed() == 2 })

	gate.Open()
	w.Await(thread.ID, "Because.")
	require.Equal(t, 2, typed())
}

func TestDiscordMentionSubmitsAlert(t *testing.T) {
	t.Parallel()

	app, w := newDiscordApp(t, oncallAllowed)
	app.Script.Route("Investigator", says("The disk is full."))
	app.Script.Route("ExecSummaryAgent", says("A leak."))
	w.AwaitReady()

	mention := w.Write("alerts", "ann", "<@tarsy> disk full on node-7, password=hunter2hunter2")
	receipt := w.Await("alerts", "Investigating: disk full on node\\-7, password=")
	require.Contains(t, receipt.Content, "\n<https://tarsy.example.org/sessions/")
	require.Equal(t, mention.ID, receipt.ReplyTo)
	w.Await("alerts", "A leak.")

	_, id, _ := strings.Cut(receipt.Content, "/sessions/")
	session := app.Session(strings.TrimSuffix(id, ">"))
	require.Equal(t, "discord:ann", session.Author)
	require.Equal(t, "test", session.AlertType)
	require.Contains(t, session.AlertData, "disk full on node-7")
	require.NotContains(t, session.AlertData, "hunter2")

	w.Write("alerts", "ann", "<@tarsy>")
	w.Await("alerts", "Describe the alert after the mention.")
	awaitAnnounced(t, app, session.ID)
	require.Equal(t, 3, announcements(w), "the result is in the channel once")
}

// awaitAnnounced waits until the announcement of a session's end has been sent.
func awaitAnnounced(t *testing.T, app *tarsytest.App, sessionID string) {
	t.Helper()

	type row struct{ State string }

	wait.Until(t, "the announcement of the end to be sent", func() bool {
		return tarsytest.Rows[row](app, `SELECT state FROM announcements WHERE subject = 'end' AND session_id = $1`, sessionID)[0].State == "sent"
	})
}

// The result of an alert from another channel is announced like any other, and is also a reply to the mention.
func TestDiscordRepliesToMentionWithResult(t *testing.T) {
	t.Parallel()

	app, w := newDiscordApp(t, oncallAsks+`, submit: {guilds: ["*"], channels: ["`+otherID+`"], roles: ["*"], alert_type: test}`)
	app.Script.Route("Investigator", says("The disk is full."))
	app.Script.Route("ExecSummaryAgent", says("A leak."))
	w.AwaitReady()

	mention := w.Write("other", "bob", "<@tarsy> disk full on node-7")
	receipt := w.Await("other", "Investigating: ")
	require.Equal(t, mention.ID, receipt.ReplyTo)

	_, id, _ := strings.Cut(receipt.Content, "/sessions/")

	w.Await("alerts", "A leak.")
	result := w.Await("other", "A leak.")
	require.Equal(t, mention.ID, result.ReplyTo)
	require.Contains(t, result.Content, "**Inconclusive:** disk full on node\\-7\n")
	require.Contains(t, result.Content, "\nAsk questions or give `!feedback` in <#"+w.AwaitThread().ID+">.")

	awaitAnnounced(t, app, strings.TrimSuffix(id, ">"))
	require.Len(t, w.Sent().Messages, 3)
}

// Each list alone can refuse a message, and nobody is allowed by default.
func TestDiscordIgnoresMessagesThatAreNotAllowed(t *testing.T) {
	t.Parallel()

	const lists = `{guilds: [%q], channels: [%q], roles: [%q]}`

	for name, test := range map[string]struct{ allowed, channel, author string }{
		"by default":    {"", "alerts", "ann"},
		"other guild":   {fmt.Sprintf(lists, "1100000000000000099", "*", "*"), "alerts", "ann"},
		"other channel": {fmt.Sprintf(lists, "*", otherID, "*"), "alerts", "ann"},
		"other role":    {fmt.Sprintf(lists, "*", "*", oncallID), "alerts", "bob"},
		"direct":        {fmt.Sprintf(lists, "*", "*", "*"), "@ann", "ann"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			allowed := "allow: {}"
			if test.allowed != "" {
				allowed = "allow: " + test.allowed + ", submit: " + test.allowed
			}

			app, w := newDiscordApp(t, allowed)
			app.Script.Route("Investigator", says("The disk is full."), says("Full again."))
			app.Script.Route("ExecSummaryAgent", says("A leak."), says("The second announcement."))
			app.Run("test", "disk full")

			thread := w.AwaitThread()
			w.AwaitReady()

			if test.channel == "alerts" {
				w.Write(thread.ID, test.author, "Why?")
			}

			w.Write(test.channel, test.author, "<@tarsy> disk full")

			// Messages are handled in order, so both are done when the next announcement appears.
			app.Run("test", "disk full")
			w.Await("alerts", "The second announcement.")
			require.Len(t, w.Sent().Messages, 2)
			require.Empty(t, tarsytest.Rows[struct{ ID string }](app, `SELECT id FROM requests`))
			require.Len(t, tarsytest.Rows[struct{ ID string }](app, `SELECT id FROM sessions`), 2)
		})
	}
}

// A server was killed after it had stored where the answer goes, but before it had stored the question.
func TestDiscordReportsLostQuestion(t *testing.T) {
	t.Parallel()

	app, w := newDiscordApp(t, oncallAllowed)
	app.Script.Route("Investigator", says("The disk is full."))
	app.Script.Route("ExecSummaryAgent", says("A leak."))

	sessionID := app.Run("test", "disk full").ID
	thread := w.AwaitThread()
	question := w.Write(thread.ID, "bob", "Why?")

	app.Exec(`INSERT INTO announcements (id, session_id, channel, subject, stage_id, target, reply_to, due_at, created_at)
VALUES ($1, $2, 'discord', 'answer', $3, $4, $5, now(), now() - interval '1 minute')`,
		ident.New(), sessionID, ident.New(), thread.ID, question.ID)
	require.Equal(t, question.ID, w.Await(thread.ID, "The question was not answered. Ask again.").ReplyTo)
}
