package e2e

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/notebook"
	"tarsy.dev/tarsy/tarsytest"
)

// bodyIDs are the request fields, by operation, that name rows of a session. Each is checked below for rows of a hidden
// session; the other ids name projects and epics, which belong to no session, or chains.
var bodyIDs = []string{
	"cancel-sessions ids", "capture-note session_id", "handle-sessions ids", "move-entity after_id", "move-entity before_id",
	"resolve-review-item keep_id", "resolve-review-items id",
}

// idFields returns the fields of a body that contain ids.
func (d document) idFields(s schema) []string {
	var fields []string

	if ref, ok := s["$ref"].(string); ok {
		return d.idFields(d.Components.Schemas[ref[strings.LastIndex(ref, "/")+1:]])
	}

	if items, ok := s["items"].(map[string]any); ok {
		fields = append(fields, d.idFields(items)...)
	}

	properties, _ := s["properties"].(map[string]any)
	for name, property := range properties {
		if strings.HasSuffix(name, "id") || strings.HasSuffix(name, "ids") {
			fields = append(fields, name)
		}

		fields = append(fields, d.idFields(property.(map[string]any))...)
	}

	return fields
}

func TestEveryIDInBodiesIsKnownToBeChecked(t *testing.T) {
	t.Parallel()

	app := tarsytest.New(t, tarsytest.Options{})
	doc := readDocument(t, app)

	var found []string

	for id, op := range doc.operations() {
		for _, content := range op.RequestBody.Content {
			for _, field := range doc.idFields(content.Schema) {
				ofSession := !slices.Contains([]string{"project_id", "epic_id", "chain_id"}, field)
				// These are neighbors in the order of projects and epics.
				ordered := strings.HasPrefix(op.path, "/api/v1/projects") || strings.HasPrefix(op.path, "/api/v1/epics")

				if ofSession && !ordered {
					found = append(found, id+" "+field)
				}
			}
		}
	}

	slices.Sort(found)
	require.Equal(t, bodyIDs, slices.Compact(found), "check the new field for rows of sessions that the caller does not see, and add it")
}

// What results from a session is as visible as the session: notes about it, their entities and review items.
func TestNotesOfAnotherTeamsSessionDoNotExist(t *testing.T) {
	t.Parallel()

	app := tarsytest.New(t, byTeam())
	app.Script.Route("Investigator", says("zebra-payments ate the ledger."))
	app.Script.Route("ExecSummaryAgent", says("In short."))
	app.Script.Route(tarsytest.NoteExtractor, tarsytest.Extracts(
		tarsytest.ExtractedEntity{Title: "zebra-payments ate the ledger", Tags: []string{"zebra-payments"}},
		tarsytest.ExtractedEntity{Title: "zebra-payments is a risk", Confidence: 0.4},
	))

	admin := app.Key("root", tarsy.ScopeAdmin)
	app.Token = admin
	session := app.SubmitAlert(alertOf("payments"))
	app.WaitFor(session, tarsy.SessionCompleted)

	operations := readDocument(t, app).operations()
	app.Token = ""

	keep := func(team, sessionID string) tarsytest.Response {
		return asTeam(app, team, http.MethodPost, "/api/v1/notes", map[string]any{"source": "session", "session_id": sessionID})
	}

	unknown := ident.New()
	refused, missing := keep("storage", session), keep("storage", unknown)
	require.Equal(t, http.StatusNotFound, refused.Status, "%s", refused.Body)
	require.Equal(t, missing.Problem(t).Code, refused.Problem(t).Code)
	require.Equal(t, missing.Problem(t).Detail, strings.ReplaceAll(refused.Problem(t).Detail, session, unknown))

	kept := keep("payments", session)
	require.Equal(t, http.StatusCreated, kept.Status, "%s", kept.Body)

	type captured struct {
		Note notebook.Note `json:"note"`
	}

	app.Token = admin
	note := app.WaitProcessed(decode[captured](kept.Body).Note.ID)
	require.Len(t, note.Entities, 2)
	require.Len(t, note.ReviewItems, 1)

	app.Token = ""
	rows := map[string]string{"/api/v1/notes/{id}": note.ID, "/api/v1/entities/{id}": note.Entities[0].ID, "/api/v1/review/{id}": note.ReviewItems[0].ID}
	codes := map[string]tarsy.Code{
		"/api/v1/notes/{id}": tarsy.CodeNoteNotFound, "/api/v1/entities/{id}": tarsy.CodeEntityNotFound, "/api/v1/review/{id}": tarsy.CodeReviewNotFound,
	}
	checked := 0

	for id, op := range operations {
		for path, row := range rows {
			if op.path == path || strings.HasPrefix(op.path, path+"/") {
				requireHiddenRow(t, app, op, row, codes[path])
				checked++
			}
		}

		if op.method == http.MethodGet && !strings.Contains(op.path, "{") && id != "websocket" && id != "note-events" {
			for _, parameters := range []string{"", "?state=accepted,proposed", "?note_id=" + note.ID, "?session_id=" + session} {
				answer := asTeam(app, "storage", op.method, op.path+parameters, nil)
				require.NotContains(t, string(answer.Body), "zebra-payments", id)

				if id != "list-jobs" { // it names notes by their ids
					require.NotContains(t, string(answer.Body), note.ID, id)
				}
			}
		}
	}

	require.Greater(t, checked, 8)

	for _, path := range []string{"/api/v1/notes", "/api/v1/entities?state=accepted,proposed", "/api/v1/review", "/api/v1/tags"} {
		require.Contains(t, string(asTeam(app, "payments", http.MethodGet, path, nil).Body), "zebra-payments", "%s of the own team", path)
	}

	requireHiddenInBodies(t, app, note)
}

