package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/kit/wait"
	"tarsy.dev/tarsy/llm/script"
	"tarsy.dev/tarsy/tarsytest"
)

// received is a request that a write-back target received.
type received struct {
	Path   string
	Header http.Header
	Body   string
}

// target is a server that receives write-back requests.
type target struct {
	t   *testing.T
	URL string
	got chan received
}

// newTarget returns a target that answers each request with the status that the function returns; nil means 200.
func newTarget(t *testing.T, status func(r received) int) *target {
	t.Helper()

	tg := &target{t: t, got: make(chan received, 100)}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		request := received{Path: r.URL.Path, Header: r.Header, Body: string(body)}

		code := http.StatusOK
		if status != nil {
			code = status(request)
		}

		w.WriteHeader(code)
		tg.got <- request
	}))
	t.Cleanup(server.Close)

	tg.URL = server.URL

	return tg
}

// next returns the next request.
func (tg *target) next() received {
	tg.t.Helper()

	return wait.For(tg.t, tg.got, "a request to the target")
}

// writeBack returns a configuration with targets and a lone agent.
func writeBack(targets string) string {
	return "system: {dashboard_url: 'https://tarsy.example.org'}\nalerts:\n  write_back:\n" + targets + loneAgent
}

func decodeBody(t *testing.T, r received) map[string]any {
	t.Helper()

	var body map[string]any

	require.NoError(t, json.Unmarshal([]byte(r.Body), &body), r.Body)

	return body
}

// awaitSent waits until this many announcements are recorded as sent.
func awaitSent(t *testing.T, app *tarsytest.App, rows int) {
	t.Helper()

	type count struct{ Sent int }

	wait.Until(t, "every announcement to be sent", func() bool {
		return tarsytest.Rows[count](app, `SELECT count(*) AS sent FROM announcements WHERE state = 'sent'`)[0].Sent == rows
	})
}

func TestWriteBackReportsStartEndAndFailure(t *testing.T) {
	t.Parallel()

	all, failures := newTarget(t, nil), newTarget(t, nil)
	app := tarsytest.New(t, tarsytest.Options{Config: writeBack(fmt.Sprintf(`
    all: {url: '%s/hook'}
    failures:
      url: '%s'
      on: [failed]
      match: [alert_type="test"]
      headers: {Authorization: Bearer token-of-failures, Content-Type: text/plain}
      body: '{{.Event}} {{.SessionID}} {{default "nobody" .Team}}: {{.Error}} {{.URL}}'
    others: {url: '%s', match: [alert_type="other"]}
`, all.URL, failures.URL, failures.URL))})
	app.Script.Route("Investigator", says("The disk is \"full\"."), script.Reply{Err: errors.New("the model is broken")})
	app.Script.Route("ExecSummaryAgent", says("A leak."))

	completed := app.Run("test", "disk full").ID
	events := map[string]map[string]any{}

	for range 2 {
		r := all.next()
		body := decodeBody(t, r)
		event, _ := body["event"].(string)
		events[event] = body

		require.Equal(t, "/hook", r.Path)
		require.Equal(t, "application/json", r.Header.Get("Content-Type"))
		require.Equal(t, body["id"], r.Header.Get("Idempotency-Key"))
		require.Equal(t, body["id"], r.Header.Get("X-Tarsy-Delivery"))
		require.Equal(t, event, r.Header.Get("X-Tarsy-Event"))
		require.Equal(t, completed, body["session_id"])
		require.Equal(t, "https://tarsy.example.org/sessions/"+completed, body["url"])
		require.Equal(t, "disk full", body["title"])
	}

	require.Equal(t, "in_progress", events["started"]["status"])
	require.Empty(t, events["started"]["analysis"])
	require.Equal(t, "completed", events["finished"]["status"])
	require.Equal(t, "The disk is \"full\".", events["finished"]["analysis"])
	require.Equal(t, "A leak.", events["finished"]["summary"])
	require.NotEmpty(t, events["finished"]["ended_at"])

	failed := app.Submit("test", "disk full again")
	app.WaitFor(failed, tarsy.SessionFailed)

	r := failures.next()
	require.Equal(t, "failed "+failed+" nobody: "+app.Session(failed).ErrorMessage+" https://tarsy.example.org/sessions/"+failed, r.Body)
	require.Equal(t, "Bearer token-of-failures", r.Header.Get("Authorization"))
	require.Equal(t, "text/plain", r.Header.Get("Content-Type"))

	awaitSent(t, app, 5)
	require.Empty(t, failures.got)
}

func TestWriteBackRetriesWithSameKey(t *testing.T) {
	t.Parallel()

	var attempts atomic.Int64

	tg := newTarget(t, func(received) int {
		if attempts.Add(1) == 1 {
			return http.StatusInternalServerError
		}

		return http.StatusNoContent
	})
	app := tarsytest.New(t, tarsytest.Options{Config: writeBack(fmt.Sprintf("    chat: {url: '%s', on: [started]}\n", tg.URL))})
	app.Script.Route("Investigator", says("Done."))
	app.Script.Route("ExecSummaryAgent", says("Done."))
	app.Run("test", "disk full")

	first, second := tg.next(), tg.next()
	require.Equal(t, first.Body, second.Body)
	require.Equal(t, first.Header.Get("Idempotency-Key"), second.Header.Get("Idempotency-Key"))
	awaitSent(t, app, 1)
}

