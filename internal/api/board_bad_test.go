package api_test

import (
	"encoding/base64"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/notebook"
)

func badBoardQueries() []badRequest {
	list := func(name, query string, code tarsy.Code, field, says string) badRequest {
		return badRequest{name: name, method: http.MethodGet, path: query, status: http.StatusBadRequest, code: code, field: field, says: says}
	}
	parameter := func(name, query, field, says string) badRequest {
		return list(name, "/api/v1/entities?"+query, tarsy.CodeInvalidParameter, field, says)
	}
	cursor := func(name, path, text string) badRequest {
		return list(name, path+"cursor="+base64.RawURLEncoding.EncodeToString([]byte(text)), tarsy.CodeInvalidCursor, "cursor", "next_cursor")
	}
	id := ident.New()

	return []badRequest{
		parameter("entities of unknown type", "type=idea", "type", "risk"),
		parameter("entities of unknown status", "status=open,later", "status", "in_progress"),
		parameter("entities of unknown state", "state=all", "state", "proposed"),
		parameter("entities of project without id", "project_id=login", "project_id", "must be an id"),
		parameter("entities of epic without id", "epic_id=1", "epic_id", "must be an id"),
		parameter("entities of note without id", "note_id=1", "note_id", "must be an id"),
		parameter("entities of session without id", "session_id=1", "session_id", "must be an id"),
		parameter("entities due some day", "due_from=soon", "due_from", "such as"),
		parameter("entities due to a time", "due_to=2026-11-15T10:00:00Z", "due_to", "such as"),
		parameter("entities perhaps unfiled", "unfiled=maybe", "unfiled", "true"),
		parameter("entities unfiled and filed", "unfiled=true&project_id="+id, "unfiled", "neither"),
		parameter("entities in other order", "order=oldest", "order", "board, newest"),
		parameter("entities without limit", "limit=0", "limit", "from 1 to 200"),
		parameter("entities by long search", "q="+strings.Repeat("x", 201), "q", "200"),
		parameter("entities by unknown parameter", "search=x", "search", "known parameters"),
		cursor("board cursor for time", "/api/v1/entities?", `{"t":"0001-01-01T00:00:00Z","s":"open","p":1,"i":"`+id+`"}`),
		cursor("time cursor for board", "/api/v1/entities?order=board&", `{"t":"2026-11-15T10:00:00Z","i":"`+id+`"}`),
		cursor("board cursor of no column", "/api/v1/entities?order=board&", `{"t":"0001-01-01T00:00:00Z","s":"later","i":"`+id+`"}`),
		cursor("entity cursor without id", "/api/v1/entities?", `{"t":"2026-11-15T10:00:00Z","i":"1"}`),
		cursor("project cursor without id", "/api/v1/projects?", `{"p":1,"i":"1"}`),
		cursor("tag cursor without name", "/api/v1/tags?", `{"n":""}`),
		cursor("tag cursor with NUL", "/api/v1/tags?", `{"n":"a\u0000"}`),
		list("projects of unknown status", "/api/v1/projects?status=open", tarsy.CodeInvalidParameter, "status", "archived"),
		list("projects by long search", "/api/v1/projects?q="+strings.Repeat("x", 201), tarsy.CodeInvalidParameter, "q", "200"),
		list("tags by long search", "/api/v1/tags?q="+strings.Repeat("x", 201), tarsy.CodeInvalidParameter, "q", "200"),
		list("tags without limit", "/api/v1/tags?limit=x", tarsy.CodeInvalidParameter, "limit", "from 1 to 200"),
		list("entities exported as PDF", "/api/v1/entities/export?format=pdf", tarsy.CodeInvalidParameter, "format", "csv, json, markdown"),
		list("entities exported with limit", "/api/v1/entities/export?limit=5", tarsy.CodeInvalidParameter, "limit", "known parameters"),
		list("entities exported by unknown type", "/api/v1/entities/export?type=idea", tarsy.CodeInvalidParameter, "type", "risk"),
	}
}

