package e2e

import (
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/tarsytest"
)

// document is the part of the server's OpenAPI document that the tests read.
type document struct {
	OpenAPI    string                          `json:"openapi"`
	Paths      map[string]map[string]operation `json:"paths"`
	Components struct {
		Schemas map[string]schema `json:"schemas"`
	} `json:"components"`
}

// operation is one operation; the key of Responses is a status or "default".
type operation struct {
	OperationID string                `json:"operationId"`
	Security    []map[string][]string `json:"security"`
	RequestBody struct {
		Content map[string]struct {
			Schema schema `json:"schema"`
		} `json:"content"`
	} `json:"requestBody"`
	Responses map[string]struct {
		Content map[string]struct {
			Schema schema `json:"schema"`
		} `json:"content"`
	} `json:"responses"`

	method, path string
}

// schema is a JSON Schema with the features that the document uses.
type schema map[string]any

func readDocument(t *testing.T, app *tarsytest.App) document {
	t.Helper()

	answer := app.Do(http.MethodGet, "/openapi.json", nil)
	require.Equal(t, http.StatusOK, answer.Status, "body: %s", answer.Body)

	return decode[document](answer.Body)
}

// operations returns all operations of the document, by id.
func (d document) operations() map[string]operation {
	all := map[string]operation{}

	for path, methods := range d.Paths {
		for method, op := range methods {
			op.method, op.path = strings.ToUpper(method), path
			all[op.OperationID] = op
		}
	}

	return all
}

// success returns the only status of an operation that is not an error.
func (o operation) success(t *testing.T) int {
	t.Helper()

	statuses := slices.DeleteFunc(slices.Collect(maps.Keys(o.Responses)), func(s string) bool { return s == "default" || s >= "400" })
	require.Len(t, statuses, 1, o.OperationID)

	status, err := strconv.Atoi(statuses[0])
	require.NoError(t, err)

	return status
}

// scope returns the scope that the operation needs; empty means that it needs no key.
func (o operation) scope() string {
	for _, needed := range o.Security {
		for _, scopes := range needed {
			return scopes[0]
		}
	}

	return ""
}

// address fills in the parameters of the path in order; the last id is used for all that are left.
func (o operation) address(ids ...string) string {
	return regexp.MustCompile(`\{\w+\}`).ReplaceAllStringFunc(o.path, func(string) string {
		id := ids[0]
		if len(ids) > 1 {
			ids = ids[1:]
		}

		return id
	})
}

// check returns where a value violates the schema. Fields that the schema does not have are violations too.
func (d document) check(at string, s schema, value any) []string {
	if ref, ok := s["$ref"].(string); ok {
		return d.check(at, d.Components.Schemas[strings.TrimPrefix(ref, "#/components/schemas/")], value)
	}

	if choices, ok := s["anyOf"].([]any); ok {
		return d.checkAny(at, choices, value)
	}

	if allowed, ok := s["enum"].([]any); ok && !slices.Contains(allowed, value) {
		return []string{fmt.Sprintf("%s is %v, not one of %v", at, value, allowed)}
	}

	if !slices.ContainsFunc(typesOf(s), func(kind string) bool { return isKind(kind, value) }) {
		return []string{fmt.Sprintf("%s is %T, not %v", at, value, typesOf(s))}
	}

	switch v := value.(type) {
	case []any:
		var wrong []string

		items, _ := s["items"].(map[string]any)
		for i, item := range v {
			wrong = append(wrong, d.check(fmt.Sprintf("%s[%d]", at, i), items, item)...)
		}

		return wrong
	case map[string]any:
		return d.checkObject(at, s, v)
	default:
		return nil
	}
}

func (d document) checkAny(at string, choices []any, value any) []string {
	var wrong []string

	for _, choice := range choices {
		option, _ := choice.(map[string]any)

		mistakes := d.check(at, option, value)
		if len(mistakes) == 0 {
			return nil
		}

		wrong = append(wrong, mistakes...)
	}

	return wrong
}

func (d document) checkObject(at string, s schema, object map[string]any) []string {
	var wrong []string

	properties, _ := s["properties"].(map[string]any)
	required, _ := s["required"].([]any)

	for _, name := range required {
		if _, ok := object[fmt.Sprint(name)]; !ok {
			wrong = append(wrong, fmt.Sprintf("%s.%s is missing", at, name))
		}
	}

	for name, value := range object {
		property, ok := properties[name].(map[string]any)

		switch {
		case ok:
			wrong = append(wrong, d.check(at+"."+name, property, value)...)
		case properties != nil:
			wrong = append(wrong, fmt.Sprintf("%s.%s is not documented", at, name))
		}
	}

	return wrong
}

func typesOf(s schema) []string {
	switch kinds := s["type"].(type) {
	case string:
		return []string{kinds}
	case []any:
		names := make([]string, len(kinds))
		for i, kind := range kinds {
			names[i] = fmt.Sprint(kind)
		}

		return names
	default:
		return []string{"anything"}
	}
}

func isKind(kind string, value any) bool {
	switch v := value.(type) {
	case nil:
		return kind == "null" || kind == "anything"
	case bool:
		return kind == "boolean" || kind == "anything"
	case float64:
		return kind == "number" || kind == "anything" || kind == "integer" && v == float64(int64(v))
	case string:
		return kind == "string" || kind == "anything"
	case []any:
		return kind == "array" || kind == "anything"
	default:
		return kind == "object" || kind == "anything"
	}
}