// requireHiddenRow checks that a route answers a member of another team as it does for an id that does not exist.
func requireHiddenRow(t *testing.T, app *tarsytest.App, op operation, id string, code tarsy.Code) {
	t.Helper()

	other := ident.New()
	refused := asTeam(app, "storage", op.method, op.address(id), nil)
	require.Equal(t, http.StatusNotFound, refused.Status, "%s: %s", op.OperationID, refused.Body)
	require.Equal(t, string(code), refused.Problem(t).Code, op.OperationID)

	if op.method == http.MethodGet {
		unknown := asTeam(app, "storage", op.method, op.address(other), nil)
		require.Equal(t, unknown.Problem(t).Detail, strings.ReplaceAll(refused.Problem(t).Detail, id, other), op.OperationID)
	}
}

// requireHiddenInBodies uses hidden rows in the bodies of requests about other rows.
func requireHiddenInBodies(t *testing.T, app *tarsytest.App, hidden notebook.NoteDetail) {
	t.Helper()

	unknown := ident.New()
	made := asTeam(app, "storage", http.MethodPost, "/api/v1/entities", map[string]any{"type": "task", "title": "Our own"})
	own := decode[notebook.EntityDetail](made.Body)

	for _, field := range []string{"before_id", "after_id"} {
		move := func(id string) tarsytest.Response {
			return asTeam(app, "storage", http.MethodPost, "/api/v1/entities/"+own.ID+"/move", map[string]any{field: id})
		}

		refused, missing := move(hidden.Entities[0].ID), move(unknown)
		require.Equal(t, missing.Status, refused.Status, "%s", refused.Body)
		require.Equal(t, missing.Problem(t).Code, refused.Problem(t).Code)
		require.Equal(t, missing.Problem(t).Detail, strings.ReplaceAll(refused.Problem(t).Detail, hidden.Entities[0].ID, unknown))
	}

	type results struct {
		Results []notebook.ReviewResult `json:"results"`
	}

	answer := asTeam(app, "storage", http.MethodPost, "/api/v1/review/bulk", map[string]any{"decision": "accept", "items": []any{
		map[string]any{"id": unknown, "version": 1}, map[string]any{"id": hidden.ReviewItems[0].ID, "version": 1},
	}})
	require.Equal(t, http.StatusOK, answer.Status, "%s", answer.Body)

	both := decode[results](answer.Body).Results
	require.Len(t, both, 2)
	require.Equal(t, both[0].Code, both[1].Code)
	require.Equal(t, both[0].Message, strings.ReplaceAll(both[1].Message, hidden.ReviewItems[0].ID, unknown))

	// A member of the team can still decide the item, and keep one of its entities.
	answer = asTeam(app, "payments", http.MethodPost, "/api/v1/review/bulk", map[string]any{"decision": "accept", "items": []any{
		map[string]any{"id": hidden.ReviewItems[0].ID, "version": hidden.ReviewItems[0].Version},
	}})
	require.NotNil(t, decode[results](answer.Body).Results[0].Item, "%s", answer.Body)
}

