package e2e

import (
	"fmt"
	"maps"
	"net/http"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/tarsytest"
)

// match is the result of comparing a value with what was expected.
type match int

const (
	differs match = iota
	fits
	same // compared as a whole, so that everything inside it is covered too
)

// is checks one value of a JSON body.
type is func(value any) match

func that(holds func(value any) bool) is {
	return func(value any) match {
		if holds(value) {
			return fits
		}

		return differs
	}
}

func equal(want any) is {
	return func(value any) match {
		if reflect.DeepEqual(want, value) {
			return same
		}

		return differs
	}
}

// missing is the value of a field that is absent.
type missing struct{}

func isAbsent(value any) match { return equal(missing{})(value) }

func isNull(value any) match { return equal(nil)(value) }

func isID(value any) match {
	return that(func(any) bool { text, ok := value.(string); return ok && ident.Valid(text) })(value)
}

// isTime checks for a recent time of the real clock.
func isTime(value any) match {
	return that(func(any) bool {
		text, _ := value.(string)
		at, err := time.Parse(time.RFC3339Nano, text)

		return err == nil && time.Since(at).Abs() < time.Hour
	})(value)
}

// minute checks for a time of the fake clock.
func minute(n int) is { return equal(fmt.Sprintf("2030-03-01T12:%02d:00Z", n)) }

func list(length int) is {
	return that(func(value any) bool { items, ok := value.([]any); return ok && len(items) == length })
}

func oneOf(texts []string) is {
	return that(func(value any) bool { text, ok := value.(string); return ok && slices.Contains(texts, text) })
}

// lengthOf checks for the length of a text as browsers count it.
func lengthOf(text any) is {
	s, _ := text.(string)

	return equal(float64(len(utf16.Encode([]rune(s)))))
}

// contracts are the schemas of the API's document, and which of their fields were seen with a value: a field that is empty
// wherever a test sees it may as well be one that the server never sets.
type contracts struct {
	document document

	mu      sync.Mutex
	covered map[string]bool // Schema.field
}

func newContracts(t *testing.T) *contracts {
	t.Helper()

	raw, err := os.ReadFile("../docs/openapi.json")
	require.NoError(t, err)

	return &contracts{document: decode[document](raw), covered: map[string]bool{}}
}

// require checks a body field by field. The table must have exactly the fields of the schema, and the body exactly those of
// the table, with the documented types: a field that is added, renamed or removed anywhere is found.
func (c *contracts) require(t *testing.T, name string, body any, fields map[string]is) {
	t.Helper()

	properties, _ := c.document.Components.Schemas[name]["properties"].(map[string]any)
	require.ElementsMatch(t, slices.Collect(maps.Keys(properties)), slices.Collect(maps.Keys(fields)), "the table is not that of %s", name)
	c.requireSome(t, name, body, fields)
}

// requireSome checks some fields of a body, and the types of all fields.
func (c *contracts) requireSome(t *testing.T, name string, body any, fields map[string]is) {
	t.Helper()

	object, ok := body.(map[string]any)
	require.True(t, ok, "%s is %T", name, body)
	require.Empty(t, c.document.check(name, c.document.Components.Schemas[name], body))

	properties, _ := c.document.Components.Schemas[name]["properties"].(map[string]any)

	for field, holds := range fields {
		property, ok := properties[field].(map[string]any)
		require.True(t, ok, "%s has no field %s", name, field)

		value := valueOf(object, field)
		found := holds(value)
		require.NotEqual(t, differs, found, "%s.%s is %#v", name, field, value)
		c.cover(name+"."+field, property, value, found == same)
	}
}

func valueOf(object map[string]any, field string) any {
	if value, there := object[field]; there {
		return value
	}

	return missing{}
}

// cover records that a field has its expected value, and, if the value was compared as a whole, those inside it too.
func (c *contracts) cover(at string, s schema, value any, whole bool) {
	if isEmpty(value) {
		return
	}

	c.mu.Lock()
	c.covered[at] = true
	c.mu.Unlock()

	if whole {
		c.coverInside(at, s, value)
	}
}

func (c *contracts) coverInside(at string, s schema, value any) {
	if ref, ok := s["$ref"].(string); ok {
		name := strings.TrimPrefix(ref, "#/components/schemas/")
		c.coverInside(name, c.document.Components.Schemas[name], value)

		return
	}

	choices, _ := s["anyOf"].([]any)
	for _, choice := range choices {
		if option, _ := choice.(map[string]any); option["$ref"] != nil {
			c.coverInside(at, option, value)
		}
	}

	switch v := value.(type) {
	case []any:
		items, _ := s["items"].(map[string]any)
		for _, item := range v {
			c.coverInside(at, items, item)
		}
	case map[string]any:
		properties, _ := s["properties"].(map[string]any)
		rest, open := s["additionalProperties"].(map[string]any)

		for name, item := range v {
			property, known := properties[name].(map[string]any)

			switch {
			case known:
				c.cover(at+"."+name, property, item, true)
			case open:
				c.cover(at+"."+name, rest, item, true)
			}
		}
	}
}

// isEmpty reports whether a value is absent, null, empty or zero.
func isEmpty(value any) bool {
	switch v := value.(type) {
	case nil, missing:
		return true
	case []any:
		return len(v) == 0
	case map[string]any:
		return len(v) == 0
	default:
		return reflect.ValueOf(v).IsZero()
	}
}

// requireFields checks a message that the document does not describe.
func requireFields(t *testing.T, name string, body any, fields map[string]is) {
	t.Helper()

	object, ok := body.(map[string]any)
	require.True(t, ok, "%s is %T", name, body)
	require.ElementsMatch(t, slices.Collect(maps.Keys(fields)), slices.Collect(maps.Keys(object)), "the fields of %s", name)

	for field, holds := range fields {
		require.NotEqual(t, differs, holds(object[field]), "%s.%s is %#v", name, field, object[field])
	}
}

func get(t *testing.T, app *tarsytest.App, path string) map[string]any {
	t.Helper()

	answer := app.Do(http.MethodGet, path, nil)
	require.Equal(t, http.StatusOK, answer.Status, "%s", answer.Body)

	return decode[map[string]any](answer.Body)
}

// within walks into a body by field names and list indexes.
func within(t *testing.T, body any, path ...any) map[string]any {
	t.Helper()

	for _, step := range path {
		switch at := step.(type) {
		case string:
			object, ok := body.(map[string]any)
			require.True(t, ok, "%v of %T", at, body)

			body = object[at]
		case int:
			items, ok := body.([]any)
			require.True(t, ok && at < len(items), "item %d of %v", at, body)

			body = items[at]
		}
	}

	object, ok := body.(map[string]any)
	require.True(t, ok, "%v is %T", path, body)

	return object
}
