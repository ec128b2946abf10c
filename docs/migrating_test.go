package docs_test

import (
	"encoding/json"
	updating "flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	migratingFile  = "migrating.md"
	publishedFile  = "../internal/published/testdata/published.json"
	comparedBegins = "<!-- compared by TestMigrationGuideComparesBothDocuments -->\n"
	comparedEnds   = "<!-- end -->"
)

var update = updating.Bool("update", false, "write the documents instead of checking them")

// publishedRoute is a route of the published TARSy, read from its source.
type publishedRoute struct {
	Method, Path             string
	Parameters, Body, Fields []string
	List                     bool
	Items                    *struct {
		Field  string
		Fields []string
	}
}

// document is the part of openapi.json that the comparison needs.
type document struct {
	Paths map[string]map[string]struct {
		Parameters  []struct{ Name string }
		RequestBody struct{ Content map[string]media }
		Responses   map[string]struct{ Content map[string]media }
	}
	Components struct{ Schemas map[string]schema }
}

type media struct{ Schema schema }

type schema struct {
	Ref        string `json:"$ref"`
	Properties map[string]schema
	Items      *schema
	AllOf      []schema
}

// TestMigrationGuideComparesBothDocuments checks the guide's list of differences, which is generated from the source of the
// published TARSy and from our OpenAPI document.
func TestMigrationGuideComparesBothDocuments(t *testing.T) {
	t.Parallel()

	var (
		published struct{ Routes []publishedRoute }
		own       document
	)

	readJSON(t, publishedFile, &published)
	readJSON(t, "openapi.json", &own)

	var table strings.Builder

	table.WriteString("| published TARSy | here | only there: parameters and fields of the body | only there: fields of the response |\n| --- | --- | --- | --- |\n")

	for _, r := range published.Routes {
		table.WriteString(own.compare(r))
	}

	text, err := os.ReadFile(migratingFile)
	require.NoError(t, err)

	before, rest, ok := strings.Cut(string(text), comparedBegins)
	require.True(t, ok)

	written, after, ok := strings.Cut(rest, comparedEnds)
	require.True(t, ok)

	if *update {
		require.NoError(t, os.WriteFile(migratingFile, []byte(before+comparedBegins+table.String()+comparedEnds+after), 0o600))

		return
	}

	require.Equal(t, table.String(), written, "run this test with -update")
}

func readJSON(t *testing.T, name string, into any) {
	t.Helper()

	raw, err := os.ReadFile(filepath.FromSlash(name))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(raw, into))
}

// compare returns the table row of a route.
func (d document) compare(r publishedRoute) string {
	name := "`" + r.Method + " " + r.Path + "`"

	operation, ok := d.Paths[r.Path][strings.ToLower(r.Method)]
	if !ok {
		return fmt.Sprintf("| %s | none | | |\n", name)
	}

	parameters := []string{}
	for _, p := range operation.Parameters {
		parameters = append(parameters, p.Name)
	}

	request := append(without(r.Parameters, parameters), without(r.Body, d.fields(operation.RequestBody.Content["application/json"].Schema))...)

	var answered schema

	for _, status := range []string{"200", "202"} {
		if response, ok := operation.Responses[status]; ok {
			answered = response.Content["application/json"].Schema
		}
	}

	response := without(r.Fields, d.fields(answered))

	switch {
	case r.List:
		response = append([]string{"it is a list, here `events` of an object"}, without(r.Fields, d.fields(d.item(answered, "events")))...)
	case r.Items != nil:
		for _, field := range without(r.Items.Fields, d.fields(d.item(answered, r.Items.Field))) {
			response = append(response, "`"+r.Items.Field+"[]."+strings.Trim(field, "`")+"`")
		}
	}

	return fmt.Sprintf("| %s | yes | %s | %s |\n", name, strings.Join(request, ", "), strings.Join(response, ", "))
}

// item returns the item schema of the list in a field.
func (d document) item(of schema, field string) schema {
	list := d.resolve(d.resolve(of).Properties[field])
	if list.Items == nil {
		return schema{}
	}

	return *list.Items
}

func (d document) resolve(s schema) schema {
	if name, ok := strings.CutPrefix(s.Ref, "#/components/schemas/"); ok {
		return d.Components.Schemas[name]
	}

	return s
}

func (d document) fields(s schema) []string {
	var names []string

	s = d.resolve(s)
	for name := range s.Properties {
		names = append(names, name)
	}

	for _, part := range s.AllOf {
		names = append(names, d.fields(part)...)
	}

	return names
}

// without returns the names that are not in others, formatted as code.
func without(names, others []string) []string {
	left := []string{}

	for _, name := range names {
		if !slices.Contains(others, name) {
			left = append(left, "`"+name+"`")
		}
	}

	return left
}