func badBoardBodies() []badRequest {
	post := func(name, path, body string, code tarsy.Code, field, says string) badRequest {
		return badRequest{name: name, method: http.MethodPost, path: "/api/v1" + path, body: body, status: http.StatusBadRequest, code: code, field: field, says: says}
	}
	id := ident.New()

	return []badRequest{
		post("entity from nothing", "/entities", "", tarsy.CodeInvalidJSON, "", "empty"),
		post("entity without type", "/entities", `{"title":"x"}`, tarsy.CodeMissingField, "type", "missing"),
		post("entity without title", "/entities", `{"type":"task"}`, tarsy.CodeMissingField, "title", "missing"),
		post("entity of unknown type", "/entities", `{"type":"idea","title":"x"}`, tarsy.CodeInvalidField, "type", "task, decision"),
		post("entity with blank title", "/entities", `{"type":"task","title":" "}`, tarsy.CodeInvalidField, "title", "empty"),
		post("entity with long title", "/entities", `{"type":"task","title":"`+strings.Repeat("x", 301)+`"}`, tarsy.CodeInvalidField, "title", "at most 300"),
		post("entity with state", "/entities", `{"type":"task","title":"x","state":"merged"}`, tarsy.CodeUnknownField, "state", "did you mean"),
		post("entity with a text for tags", "/entities", `{"type":"task","title":"x","tags":"a"}`, tarsy.CodeInvalidField, "tags", "must be a list"),
		post("entity with a blank tag", "/entities", `{"type":"task","title":"x","tags":[" "]}`, tarsy.CodeInvalidField, "tags[0]", "empty"),
		post("entity due some day", "/entities", `{"type":"task","title":"x","due_on":"soon"}`, tarsy.CodeInvalidField, "due_on", "such as"),
		post("entity of project without id", "/entities", `{"type":"task","title":"x","project_id":"login"}`, tarsy.CodeInvalidField, "project_id", "an id"),
		post("move with a position", "/entities/"+id+"/move", `{"position":1}`, tarsy.CodeUnknownField, "position", "known fields"),
		post("move nowhere", "/entities/"+id+"/move", `{}`, tarsy.CodeMissingField, "", "before_id"),
		post("move between", "/entities/"+id+"/move", `{"before_id":"`+id+`","after_id":"`+id+`"}`, tarsy.CodeInvalidField, "after_id", "one of them"),
		post("project without name", "/projects", `{}`, tarsy.CodeMissingField, "name", "missing"),
		post("project with blank name", "/projects", `{"name":" "}`, tarsy.CodeInvalidField, "name", "empty"),
		post("project with long name", "/projects", `{"name":"`+strings.Repeat("x", 201)+`"}`, tarsy.CodeInvalidField, "name", "at most 200"),
		post("project with unknown status", "/projects", `{"name":"x","status":"done"}`, tarsy.CodeInvalidField, "status", "archived"),
		post("project beside no id", "/projects", `{"name":"x","before_id":"y"}`, tarsy.CodeInvalidField, "before_id", "an id"),
		post("epic without name", "/projects/"+id+"/epics", `{}`, tarsy.CodeMissingField, "name", "missing"),
		post("tag without name", "/tags", `{}`, tarsy.CodeInvalidField, "name", "empty"),
		post("tag with long name", "/tags", `{"name":"`+strings.Repeat("x", 51)+`"}`, tarsy.CodeInvalidField, "name", "at most 50"),
	}
}

func badBoardRows() []badRequest {
	id := ident.New()

	var bad []badRequest

	for route, c := range map[string]struct {
		code tarsy.Code
		body string
	}{
		"/api/v1/entities/": {tarsy.CodeEntityNotFound, `{"title":"x"}`},
		"/api/v1/projects/": {tarsy.CodeProjectNotFound, `{"name":"x"}`},
		"/api/v1/epics/":    {tarsy.CodeEpicNotFound, `{"name":"x"}`},
	} {
		change := func(name, method, header string, status int, code tarsy.Code, field string) badRequest {
			body := ""
			if method == http.MethodPatch {
				body = c.body
			}

			var headers []string
			if header != "" {
				headers = []string{"If-Match", header}
			}

			return badRequest{
				name: name + " " + method + " " + route, method: method, path: route + id, body: body, headers: headers, status: status, code: code, field: field,
			}
		}

		for _, missing := range []string{id, "nothing", "%00"} {
			bad = append(bad, badRequest{name: "missing " + route + missing, method: http.MethodGet, path: route + missing, status: http.StatusNotFound, code: c.code})
		}

		for _, method := range []string{http.MethodPatch, http.MethodDelete} {
			bad = append(bad,
				change("missing", method, `"1"`, http.StatusNotFound, c.code, ""),
				change("no version", method, "", http.StatusPreconditionRequired, tarsy.CodeMissingIfMatch, "If-Match"),
				change("version without quotes", method, "1", http.StatusBadRequest, tarsy.CodeInvalidField, "If-Match"),
				change("any version", method, "*", http.StatusBadRequest, tarsy.CodeInvalidField, "If-Match"))
		}
	}

	none := func(name, method, path, body string, code tarsy.Code) badRequest {
		return badRequest{name: name, method: method, path: path, body: body, status: http.StatusNotFound, code: code}
	}

	return append(bad,
		none("move of missing entity", http.MethodPost, "/api/v1/entities/"+id+"/move", `{"status":"done"}`, tarsy.CodeEntityNotFound),
		none("epic of missing project", http.MethodPost, "/api/v1/projects/"+id+"/epics", `{"name":"x"}`, tarsy.CodeProjectNotFound),
		none("rename of missing tag", http.MethodPatch, "/api/v1/tags/none", `{"name":"x"}`, tarsy.CodeTagNotFound),
		none("removal of missing tag", http.MethodDelete, "/api/v1/tags/none", "", tarsy.CodeTagNotFound),
		none("entity of missing project", http.MethodPost, "/api/v1/entities", `{"type":"task","title":"x","project_id":"`+id+`"}`, tarsy.CodeProjectNotFound).about("project_id"),
	)
}

