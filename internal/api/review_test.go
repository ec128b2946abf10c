package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/api"
	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/internal/note/review"
	"tarsy.dev/tarsy/internal/note/store"
	"tarsy.dev/tarsy/notebook"
)

// reviewFixture is a server with review items.
type reviewFixture struct {
	*fixture

	rows *store.DB
}

func newReviewFixture(t *testing.T, options ...func(*api.Config)) *reviewFixture {
	t.Helper()

	f := &reviewFixture{}
	f.fixture = newFixture(t, append(options, func(cfg *api.Config) {
		var err error

		f.rows, err = store.Open(t.Context(), store.Config{Write: cfg.Store.Notes(), Read: cfg.Store.Readers(), Clock: cfg.Clock})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, f.rows.Close()) })

		cfg.Reviews = review.New(review.Config{Store: f.rows, Mask: func(text string) string { return text }})
	})...)

	return f
}

// item stores an entity with an open review item, and returns the item.
func (f *reviewFixture) item(t *testing.T, title string) notebook.ReviewItem {
	t.Helper()

	now := f.rows.Now()
	note := notebook.Note{
		ID: ident.New(), Content: title, Source: notebook.NoteFromWeb, Author: "ana", Status: notebook.NoteDone, Version: 1, CreatedAt: now, UpdatedAt: now,
	}
	entity := notebook.EntityDetail{
		Entity: notebook.Entity{
			ID: ident.New(), NoteID: &note.ID, NoteVersion: 1, Type: notebook.EntityTask, Title: title, Status: notebook.EntityOpen, State: notebook.EntityProposed,
			CreatedBy: "tarsy", CreatedAt: now, UpdatedAt: now, Version: 1,
		},
		Tags: []string{"x"},
	}
	item := notebook.ReviewItem{
		ID: ident.New(), Kind: notebook.ReviewEntity, Status: notebook.ReviewOpen, NoteID: &note.ID, EntityID: &entity.ID, CreatedAt: now, Version: 1,
	}

	require.NoError(t, f.rows.Change(t.Context(), func(tx *store.Tx) error {
		require.NoError(t, store.InsertNote(t.Context(), tx, note, nil))
		store.InsertEntity(tx, entity)

		store.InsertReviewItem(tx, item)

		return nil
	}))

	return item
}

type reviewPage struct {
	Items      []notebook.ReviewDetail `json:"items"`
	NextCursor string                  `json:"next_cursor"`
	Total      int                     `json:"total"`
	OpenCount  int                     `json:"open_count"`
}

func TestReviewItemIsDecidedAndUndoneOverHTTP(t *testing.T) {
	t.Parallel()

	f := newReviewFixture(t, locked)
	item := f.item(t, "Rotate the keys")
	_, key := f.key(t, "bea", tarsy.ScopeWrite)
	path, route := "/api/v1/review/"+item.ID, "/api/v1/review/{id}"

	shown := f.request(t, http.MethodGet, path, "", key...)
	require.Equal(t, http.StatusOK, shown.status, shown.body)
	require.Equal(t, `"1"`, shown.header.Get("ETag"))
	require.Empty(t, f.api.CheckAnswer(http.MethodGet, route, http.StatusOK, []byte(shown.body)))

	decided := f.request(t, http.MethodPost, path+"/resolve", `{"decision":"edit","entity":{"title":"Rotate all keys","due_on":"2026-12-01"},"reason":"why not"}`,
		append(key, "If-Match", `"1"`)...)
	require.Equal(t, http.StatusOK, decided.status, decided.body)
	require.Equal(t, `"2"`, decided.header.Get("ETag"))
	require.Empty(t, f.api.CheckAnswer(http.MethodPost, route+"/resolve", http.StatusOK, []byte(decided.body)))

	detail := decode[notebook.ReviewDetail](t, decided)
	require.Equal(t, notebook.ReviewEdited, detail.Status)
	require.Equal(t, "bea", detail.ResolvedBy)
	require.Equal(t, "Rotate all keys", detail.Entity.Title)
	require.Equal(t, "why not", detail.Decisions[0].Reason)

	again := f.request(t, http.MethodPost, path+"/resolve", `{"decision":"accept"}`, append(key, "If-Match", `"2"`)...)
	f.requireProblem(t, again, http.StatusConflict, tarsy.CodeReviewResolved)

	undone := f.request(t, http.MethodPost, path+"/undo", "", key...)
	require.Equal(t, http.StatusOK, undone.status, undone.body)
	require.Empty(t, f.api.CheckAnswer(http.MethodPost, route+"/undo", http.StatusOK, []byte(undone.body)))
	require.Equal(t, "Rotate the keys", decode[notebook.ReviewDetail](t, undone).Entity.Title)

	stale := f.request(t, http.MethodPost, path+"/resolve", `{"decision":"accept"}`, append(key, "If-Match", `"1"`)...)
	f.requireProblem(t, stale, http.StatusPreconditionFailed, tarsy.CodeChangedMeanwhile)

	f.requireProblem(t, f.request(t, http.MethodPost, path+"/undo", `{}`, key...), http.StatusConflict, tarsy.CodeUndoConflict)

	require.Equal(t, http.StatusOK, f.request(t, http.MethodPost, path+"/resolve", `{"decision":"accept"}`, append(key, "If-Match", `"3"`)...).status)
	f.clock.Advance(notebook.UndoPeriod + time.Second)
	f.requireProblem(t, f.request(t, http.MethodPost, path+"/undo", "", key...), http.StatusConflict, tarsy.CodeUndoExpired)
}

