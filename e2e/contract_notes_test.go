package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
	"tarsy.dev/tarsy/notebook"
	"tarsy.dev/tarsy/tarsytest"
)

// noteWorld is a server with notes, and a model whose answers depend on what it reads.
type noteWorld struct {
	*tarsytest.App

	project, epic string
	// gate holds the extraction of notes that contain "slow".
	gate *script.Gate
	// twin is the entity that "again" is a duplicate of.
	twin string
}

func newNoteWorld(t *testing.T) *noteWorld {
	t.Helper()

	w := &noteWorld{App: tarsytest.New(t, everything()), gate: script.NewGate()}
	w.Script.RouteFunc(func(r *llm.Request) bool { return r.Agent == "NoteExtractor" }, w.extract)
	w.Script.RouteFunc(func(r *llm.Request) bool { return r.Agent == "NoteOrganizer" }, w.organize)

	w.project = created(t, w.App, "/api/v1/projects", map[string]any{"name": "Shop", "description": "What customers see."})
	w.epic = created(t, w.App, "/api/v1/projects/"+w.project+"/epics", map[string]any{"name": "Memory", "description": "Limits."})

	return w
}

func created(t *testing.T, app *tarsytest.App, path string, body any) string {
	t.Helper()

	answer := app.Do(http.MethodPost, path, body)
	require.Equal(t, http.StatusCreated, answer.Status, "%s", answer.Body)

	id, _ := decode[map[string]any](answer.Body)["id"].(string)
	require.True(t, ident.Valid(id), "%s", answer.Body)

	return id
}

func (w *noteWorld) extract(r *llm.Request, _ int) script.Reply {
	text := r.Messages[len(r.Messages)-1].Content
	entity := func(title, evidence string, confidence float64) map[string]any {
		return map[string]any{
			"type": "task", "title": title, "content": "Soon.", "owner": "Ada", "due_date": "2030-03-08", "tags": []string{"cache"},
			"evidence": evidence, "confidence": confidence,
		}
	}

	switch {
	case strings.Contains(text, "odd"):
		return says("no JSON")
	case strings.Contains(text, "overloaded"):
		return script.Reply{Err: errors.New("the model is overloaded")}
	case strings.Contains(text, "again"):
		return answers(entity("Bound the cache of web", "again", 0.9))
	case strings.Contains(text, "slow"):
		return script.Reply{Text: `{"entities": []}`, Gate: w.gate}
	}

	return answers(entity("Bound the cache of web", "bound the cache", 0.9), entity("Call the vendor", "call the vendor", 0.9),
		entity("Move the queue", "move the queue", 0.9), entity("Perhaps a risk", "a risk", 0.2))
}

func (w *noteWorld) organize(r *llm.Request, _ int) script.Reply {
	place := func(number int, more map[string]any) map[string]any {
		all := map[string]any{
			"entity": number, "project_id": "", "epic_id": "", "new_epic_name": "", "new_epic_description": "", "confidence": 0.9,
			"duplicate_of": "", "reason": "It fits.",
		}
		maps.Copy(all, more)

		return all
	}

	if !strings.Contains(r.Messages[len(r.Messages)-1].Content, "Call the vendor") {
		return answers(place(1, map[string]any{"duplicate_of": w.twin}))
	}

	return answers(place(1, map[string]any{"project_id": w.project, "epic_id": w.epic}),
		place(2, map[string]any{"project_id": w.project, "epic_id": w.epic, "confidence": 0.3}),
		place(3, map[string]any{"project_id": w.project, "new_epic_name": "Queues", "new_epic_description": "All queues."}), place(4, nil))
}

func answers(entities ...map[string]any) script.Reply {
	raw, err := json.Marshal(map[string]any{"entities": entities})
	if err != nil {
		panic(err)
	}

	return says(string(raw))
}

// capture captures a note and waits until it has a status.
func (w *noteWorld) capture(t *testing.T, status string, body map[string]any) map[string]any {
	t.Helper()

	answer := w.Do(http.MethodPost, "/api/v1/notes", body)
	require.Equal(t, http.StatusCreated, answer.Status, "%s", answer.Body)

	id, _ := within(t, decode[map[string]any](answer.Body), "note")["id"].(string)
	found := w.WaitAnswer("/api/v1/notes/"+id, "note "+status, func(r tarsytest.Response) bool {
		return decode[map[string]any](r.Body)["status"] == status
	})

	return decode[map[string]any](found.Body)
}

