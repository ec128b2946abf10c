package api_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/api"
	"tarsy.dev/tarsy/internal/release"
)

func TestDocumentIsOpenAPI31AndDescribesProblem(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	got := f.request(t, http.MethodGet, "/openapi.json", "")
	require.JSONEq(t, string(f.api.OpenAPI()), got.body)

	var document struct {
		OpenAPI string `json:"openapi"`
		Info    struct{ Version string }
		Paths   map[string]map[string]struct {
			OperationID string `json:"operationId"`
			Summary     string `json:"summary"`
			Responses   map[string]struct {
				Content map[string]struct{ Schema map[string]any }
			}
		}
		Components struct {
			Schemas map[string]struct {
				Required   []string
				Properties map[string]map[string]any
			}
		}
	}
	require.NoError(t, json.Unmarshal([]byte(got.body), &document))
	require.Equal(t, "3.1.0", document.OpenAPI)
	require.Equal(t, "1.2.3", document.Info.Version)

	for path, methods := range document.Paths {
		for method, op := range methods {
			require.NotEmpty(t, op.OperationID, "%s %s", method, path)
			require.NotEmpty(t, op.Summary, "%s %s", method, path)
			require.Equal(t, "#/components/schemas/Problem",
				op.Responses["default"].Content["application/problem+json"].Schema["$ref"], "%s %s", method, path)
			require.GreaterOrEqual(t, len(op.Responses), 2, "%s %s", method, path)
		}
	}

	schemas := document.Components.Schemas
	require.ElementsMatch(t, []string{"type", "title", "status", "detail", "code"}, schemas["Problem"].Required)
	require.ElementsMatch(t, []string{"pending", "in_progress", "cancelling", "completed", "failed", "cancelled", "timed_out"},
		schemas["SessionItem"].Properties["status"]["enum"])
	require.Equal(t, "array", schemas["SessionList"].Properties["sessions"]["type"])
	require.NotContains(t, schemas, "ErrorModel")
	require.NotContains(t, got.body, "ErrorModel")
}

var update = flag.Bool("update", false, "write the table of codes in docs/api.md, and docs/openapi.json")

const (
	tableStart = "<!-- codes: written by go test ./internal/api -update -->\n"
	tableEnd   = "<!-- end of codes -->\n"
)

func TestReferenceListsEveryCodeAndEveryRoute(t *testing.T) {
	t.Parallel()

	const file = "../../docs/api.md"

	text, err := os.ReadFile(file)
	require.NoError(t, err)

	before, rest, ok := strings.Cut(string(text), tableStart)
	require.True(t, ok)

	table, after, ok := strings.Cut(rest, tableEnd)
	require.True(t, ok)

	var b strings.Builder

	b.WriteString("| status | code | meaning |\n| --- | --- | --- |\n")

	rows := api.CodeRows()
	slices.SortStableFunc(rows, func(x, y api.CodeRow) int { return x.Status - y.Status })

	for _, row := range rows {
		_, _ = fmt.Fprintf(&b, "| %d | `%s` | %s |\n", row.Status, row.Code, row.Title)
	}

	if *update {
		require.NoError(t, os.WriteFile(file, []byte(before+tableStart+b.String()+tableEnd+after), 0o600))
	} else {
		require.Equal(t, b.String(), table, "run go test ./internal/api -update")
	}

	var document struct {
		Paths map[string]map[string]map[string]any
	}

	require.NoError(t, json.Unmarshal(newFixture(t).api.OpenAPI(), &document))

	for path, methods := range document.Paths {
		for method, op := range methods {
			route := "`" + strings.ToUpper(method) + " " + path
			require.Contains(t, before, route, "docs/api.md lacks a route")

			role, _ := op["x-tarsy-role"].(string)
			require.Regexp(t, regexp.QuoteMeta(route)+`[^|]*`+"`"+` \| `+role+`\b`, before, "docs/api.md has another role")
		}
	}
}

func TestEveryCodeHasOneStatus(t *testing.T) {
	t.Parallel()

	source, err := os.ReadFile("../../error.go")
	require.NoError(t, err)

	declared := regexp.MustCompile(`(?m)^\tCode\w+\s.*= "(\w+)"$`).FindAllSubmatch(source, -1)
	require.NotEmpty(t, declared)

	seen := map[tarsy.Code]bool{}

	for _, row := range api.CodeRows() {
		require.False(t, seen[row.Code], row.Code)
		seen[row.Code] = true

		require.GreaterOrEqual(t, row.Status, http.StatusBadRequest)
		require.NotEmpty(t, http.StatusText(row.Status))
		require.NotEqual(t, http.StatusUnprocessableEntity, row.Status)
	}

	for _, match := range declared {
		require.True(t, seen[tarsy.Code(match[1])], "%s has no status", match[1])
	}
}

// The dashboard's types are generated from the committed document, so it must match the server's.
func TestCommittedOpenAPIDocumentIsCurrent(t *testing.T) {
	t.Parallel()

	const file = "../../docs/openapi.json"

	f := newFixture(t, func(cfg *api.Config) { cfg.Info.Version = release.Version })

	var document bytes.Buffer

	require.NoError(t, json.Indent(&document, f.api.OpenAPI(), "", "  "))
	document.WriteByte('\n')

	if *update {
		require.NoError(t, os.WriteFile(file, document.Bytes(), 0o600))
	}

	committed, err := os.ReadFile(file)
	require.NoError(t, err, "run go test ./internal/api -run OpenAPI -update")
	require.Equal(t, document.String(), string(committed), "run go test ./internal/api -run OpenAPI -update")
}

func TestEveryOperationListsItsErrors(t *testing.T) {
	t.Parallel()

	f := newFixture(t)

	for _, o := range f.operations(t) {
		request, err := http.NewRequestWithContext(t.Context(), o.method, strings.NewReplacer("{", "", "}", "").Replace(o.pattern), nil)
		require.NoError(t, err)

		_, codes := f.api.ErrorsOf(request)
		require.Contains(t, codes, tarsy.CodeInternal, "%s %s", o.method, o.pattern)
		require.Contains(t, codes, tarsy.CodeInvalidParameter, "%s %s", o.method, o.pattern)
	}

	patterns := map[string]bool{}
	for _, o := range f.operations(t) {
		patterns[o.method+" "+o.pattern] = true
	}

	for pattern := range api.OwnErrors() {
		require.True(t, patterns[pattern], "there is no operation %s", pattern)
	}
}
