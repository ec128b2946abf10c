package e2e

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
	"tarsy.dev/tarsy/tarsytest"
)

// byTeam returns the options of a server on which sessions are visible by team. Alerts have their team as a label.
func byTeam() tarsytest.Options {
	options := everything()
	options.RequireKey = true
	options.Config = strings.Replace(options.Config, "system: {", `system: {trusted_proxies: [127.0.0.1], auth: {proxy: true, visibility: team,
  roles: {admin: [leads], responder: [sre]}, teams: {payments: [payments-oncall, leads], storage: [storage-oncall]}}, `, 1)

	return options
}

// alertOf returns an alert of a team, with a word that no other team may read.
func alertOf(team string) map[string]any {
	return map[string]any{"alert_type": "test", "data": map[string]any{
		"title": "Checkout of " + team + " is slow", "labels": map[string]string{"team": team, "secretword": "zebra-" + team},
	}}
}

// asTeam sends a request as a responder of a team.
func asTeam(app *tarsytest.App, team, method, path string, body any) tarsytest.Response {
	return app.Do(method, path, body, "X-Forwarded-User", team+"-sre", "X-Forwarded-Groups", "sre, "+team+"-oncall", "Sec-Fetch-Site", "same-origin")
}

func TestSessionOfAnotherTeamDoesNotExistOnAnyRoute(t *testing.T) {
	t.Parallel()

	app := tarsytest.New(t, byTeam())
	app.Script.Add(script.Reply{ToolCalls: []llm.ToolCall{{Name: "kubernetes__get_pods", Arguments: `{"restart":"yes"}`}}})

	admin := app.Key("root", tarsy.ScopeAdmin)
	app.Token = admin
	sessionID := app.SubmitAlert(alertOf("payments"))
	approval := waitApproval(app, app.Watch(sessionID))
	require.Equal(t, "payments", approval.Team)

	operations := readDocument(t, app).operations()
	app.Token = ""

	require.Equal(t, http.StatusOK, asTeam(app, "payments", http.MethodGet, "/api/v1/sessions/"+sessionID, nil).Status)
	require.Equal(t, http.StatusOK, asTeam(app, "payments", http.MethodGet, "/api/v1/approvals/"+approval.ID, nil).Status)
	require.Contains(t, string(asTeam(app, "payments", http.MethodGet, "/api/v1/sessions", nil).Body), sessionID)

	checked := 0

	for id, op := range operations {
		switch {
		case strings.HasPrefix(op.path, "/api/v1/sessions/{id}"):
			requireUnknown(t, app, op, sessionID, tarsy.CodeSessionNotFound)
			checked++
		case strings.HasPrefix(op.path, "/api/v1/approvals/{id}"):
			requireUnknown(t, app, op, approval.ID, tarsy.CodeApprovalNotFound)
			checked++
		case op.method == http.MethodGet && !strings.Contains(op.path, "{") && id != "websocket" && id != "note-events":
			answer := asTeam(app, "storage", op.method, op.path, nil)
			require.NotContains(t, string(answer.Body), sessionID, id)
			require.NotContains(t, string(answer.Body), "zebra-payments", id)
			require.NotContains(t, string(answer.Body), "Checkout of payments", id)
		}
	}

	require.Greater(t, checked, 20)
	require.Equal(t, tarsy.ApprovalWaiting, decode[tarsy.ApprovalRequest](
		asTeam(app, "payments", http.MethodGet, "/api/v1/approvals/"+approval.ID, nil).Body).Approval.Status, "nothing has changed")
}

// requireUnknown checks that a route answers a member of another team exactly as it does for an id that does not exist.
func requireUnknown(t *testing.T, app *tarsytest.App, op operation, id string, code tarsy.Code) {
	t.Helper()

	other := ident.New()
	refused := asTeam(app, "storage", op.method, op.address(id, other), nil)
	unknown := asTeam(app, "storage", op.method, op.address(other, other), nil)

	require.Equal(t, http.StatusNotFound, refused.Status, "%s: %s", op.OperationID, refused.Body)
	require.Equal(t, string(code), refused.Problem(t).Code, op.OperationID)
	require.Equal(t, unknown.Status, refused.Status, op.OperationID)
	require.Equal(t, unknown.Problem(t).Code, refused.Problem(t).Code, op.OperationID)
	require.Equal(t, unknown.Problem(t).Detail, strings.ReplaceAll(refused.Problem(t).Detail, id, other), op.OperationID)
}

