package e2e

import (
	"context"
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/tarsytest"
)

// The server is killed while the target has its request and has not answered. The next server sends the message with the
// same key, and does not repeat what was answered before.
func TestWriteBackSurvivesKillWhileSending(t *testing.T) {
	t.Parallel()

	first := newHold(t)
	chat := newTarget(t, func(received) int {
		first.pass(t.Context())

		return http.StatusOK
	})
	other := newTarget(t, nil)
	front := tarsytest.New(t, tarsytest.Options{WorkersOff: true, Config: "queue: {worker_count: 0}\n" + loneAgent})
	modelAnswers(front, nil)

	settings := processSettings{
		Database: front.Database, Model: serveModel(t, front.Script),
		Config: writeBack(fmt.Sprintf("    chat: {url: '%s', on: [finished]}\n    other: {url: '%s'}\n", chat.URL, other.URL)) +
			"llm_providers: {test: {type: scripted, model: test-model}}\ndefaults: {llm_provider: test}\n",
	}
	server := startProcess(t, settings)
	session := front.Submit("test", "disk full")
	front.WaitFor(session, tarsy.SessionCompleted)
	await(t, first.reached, "the message")
	awaitSent(t, front, 2)
	server.Kill()
	first.Open()

	cut := chat.next()

	// Minutes later, the job counts as lost and another server leads.
	front.Exec(`UPDATE river_job SET attempted_at = attempted_at - interval '10 minutes' WHERE state = 'running'`)
	front.Exec(`DELETE FROM river_leader`)
	startProcess(t, settings)

	sent := chat.next()
	require.Equal(t, session, decodeBody(t, sent)["session_id"])
	require.Equal(t, cut.Body, sent.Body)
	require.Equal(t, cut.Header.Get("Idempotency-Key"), sent.Header.Get("Idempotency-Key"))
	awaitSent(t, front, 3)
	require.Empty(t, chat.got)
	require.Len(t, other.got, 2, "started and finished, once each")
}

// An attempt lasts as long as its target allows, and is then repeated.
func TestSlowTargetIsTriedAgainAfterItsTimeout(t *testing.T) {
	t.Parallel()

	ctx, cancel := context.WithCancel(context.Background())
	held := func() *target {
		first := newHold(t)

		return newTarget(t, func(received) int {
			first.pass(ctx)

			return http.StatusOK
		})
	}
	quick, patient := held(), held()

	t.Cleanup(cancel)

	app := tarsytest.New(t, tarsytest.Options{Config: writeBack(fmt.Sprintf(
		"    quick: {url: '%s', on: [finished], timeout: 1s}\n    patient: {url: '%s', on: [finished], timeout: 1h}\n", quick.URL, patient.URL)) +
		"queue: {graceful_shutdown_timeout: 10ms}\n"})
	modelAnswers(app, nil)
	app.Run("test", "disk full")
	quick.next()
	awaitSent(t, app, 1)

	type row struct {
		Target, State, Error string
		Attempts             int
	}

	rows := tarsytest.Rows[row](app, `SELECT target, state, error, attempts FROM announcements ORDER BY target`)
	require.Equal(t, row{Target: "patient", State: "pending"}, rows[0], "its first attempt lasts")
	require.Equal(t, "sent", rows[1].State)
	require.Equal(t, "could not send: context deadline exceeded", rows[1].Error)
	require.Positive(t, rows[1].Attempts)
}
