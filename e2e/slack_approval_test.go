package e2e

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/kit/mock/slack"
	"tarsy.dev/tarsy/internal/postgres/pgtest"
	"tarsy.dev/tarsy/llm/script"
	"tarsy.dev/tarsy/tarsytest"
)

// slackDesk is a server on a virtual Slack whose agent can restart after somebody has approved it.
type slackDesk struct {
	*slackWorld

	app     *tarsytest.App
	cluster *tarsytest.MCPServer
}

func newSlackDesk(t *testing.T, w *slackWorld, options tarsytest.Options) *slackDesk {
	t.Helper()

	cluster := operator()
	options.Env, options.MCP = w.Env(), []*tarsytest.MCPServer{cluster}

	if options.Config == "" {
		options.Config = w.Config(slackAnnAsks) + fixer + asksForRestartWithin3h
	}

	return &slackDesk{slackWorld: w, app: tarsytest.New(t, options), cluster: cluster}
}

// investigate starts a session whose agent wants to restart with these arguments, and returns its id.
func (d *slackDesk) investigate(arguments string) string {
	d.app.Script.Add(restart(arguments), says("The end."), says("Done."))

	return d.app.Submit("test", "Disk *full*")
}

// submit submits the modal and waits until the server has processed it.
func (d *slackDesk) submit(user, reason string) {
	d.t.Helper()

	id, err := d.Submit(user, map[string]string{"reason": reason})
	require.NoError(d.t, err)
	_, err = d.WaitAck(d.ctx(), id)
	require.NoError(d.t, err)
}

// asked returns the messages that ask for an approval, however they ended.
func (d *slackDesk) asked() []slack.Message {
	return slices.DeleteFunc(d.Sent(""), func(m slack.Message) bool { return !strings.Contains(m.Shown(), "wants to call") })
}

func TestCallThatIsApprovedInSlackIsMadeOnce(t *testing.T) {
	t.Parallel()

	d := newSlackDesk(t, newSlack(t, nil), tarsytest.Options{})
	d.AwaitReady()

	id := d.investigate(`{"note": "` + "```" + ` <!channel>", "replicas": 3}`)
	asked := d.Await("alerts", "Approval needed")
	require.Contains(t, asked.Shown(), "Approval needed: Disk *full*")
	require.Contains(t, asked.Shown(), "The agent Fixer wants to call cluster.restart (call 1.1.1):")
	require.Contains(t, asked.Shown(), `"replicas": 3`)
	require.Equal(t, 2, strings.Count(asked.Shown(), "```"), "nothing in the arguments ends the block")
	require.Empty(t, asked.Mentions)
	require.Equal(t, []string{approveButton, rejectButton}, asked.Buttons())

	// Others cannot decide, and only they see that.
	d.Press("bob", asked.TS, approveButton)
	require.Equal(t, slackBob, d.Await("alerts", "You are not allowed to approve").Ephemeral)
	d.Press("bob", asked.TS, rejectButton)
	require.Empty(t, d.Modals())
	require.Equal(t, tarsy.CallWaiting, d.app.MCPInteractions(id)[0].Status)

	// The click is delivered twice, because the first acknowledgement is lost.
	d.LoseAcks(1)
	require.Equal(t, 2, d.Press("ann", asked.TS, approveButton).Attempts)

	require.Equal(t, "The end.", d.app.WaitFor(id, tarsy.SessionCompleted).FinalAnalysis)
	require.Len(t, d.cluster.Calls(), 1)
	require.Equal(t, "restarted", lastResult(d.app, 1))

	call := d.app.MCPInteractions(id)[0]
	require.Equal(t, tarsy.ApprovalApproved, call.Approval.Status)
	require.Equal(t, "slack:ann", call.Approval.DecidedBy)

	shown := d.Await("alerts", "*Approved* by slack:ann")
	require.Equal(t, asked.TS, shown.TS)
	require.Empty(t, shown.Buttons())
	d.AwaitSent(d.app)
	require.Len(t, d.asked(), 1, "a call is announced once")

	rows := slices.DeleteFunc(auditLog(t, d.app), func(row tarsy.AuditEntry) bool { return row.TargetID != call.ID })
	require.Len(t, rows, 1, "a click that is delivered twice is one decision")
	require.Equal(t, "approval.approve", rows[0].Action)
	require.Equal(t, "slack:ann", rows[0].Actor)
}

func TestCallThatIsRejectedInSlackIsNotMade(t *testing.T) {
	t.Parallel()

	const secret = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"

	d := newSlackDesk(t, newSlack(t, nil), tarsytest.Options{})
	d.AwaitReady()

	id := d.investigate(`{"text": "` + strings.Repeat("<long> ", 2000) + `"}`)
	asked := d.Await("alerts", "The arguments are longer than what is shown here.")
	require.Len(t, asked.Buttons(), 1, "nobody approves what is not shown")
	d.Press("ann", asked.TS, rejectButton)
	require.NoError(t, d.Wait(d.ctx(), "the modal", func() bool { return len(d.Modals()) == 1 }))

	d.submit("ann", "  ")
	require.NoError(t, d.Wait(d.ctx(), "the error", func() bool { return d.Modals()[0].Errors["reason"] != "" }))
	require.Equal(t, tarsy.CallWaiting, d.app.MCPInteractions(id)[0].Status, "a reason is needed first")

	d.submit("ann", "not before noon, "+secret)
	require.NoError(t, d.Wait(d.ctx(), "the end of the modal", func() bool { return !d.Modals()[0].Open }))
	require.Contains(t, d.Await("alerts", "*Rejected* by slack:ann").Shown(), "not before noon")

	d.app.WaitFor(id, tarsy.SessionCompleted)
	require.Empty(t, d.cluster.Calls())
	require.Contains(t, lastResult(d.app, 1), "not before noon")
	require.NotContains(t, lastResult(d.app, 1), secret)
	require.Equal(t, tarsy.ApprovalRejected, d.app.MCPInteractions(id)[0].Approval.Status)

	d.AwaitSent(d.app)
	require.Len(t, d.asked(), 1)
}

