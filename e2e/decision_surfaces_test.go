package e2e

import (
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	mcpsdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/kit/mock/discord"
	"tarsy.dev/tarsy/internal/kit/mock/slack"
	channels "tarsy.dev/tarsy/internal/notify"
	"tarsy.dev/tarsy/tarsytest"
)

// These tests make every decision that people can make in Slack, in Discord and with the tools of the MCP server, and some
// in the dashboard. internal/api/decision_test.go covers decisions over the API, internal/cli/decision_test.go commands.

const (
	// deciders has a chain whose call waits for an approval, and one that accepts questions.
	deciders = `
agents: {Fixer: {mcp_servers: [cluster]}, Investigator: {}}
agent_chains:
  fix: {alert_types: [fix], stages: [{name: fix, agents: [{name: Fixer}]}]}
  test: {alert_types: [test], stages: [{name: look, agents: [{name: Investigator}]}], chat: {enabled: true}}
` + asksForRestart

	cannotBeProcessed = "This could not be processed."
)

// ofChannels returns the audit actions of everything that Slack and Discord call on behalf of people; calls with an empty
// one decide nothing.
func ofChannels() map[string]string {
	return map[string]string{
		"Submit": "", "Approval": "", "Approvals": "",
		"Approve": "approval.approve", "Reject": "approval.reject", "AskForStage": "session.ask", "GiveFeedback": "feedback.give", "WithdrawFeedback": "feedback.withdraw",
	}
}

func TestEveryChannelCallIsListedWithItsAuditAction(t *testing.T) {
	t.Parallel()

	var called []string

	for _, of := range []reflect.Type{reflect.TypeFor[channels.Intake](), reflect.TypeFor[channels.Decisions]()} {
		for method := range of.Methods() {
			called = append(called, method.Name)
		}
	}

	require.ElementsMatch(t, called, slices.Collect(maps.Keys(ofChannels())))
}

// refuseAuditRows makes the audit log refuse rows until allowAuditRows.
func refuseAuditRows(app *tarsytest.App) {
	app.Exec(`CREATE FUNCTION no_row() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no row today'; END $$;
CREATE TRIGGER no_row BEFORE INSERT ON audit_log FOR EACH ROW EXECUTE FUNCTION no_row()`)
}

func allowAuditRows(app *tarsytest.App) {
	app.Exec(`DROP TRIGGER no_row ON audit_log; DROP FUNCTION no_row()`)
}

// decision is one decision of a person.
type decision struct {
	action, targetType, target string
	// details are those of the change; those that identify the author are added.
	details map[string]string
	// decide decides as ann and returns what identifies her in the audit log.
	decide func() map[string]string
	// awaitReply waits until ann gets the reply that the decision was made, refused until she gets the reply that it could not be processed.
	awaitReply, refused func()
	// holds reports whether any part of the decision is stored.
	holds func() bool
}

// requireRowOfEach makes decisions: while no audit row can be stored they are not made, and then each has one row.
func requireRowOfEach(t *testing.T, app *tarsytest.App, kind tarsy.ActorKind, decisions []decision) {
	t.Helper()

	var made []string

	for i, d := range decisions {
		require.Len(t, auditLog(t, app), i)

		refuseAuditRows(app)
		d.decide()
		d.refused()
		require.False(t, d.holds(), "%s is stored without its row", d.action)
		allowAuditRows(app)

		details := d.decide()
		d.awaitReply()
		require.True(t, d.holds(), d.action)
		maps.Copy(details, d.details)

		rows := auditLog(t, app)
		require.Len(t, rows, i+1, d.action)

		row := rows[i]
		require.Equal(t, []string{string(kind), string(kind) + ":ann", d.action, d.targetType, d.target, tarsy.AuditOK, ""},
			[]string{string(row.ActorKind), row.Actor, row.Action, row.TargetType, row.TargetID, row.Outcome, string(row.Role)})
		require.Equal(t, details, row.Details, d.action)

		made = append(made, d.action)
	}

	all := slices.DeleteFunc(slices.Collect(maps.Values(ofChannels())), func(action string) bool { return action == "" })
	require.ElementsMatch(t, all, made)
}