func TestStreamsShowOnlySessionsOfOwnTeam(t *testing.T) {
	t.Parallel()

	app := tarsytest.New(t, byTeam())
	app.Script.Add(says("Analysed."), says("Summed up."), says("Analysed."), says("Summed up."), says("Analysed."), says("Summed up."))

	socket, refusal := app.DialSocket(http.Header{"X-Forwarded-User": {"sam"}, "X-Forwarded-Groups": {"sre,storage-oncall"}})
	require.NotNil(t, socket, "%s", refusal.Body)
	socket.Subscribe("sessions")

	app.Token = app.Key("root", tarsy.ScopeAdmin)

	var ids []string

	for _, team := range []string{"payments", "storage", ""} {
		id := app.SubmitAlert(alertOf(team))
		app.WaitFor(id, tarsy.SessionCompleted)
		ids = append(ids, id)
	}

	socket.Wait("the change of the last session", func(e tarsytest.Event) bool { return e.Fields["session_id"] == ids[2] })
	socket.Wait("the change of the own session", func(e tarsytest.Event) bool { return e.Fields["session_id"] == ids[1] })

	for _, event := range socket.Events() {
		require.NotContains(t, string(event.Raw), ids[0])
	}

	socket.Send(map[string]any{"action": "subscribe", "channel": "session:" + ids[0]})
	refused := socket.Wait("a refusal", func(e tarsytest.Event) bool { return e.Type == "error" })
	require.Equal(t, string(tarsy.CodeSessionNotFound), refused.Fields["code"])
	socket.Subscribe("session:" + ids[1])
}

func TestKeySeesSessionsOfItsTeams(t *testing.T) {
	t.Parallel()

	app := tarsytest.New(t, byTeam())
	app.Script.Add(says("Analysed."), says("Summed up."), says("Analysed."), says("Summed up."))

	admin := app.Key("root", tarsy.ScopeAdmin)
	app.Token = admin
	payments, storage := app.SubmitAlert(alertOf("payments")), app.SubmitAlert(alertOf("storage"))
	app.WaitFor(payments, tarsy.SessionCompleted)
	app.WaitFor(storage, tarsy.SessionCompleted)

	type created struct {
		Key   string   `json:"key"`
		Teams []string `json:"teams"`
	}

	made := app.Do(http.MethodPost, "/api/v1/keys", map[string]any{"name": "bot", "scopes": []string{"write"}, "teams": []string{" storage ", "storage"}})
	require.Equal(t, http.StatusCreated, made.Status, "%s", made.Body)
	require.Equal(t, []string{"storage"}, decode[created](made.Body).Teams)

	bad := app.Do(http.MethodPost, "/api/v1/keys", map[string]any{"name": "bot", "scopes": []string{"write"}, "teams": []string{"a\nb"}})
	require.Equal(t, http.StatusBadRequest, bad.Status)
	require.Equal(t, "teams", bad.Problem(t).Field)

	ids := func() (ids []string) {
		for _, item := range app.Sessions("") {
			ids = append(ids, item.ID)
		}

		return ids
	}

	type self struct {
		Visibility struct {
			Limited bool     `json:"limited"`
			Teams   []string `json:"teams"`
		} `json:"visibility"`
	}

	app.Token = decode[created](made.Body).Key
	require.Equal(t, []string{storage}, ids())
	require.Equal(t, http.StatusNotFound, app.Do(http.MethodGet, "/api/v1/sessions/"+payments, nil).Status)

	me := decode[self](app.Do(http.MethodGet, "/api/v1/me", nil).Body)
	require.True(t, me.Visibility.Limited)
	require.Equal(t, []string{"storage"}, me.Visibility.Teams)

	app.Token = app.Key("a key without teams", tarsy.ScopeRead)
	require.ElementsMatch(t, []string{storage, payments}, ids())
	require.False(t, decode[self](app.Do(http.MethodGet, "/api/v1/me", nil).Body).Visibility.Limited)

	app.Token = admin
	require.ElementsMatch(t, []string{storage, payments}, ids())
}

