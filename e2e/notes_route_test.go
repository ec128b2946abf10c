package e2e

import (
	"net/http"
	"strconv"
	"testing"

	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
	"tarsy.dev/tarsy/notebook"
	"tarsy.dev/tarsy/tarsytest"
)

// success is the status of a successful request to an operation, and how to make that request.
type success = struct {
	status int
	ask    func(t *testing.T, app *tarsytest.App, op operation) tarsytest.Response
}

// reviewed captures a note with one entity that a person must decide about.
func reviewed(app *tarsytest.App) notebook.NoteDetail {
	of := func(agent string) func(*llm.Request) bool {
		return func(r *llm.Request) bool { return r.Agent == agent }
	}

	app.Script.RouteFunc(of(tarsytest.NoteExtractor), func(*llm.Request, int) script.Reply {
		return tarsytest.Extracts(tarsytest.ExtractedEntity{Title: "Fix the login bug", Confidence: 0.4})
	})
	app.Script.RouteFunc(of(tarsytest.NoteOrganizer), func(*llm.Request, int) script.Reply { return tarsytest.Organizes(tarsytest.Place{}) })

	return app.CaptureAndProcess("Fix the login bug")
}

// noteSuccesses returns the successful requests about notes and what results from them.
func noteSuccesses() map[string]success {
	type ask = func(t *testing.T, app *tarsytest.App, op operation) tarsytest.Response

	plain := func(_ *testing.T, app *tarsytest.App, op operation) tarsytest.Response {
		return app.Do(op.method, op.path, nil)
	}
	// of makes a request about a row that was just created, in its current version.
	of := func(id func(app *tarsytest.App) string, body any) ask {
		return func(_ *testing.T, app *tarsytest.App, op operation) tarsytest.Response {
			return app.Do(op.method, op.address(id(app)), body, "If-Match", `"1"`)
		}
	}
	body := func(value any) ask {
		return func(_ *testing.T, app *tarsytest.App, op operation) tarsytest.Response {
			return app.Do(op.method, op.path, value)
		}
	}
	project := func(app *tarsytest.App) string { return app.Project(ident.New()).ID }
	epic := func(app *tarsytest.App) string { return app.Epic(project(app), "Login").ID }
	entity := func(app *tarsytest.App) string { return app.Entity(notebook.EntityTask, "Fix it").ID }
	note := func(app *tarsytest.App) string { return reviewed(app).ID }
	review := func(app *tarsytest.App) string { return reviewed(app).ReviewItems[0].ID }
	queue := func(*tarsytest.App) string { return notebook.QueueReprocess }
	tag := func(app *tarsytest.App) string {
		name := ident.New()
		app.Do(http.MethodPost, "/api/v1/tags", map[string]any{"name": name})

		return name
	}
	named := func() map[string]any { return map[string]any{"name": ident.New()} }
	accept := map[string]any{"decision": "accept"}

	return map[string]success{
		"list-notes":      {http.StatusOK, plain},
		"get-note":        {http.StatusOK, of(note, nil)},
		"reprocess-notes": {http.StatusAccepted, body(map[string]any{"since": "2100-01-01T00:00:00Z"})},
		"capture-note": {http.StatusCreated, func(t *testing.T, app *tarsytest.App, op operation) tarsytest.Response {
			t.Helper()
			reviewed(app)

			answer := app.Do(op.method, op.path, map[string]any{"content": "Fix the login bug", "source": "web"})
			app.WaitOrganized(decode[struct{ Note notebook.Note }](answer.Body).Note.ID)

			return answer
		}},
		"reprocess-note": {http.StatusAccepted, func(_ *testing.T, app *tarsytest.App, op operation) tarsytest.Response {
			id := note(app)
			answer := app.Do(op.method, op.address(id), nil)
			app.WaitOrganized(id)

			return answer
		}},
		"list-entities": {http.StatusOK, plain},
		"create-entity": {http.StatusCreated, body(map[string]any{"type": "task", "title": "Fix it"})},
		"export-entities": {http.StatusOK, func(_ *testing.T, app *tarsytest.App, op operation) tarsytest.Response {
			return app.Do(op.method, op.path+"?format=json", nil)
		}},
		"get-entity":     {http.StatusOK, of(entity, nil)},
		"update-entity":  {http.StatusOK, of(entity, map[string]any{"title": "Fix it now"})},
		"move-entity":    {http.StatusOK, of(entity, map[string]any{"status": "done"})},
		"delete-entity":  {http.StatusNoContent, of(entity, nil)},
		"list-projects":  {http.StatusOK, plain},
		"create-project": {http.StatusCreated, body(named())},
		"get-project":    {http.StatusOK, of(project, nil)},
		"update-project": {http.StatusOK, of(project, named())},
		"delete-project": {http.StatusNoContent, of(project, nil)},
		"create-epic":    {http.StatusCreated, of(project, named())},
		"get-epic":       {http.StatusOK, of(epic, nil)},
		"update-epic":    {http.StatusOK, of(epic, named())},
		"delete-epic":    {http.StatusNoContent, of(epic, nil)},
		"list-tags":      {http.StatusOK, plain},
		"create-tag":     {http.StatusCreated, body(named())},
		"rename-tag":     {http.StatusOK, of(tag, named())},
		"delete-tag":     {http.StatusNoContent, of(tag, nil)},

		"list-review-items":   {http.StatusOK, plain},
		"get-review-item":     {http.StatusOK, of(review, nil)},
		"resolve-review-item": {http.StatusOK, of(review, accept)},
		"resolve-review-items": {http.StatusOK, func(_ *testing.T, app *tarsytest.App, op operation) tarsytest.Response {
			return app.Do(op.method, op.path, map[string]any{"decision": "accept", "items": []any{map[string]any{"id": review(app), "version": 1}}})
		}},
		"undo-review-item": {http.StatusOK, func(_ *testing.T, app *tarsytest.App, op operation) tarsytest.Response {
			id := review(app)
			app.Do(http.MethodPost, "/api/v1/review/"+id+"/resolve", accept, "If-Match", `"1"`)

			return app.Do(op.method, op.address(id), nil)
		}},

		"list-jobs":    {http.StatusOK, plain},
		"pause-queue":  {http.StatusOK, of(queue, nil)},
		"resume-queue": {http.StatusOK, of(queue, nil)},
		"retry-job": {http.StatusAccepted, func(_ *testing.T, app *tarsytest.App, op operation) tarsytest.Response {
			reviewed(app)
			app.Script.Route(tarsytest.NoteExtractor, says("This is not JSON."))

			failed := app.WaitNoteFailed(app.Capture("Fix the login bug").ID)
			// The note fails shortly before its job.
			app.WaitAnswer("/api/v1/jobs?state=failed", "the failed job", func(tarsytest.Response) bool {
				return app.NoteJobs(failed.ID)[0].State == notebook.JobFailed
			})

			answer := app.Do(op.method, op.address(strconv.FormatInt(app.NoteJobs(failed.ID)[0].ID, 10)), nil)
			app.WaitAnswer("/api/v1/notes/"+failed.ID, "the note to be done", func(r tarsytest.Response) bool {
				return decode[notebook.Note](r.Body).Status == notebook.NoteDone
			})

			return answer
		}},
	}
}