// decisionApp is a server on a virtual Slack or Discord, with sessions for ann to decide about.
type decisionApp struct {
	app *tarsytest.App
	// ended is a session that accepts questions and feedback. The calls of the others wait for an approval.
	ended, first, second string
}

// Titles of the sessions.
const firstTitle, secondTitle = "first alert", "second alert"

func newDecisionApp(t *testing.T, config string, env map[string]string) decisionApp {
	t.Helper()

	app := tarsytest.New(t, tarsytest.Options{Config: config + deciders, Env: env, MCP: []*tarsytest.MCPServer{operator()}})
	app.Script.Route("Fixer", restart(`{}`), restart(`{}`), says("The end."), says("The end."))
	app.Script.Route("Investigator", says("The disk is full."), says("The disk is full."))
	app.Script.Route("ExecSummaryAgent", says("A leak."), says("Done."), says("Done."), says("Done."))
	app.Script.Route("ChatAgent", says("Because of the logs."))

	c := decisionApp{app: app, ended: app.Run("test", "disk full").ID}

	c.first = app.Submit("fix", firstTitle)
	waitApproval(app, app.Watch(c.first))

	c.second = app.Submit("fix", secondTitle)
	waitApproval(app, app.Watch(c.second))

	return c
}

// call returns the call of a session that waits for an approval.
func (c decisionApp) call(sessionID string) tarsy.MCPInteraction {
	return c.app.MCPInteractions(sessionID)[0]
}

// decided returns a function that reports whether anybody has decided about a session's call.
func (c decisionApp) decided(sessionID string) func() bool {
	return func() bool {
		return c.call(sessionID).Approval.Status != tarsy.ApprovalWaiting || c.stored(`SELECT id FROM requests WHERE session_id = $1`, sessionID)
	}
}

// asked reports whether there is a question, or the announcement of an answer.
func (c decisionApp) asked() bool {
	return c.stored(`SELECT id FROM requests WHERE session_id = $1
UNION ALL SELECT id FROM announcements WHERE session_id = $1 AND subject = 'answer'`, c.ended) || c.app.Session(c.ended).Chat != nil
}

func (c decisionApp) rated() bool { return len(c.app.Session(c.ended).Feedback) > 0 }

func (c decisionApp) stored(sql, sessionID string) bool {
	return len(tarsytest.Rows[struct{ ID string }](c.app, sql, sessionID)) > 0
}

// requireEnd checks that a mention submits an alert without an audit row, and that the sessions end as decided.
func (c decisionApp) requireEnd(t *testing.T, mention func(text string)) {
	t.Helper()

	before := auditLog(t, c.app)

	mention("<@tarsy> disk full on node-7")

	submitted := c.app.Sessions("author=" + before[0].Actor)
	require.Len(t, submitted, 1)
	c.app.WaitFor(submitted[0].ID, tarsy.SessionCompleted)
	c.app.WaitFor(c.first, tarsy.SessionCompleted)
	c.app.WaitFor(c.second, tarsy.SessionCompleted)

	require.Equal(t, tarsy.ApprovalApproved, c.call(c.first).Approval.Status)
	require.Equal(t, tarsy.ApprovalRejected, c.call(c.second).Approval.Status)
	require.Equal(t, before, auditLog(t, c.app), "an alert has no row")
}

// annInSlack is ann in Slack.
type annInSlack struct {
	*slackWorld

	// seen is the number of messages that only she saw before her last action.
	seen int
}

// ephemeral returns the messages that only ann sees.
func (p *annInSlack) ephemeral() []slack.Message {
	return slices.DeleteFunc(p.Messages(""), func(m slack.Message) bool { return m.Ephemeral != slackAnn })
}

// awaitReply returns a function that waits until the reply to her last action shows a text.
func (p *annInSlack) awaitReply(text string) func() {
	return func() {
		p.t.Helper()
		require.NoError(p.t, p.Wait(p.ctx(), "a reply to ann", func() bool { return len(p.ephemeral()) > p.seen }))
		require.Len(p.t, p.ephemeral(), p.seen+1)
		require.Contains(p.t, p.ephemeral()[p.seen].Shown(), text)
	}
}

