package e2e

import (
	"fmt"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/kit/wait"
	"tarsy.dev/tarsy/tarsytest"
)

const routeTeam = "alerts:\n  routes: [{team: shop}]\n"

func TestApprovalIsAskedForByWebhookAndMailOnce(t *testing.T) {
	t.Parallel()

	box, chat, others := newMailbox(t, nil), newTarget(t, nil), newTarget(t, nil)
	options := tarsytest.Options{
		MCP: []*tarsytest.MCPServer{operator()}, Env: box.Env(),
		Config: "system: {dashboard_url: 'https://tarsy.example.org'}\n" + fixer + asksForRestart + routeTeam + fmt.Sprintf(
			"  write_back:\n    chat: {url: '%s', on: [approval], teams: [shop]}\n    mail: %s\n    others: {url: '%s', on: [approval], teams: [storage]}\n    ends: {url: '%s', on: [failed]}\n",
			chat.URL, box.target("on: [approval]"), others.URL, others.URL),
	}
	app := tarsytest.New(t, options)
	app.Script.Add(restart(restartArguments))

	id := app.Submit("test", "restart it")
	approval := waitApproval(app, app.Watch(id))
	request := chat.next()
	body := decodeBody(t, request)

	require.Equal(t, "approval", body["event"])
	require.Equal(t, "approval", request.Header.Get("X-Tarsy-Event"))
	require.Equal(t, "in_progress", body["status"])
	require.Equal(t, id, body["session_id"])
	require.Equal(t, "https://tarsy.example.org/sessions/"+id, body["url"])
	require.Contains(t, request.Body, `"replicas":12345678901234567890`, "no digit is lost")

	call, _ := body["approval"].(map[string]any)
	require.Equal(t, approval.ID, call["id"])
	require.Equal(t, []any{"Fixer", "cluster", "restart", approval.Call}, []any{call["agent"], call["server"], call["tool"], call["call"]})
	require.Equal(t, approval.Approval.ExpiresAt.UTC().Format(time.RFC3339), call["expires_at"])

	sent := box.next()
	require.Equal(t, "[TARSy] Approval needed: restart it", sent.Subject)
	require.Contains(t, sent.Text, "The agent Fixer wants to call cluster.restart (call "+approval.Call+")")
	require.Contains(t, sent.Text, `"replicas": 12345678901234567890`)
	require.Contains(t, sent.Text, "Decide here: https://tarsy.example.org/sessions/"+id)
	awaitSent(t, app, 2)

	// Another server on the same database does not send these messages again.
	options.Database = app.Database
	second := tarsytest.New(t, options)
	app.Stop()
	second.Script.Add(restart(`{"again": true}`))

	next := second.Submit("test", "restart another")
	waitApproval(second, second.Watch(next))
	require.Equal(t, next, decodeBody(t, chat.next())["session_id"])
	box.next()
	awaitSent(t, second, 4)
	require.Empty(t, chat.got)
	require.Empty(t, box.got)
	require.Empty(t, others.got)
}

// Approvals that were decided or expired during quiet hours are not announced, whatever the channel.
func TestDecidedOrExpiredApprovalIsNotAnnounced(t *testing.T) {
	t.Parallel()

	for name, prepare := range map[string]func(*testing.T, clockwork.Clock) (options tarsytest.Options, sent func() int){
		"webhook": func(t *testing.T, _ clockwork.Clock) (tarsytest.Options, func() int) {
			t.Helper()

			chat := newTarget(t, nil)

			return tarsytest.Options{
				Config: routeTeam + fmt.Sprintf("  write_back:\n    chat: {url: '%s', on: [approval], %s}\n", chat.URL, atNight),
			}, func() int { return len(chat.got) }
		},
		"Slack": func(t *testing.T, clock clockwork.Clock) (tarsytest.Options, func() int) {
			t.Helper()

			w := newSlack(t, clock)

			return tarsytest.Options{Config: w.Config("on: [approval], " + atNight), Env: w.Env()}, func() int { return len(w.Sent("")) }
		},
		"Discord": func(t *testing.T, _ clockwork.Clock) (tarsytest.Options, func() int) {
			t.Helper()

			w := newDiscord(t)

			return tarsytest.Options{Config: w.Config(oncallAllowed + ", on: [approval], " + atNight), Env: w.Env()}, func() int { return len(w.Sent().Messages) }
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			clock := clockwork.NewFakeClockAt(tonight)
			options, sent := prepare(t, clock)
			options.Clock, options.MCP = clock, []*tarsytest.MCPServer{operator()}
			options.Config = fixer + asksForRestartWithin3h + options.Config

			requireApprovalsSkipped(t, tarsytest.New(t, options), clock)
			require.Zero(t, sent())
		})
	}
}

// requireApprovalsSkipped checks that no message is sent about a call that is rejected, or expires, before messages may be sent.
func requireApprovalsSkipped(t *testing.T, app *tarsytest.App, clock *clockwork.FakeClock) {
	t.Helper()

	type row struct{ SessionID, State, Error string }

	rows := func(state string) []row {
		return tarsytest.Rows[row](app, `SELECT session_id::text, state, error FROM announcements WHERE state = $1 ORDER BY id`, state)
	}
	awaitRows := func(state string, count int) {
		wait.Until(t, fmt.Sprintf("%d announcements to be %s", count, state), func() bool { return len(rows(state)) == count })
	}

	app.Script.Add(restart(`{}`), says("Not restarted."), says("Done."))

	rejected := app.Submit("test", "restart it")
	approval := waitApproval(app, app.Watch(rejected))
	awaitRows("pending", 1)
	decide(t, app, approval.ID, "reject", map[string]any{"reason": "not at night"})
	app.WaitFor(rejected, tarsy.SessionCompleted)

	app.Script.Add(restart(`{}`), says("Somebody must restart it."), says("Done."))

	expired := app.Submit("test", "restart another")
	waitApproval(app, app.Watch(expired))
	awaitRows("pending", 2)
	requireUnheld(t, app, expired)
	clock.Advance(8 * time.Hour)
	app.WaitFor(expired, tarsy.SessionCompleted)

	awaitRows("skipped", 2)
	require.Equal(t, row{rejected, "skipped", "the approval was rejected before the message was sent"}, rows("skipped")[0])
	require.Contains(t, rows("skipped")[1].Error, "expired before the message was sent")
}
