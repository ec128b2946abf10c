package e2e

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/kit/wait"
	"tarsy.dev/tarsy/llm/script"
	"tarsy.dev/tarsy/tarsytest"
)

func TestMailReportsVerdictsAndFailuresInOneThread(t *testing.T) {
	t.Parallel()

	box, chat := newMailbox(t, nil), newTarget(t, nil)
	app := tarsytest.New(t, tarsytest.Options{
		Config: fmt.Sprintf("system: {dashboard_url: 'https://tarsy.example.org'}\nalerts:\n  write_back:\n    mail: %s\n    chat: {url: '%s', on: [verdict, finished]}\n",
			box.target("on: [started, verdict, failed]"), chat.URL) + loneAgent,
		Env: box.Env(),
	})
	app.Script.Route("Investigator", says("It leaks."), says("Nothing."), script.Reply{Err: errors.New("the model is broken")})
	app.Script.Route("ExecSummaryAgent", says("A leak."), says("Nothing."))
	app.Script.Route("VerdictAgent", concludes(t, tarsy.OutcomeProbableCause, "web leaks memory"), script.Reply{Err: errors.New("no verdict")})

	const title = "web is\r\nBcc: evil@example.net\r\n\r\nslow 🐌"

	concluded := app.Run("test", title).ID
	started, verdict := box.next(), box.next()

	if started.Get("X-Tarsy-Event") != "started" {
		started, verdict = verdict, started
	}

	require.Equal(t, "started", started.Get("X-Tarsy-Event"))
	require.Equal(t, "verdict", verdict.Get("X-Tarsy-Event"))
	require.Equal(t, started.Get("References"), verdict.Get("References"))
	require.NotEqual(t, started.Get("Message-Id"), verdict.Get("Message-Id"))
	require.Contains(t, verdict.Subject, "[TARSy] Probable cause: web is")
	require.Contains(t, verdict.Text, "Cause: web leaks memory\n")
	require.Contains(t, verdict.Text, "\n\nA leak.\n\nhttps://tarsy.example.org/sessions/"+concluded+"\n")

	for _, m := range box.Mails() {
		require.Equal(t, []string{"oncall@example.org"}, m.To)
		require.NotContains(t, m.Data, "\nBcc:")
		require.NotContains(t, m.Data, "\nCc:")
	}

	// Without a verdict there is nothing to send to a target that wants no other end.
	undecided := app.Run("test", "nothing").ID
	require.Equal(t, "started", box.next().Get("X-Tarsy-Event"))

	failed := app.Submit("test", "model broken")
	app.WaitFor(failed, tarsy.SessionFailed)

	events := []string{box.next().Get("X-Tarsy-Event"), box.next().Get("X-Tarsy-Event")}
	require.ElementsMatch(t, []string{"started", "failed"}, events)

	type row struct{ SessionID, State, Error string }

	wait.Until(t, "no announcement to be pending", func() bool {
		return len(tarsytest.Rows[row](app, `SELECT session_id::text, state, error FROM announcements WHERE state = 'pending'`)) == 0
	})
	require.Equal(t, []row{{undecided, "skipped", "the session has no verdict"}},
		tarsytest.Rows[row](app, `SELECT session_id::text, state, error FROM announcements WHERE state <> 'sent'`))
	require.Empty(t, box.got)

	// A target that wants both gets one message for each end.
	require.Equal(t, "verdict", chat.next().Header.Get("X-Tarsy-Event"))
	require.Equal(t, "finished", chat.next().Header.Get("X-Tarsy-Event"))
	require.Empty(t, chat.got)
}

// The server is killed after the mail server has received the message, and before that is recorded. The next server sends
// it with the same Message-ID.
func TestMailSurvivesKillBetweenDataAndRecord(t *testing.T) {
	t.Parallel()

	first := newHold(t)
	box := newMailbox(t, func(command, _ string) string {
		if command == "." {
			first.pass(t.Context())
		}

		return ""
	})
	front := tarsytest.New(t, tarsytest.Options{WorkersOff: true, Config: "queue: {worker_count: 0}\n" + loneAgent})
	modelAnswers(front, nil)

	settings := processSettings{
		Database: front.Database, Model: serveModel(t, front.Script), Env: maps.Clone(box.Env()),
		Config: writeBack("    mail: "+box.target("on: [finished]")+"\n") + "llm_providers: {test: {type: scripted, model: test-model}}\ndefaults: {llm_provider: test}\n",
	}
	server := startProcess(t, settings)
	session := front.Submit("test", "disk full")
	front.WaitFor(session, tarsy.SessionCompleted)
	await(t, first.reached, "the message")
	server.Kill()
	first.Open()

	cut := box.next()

	// Minutes later, the job counts as lost and another server leads.
	front.Exec(`UPDATE river_job SET attempted_at = attempted_at - interval '10 minutes' WHERE state = 'running'`)
	front.Exec(`DELETE FROM river_leader`)
	startProcess(t, settings)

	sent := box.next()
	require.Equal(t, cut, sent, "to the letter, so that the receiver recognizes it")
	require.True(t, strings.HasPrefix(sent.Get("Message-Id"), "<0"))
	awaitSent(t, front, 1)
	require.Empty(t, box.got)
}

func TestTargetsReceiveSessionsOfTheirTeamsOnly(t *testing.T) {
	t.Parallel()

	payments, storage, nobody, all := newTarget(t, nil), newTarget(t, nil), newTarget(t, nil), newTarget(t, nil)
	app := tarsytest.New(t, tarsytest.Options{Config: fmt.Sprintf(`
alerts:
  routes:
    - {match: [title="checkout fails"], team: payments}
    - {match: [title="disk full"], team: storage}
  write_back:
    payments: {url: '%s', on: [finished], teams: [payments]}
    storage: {url: '%s', on: [finished], teams: [storage, backup]}
    nobody: {url: '%s', on: [finished], teams: [""]}
    all: {url: '%s', on: [finished]}
`, payments.URL, storage.URL, nobody.URL, all.URL) + loneAgent})
	modelAnswers(app, nil)

	for title, team := range map[string]*target{"checkout fails": payments, "disk full": storage, "something else": nobody} {
		id := app.Run("test", title).ID
		require.Equal(t, id, decodeBody(t, team.next())["session_id"], title)
		require.Equal(t, id, decodeBody(t, all.next())["session_id"], title)
	}

	awaitSent(t, app, 6)

	for _, tg := range []*target{payments, storage, nobody, all} {
		require.Empty(t, tg.got)
	}
}