func (p *annInSlack) write(thread, text string) map[string]string {
	p.seen = len(p.ephemeral())
	m := p.Write("ann", text, thread)

	return map[string]string{"user_id": slackAnn, "channel_id": slackAlerts, "ts": m.TS}
}

func (p *annInSlack) click(button string, ts string) map[string]string {
	p.seen = len(p.ephemeral())
	p.Press("ann", ts, button)

	return map[string]string{"user_id": slackAnn, "channel_id": slackAlerts}
}

// reject clicks the button, unless the form is already open, and submits the form.
func (p *annInSlack) reject(ts string) map[string]string {
	p.t.Helper()

	if len(p.Modals()) == 0 {
		p.click(rejectButton, ts)
		require.NoError(p.t, p.Wait(p.ctx(), "the form", func() bool { return len(p.Modals()) == 1 }))
	}

	id, err := p.Submit("ann", map[string]string{"reason": "not before noon"})
	require.NoError(p.t, err)
	_, err = p.WaitAck(p.ctx(), id)
	require.NoError(p.t, err)

	return map[string]string{"user_id": slackAnn, "channel_id": slackAlerts}
}

func TestEveryDecisionInSlackHasOneAuditRow(t *testing.T) {
	t.Parallel()

	p := &annInSlack{slackWorld: newSlack(t, nil)}
	c := newDecisionApp(t, p.Config(slackAnnAsks+`, submit: {channels: [`+slackAlerts+`], users: [`+slackAnn+`], alert_type: test}`), p.Env())
	thread := p.Await("alerts", "A leak.").TS
	first, second := p.Await("alerts", "Approval needed: "+firstTitle).TS, p.Await("alerts", "Approval needed: "+secondTitle).TS

	p.AwaitReady()

	sees := func(text string) func() { return func() { p.Await("alerts", text) } }
	says := func(text string) func() map[string]string {
		return func() map[string]string { return p.write(thread, text) }
	}
	form := func(what string, holds func(slack.Modal) bool) func() {
		return func() {
			require.NoError(t, p.Wait(p.ctx(), what, func() bool { return holds(p.Modals()[0]) }))
		}
	}

	requireRowOfEach(t, c.app, tarsy.ActorSlack, []decision{
		{
			action: "approval.approve", targetType: "approval", target: c.call(c.first).ID, holds: c.decided(c.first),
			decide: func() map[string]string { return p.click(approveButton, first) }, awaitReply: sees("*Approved* by slack:ann"), refused: p.awaitReply(cannotBeProcessed),
		},
		{
			action: "approval.reject", targetType: "approval", target: c.call(c.second).ID, holds: c.decided(c.second),
			decide:     func() map[string]string { return p.reject(second) },
			awaitReply: form("the end of the form", func(m slack.Modal) bool { return !m.Open }),
			refused:    form("the error", func(m slack.Modal) bool { return strings.Contains(m.Errors["reason"], cannotBeProcessed) }),
		},
		{
			action: "session.ask", targetType: "session", target: c.ended, holds: c.asked,
			decide: says("Why?"), awaitReply: sees("Because of the logs."), refused: p.awaitReply(cannotBeProcessed),
		},
		{
			action: "feedback.give", targetType: "session", target: c.ended, details: map[string]string{"rating": "wrong"}, holds: c.rated,
			decide: says("!feedback wrong, the disk has space"), awaitReply: p.awaitReply("Feedback recorded: wrong."), refused: p.awaitReply(cannotBeProcessed),
		},
		{
			action: "feedback.withdraw", targetType: "session", target: c.ended, holds: func() bool { return !c.rated() },
			decide: says("!feedback withdraw"), awaitReply: p.awaitReply("Your feedback is withdrawn."), refused: p.awaitReply(cannotBeProcessed),
		},
	})

	c.requireEnd(t, func(text string) {
		p.write("", text)
		p.Await("alerts", "Investigating: ")
	})

	// A redelivered envelope is not another decision.
	before := auditLog(t, c.app)

	for _, e := range p.Envelopes() {
		p.Redeliver(e.ID)

		_, err := p.WaitAck(p.ctx(), e.ID)
		require.NoError(t, err)
	}

	require.Equal(t, before, auditLog(t, c.app))
}

// annInDiscord is ann in Discord.
type annInDiscord struct {
	*discordWorld

	// last is her last message.
	last discord.Message
}