func TestChangeOfOldVersionIsRefused(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	project := created[notebook.ProjectDetail](t, f, "/api/v1/projects", `{"name":"Login"}`)
	epic := created[notebook.Epic](t, f, "/api/v1/projects/"+project.ID+"/epics", `{"name":"Safari"}`)
	entity := created[notebook.EntityDetail](t, f, "/api/v1/entities", `{"type":"task","title":"password is hunter2"}`)
	require.Equal(t, "password is [MASKED]", entity.Title)

	for path, body := range map[string]string{
		"/api/v1/projects/" + project.ID: `{"name":"Sign-in"}`,
		"/api/v1/epics/" + epic.ID:       `{"name":"WebKit"}`,
		"/api/v1/entities/" + entity.ID:  `{"title":"Rotate it"}`,
	} {
		require.Equal(t, `"1"`, f.request(t, http.MethodGet, path, "").header.Get("ETag"))

		got := f.request(t, http.MethodPatch, path, body, "If-Match", `"1"`)
		require.Equal(t, http.StatusOK, got.status, got.body)
		require.Equal(t, `"2"`, got.header.Get("ETag"))

		problem := f.requireProblem(t, f.request(t, http.MethodPatch, path, body, "If-Match", `"1"`), http.StatusPreconditionFailed, tarsy.CodeChangedMeanwhile)
		require.Equal(t, "If-Match", problem.Field)
		f.requireProblem(t, f.request(t, http.MethodDelete, path, "", "If-Match", `"1"`), http.StatusPreconditionFailed, tarsy.CodeChangedMeanwhile)
	}

	created[notebook.ProjectDetail](t, f, "/api/v1/projects", `{"name":"Billing"}`)
	problem := f.requireProblem(t, f.request(t, http.MethodPost, "/api/v1/projects", `{"name":"BILLING"}`), http.StatusConflict, tarsy.CodeNameTaken)
	require.Equal(t, "name", problem.Field)
}

func TestEntityListShowsAcceptedOnesPageByPage(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	for _, title := range []string{"a", "b", "c"} {
		created[notebook.EntityDetail](t, f, "/api/v1/entities", `{"type":"task","title":`+quoted(title)+`}`)
	}

	type list struct {
		Entities   []notebook.EntityDetail `json:"entities"`
		NextCursor string                  `json:"next_cursor"`
		Total      int                     `json:"total"`
	}

	for _, order := range []string{"newest", "board"} {
		var titles string

		for cursor := ""; ; {
			page := get[list](t, f, "/api/v1/entities?limit=1&order="+order+"&cursor="+cursor)
			require.Equal(t, 3, page.Total)

			titles += page.Entities[0].Title

			if cursor = page.NextCursor; cursor == "" {
				break
			}
		}

		require.Equal(t, map[string]string{"newest": "cba", "board": "abc"}[order], titles)
	}

	require.Zero(t, get[list](t, f, "/api/v1/entities?state=proposed").Total)
	require.Equal(t, 3, get[list](t, f, "/api/v1/entities?state=proposed,accepted").Total)
}

func TestEntitiesAreExportedInEachFormat(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	project := created[notebook.ProjectDetail](t, f, "/api/v1/projects", `{"name":"Login"}`)
	created[notebook.EntityDetail](t, f, "/api/v1/entities", `{"type":"task","title":"=1+1 | <b>","project_id":"`+project.ID+`"}`)
	created[notebook.EntityDetail](t, f, "/api/v1/entities", `{"type":"risk","title":"other"}`)

	for format, expected := range map[string]struct{ mediaType, file, text string }{
		"":         {"text/csv; charset=utf-8", "tarsy-entities-2026-11-15.csv", "'=1+1 | <b>"},
		"csv":      {"text/csv; charset=utf-8", "tarsy-entities-2026-11-15.csv", "'=1+1 | <b>"},
		"markdown": {"text/markdown; charset=utf-8", "tarsy-entities-2026-11-15.md", `| task | \=1+1 \| &lt;b\> | open |`},
		"json":     {"application/json", "tarsy-entities-2026-11-15.json", `"title": "=1+1 | <b>"`},
	} {
		path := "/api/v1/entities/export?type=task"
		if format != "" {
			path += "&format=" + format
		}

		got := f.request(t, http.MethodGet, path, "")
		require.Equal(t, http.StatusOK, got.status, got.body)
		require.Equal(t, expected.mediaType, got.header.Get("Content-Type"))
		require.Equal(t, `attachment; filename="`+expected.file+`"`, got.header.Get("Content-Disposition"))
		require.Contains(t, got.body, expected.text)
		require.Contains(t, got.body, "Login")
		require.NotContains(t, got.body, "other")

		if format == "json" {
			require.Empty(t, f.api.CheckAnswer(http.MethodGet, "/api/v1/entities/export", http.StatusOK, []byte(got.body)), got.body)
		}
	}

	require.JSONEq(t, `{"exported_at":"2026-11-15T10:00:00.123456Z","entities":[]}`, f.request(t, http.MethodGet, "/api/v1/entities/export?format=json&type=insight", "").body)
}
