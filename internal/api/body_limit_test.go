package api_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/internal/note/store"
	"tarsy.dev/tarsy/internal/problem"
	"tarsy.dev/tarsy/notebook"
)

// bodySchema is what the document says about a value in a request body.
type bodySchema struct {
	Ref        string                `json:"$ref"`
	Type       any                   `json:"type"`
	Format     string                `json:"format"`
	Enum       []any                 `json:"enum"`
	Required   []string              `json:"required"`
	Properties map[string]bodySchema `json:"properties"`
	Items      *bodySchema           `json:"items"`
	MinLength  int                   `json:"minLength"`
	MaxLength  int                   `json:"maxLength"`
	MinItems   int                   `json:"minItems"`
	MaxItems   int                   `json:"maxItems"`
	Minimum    *float64              `json:"minimum"`
	Maximum    *float64              `json:"maximum"`
	Pattern    string                `json:"pattern"`
}

// bodyLimit is one documented limit of a field: a value that it excludes, and one at the limit if there is such a value.
type bodyLimit struct {
	name     string
	path     []string // names of fields; "0" is the first item of a list
	excluded any      // nil: the field is removed
	allowed  any
}

// field is the path as problems write it.
func (l bodyLimit) field() string {
	var field strings.Builder

	for i, part := range l.path {
		switch {
		case part == "0":
			field.WriteString("[0]")
		case i > 0:
			field.WriteString("." + part)
		default:
			field.WriteString(part)
		}
	}

	return field.String()
}

// documentedBodies returns the schema of the JSON body of each operation by its pattern, with references resolved.
func (f *fixture) documentedBodies(t *testing.T) map[string]bodySchema {
	t.Helper()

	var document struct {
		Components struct{ Schemas map[string]bodySchema }
		Paths      map[string]map[string]struct {
			RequestBody struct {
				Content map[string]struct{ Schema bodySchema }
			}
		}
	}

	require.NoError(t, json.Unmarshal(f.api.OpenAPI(), &document))

	var resolved func(bodySchema) bodySchema

	resolved = func(s bodySchema) bodySchema {
		if s.Ref != "" {
			s = document.Components.Schemas[s.Ref[strings.LastIndexByte(s.Ref, '/')+1:]]
		}

		s.Properties = maps.Clone(s.Properties)
		for name, property := range s.Properties {
			s.Properties[name] = resolved(property)
		}

		if s.Items != nil {
			items := resolved(*s.Items)
			s.Items = &items
		}

		return s
	}

	bodies := map[string]bodySchema{}

	for path, operations := range document.Paths {
		for method, operation := range operations {
			if content, ok := operation.RequestBody.Content["application/json"]; ok {
				bodies[strings.ToUpper(method)+" "+path] = resolved(content.Schema)
			}
		}
	}

	return bodies
}

// limits lists the documented limits of a value and of what it contains. It fails on a keyword that it cannot violate.
func (s bodySchema) limits(t *testing.T, path ...string) []bodyLimit {
	t.Helper()
	require.Empty(t, s.Pattern, path)
	require.Nil(t, s.Minimum, path)
	require.Nil(t, s.Maximum, path)

	var limits []bodyLimit

	add := func(name string, excluded, allowed any) {
		limits = append(limits, bodyLimit{name: name, path: slices.Clone(path), excluded: excluded, allowed: allowed})
	}

	if s.MaxLength > 0 {
		add("maxLength", strings.Repeat("x", s.MaxLength+1), strings.Repeat("x", s.MaxLength))
	}

	if s.MinLength > 0 {
		add("minLength", "", nil)
	}

	if s.MaxItems > 0 {
		add("maxItems", s.Items.list(s.MaxItems+1), s.Items.list(s.MaxItems))
	}

	if s.MinItems > 0 {
		add("minItems", []any{}, nil)
	}

	if len(s.Enum) > 0 {
		add("enum", "no such value", nil)
	}

	switch s.Format {
	case "date-time":
		add("format", "yesterday", nil)
	case "int64":
		add("format", 1.5, nil)
	case "uri":
		add("format", "not an address", nil)
	}

	for _, name := range s.Required {
		limits = append(limits, bodyLimit{name: "required", path: append(slices.Clone(path), name)})
	}

	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		limits = append(limits, s.Properties[name].limits(t, append(slices.Clone(path), name)...)...)
	}

	if s.Items != nil {
		limits = append(limits, s.Items.limits(t, append(slices.Clone(path), "0")...)...)
	}

	return limits
}

// list returns different values that the schema allows.
func (s bodySchema) list(n int) []any {
	items := make([]any, n)

	for i := range items {
		switch {
		case len(s.Enum) > 0:
			items[i] = s.Enum[0]
		case s.Properties != nil:
			items[i] = map[string]any{"id": ident.New(), "version": 1}
		default:
			items[i] = ident.New()
		}
	}

	return items
}