// thread waits for the thread under the message that contains a text.
func (p *annInDiscord) thread(text string) string {
	p.t.Helper()

	over := p.Await("alerts", text).ID
	a, err := p.WaitAction(p.ctx(), func(a discord.Action) bool { return a.Thread != nil && a.Thread.Message == over })
	require.NoError(p.t, err, "the thread under %q", text)

	return a.Thread.ID
}

// says returns a function that writes a text.
func (p *annInDiscord) says(thread, text string) func() map[string]string {
	return func() map[string]string {
		p.last = p.Write(thread, "ann", text)

		return map[string]string{"author_id": p.last.AuthorID, "message_id": p.last.ID, "channel_id": thread}
	}
}

// awaitReply returns a function that waits until the first reply to her last message contains a text.
func (p *annInDiscord) awaitReply(text string) func() {
	return func() {
		p.t.Helper()

		a, err := p.WaitAction(p.ctx(), func(a discord.Action) bool { return a.Message != nil && a.Message.ReplyTo == p.last.ID })
		require.NoError(p.t, err, "a reply to %q", p.last.Content)
		require.Contains(p.t, a.Message.Content, text)
	}
}

func TestEveryDecisionInDiscordHasOneAuditRow(t *testing.T) {
	t.Parallel()

	p := &annInDiscord{discordWorld: newDiscord(t)}
	c := newDecisionApp(t, p.Config(oncallAllowed+`, approve: ["`+oncallID+`"]`), p.Env())
	thread, first, second := p.thread("A leak."), p.thread(firstTitle), p.thread(secondTitle)

	p.AwaitReady()

	requireRowOfEach(t, c.app, tarsy.ActorDiscord, []decision{
		{
			action: "approval.approve", targetType: "approval", target: c.call(c.first).ID, holds: c.decided(c.first),
			decide: p.says(first, "!approve 1.1.1"), awaitReply: p.awaitReply("Approved."), refused: p.awaitReply(cannotBeProcessed),
		},
		{
			action: "approval.reject", targetType: "approval", target: c.call(c.second).ID, holds: c.decided(c.second),
			decide: p.says(second, "!reject 1.1.1 not before noon"), awaitReply: p.awaitReply("Rejected."), refused: p.awaitReply(cannotBeProcessed),
		},
		{
			action: "session.ask", targetType: "session", target: c.ended, holds: c.asked,
			decide: p.says(thread, "Why?"), awaitReply: func() { p.Await(thread, "Because of the logs.") }, refused: p.awaitReply(cannotBeProcessed),
		},
		{
			action: "feedback.give", targetType: "session", target: c.ended, details: map[string]string{"rating": "wrong"}, holds: c.rated,
			decide: p.says(thread, "!feedback wrong, the disk has space"), awaitReply: p.awaitReply("Feedback recorded: wrong."), refused: p.awaitReply(cannotBeProcessed),
		},
		{
			action: "feedback.withdraw", targetType: "session", target: c.ended, holds: func() bool { return !c.rated() },
			decide: p.says(thread, "!feedback withdraw"), awaitReply: p.awaitReply("Your feedback is withdrawn."), refused: p.awaitReply(cannotBeProcessed),
		},
	})

	c.requireEnd(t, func(text string) {
		p.says("alerts", text)()
		p.awaitReply("Investigating: ")()
	})
}

// writingTool is a call of a tool that changes something.
type writingTool struct {
	arguments func(sessionID string) map[string]any
	// action is the audit action of the route behind it; empty if requests to the route have no row.
	action string
}

// writingTools returns the tools of our own MCP server that change something.
func writingTools() map[string]writingTool {
	return map[string]writingTool{
		"submit_alert": {arguments: func(string) map[string]any { return map[string]any{"data": "web is slow again"} }},
		"ask": {
			action: "session.ask",
			arguments: func(id string) map[string]any {
				return map[string]any{"session_id": id, "question": "Since when?", "wait_seconds": 60}
			},
		},
	}
}

// scriptSession scripts the model's replies for one more session.
func scriptSession(t *testing.T, app *tarsytest.App) {
	t.Helper()

	app.Script.Route("Investigator", says("It leaks."))
	app.Script.Route("ExecSummaryAgent", says("In short."))
	app.Script.Route("VerdictAgent", concludes(t, tarsy.OutcomeProbableCause, "web leaks memory"))
}