// item returns the first open review item of a kind.
func (w *noteWorld) item(t *testing.T, kind string) map[string]any {
	t.Helper()

	return within(t, get(t, w.App, "/api/v1/review?status=open&kind="+kind), "items", 0)
}

// notes checks what the pages of notes, review and board read.
func (c *contracts) notes(t *testing.T) {
	w := newNoteWorld(t)
	w.Script.Add(says("We bound the cache, call the vendor, move the queue, and see a risk."), says("Summed up."))
	session := w.Run("test", "notes").ID
	isText := that(func(v any) bool { text, ok := v.(string); return ok && text != "" })

	note := w.capture(t, "done", map[string]any{"source": "session", "session_id": session})
	id, _ := note["id"].(string)
	fields := map[string]is{
		"id": isID, "content": isText, "source": equal("session"), "session_id": equal(session), "author": isText, "status": equal("done"),
		"processed": equal(true), "processing_error": equal(""), "entity_count": equal(4.0), "version": equal(1.0), "created_at": isTime,
		"updated_at": isTime, "processed_at": isTime, "entities": list(4), "review_items": list(3),
	}
	c.require(t, "NoteDetail", note, fields)
	delete(fields, "entities")
	delete(fields, "review_items")
	c.require(t, "Note", within(t, get(t, w.App, "/api/v1/notes?session_id="+session), "notes", 0), fields)
	c.requireSome(t, "ReviewItem", within(t, note, "review_items", 0), map[string]is{"id": isID, "status": equal("open"), "entity_id": isID})

	failed := w.capture(t, "failed", map[string]any{"content": "An odd note.", "source": "web"})
	for name, body := range map[string]any{"NoteDetail": failed, "Note": within(t, get(t, w.App, "/api/v1/notes?status=failed"), "notes", 0)} {
		c.requireSome(t, name, body, map[string]is{"processing_error": isText, "status": equal("failed")})
	}

	page := get(t, w.App, "/api/v1/notes?limit=1")
	c.require(t, "NoteList", page, map[string]is{"notes": list(1), "next_cursor": isText, "total": equal(2.0)})
	c.requireSome(t, "NoteCaptured", map[string]any{"note": within(t, page, "notes", 0)}, map[string]is{"note": isObject})

	c.board(t, w, id, session)
	c.reviews(t, w, id)

	// This is last because it changes what the other checks read.
	var finished float64

	for _, status := range []string{"done", "failed"} {
		total, _ := get(t, w.App, "/api/v1/notes?status="+status)["total"].(float64)
		finished += total
	}

	again := w.Do(http.MethodPost, "/api/v1/notes/reprocess", map[string]any{"since": "2020-01-01T00:00:00Z"})
	c.require(t, "ReprocessAccepted", decode[map[string]any](again.Body), map[string]is{"count": equal(finished)})
}