// Ann opens the form while she is allowed to decide, and submits it when she no longer is.
func TestFormOfSomebodyWhoMayNoLongerDecideIsRefused(t *testing.T) {
	t.Parallel()

	w, database := newSlack(t, nil), pgtest.New(t)
	d := newSlackDesk(t, w, tarsytest.Options{Database: database, Unwatched: true})
	d.AwaitReady()

	id := d.investigate(`{}`)
	d.Press("ann", d.Await("alerts", "Approval needed").TS, rejectButton)
	require.NoError(t, d.Wait(d.ctx(), "the modal", func() bool { return len(d.Modals()) == 1 }))
	d.app.Stop()

	onlyBob := `allow: {channels: [` + slackAlerts + `], users: [` + slackAnn + `]}, approve: [` + slackBob + `]`
	after := newSlackDesk(t, w, tarsytest.Options{Database: database, Config: w.Config(onlyBob) + fixer + asksForRestartWithin3h})
	after.AwaitReady()
	after.submit("ann", "not before noon")
	require.NoError(t, after.Wait(after.ctx(), "the error", func() bool {
		return strings.Contains(after.Modals()[0].Errors["reason"], "You are not allowed to approve")
	}))
	require.Equal(t, tarsy.CallWaiting, after.app.MCPInteractions(id)[0].Status)
	require.Empty(t, tarsytest.Rows[struct{ ID string }](after.app, `SELECT id::text FROM requests WHERE session_id = $1 AND kind = 'approval'`, id))
}

func TestApprovalThatNobodyGivesInSlackExpires(t *testing.T) {
	t.Parallel()

	clock := clockwork.NewFakeClockAt(time.Now())
	d := newSlackDesk(t, newSlack(t, nil), tarsytest.Options{Clock: clock})
	id := d.investigate(`{}`)
	asked := d.Await("alerts", "Approval needed")
	d.AwaitReady()
	requireUnheld(t, d.app, id)

	clock.Advance(3*time.Hour + time.Second)
	d.app.WaitFor(id, tarsy.SessionCompleted)
	require.Empty(t, d.cluster.Calls())
	require.Contains(t, lastResult(d.app, 1), "Nobody approved this call in time")

	shown := d.Await("alerts", "*Approval expired*")
	require.Equal(t, asked.TS, shown.TS)
	require.Empty(t, shown.Buttons())
}

// Somebody changes the arguments outside Slack: the call is made with them, and Slack shows the decision.
func TestSlackShowsDecisionThatIsMadeElsewhere(t *testing.T) {
	t.Parallel()

	d := newSlackDesk(t, newSlack(t, nil), tarsytest.Options{})
	id := d.investigate(`{"namespace":"prod"}`)
	d.Await("alerts", "Approval needed")

	decide(t, d.app, d.app.MCPInteractions(id)[0].ID, "approve", map[string]any{"arguments": map[string]any{"namespace": "staging"}})
	require.Empty(t, d.Await("alerts", "*Approved*").Buttons())
	d.app.WaitFor(id, tarsy.SessionCompleted)
	require.Len(t, d.cluster.Calls(), 1)
	require.Equal(t, map[string]any{"namespace": "staging"}, d.cluster.Calls()[0].Arguments)
	d.AwaitSent(d.app)
	require.Len(t, d.asked(), 1)
	require.Equal(t, http.StatusConflict, d.app.Do(http.MethodPost, "/api/v1/approvals/"+d.app.MCPInteractions(id)[0].ID+"/reject", map[string]any{"reason": "late"}).Status)
}

// The thread of the alert already has messages, so a waiting call is also shown in the channel. Names are masked before they are stored.
func TestRequestForApprovalInThreadIsShownInChannel(t *testing.T) {
	t.Parallel()

	w := newSlack(t, nil)
	d := newSlackDesk(t, w, tarsytest.Options{
		Config: w.Config(`approve: [`+slackLeaky+`], on: [started, finished, approval]`) + fixer + asksForRestartWithin3h,
	})
	d.AwaitReady()

	// The first message begins the thread.
	gate, call := script.NewGate(), restart(`{}`)
	call.Gate = gate
	d.app.Script.Add(call, says("The end."), says("Done."))

	id := d.app.Submit("test", "Disk *full*")
	begun := d.Await("alerts", "Disk")
	gate.Open()

	asked := d.Await("alerts", "Approval needed")
	require.Equal(t, begun.TS, asked.ThreadTS)
	require.True(t, asked.Broadcast)

	d.Press(slackLeakyName, asked.TS, approveButton)
	d.app.WaitFor(id, tarsy.SessionCompleted)

	decidedBy := d.app.MCPInteractions(id)[0].Approval.DecidedBy
	require.Contains(t, decidedBy, "slack:[MASKED_")
	require.NotContains(t, d.Await("alerts", "*Approved* by").Shown(), slackLeakyName)
	require.False(t, d.Await("alerts", "Inconclusive").Broadcast)
}