func TestEveryWritingToolOfMCPServerHasOneAuditRow(t *testing.T) {
	t.Parallel()

	app := tarsytest.New(t, tarsytest.Options{Config: withChatAndVerdict, RequireKey: true})
	app.Token = app.Key("an admin", tarsy.ScopeAdmin)
	key := app.Key("an assistant", tarsy.ScopeWrite)

	for name, connect := range map[string]func(*testing.T, *tarsytest.App, string) *mcpsdk.ClientSession{"http": toolsOverHTTP, "stdio": toolsOverStdio} {
		t.Run(name, func(t *testing.T) { // sequential: they share the script and the log
			session := connect(t, app, key)
			listed, err := session.ListTools(t.Context(), nil)
			require.NoError(t, err)

			tools := writingTools()

			for _, tool := range listed.Tools {
				_, writes := tools[tool.Name]
				require.Equal(t, !tool.Annotations.ReadOnlyHint, writes, "%s is a tool that changes something, or not", tool.Name)
			}

			scriptTools(t, app, "It leaks.", "Since Tuesday.")
			id := app.Run("test", "web is slow").ID

			for name, tool := range tools {
				before := len(auditLog(t, app))

				if tool.action == "" {
					scriptSession(t, app)

					text := requireTool(t, session, name, tool.arguments(id))
					app.WaitFor(submitted.FindStringSubmatch(text)[1], tarsy.SessionCompleted)
					require.Len(t, auditLog(t, app), before, name)

					continue
				}

				refuseAuditRows(app)

				_, failed := callTool(t, session, name, tool.arguments(id))
				require.True(t, failed, name)
				require.Nil(t, app.Session(id).Chat)
				require.Empty(t, tarsytest.Rows[struct{ ID string }](app, `SELECT id FROM requests WHERE session_id = $1`, id))
				allowAuditRows(app)

				requireTool(t, session, name, tool.arguments(id))

				rows := auditLog(t, app)
				require.Len(t, rows, before+1, name)

				row := rows[before]
				require.Equal(t, []string{"an assistant", string(tarsy.ActorKey), string(tarsy.RoleResponder), tool.action, id, tarsy.AuditOK},
					[]string{row.Actor, string(row.ActorKind), string(row.Role), row.Action, row.TargetID, row.Outcome})
			}
		})
	}
}

func TestDecisionsOfPageHaveOneAuditRow(t *testing.T) {
	t.Parallel()

	app := tarsytest.New(t, tarsytest.Options{Config: withChatAndVerdict, RequireKey: true})
	app.Token = app.Key("an admin", tarsy.ScopeAdmin)
	scriptTools(t, app, "It leaks.", "Since Tuesday.")
	id := app.Run("test", "web is slow").ID

	page := newBrowser(t, app)
	page.login(t, app.Key("ann", tarsy.ScopeWrite))

	login := auditLog(t, app)
	require.Len(t, login, 1)

	stageID := ""

	for i, d := range []struct {
		method, path, action string
		body                 map[string]any
	}{
		{http.MethodPost, "/chat/messages", "session.ask", map[string]any{"content": "Since when?"}},
		{http.MethodPut, "/feedback", "feedback.give", map[string]any{"rating": "right"}},
		{http.MethodPatch, "/handling", "session.handle", map[string]any{"state": "acknowledged"}},
	} {
		answer := page.ask(t, d.method, "/api/v1/sessions/"+id+d.path, d.body)
		require.Less(t, answer.Status, http.StatusBadRequest, "%s", answer.Body)

		if d.action == "session.ask" {
			stageID = decode[tarsy.Question](answer.Body).StageID
		}

		rows := auditLog(t, app)
		require.Len(t, rows, i+2, d.action)

		row := rows[i+1]
		require.Equal(t, []string{"ann", string(tarsy.ActorBrowser), login[0].KeyID, d.action, id, tarsy.AuditOK},
			[]string{row.Actor, string(row.ActorKind), row.KeyID, row.Action, row.TargetID, row.Outcome})
	}

	app.WaitStage(id, stageID)
}