// board checks an entity, projects, epics and tags.
func (c *contracts) board(t *testing.T, w *noteWorld, noteID, session string) {
	t.Helper()

	path := "/api/v1/entities?order=board&limit=1&project_id=" + w.project
	page := get(t, w.App, path)
	entity := within(t, page, "entities", 0)
	w.twin, _ = entity["id"].(string)

	c.require(t, "EntityList", page, map[string]is{"entities": list(1), "next_cursor": that(func(v any) bool { return v != "" }), "total": equal(2.0)})
	c.require(t, "EntityDetail", entity, map[string]is{
		"id": isID, "note_id": equal(noteID), "note_version": equal(1.0), "session_id": equal(session), "type": equal("task"),
		"title": equal("Bound the cache of web"), "content": equal("Soon."), "owner": equal("Ada"), "due_on": equal("2030-03-08"),
		"status": equal("open"), "state": equal("accepted"), "confidence": equal(0.9), "project_id": equal(w.project), "epic_id": equal(w.epic),
		"position": that(func(any) bool { return true }), "merged_into": isNull, "created_by": equal("tarsy"), "edited_by": equal(""),
		"created_at": isTime, "updated_at": isTime, "organized_at": isTime, "version": equal(2.0), "tags": equal([]any{"cache"}), "sources": list(1),
	})
	c.require(t, "EntitySource", within(t, entity, "sources", 0), map[string]is{
		"entity_id": equal(w.twin), "note_id": equal(noteID), "quote": equal("bound the cache"), "start_offset": equal(3.0), "end_offset": equal(18.0),
	})

	projects := get(t, w.App, "/api/v1/projects")
	c.requireSome(t, "ProjectList", projects, map[string]is{"projects": list(1)})
	c.requireSome(t, "ProjectDetail", within(t, projects, "projects", 0), map[string]is{
		"id": equal(w.project), "name": equal("Shop"), "description": equal("What customers see."), "status": equal("active"), "epics": list(1),
		"open_count": equal(2.0), "version": equal(1.0),
	})
	c.requireSome(t, "Epic", within(t, projects, "projects", 0, "epics", 0), map[string]is{
		"id": equal(w.epic), "project_id": equal(w.project), "name": equal("Memory"), "description": equal("Limits."), "status": equal("open"), "version": equal(1.0),
	})

	tags := get(t, w.App, "/api/v1/tags")
	c.requireSome(t, "TagList", tags, map[string]is{"tags": list(1)})
	c.require(t, "Tag", within(t, tags, "tags", 0), map[string]is{"name": equal("cache"), "entity_count": equal(3.0)})
}

// reviews checks an item of each kind, before and after decisions.
func (c *contracts) reviews(t *testing.T, w *noteWorld, noteID string) {
	t.Helper()

	w.capture(t, "done", map[string]any{"content": "Do it again.", "source": "web"})

	page := get(t, w.App, "/api/v1/review?limit=1")
	c.require(t, "ReviewList", page, map[string]is{
		"items": list(1), "next_cursor": that(func(v any) bool { return v != "" }), "total": equal(4.0), "open_count": equal(4.0),
	})

	assignment := w.item(t, "assignment")
	c.require(t, "ReviewDetail", assignment, map[string]is{
		"id": isID, "kind": equal("assignment"), "status": equal("open"), "note_id": equal(noteID), "entity_id": isID, "project_id": isNull,
		"proposal": equal(map[string]any{"assign_project_id": w.project, "assign_epic_id": w.epic}), "reason": equal("It fits."),
		"confidence": equal(0.3), "score": isNull, "created_at": isTime, "resolved_at": isNull, "resolved_by": equal(""), "version": equal(1.0),
		"entity": isObject, "other": isNull, "note": isObject, "projects": list(1), "epics": list(1), "entities": list(0), "decisions": list(0),
	})
	c.requireSome(t, "Project", within(t, assignment, "projects", 0), map[string]is{"id": equal(w.project), "name": equal("Shop")})

	duplicate := w.item(t, "duplicate")
	c.requireSome(t, "ReviewDetail", duplicate, map[string]is{
		"proposal": equal(map[string]any{"duplicate_of": w.twin}), "other": isObject, "score": that(func(v any) bool { return v.(float64) > 0 }),
	})

	epic := w.item(t, "epic")
	c.requireSome(t, "ReviewDetail", epic, map[string]is{"project_id": equal(w.project), "entities": list(1)})
	c.requireSome(t, "Proposal", within(t, epic, "proposal"), map[string]is{
		"epic_name": equal("Queues"), "epic_description": equal("All queues."), "entity_ids": list(1),
	})

	id, _ := assignment["id"].(string)
	address := "/api/v1/review/" + id
	decide := func(version int, body map[string]any) {
		answer := w.Do(http.MethodPost, address+"/resolve", body, "If-Match", fmt.Sprintf("%q", fmt.Sprint(version)))
		require.Equal(t, http.StatusOK, answer.Status, "%s", answer.Body)
	}

	decide(1, map[string]any{"decision": "accept", "reason": "Because."})
	require.Equal(t, http.StatusOK, w.Do(http.MethodPost, address+"/undo", nil).Status)
	decide(3, map[string]any{"decision": "reject", "reason": "Because."})

	decided := get(t, w.App, address)
	c.requireSome(t, "ReviewDetail", decided, map[string]is{
		"status": equal("rejected"), "resolved_at": isTime, "resolved_by": that(func(v any) bool { return v != "" }), "decisions": list(2),
	})
	c.requireSome(t, "ReviewDecision", within(t, decided, "decisions", 0), map[string]is{
		"decision": equal("accept"), "reason": equal("Because."), "undone_at": isTime,
	})

	answer := w.Do(http.MethodPost, "/api/v1/review/bulk", map[string]any{"decision": "accept", "items": []any{
		map[string]any{"id": epic["id"], "version": 1}, map[string]any{"id": id, "version": 1},
	}})
	require.Equal(t, http.StatusOK, answer.Status, "%s", answer.Body)

	results := decode[map[string]any](answer.Body)
	c.require(t, "BulkResults", results, map[string]is{"results": list(2)})
	c.requireSome(t, "ReviewResult", within(t, results, "results", 0), map[string]is{"item_id": equal(epic["id"]), "item": isObject})
	c.requireSome(t, "ReviewResult", within(t, results, "results", 1), map[string]is{
		"item": isNull, "message": that(func(v any) bool { return v != "" }), "code": that(func(v any) bool { return v != "" }),
	})
}