// replaced returns a copy of a body with another value at the path, or without the field if the value is nil.
func replaced(body any, value any, path ...string) any {
	if len(path) == 0 {
		return value
	}

	if path[0] == "0" {
		list, _ := body.([]any)
		if len(list) == 0 {
			list = []any{nil}
		}

		list = slices.Clone(list)
		list[0] = replaced(list[0], value, path[1:]...)

		return list
	}

	object, _ := body.(map[string]any)
	object = maps.Clone(object)

	if object == nil {
		object = map[string]any{}
	}

	object[path[0]] = replaced(object[path[0]], value, path[1:]...)
	if object[path[0]] == nil {
		delete(object, path[0])
	}

	return object
}

// fieldDecisions returns, by pattern and field, requests that accept the field, if the one of decisions does not.
func fieldDecisions() map[string]map[string]func(*testing.T) decision {
	edit := func(t *testing.T) decision {
		t.Helper()

		f := newReviewFixture(t)

		return decision{f: f.fixture, params: []string{f.item(t, "One").ID}, body: `{"decision":"edit"}`, headers: []string{"If-Match", `"1"`}}
	}
	editEpic := func(t *testing.T) decision {
		t.Helper()

		f := newReviewFixture(t)
		project := created[notebook.ProjectDetail](t, f.fixture, "/api/v1/projects", `{"name":"Login"}`)
		item := notebook.ReviewItem{
			ID: ident.New(), Kind: notebook.ReviewEpic, Status: notebook.ReviewOpen, ProjectID: &project.ID, CreatedAt: f.rows.Now(), Version: 1,
			Proposal: notebook.Proposal{EpicName: "Safari"},
		}

		require.NoError(t, f.rows.Change(t.Context(), func(tx *store.Tx) error {
			store.InsertReviewItem(tx, item)

			return nil
		}))

		return decision{f: f.fixture, params: []string{item.ID}, body: `{"decision":"edit"}`, headers: []string{"If-Match", `"1"`}}
	}

	return map[string]map[string]func(*testing.T) decision{
		"POST /api/v1/review/{id}/resolve": {"entity": edit, "epic_name": editEpic, "epic_description": editEpic},
		"POST /api/v1/sessions/cancel": {"filter": func(t *testing.T) decision {
			t.Helper()

			return decision{f: newFixture(t), body: `{"filter":{}}`}
		}},
	}
}

// send sends the request with another value in its body, and returns the response and the field that it names.
func (l bodyLimit) send(t *testing.T, d decision, pattern string, value any) (answer, string) {
	t.Helper()

	var body any = map[string]any{}
	if d.body != "" {
		require.NoError(t, json.Unmarshal([]byte(d.body), &body))
	}

	encoded, err := json.Marshal(replaced(body, value, l.path...))
	require.NoError(t, err)

	d.body = string(encoded)
	got := d.send(t, pattern)

	var named problem.Problem
	if got.status >= http.StatusBadRequest {
		require.NoError(t, json.Unmarshal([]byte(got.body), &named))
	}

	return got, named.Field
}

// The document is written by huma, bodies are checked by handlers and services: this compares the two, limit by limit.
func TestEveryDocumentedLimitOfABodyIsEnforced(t *testing.T) {
	t.Parallel()

	all := decisions()
	all["POST /api/v1/alerts"] = func(t *testing.T) decision {
		t.Helper()

		return decision{f: newFixture(t), body: `{"data":"x"}`}
	}

	for pattern, schema := range newFixture(t).documentedBodies(t) {
		limits := schema.limits(t)
		if len(limits) == 0 {
			continue
		}

		t.Run(pattern, func(t *testing.T) {
			t.Parallel()
			require.Contains(t, all, pattern, "decisions has no request for it")

			prepared := map[string]decision{} // by preparation: a refused request changes nothing, so the next one can use it

			for _, limit := range limits {
				name, prepare := "", all[pattern]
				if own := fieldDecisions()[pattern][limit.path[0]]; own != nil {
					name, prepare = limit.path[0], own
				}

				if limit.allowed != nil {
					got, field := limit.send(t, prepare(t), pattern, limit.allowed)
					require.False(t, got.status == http.StatusBadRequest && strings.HasPrefix(field, limit.field()),
						"%s of %s is refused below its limit: %s", limit.name, limit.field(), got.body)
				}

				if _, ok := prepared[name]; !ok {
					prepared[name] = prepare(t)
				}

				d := prepared[name]
				before := d.f.tables(t)

				got, field := limit.send(t, d, pattern, limit.excluded)
				require.Equal(t, http.StatusBadRequest, got.status, "%s of %s is not enforced: %s", limit.name, limit.field(), got.body)
				require.Equal(t, limit.field(), field, "%s: %s", limit.name, got.body)
				require.Empty(t, changedTables(before, d.f.tables(t)), "a refused request changed something")
			}
		})
	}
}