// The server stops while the target has its request and has not answered; the next server sends the message.
func TestWriteBackContinuesOnAnotherServer(t *testing.T) {
	t.Parallel()

	hold := make(chan struct{})
	calls := make(chan struct{}, 10)
	tg := newTarget(t, func(received) int {
		calls <- struct{}{}
		<-hold

		return http.StatusOK
	})
	options := tarsytest.Options{Config: writeBack(fmt.Sprintf("    chat: {url: '%s', on: [finished]}\n", tg.URL)) +
		"queue: {graceful_shutdown_timeout: 10ms}\n"}
	first := tarsytest.New(t, options)
	first.Script.Route("Investigator", says("Done."))
	first.Script.Route("ExecSummaryAgent", says("Done."))
	session := first.Run("test", "disk full").ID

	await(t, calls, "the first attempt")
	first.Stop()
	close(hold)

	cut := tg.next()

	options.Database = first.Database
	second := tarsytest.New(t, options)
	sent := tg.next()
	require.Equal(t, session, decodeBody(t, sent)["session_id"])
	require.Equal(t, cut.Header.Get("Idempotency-Key"), sent.Header.Get("Idempotency-Key"), "the target can recognize it")
	awaitSent(t, second, 1)
	require.Empty(t, tg.got)
}

// A session whose messages are never accepted ends as early as others, and other targets get theirs.
func TestUnreachableTargetDelaysNothing(t *testing.T) {
	t.Parallel()

	ctx, cancel := context.WithCancel(context.Background())
	silent := newTarget(t, func(received) int {
		<-ctx.Done()

		return http.StatusOK
	})

	t.Cleanup(cancel)

	const sessions = 6

	other := newTarget(t, nil)
	app := tarsytest.New(t, tarsytest.Options{Config: writeBack(fmt.Sprintf(
		"    other: {url: '%s', on: [finished]}\n    silent: {url: '%s', timeout: 1h}\n    closed: {url: 'http://127.0.0.1:1'}\n",
		other.URL, silent.URL)) + "queue: {graceful_shutdown_timeout: 10ms}\n"})

	for range sessions {
		app.Script.Route("Investigator", says("Done."))
		app.Script.Route("ExecSummaryAgent", says("Done."))
		app.Run("test", "disk full")
		other.next()
	}

	type row struct{ State, Error string }

	awaitSent(t, app, sessions)
	wait.Until(t, "the errors of the closed target", func() bool {
		return len(tarsytest.Rows[row](app, `SELECT state, error FROM announcements WHERE channel = 'webhook:closed' AND error <> ''`)) == 2*sessions
	})

	for _, r := range tarsytest.Rows[row](app, `SELECT state, error FROM announcements WHERE channel = 'webhook:closed'`) {
		require.Equal(t, "pending", r.State)
		require.Contains(t, r.Error, "connection refused")
	}
}

// The incident that PagerDuty reported gets a note with the result.
func TestPagerDutyIncidentGetsNoteOfItsInvestigation(t *testing.T) {
	t.Parallel()

	tg := newTarget(t, nil)
	app := tarsytest.New(t, tarsytest.Options{
		Config: "alerts:\n  receivers: {oncall: {source: pagerduty, token_env: INCOMING, alert_type: test}}\n  write_back:\n" +
			fmt.Sprintf("    oncall: {type: pagerduty, url: '%s', token_env: OUTGOING, from: tarsy@example.org, on: [finished]}\n", tg.URL) + loneAgent,
		Env: map[string]string{"INCOMING": "token-of-the-sender", "OUTGOING": "key-of-the-api"},
	})
	app.Script.Route("Investigator", says("The disk is full."))
	app.Script.Route("ExecSummaryAgent", says("A leak."))

	response := app.Do(http.MethodPost, "/api/v1/webhooks/pagerduty/oncall", json.RawMessage(`
{"event": {"id": "01A", "event_type": "incident.triggered", "resource_type": "incident", "occurred_at": "2026-11-16T12:00:00Z",
"data": {"id": "PGR0VU2", "type": "incident", "title": "Disk full", "urgency": "high", "html_url": "https://acme.pagerduty.com/incidents/PGR0VU2"}}}`),
		"Authorization", "Bearer token-of-the-sender")
	require.Equal(t, http.StatusOK, response.Status, "%s", response.Body)

	note := tg.next()
	require.Equal(t, "/incidents/PGR0VU2/notes", note.Path)
	require.Equal(t, "Token token=key-of-the-api", note.Header.Get("Authorization"))
	require.Equal(t, "tarsy@example.org", note.Header.Get("From"))
	require.JSONEq(t, `{"note": {"content": "TARSy investigation completed: Disk full\n\nInconclusive (low confidence)\n\nA leak."}}`, note.Body)
	awaitSent(t, app, 1)
}
