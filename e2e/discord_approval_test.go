package e2e

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/tarsytest"
)

// discordDesk is a server on a virtual Discord whose agent can restart after somebody has approved it.
type discordDesk struct {
	*discordWorld

	app     *tarsytest.App
	cluster *tarsytest.MCPServer
}

func newDiscordDesk(t *testing.T, clock *clockwork.FakeClock) *discordDesk {
	t.Helper()

	w, cluster := newDiscord(t), operator()
	options := tarsytest.Options{
		Config: w.Config(oncallAllowed+`, approve: ["`+oncallID+`"]`) + fixer + asksForRestartWithin3h, Env: w.Env(), MCP: []*tarsytest.MCPServer{cluster},
	}

	if clock != nil {
		options.Clock = clock
	}

	return &discordDesk{discordWorld: w, app: tarsytest.New(t, options), cluster: cluster}
}

// investigate starts a session whose agent wants to restart with these arguments, and returns its id.
func (d *discordDesk) investigate(arguments string) string {
	d.app.Script.Add(restart(arguments), says("The end."), says("Done."))

	return d.app.Submit("test", "Disk *full*")
}

func TestCallThatIsApprovedInDiscordIsMadeOnce(t *testing.T) {
	t.Parallel()

	d := newDiscordDesk(t, nil)
	id := d.investigate(`{"note": "` + "```" + ` @everyone", "replicas": 3}`)
	said := d.Await("alerts", "Approval needed")
	thread := d.AwaitThread()
	d.AwaitReady()

	require.Contains(t, said.Content, `Disk \*full\*`)
	require.Contains(t, said.Content, `Fixer wants to call cluster.restart (call 1.1.1)`)
	require.Contains(t, said.Content, `"replicas": 3`)
	require.Contains(t, said.Content, "`!approve 1.1.1` or `!reject 1.1.1 reason`")
	require.Equal(t, 2, strings.Count(said.Content, "```"), "nothing in the arguments ends the block")

	d.Write(thread.ID, "bob", "!approve 1.1.1")
	d.Await(thread.ID, "You are not allowed to approve")
	d.Write(thread.ID, "ann", "!approve 9.9.9")
	d.Await(thread.ID, "No call with the number 9.9.9")
	require.Equal(t, tarsy.CallWaiting, d.app.MCPInteractions(id)[0].Status)

	message := d.Write(thread.ID, "ann", "!approve 1.1.1")
	require.Equal(t, message.ID, d.Await(thread.ID, "Approved.").ReplyTo)

	require.Equal(t, "The end.", d.app.WaitFor(id, tarsy.SessionCompleted).FinalAnalysis)
	require.Len(t, d.cluster.Calls(), 1)
	require.Equal(t, "restarted", lastResult(d.app, 1))
	require.Equal(t, "discord:ann", d.app.MCPInteractions(id)[0].Approval.DecidedBy)

	d.Write(thread.ID, "ann", "!reject 1.1.1 too late")
	d.Await(thread.ID, "decided already")
	require.Len(t, d.cluster.Calls(), 1)
}

func TestCallThatIsRejectedInDiscordIsNotMade(t *testing.T) {
	t.Parallel()

	d := newDiscordDesk(t, nil)
	id := d.investigate(`{"replicas": 3}`)
	thread := d.AwaitThread()
	d.AwaitReady()

	d.Write(thread.ID, "ann", "!reject 1.1.1")
	d.Await(thread.ID, "Write !approve")
	require.Equal(t, tarsy.CallWaiting, d.app.MCPInteractions(id)[0].Status, "a reason is needed first")

	message := d.Write(thread.ID, "ann", "!reject 1.1.1 not before noon")
	require.Equal(t, message.ID, d.Await(thread.ID, "Rejected.").ReplyTo)

	d.app.WaitFor(id, tarsy.SessionCompleted)
	require.Empty(t, d.cluster.Calls())
	require.Contains(t, lastResult(d.app, 1), "not before noon")

	call := d.app.MCPInteractions(id)[0]
	require.Equal(t, tarsy.ApprovalRejected, call.Approval.Status)
	require.Equal(t, "discord:ann", call.Approval.DecidedBy)

	d.Write(thread.ID, "ann", "!approve 1.1.1")
	d.Await(thread.ID, "decided already")
	require.Empty(t, d.cluster.Calls())

	rows := slices.DeleteFunc(auditLog(t, d.app), func(row tarsy.AuditEntry) bool { return row.TargetID != call.ID })
	require.Len(t, rows, 1, "one decision was made")
	require.Equal(t, "approval.reject", rows[0].Action)
	require.Equal(t, "discord:ann", rows[0].Actor)
	require.Equal(t, tarsy.ActorDiscord, rows[0].ActorKind)

	announced := 0

	for _, sent := range d.Sent().Messages {
		if strings.Contains(sent.Content, "Approval needed") {
			announced++
		}
	}

	require.Equal(t, 1, announced, "a call is announced once")
}

func TestApprovalThatNobodyGivesInDiscordExpires(t *testing.T) {
	t.Parallel()

	clock := clockwork.NewFakeClockAt(time.Now())
	d := newDiscordDesk(t, clock)
	id := d.investigate(`{}`)
	thread := d.AwaitThread()
	d.AwaitReady()
	requireUnheld(t, d.app, id)

	clock.Advance(3*time.Hour + time.Second)
	d.app.WaitFor(id, tarsy.SessionCompleted)

	d.Write(thread.ID, "ann", "!approve 1.1.1")
	d.Await(thread.ID, "expired")
	require.Empty(t, d.cluster.Calls())
	require.Contains(t, lastResult(d.app, 1), "Nobody approved this call in time")
}

// Spaces hide the end of the arguments, so nobody can approve them here. And whatever a model has written, Discord fetches nothing.
func TestDiscordOffersNoApprovalOfWhatItDoesNotShow(t *testing.T) {
	t.Parallel()

	d := newDiscordDesk(t, nil)
	id := d.investigate(`{"command": "echo` + strings.Repeat(" ", 3000) + `; rm -rf /"}`)
	said := d.Await("alerts", "Reject in the thread: `!reject 1.1.1 reason`")
	require.NotContains(t, said.Content, "!approve")

	thread := d.AwaitThread()
	d.AwaitReady()
	d.Write(thread.ID, "ann", "!approve 1.1.1")
	d.Await(thread.ID, "approve the call there")
	require.Equal(t, tarsy.CallWaiting, d.app.MCPInteractions(id)[0].Status)
	require.Empty(t, d.cluster.Calls())

	const suppressEmbeds = 1 << 2

	for _, sent := range d.Sent().Messages {
		require.NotZero(t, sent.Flags&suppressEmbeds, "links of %q are not fetched", sent.Content)
	}

	d.Write(thread.ID, "ann", "!reject 1.1.1 no")
	d.app.WaitFor(id, tarsy.SessionCompleted)
}