// extractQueue returns the queue of extractions in a list of jobs.
func extractQueue(t *testing.T, page map[string]any) map[string]any {
	t.Helper()

	queues, _ := page["queues"].([]any)
	at := slices.IndexFunc(queues, func(q any) bool { return within(t, q)["name"] == notebook.QueueExtract })
	require.GreaterOrEqual(t, at, 0, "%v", page)

	return within(t, queues[at])
}

// jobs checks a queue with a job in every state.
func (c *contracts) jobs(t *testing.T) {
	w := newNoteWorld(t)
	w.capture(t, "failed", map[string]any{"content": "An odd note.", "source": "web"})

	post := func(path string, body any) {
		answer := w.Do(http.MethodPost, path, body)
		require.Less(t, answer.Status, http.StatusMultipleChoices, "%s", answer.Body)
	}
	queue := func(what string, fits func(queue map[string]any) bool) map[string]any {
		found := w.WaitAnswer("/api/v1/jobs?limit=1", what, func(r tarsytest.Response) bool {
			return fits(extractQueue(t, decode[map[string]any](r.Body)))
		})

		return decode[map[string]any](found.Body)
	}

	post("/api/v1/notes", map[string]any{"content": "The slow one.", "source": "web"})
	w.WaitGate(w.gate)
	post("/api/v1/notes", map[string]any{"content": "The overloaded one.", "source": "web"})
	queue("a job that is retried", func(q map[string]any) bool { return q["retrying"] == 1.0 })
	post("/api/v1/queues/notes-extract/pause", nil)
	post("/api/v1/notes", map[string]any{"content": "An odd one that waits.", "source": "web"})

	page := queue("a job that waits", func(q map[string]any) bool { return q["waiting"] == 1.0 })
	c.require(t, "JobList", page, map[string]is{
		"queues": that(func(v any) bool { return len(v.([]any)) >= 3 }), "jobs": list(1), "next_cursor": that(func(v any) bool { return v != "" }), "total": equal(4.0),
	})
	c.require(t, "JobQueue", extractQueue(t, page), map[string]is{
		"name": equal("notes-extract"), "paused": equal(true), "waiting": equal(1.0), "running": equal(1.0), "retrying": equal(1.0), "failed": equal(1.0),
	})

	failed := within(t, get(t, w.App, "/api/v1/jobs?state=failed"), "jobs", 0)
	c.require(t, "Job", failed, map[string]is{
		"id": that(func(v any) bool { return v.(float64) > 0 }), "kind": equal("notes_extract"), "queue": equal("notes-extract"), "state": equal("failed"),
		"attempt": equal(1.0), "max_attempts": that(func(v any) bool { return v.(float64) > 1 }), "note_id": isID, "note_version": equal(1.0),
		"error": that(func(v any) bool { return strings.Contains(v.(string), "schema") }), "created_at": isTime, "scheduled_at": isTime,
		"attempted_at": isTime, "finalized_at": isTime,
	})

	w.gate.Open()
	queue("the end of the slow one", func(q map[string]any) bool { return q["running"] == 0.0 })
}
