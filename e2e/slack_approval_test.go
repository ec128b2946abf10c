package e2e

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/postgres"
	"tarsy.dev/tarsy/internal/postgres/pgtest"
	"tarsy.dev/tarsy/tarsytest"
)

// newSlackDesk is a server on a virtual Slack, and a way to store calls that wait.
func newSlackDesk(t *testing.T) (*tarsytest.App, *slackWorld, *postgres.DB) {
	t.Helper()

	w, database := newSlack(t, nil), pgtest.New(t)
	app := tarsytest.New(t, tarsytest.Options{Config: w.Config(slackAnnAsks) + chatty, Env: w.Env(), Database: database, MCP: []*tarsytest.MCPServer{oomTools()}})

	db, err := postgres.Open(t.Context(), postgres.Config{URL: database})
	require.NoError(t, err)
	db.Start()
	t.Cleanup(db.Stop)

	return app, w, db
}

// decided is what was decided about a call, as it is stored.
func decided(t *testing.T, db *postgres.DB, call tarsy.MCPInteraction) string {
	t.Helper()

	requests, err := db.OpenRequests(t.Context(), call.SessionID)
	require.NoError(t, err)

	if len(requests) == 0 {
		return ""
	}

	return requests[0].Author + " " + string(requests[0].Payload)
}

func TestSlackButtonsDecideAboutToolCalls(t *testing.T) {
	t.Parallel()

	app, w, db := newSlackDesk(t)
	w.AwaitReady()

	call := waitingCall(t, db, "1.1.2", `{"note": "`+"```"+` <!channel>", "replicas": 3}`)
	asked := w.Await("alerts", "Approval needed")
	require.Contains(t, asked.Shown(), "Approval needed: Disk *full*")
	require.Contains(t, asked.Shown(), "The agent fixer wants to call cluster.scale (call 1.1.2):")
	require.Contains(t, asked.Shown(), `"replicas": 3`)
	require.Equal(t, 2, strings.Count(asked.Shown(), "```"), "nothing in the arguments ends the block")
	require.Empty(t, asked.Mentions)
	require.Equal(t, []string{approveButton, rejectButton}, asked.Buttons())

	// Others cannot, and only they are told.
	w.Press("bob", asked.TS, approveButton)
	require.Equal(t, slackBob, w.Await("alerts", "You may not decide").Ephemeral)
	w.Press("bob", asked.TS, rejectButton)
	require.Empty(t, w.Modals())
	require.Empty(t, decided(t, db, call))

	// The click is delivered twice, because the first acknowledgement is lost.
	w.LoseAcks(1)
	require.Equal(t, 2, w.Press("ann", asked.TS, approveButton).Attempts)
	require.Contains(t, decided(t, db, call), `slack:ann`)
	require.Contains(t, decided(t, db, call), `approved`)

	shown := w.Await("alerts", "*Approved* by slack:ann")
	require.Equal(t, asked.TS, shown.TS)
	require.Empty(t, shown.Buttons())
	w.AwaitSent(app)
	require.Len(t, w.Sent(""), 1, "a call is announced once")
	require.Len(t, w.Messages(""), 3, "and the second delivery said nothing")

	row := auditLog(t, app)[0]
	require.Equal(t, "approval.approve", row.Action)
	require.Equal(t, "slack:ann", row.Actor)
	require.Equal(t, call.ID, row.TargetID)
	require.Len(t, auditLog(t, app), 1, "a click that is delivered twice is one decision")
}

func TestSlackModalRejectsToolCallWithReason(t *testing.T) {
	t.Parallel()

	const secret = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"

	app, w, db := newSlackDesk(t)
	w.AwaitReady()

	call := waitingCall(t, db, "1.1.2", `{"text": "`+strings.Repeat("<long> ", 2000)+`"}`)
	asked := w.Await("alerts", "The arguments are longer than what is shown here.")
	require.Len(t, asked.Buttons(), 1, "nobody approves what is not shown")
	w.Press("ann", asked.TS, rejectButton)
	require.NoError(t, w.Wait(w.ctx(), "the modal", func() bool { return len(w.Modals()) == 1 }))
	require.Empty(t, decided(t, db, call), "a reason is needed first")

	id, err := w.Submit("ann", map[string]string{"reason": "  "})
	require.NoError(t, err)
	_, err = w.WaitAck(w.ctx(), id)
	require.NoError(t, err)
	require.NoError(t, w.Wait(w.ctx(), "the error", func() bool { return w.Modals()[0].Errors["reason"] != "" }))

	id, err = w.Submit("ann", map[string]string{"reason": "not before noon, " + secret})
	require.NoError(t, err)
	_, err = w.WaitAck(w.ctx(), id)
	require.NoError(t, err)
	require.NoError(t, w.Wait(w.ctx(), "the end of the modal", func() bool { return !w.Modals()[0].Open }))
	require.Contains(t, decided(t, db, call), `rejected`)
	require.Contains(t, decided(t, db, call), `not before noon`)
	require.NotContains(t, decided(t, db, call), secret)
	require.Contains(t, w.Await("alerts", "*Rejected* by slack:ann").Shown(), "not before noon")

	w.AwaitSent(app)
	require.Len(t, w.Sent(""), 1)
}

// A decision that is made elsewhere, and a request that expires, are shown too.
func TestSlackShowsDecisionsThatAreMadeElsewhere(t *testing.T) {
	t.Parallel()

	app, w, db := newSlackDesk(t)
	expiring := waitingCall(t, db, "1.1.3", `{"replicas": 4}`)
	w.Await("alerts", "call 1.1.3")
	app.Exec(`UPDATE approvals SET approval = jsonb_set(approval, '{expires_at}', to_jsonb($2::text)) WHERE id = $1`,
		expiring.ID, time.Now().Add(-time.Second).UTC().Format(time.RFC3339))
	require.Empty(t, w.Await("alerts", "*Approval expired*").Buttons())

	call := waitingCall(t, db, "1.1.2", `{"replicas": 3}`)
	w.Await("alerts", "call 1.1.2")

	answer := app.Do(http.MethodPost, "/api/v1/approvals/"+call.ID+"/approve", map[string]any{})
	require.Less(t, answer.Status, http.StatusMultipleChoices, string(answer.Body))
	require.Empty(t, w.Await("alerts", "*Approved*").Buttons())
	w.AwaitSent(app)
	require.Len(t, w.Sent(""), 2)
}