func TestEventsOfNotesNameNoHiddenSession(t *testing.T) {
	t.Parallel()

	app := tarsytest.New(t, byTeam())
	app.Script.Route("Investigator", says("Analysed."), says("Analysed."))
	app.Script.Route("ExecSummaryAgent", says("In short."), says("In short."))
	app.Script.Route(tarsytest.NoteExtractor, tarsytest.Extracts(), tarsytest.Extracts())

	socket, refusal := app.DialSocket(http.Header{"X-Forwarded-User": {"sam"}, "X-Forwarded-Groups": {"sre,storage-oncall"}})
	require.NotNil(t, socket, "%s", refusal.Body)
	socket.Subscribe("notes")

	app.Token = app.Key("root", tarsy.ScopeAdmin)

	var sessions, notes []string

	for _, team := range []string{"payments", "storage"} {
		id := app.SubmitAlert(alertOf(team))
		app.WaitFor(id, tarsy.SessionCompleted)
		note := app.CaptureNote(map[string]any{"source": "session", "session_id": id})
		app.WaitProcessed(note.ID)
		sessions, notes = append(sessions, id), append(notes, note.ID)
	}

	socket.Wait("the own note", func(e tarsytest.Event) bool {
		return e.Type == notebook.TypeNoteProcessed && e.Fields["note_id"] == notes[1]
	})

	for _, event := range socket.Events() {
		require.NotContains(t, string(event.Raw), sessions[0])
	}
}

func TestDeliveryResultHidesSessionOfAnotherTeam(t *testing.T) {
	t.Parallel()

	app := tarsytest.New(t, byTeam())
	app.Script.Add(says("Analysed."), says("Summed up."))

	app.Token = app.Key("root", tarsy.ScopeAdmin)
	alert := alertOf("payments")
	alert["fingerprint"] = "ledger"
	session := app.SubmitAlert(alert)
	app.WaitFor(session, tarsy.SessionCompleted)

	app.Token = ""
	alert = alertOf("storage")
	alert["fingerprint"] = "ledger"
	answer := asTeam(app, "storage", http.MethodPost, "/api/v1/alerts", alert)
	require.Equal(t, http.StatusAccepted, answer.Status, "%s", answer.Body)
	require.NotContains(t, string(answer.Body), session)
	require.NotContains(t, answer.Header.Get("Location"), session)
}

// A storm's session belongs to the team of all its alerts.
func TestStormHasAlertsOfOneTeam(t *testing.T) {
	t.Parallel()

	options := byTeam()
	options.Config += "alerts: {storm: {threshold: 1}}\n"
	app := tarsytest.New(t, options)
	app.Script.Route("Investigator", says("Analysed."), says("Analysed."))
	app.Script.Route("ExecSummaryAgent", says("In short."), says("In short."))

	app.Token = app.Key("root", tarsy.ScopeAdmin)

	for _, team := range []string{"payments", "storage", "payments", "storage", "payments", "storage"} {
		alert := alertOf(team)
		alert["fingerprint"] = ident.New()
		alert["data"].(map[string]any)["labels"].(map[string]string)["alertname"] = "Slow"
		response := app.Do(http.MethodPost, "/api/v1/alerts", alert)
		require.Equal(t, http.StatusAccepted, response.Status, "%s", response.Body)
	}

	teams := map[string]int{}
	for _, item := range app.Sessions("") {
		app.WaitFor(item.ID, tarsy.SessionCompleted)
		teams[item.Team]++
	}

	require.Equal(t, map[string]int{"payments": 1, "storage": 1}, teams, "each team has a storm of its own")
}

// A silence by somebody who sees the sessions of one team covers that team's alerts, and alerts without a team.
func TestSilenceHoldsForOwnTeams(t *testing.T) {
	t.Parallel()

	app := tarsytest.New(t, byTeam())
	made := asTeam(app, "storage", http.MethodPost, "/api/v1/silences",
		map[string]any{"matchers": []string{`title=~"Checkout.*"`}, "reason": "maintenance", "duration": "1h"})
	require.Equal(t, http.StatusCreated, made.Status, "%s", made.Body)
	require.Equal(t, []string{`title=~"Checkout.*"`, `team=~"|storage"`}, decode[tarsy.Silence](made.Body).Matchers)

	app.Script.Add(says("Analysed."), says("Summed up."))
	app.Token = app.Key("root", tarsy.ScopeAdmin)

	for _, team := range []string{"storage", "payments"} {
		alert := alertOf(team)
		alert["fingerprint"] = team
		require.Equal(t, http.StatusAccepted, app.Do(http.MethodPost, "/api/v1/alerts", alert).Status)
	}

	sessions := app.Sessions("")
	require.Len(t, sessions, 1)
	require.Equal(t, "payments", sessions[0].Team)
	app.WaitFor(sessions[0].ID, tarsy.SessionCompleted)
}