func TestDecidingNeedsWriteScopeAndIfMatch(t *testing.T) {
	t.Parallel()

	f := newReviewFixture(t, locked)
	item := f.item(t, "Rotate the keys")
	_, reader := f.key(t, "rea", tarsy.ScopeRead)
	_, writer := f.key(t, "bea", tarsy.ScopeWrite)
	path := "/api/v1/review/" + item.ID

	for _, action := range []string{path + "/resolve", path + "/undo", "/api/v1/review/bulk"} {
		f.requireProblem(t, f.request(t, http.MethodPost, action, `{}`, reader...), http.StatusForbidden, tarsy.CodeForbidden)
		f.requireProblem(t, f.request(t, http.MethodPost, action, `{}`), http.StatusUnauthorized, tarsy.CodeUnauthenticated)
	}

	require.Equal(t, http.StatusOK, f.request(t, http.MethodGet, path, "", reader...).status)

	for _, c := range []struct {
		path, body string
		headers    []string
		status     int
		code       tarsy.Code
		field      string
	}{
		{path + "/resolve", `{"decision":"accept"}`, nil, http.StatusPreconditionRequired, tarsy.CodeMissingIfMatch, "If-Match"},
		{path + "/resolve", `{"decision":"accept"}`, []string{"If-Match", "*"}, http.StatusBadRequest, tarsy.CodeInvalidField, "If-Match"},
		{path + "/resolve", `{}`, []string{"If-Match", `"1"`}, http.StatusBadRequest, tarsy.CodeMissingField, "decision"},
		{path + "/resolve", `{"decision":"maybe"}`, []string{"If-Match", `"1"`}, http.StatusBadRequest, tarsy.CodeInvalidField, "decision"},
		{path + "/resolve", `{"decision":"edit","entity":{"type":"bug"}}`, []string{"If-Match", `"1"`}, http.StatusBadRequest, tarsy.CodeInvalidField, "entity.type"},
		{path + "/resolve", `{"decision":"edit","entity":{"colour":"red"}}`, []string{"If-Match", `"1"`}, http.StatusBadRequest, tarsy.CodeUnknownField, "entity.colour"},
		{"/api/v1/review/x/resolve", `{"decision":"accept"}`, []string{"If-Match", `"1"`}, http.StatusNotFound, tarsy.CodeReviewNotFound, ""},
		{"/api/v1/review/x/undo", ``, nil, http.StatusNotFound, tarsy.CodeReviewNotFound, ""},
		{"/api/v1/review/bulk", `{"decision":"accept"}`, nil, http.StatusBadRequest, tarsy.CodeMissingField, "items"},
		{"/api/v1/review/bulk", `{"items":[]}`, nil, http.StatusBadRequest, tarsy.CodeMissingField, "decision"},
		{"/api/v1/review/bulk", `{"decision":"edit","items":[{"id":"x","version":1}]}`, nil, http.StatusBadRequest, tarsy.CodeInvalidField, "decision"},
		{"/api/v1/review/bulk", `{"decision":"accept","items":[{"id":"x","version":1.5}]}`, nil, http.StatusBadRequest, tarsy.CodeInvalidField, "items[0].version"},
		{"/api/v1/review/bulk", `{"decision":"accept","items":[` + strings.Repeat(`{"id":"x","version":1},`, 100) + `{"id":"x","version":1}]}`, nil,
			http.StatusBadRequest, tarsy.CodeInvalidField, "items"},
	} {
		problem := f.requireProblem(t, f.request(t, http.MethodPost, c.path, c.body, append(writer, c.headers...)...), c.status, c.code)
		require.Equal(t, c.field, problem.Field)
	}

	require.Equal(t, 1, get[reviewPage](t, f.fixture, "/api/v1/review", reader...).OpenCount)
}