func TestAgentsReadPastSessionsOfTheirTeamOnly(t *testing.T) {
	t.Parallel()

	app := tarsytest.New(t, tarsytest.Options{Config: "system: {auth: {visibility: team}}\n" + remembers(", past_investigations: {prompt: true, tool: true}")})

	past := func(team, cause string) { _ = concludeAlert(t, app, alertOf(team), cause) }
	past("payments", "the ledger was locked")
	past("storage", "the disk was full")
	past("", "the proxy was slow")

	_ = concludeAlert(t, app, alertOf("storage"), "the disk was full again")
	prompt := task(t, app)
	require.Contains(t, prompt, "the disk was full")
	require.Contains(t, prompt, "the proxy was slow")
	require.NotContains(t, prompt, "the ledger was locked")

	_ = concludeAlert(t, app, alertOf(""), "the proxy again")
	prompt = task(t, app)
	require.Contains(t, prompt, "the proxy was slow")
	require.NotContains(t, prompt, "the ledger was locked")
	require.NotContains(t, prompt, "the disk was full", "everybody reads a session without a team")
}

// concludeAlert is conclude for an alert with facts.
func concludeAlert(t *testing.T, app *tarsytest.App, alert map[string]any, cause string) string {
	t.Helper()
	app.Script.Route("Investigator", says("I looked."))
	app.Script.Route("ExecSummaryAgent", says("In short."))
	app.Script.Route("VerdictAgent", concludes(t, tarsy.OutcomeCauseFound, cause))

	id := app.SubmitAlert(alert)
	app.WaitFor(id, tarsy.SessionCompleted)

	return id
}

func TestBulkChangesSkipSessionsOfOtherTeams(t *testing.T) {
	t.Parallel()

	app := tarsytest.New(t, byTeam())
	first, second := script.NewGate(), script.NewGate()
	t.Cleanup(first.Open)
	t.Cleanup(second.Open)
	app.Script.Add(script.Reply{Gate: first}, script.Reply{Gate: second})

	app.Token = app.Key("root", tarsy.ScopeAdmin)
	payments, storage, unknown := app.SubmitAlert(alertOf("payments")), app.SubmitAlert(alertOf("storage")), ident.New()
	ids := []string{payments, storage, unknown}
	app.WaitGate(first)
	app.WaitGate(second)

	app.Token = ""

	type results struct {
		Results []struct {
			SessionID string     `json:"session_id"`
			Changed   bool       `json:"changed"`
			Code      tarsy.Code `json:"code"`
		} `json:"results"`
	}

	answer := asTeam(app, "storage", http.MethodPost, "/api/v1/sessions/handling", map[string]any{"ids": ids, "state": "resolved"})
	require.Equal(t, http.StatusOK, answer.Status, "%s", answer.Body)

	handled := decode[results](answer.Body).Results
	require.Len(t, handled, 3)
	require.Equal(t, tarsy.CodeSessionNotFound, handled[0].Code)
	require.True(t, handled[1].Changed)
	require.Equal(t, tarsy.CodeSessionNotFound, handled[2].Code)

	type cancelled struct {
		Matched   int `json:"matched"`
		Requested int `json:"requested"`
		Skipped   []struct {
			SessionID string `json:"session_id"`
			Reason    string `json:"reason"`
		} `json:"skipped"`
	}

	answer = asTeam(app, "storage", http.MethodPost, "/api/v1/sessions/cancel", map[string]any{"filter": map[string]any{}, "dry_run": true})
	require.Equal(t, 1, decode[cancelled](answer.Body).Matched, "%s", answer.Body)

	answer = asTeam(app, "storage", http.MethodPost, "/api/v1/sessions/cancel", map[string]any{"ids": ids})
	require.Equal(t, http.StatusAccepted, answer.Status, "%s", answer.Body)

	result := decode[cancelled](answer.Body)
	require.Equal(t, 1, result.Requested)
	require.Len(t, result.Skipped, 2)
	require.Equal(t, result.Skipped[0].Reason, result.Skipped[1].Reason)

	app.Token = app.Key("boss", tarsy.ScopeAdmin)
	app.WaitFor(storage, tarsy.SessionCancelled)
	require.False(t, app.Session(payments).Status.Terminal())
	require.Nil(t, app.Session(payments).Handling, "nobody has changed it")
}
