package client_test

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"net/http"
	"os"
	"path"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/client"
)

// constant is an entry in the table of operations.
type constant struct{ name, kind, pattern string }

// operations parses the table from its source, because constants cannot be listed at run time.
func operations(t *testing.T) []constant {
	t.Helper()

	file, err := parser.ParseFile(token.NewFileSet(), "operations.go", nil, parser.SkipObjectResolution)
	require.NoError(t, err)

	var all []constant

	ast.Inspect(file, func(node ast.Node) bool {
		if spec, ok := node.(*ast.ValueSpec); ok {
			pattern, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
			require.NoError(t, err)

			all = append(all, constant{spec.Names[0].Name, spec.Type.(*ast.IndexListExpr).X.(*ast.Ident).Name, pattern})
		}

		return true
	})
	require.NotEmpty(t, all)

	return all
}

// document is the part of docs/openapi.json that the test needs.
type document struct {
	Paths map[string]map[string]struct {
		OperationID string `json:"operationId"`
		Parameters  []struct {
			Name string `json:"name"`
			In   string `json:"in"`
		} `json:"parameters"`
		Responses map[string]struct {
			Content map[string]struct {
				Schema schema `json:"schema"`
			} `json:"content"`
		} `json:"responses"`
	} `json:"paths"`
	Components struct {
		Schemas map[string]schema `json:"schemas"`
	} `json:"components"`
}

type schema struct {
	Ref        string         `json:"$ref"`
	Properties map[string]any `json:"properties"`
}

func TestOperationsAgreeWithDocument(t *testing.T) {
	t.Parallel()

	text, err := os.ReadFile("../../docs/openapi.json")
	require.NoError(t, err)

	var doc document

	require.NoError(t, json.Unmarshal(text, &doc))

	word := regexp.MustCompile(`\B[A-Z]`)

	for _, op := range operations(t) {
		words := strings.Fields(op.pattern)
		id := strings.ToLower(word.ReplaceAllString(op.name, "-$0"))

		documented, ok := doc.Paths[words[1]][strings.ToLower(words[0])]
		require.True(t, ok, "%s: the document has no %s %s", op.name, words[0], words[1])
		require.Equal(t, id, documented.OperationID, "%s %s", words[0], words[1])

		parameters := map[string]bool{}
		for _, p := range documented.Parameters {
			parameters[p.In+" "+p.Name] = true
		}

		require.Equal(t, op.kind == "Creation", parameters["header Idempotency-Key"], "%s: is it created once per key?", op.name)

		if op.kind != "Listing" {
			require.Len(t, words, 2, op.name)

			continue
		}

		answer := documented.Responses["200"].Content["application/json"].Schema
		if answer.Ref != "" {
			answer = doc.Components.Schemas[path.Base(answer.Ref)]
		}

		require.Contains(t, answer.Properties, words[2], op.name)
		require.Equal(t, parameters["query cursor"], len(words) > 3 && words[3] == "paged", "%s: is it paged?", op.name)
	}
}

func TestListReadsPagesUpToLimit(t *testing.T) {
	t.Parallel()

	var queries []string

	c := connect(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		queries = append(queries, r.URL.RawQuery)

		if r.URL.Query().Has("cursor") {
			reply(http.StatusOK, `{"notes":[{"id":"c"}],"next_cursor":"3"}`)(w, r)
		} else {
			reply(http.StatusOK, `{"notes":[{"id":"a"},{"id":"b"}],"next_cursor":"2","total":4}`)(w, r)
		}
	}), client.Config{})

	notes, err := client.All(client.List(t.Context(), c, client.ListNotes, client.NoteFilter{Statuses: []string{"done", "failed"}}, 3))
	require.NoError(t, err)
	require.Len(t, notes, 3)
	require.Equal(t, []string{"limit=3&status=done%2Cfailed", "cursor=2&limit=1&status=done%2Cfailed"}, queries)
}

func TestFilterIsSentAsQueryAndAsBody(t *testing.T) {
	t.Parallel()

	var query string

	c := connect(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		query = r.URL.RawQuery

		reply(http.StatusOK, `{"sessions":[]}`)(w, r)
	}), client.Config{})

	filter := client.Filter{Statuses: []string{"pending"}, Labels: []string{"a=1", "b=2"}, Approvals: tarsy.ApprovalWaiting}

	sessions, err := client.All(client.List(t.Context(), c, client.ListSessions, filter, 0))
	require.NoError(t, err)
	require.NotNil(t, sessions)
	require.Equal(t, "approvals="+string(tarsy.ApprovalWaiting)+"&label=a%3D1&label=b%3D2&limit=200&status=pending", query)
	require.Equal(t, map[string]any{"approvals": string(tarsy.ApprovalWaiting), "label": []string{"a=1", "b=2"}, "status": "pending"}, filter.Body())
}