func TestBulkAnswersPerItem(t *testing.T) {
	t.Parallel()

	f := newReviewFixture(t)
	first, second := f.item(t, "One"), f.item(t, "Two")

	got := f.request(t, http.MethodPost, "/api/v1/review/bulk", fmt.Sprintf(
		`{"decision":"reject","reason":"noise","items":[{"id":%q,"version":1},{"id":"x","version":1},{"id":%q,"version":2}]}`, first.ID, second.ID))
	require.Equal(t, http.StatusOK, got.status, got.body)
	require.Empty(t, f.api.CheckAnswer(http.MethodPost, "/api/v1/review/bulk", http.StatusOK, []byte(got.body)))

	results := decode[struct {
		Results []notebook.ReviewResult `json:"results"`
	}](t, got).Results
	require.Len(t, results, 3)
	require.Equal(t, notebook.ReviewRejected, results[0].Item.Status)
	require.Equal(t, tarsy.CodeReviewNotFound, results[1].Code)
	require.Equal(t, tarsy.CodeChangedMeanwhile, results[2].Code)
}

func TestReviewListIsFilteredAndPaged(t *testing.T) {
	t.Parallel()

	f := newReviewFixture(t)

	var items []notebook.ReviewItem

	for i := range 5 {
		items = append(items, f.item(t, fmt.Sprintf("Task %d", i)))
		f.clock.Advance(time.Second)
	}

	rejected := f.request(t, http.MethodPost, "/api/v1/review/"+items[2].ID+"/resolve", `{"decision":"reject"}`, "If-Match", `"1"`)
	require.Equal(t, http.StatusOK, rejected.status, rejected.body)

	pages := func(query string) (ids []string) {
		cursor := ""

		for {
			got := f.request(t, http.MethodGet, "/api/v1/review?limit=2&"+query+cursor, "")
			require.Empty(t, f.api.CheckAnswer(http.MethodGet, "/api/v1/review", http.StatusOK, []byte(got.body)))

			page := decode[reviewPage](t, got)
			require.Equal(t, 4, page.OpenCount)

			for _, item := range page.Items {
				ids = append(ids, item.ID)
			}

			if page.NextCursor == "" {
				require.Len(t, ids, page.Total)

				return ids
			}

			cursor = "&cursor=" + page.NextCursor
		}
	}

	require.Equal(t, []string{items[0].ID, items[1].ID, items[3].ID, items[4].ID}, pages("status=open"))
	require.Equal(t, []string{items[4].ID, items[3].ID, items[2].ID, items[1].ID, items[0].ID}, pages(""))
	require.Equal(t, []string{items[2].ID}, pages("status=rejected,accepted&kind=entity"))
	require.Empty(t, pages("kind=epic,duplicate"))
	require.Equal(t, []string{items[1].ID}, pages("note_id="+*items[1].NoteID))
	require.Equal(t, []string{items[3].ID}, pages("entity_id="+*items[3].EntityID))
	require.Empty(t, pages("project_id="+ident.New()))

	for parameter, wrong := range map[string]string{"kind": "bug", "status": "open,late", "note_id": "x", "project_id": "x", "entity_id": "x", "limit": "0"} {
		got := f.requireProblem(t, f.request(t, http.MethodGet, "/api/v1/review?"+parameter+"="+wrong, ""), http.StatusBadRequest, tarsy.CodeInvalidParameter)
		require.Equal(t, parameter, got.Field)
	}

	f.requireProblem(t, f.request(t, http.MethodGet, "/api/v1/review?cursor=x", ""), http.StatusBadRequest, tarsy.CodeInvalidCursor)
}
