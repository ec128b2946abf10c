package api_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/note/board"
	"tarsy.dev/tarsy/internal/note/store"
	"tarsy.dev/tarsy/internal/postgres"
	"tarsy.dev/tarsy/notebook"
)

// newBoard returns the board on a database. Text that contains hunter2 is masked.
func newBoard(t *testing.T, db *postgres.DB, clock clockwork.Clock) *board.Service {
	t.Helper()

	rows, err := store.Open(t.Context(), store.Config{Write: db.Notes(), Read: db.Readers(), Clock: clock})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, rows.Close()) })

	return board.New(board.Config{Store: rows, Mask: func(text string) string { return strings.ReplaceAll(text, "hunter2", "[MASKED]") }})
}

// created posts a body and decodes the new row.
func created[T any](t *testing.T, f *fixture, path, body string) T {
	t.Helper()

	got := f.request(t, http.MethodPost, path, body)
	require.Equal(t, http.StatusCreated, got.status, got.body)
	require.NotEmpty(t, got.header.Get("Location"))

	return decode[T](t, got)
}

// quoted encodes a text as JSON.
func quoted(text string) string {
	encoded, _ := json.Marshal(text)

	return string(encoded)
}

func TestEveryBoardRouteReturnsSuccessCodeAndDocumentedBody(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	project := created[notebook.ProjectDetail](t, f, "/api/v1/projects", `{"name":"Login"}`)
	epic := created[notebook.Epic](t, f, "/api/v1/projects/"+project.ID+"/epics", `{"name":"Safari"}`)
	first := created[notebook.EntityDetail](t, f, "/api/v1/entities", `{"type":"task","title":"Fix it","tags":["web"],"due_on":"2026-12-01"}`)
	second := created[notebook.EntityDetail](t, f, "/api/v1/entities", `{"type":"risk","title":"It breaks again"}`)

	for _, c := range []struct {
		method, route, path, body, ifMatch string
		status                             int
	}{
		{http.MethodGet, "/api/v1/entities", "/api/v1/entities?limit=1", "", "", http.StatusOK},
		{http.MethodGet, "/api/v1/entities", "/api/v1/entities?order=board&type=task,risk&status=open&state=accepted&unfiled=true&owner=ana&tag=web&due_from=2026-01-01&due_to=2026-12-31&q=fix", "", "", http.StatusOK},
		{http.MethodPost, "/api/v1/entities", "/api/v1/entities", `{"type":"decision","title":"Keep it"}`, "", http.StatusCreated},
		{http.MethodGet, "/api/v1/entities/{id}", "/api/v1/entities/" + first.ID, "", "", http.StatusOK},
		{http.MethodPatch, "/api/v1/entities/{id}", "/api/v1/entities/" + first.ID, `{"title":"Fix it soon","epic_id":"` + epic.ID + `"}`, `"1"`, http.StatusOK},
		{http.MethodPost, "/api/v1/entities/{id}/move", "/api/v1/entities/" + second.ID + "/move", `{"before_id":"` + first.ID + `"}`, "", http.StatusOK},
		{http.MethodGet, "/api/v1/projects", "/api/v1/projects?q=safari&status=active", "", "", http.StatusOK},
		{http.MethodPost, "/api/v1/projects", "/api/v1/projects", `{"name":"Billing","before_id":"` + project.ID + `"}`, "", http.StatusCreated},
		{http.MethodGet, "/api/v1/projects/{id}", "/api/v1/projects/" + project.ID, "", "", http.StatusOK},
		{http.MethodPatch, "/api/v1/projects/{id}", "/api/v1/projects/" + project.ID, `{"description":"All of it"}`, `"1"`, http.StatusOK},
		{http.MethodPost, "/api/v1/projects/{id}/epics", "/api/v1/projects/" + project.ID + "/epics", `{"name":"Firefox"}`, "", http.StatusCreated},
		{http.MethodGet, "/api/v1/epics/{id}", "/api/v1/epics/" + epic.ID, "", "", http.StatusOK},
		{http.MethodPatch, "/api/v1/epics/{id}", "/api/v1/epics/" + epic.ID, `{"status":"done"}`, `"1"`, http.StatusOK},
		{http.MethodDelete, "/api/v1/epics/{id}", "/api/v1/epics/" + epic.ID, "", `"2"`, http.StatusNoContent},
		{http.MethodDelete, "/api/v1/projects/{id}", "/api/v1/projects/" + project.ID, "", `"2"`, http.StatusNoContent},
		{http.MethodGet, "/api/v1/tags", "/api/v1/tags?q=we", "", "", http.StatusOK},
		{http.MethodPost, "/api/v1/tags", "/api/v1/tags", `{"name":"a/b c"}`, "", http.StatusCreated},
		{http.MethodPatch, "/api/v1/tags/{name}", "/api/v1/tags/a%2Fb%20c", `{"name":"b"}`, "", http.StatusOK},
		{http.MethodDelete, "/api/v1/tags/{name}", "/api/v1/tags/b", "", "", http.StatusNoContent},
		{http.MethodDelete, "/api/v1/entities/{id}", "/api/v1/entities/" + second.ID, "", `"2"`, http.StatusNoContent},
	} {
		var headers []string
		if c.ifMatch != "" {
			headers = []string{"If-Match", c.ifMatch}
		}

		got := f.request(t, c.method, c.path, c.body, headers...)
		require.Equal(t, c.status, got.status, "%s %s: %s", c.method, c.path, got.body)

		if c.status == http.StatusNoContent {
			require.Empty(t, got.body)

			continue
		}

		require.Empty(t, f.api.CheckAnswer(c.method, c.route, c.status, []byte(got.body)), got.body)
		require.Equal(t, "application/json", got.header.Get("Content-Type"), c.path)

		if c.method == http.MethodGet {
			require.Equal(t, c.status, f.request(t, http.MethodHead, c.path, "").status, c.path)
		}
	}
}
