package field_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/alert/field"
)

// decoded decodes JSON the way alerts are decoded.
func decoded(t *testing.T, text string) any {
	t.Helper()

	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()

	var value any
	require.NoError(t, decoder.Decode(&value))

	return value
}

func TestFieldsFindTextByPathOrTemplate(t *testing.T) {
	t.Parallel()

	root := decoded(t, `{
		"cluster": "eu", "shared": {"team": "payments"},
		"alert": {
			"name": "Slow", "count": 12345678901234567890, "on": true, "none": null, "labels": {"app": "api", "app.kubernetes.io/name": "checkout"},
			"items": [{"title": "first"}, {"title": "second"}], "a.b": {"c": "dotted"}, "a": {"b": {"d": "nested"}}, "bad": "x\u0000y"
		}
	}`)
	item := root.(map[string]any)["alert"]

	for text, want := range map[string]string{
		"":                                   "",
		"name":                               "Slow",
		" name ":                             "Slow",
		"count":                              "12345678901234567890",
		"on":                                 "true",
		"none":                               "",
		"missing":                            "",
		"labels.app":                         "api",
		"labels.app.kubernetes.io/name":      "checkout",
		"labels.app.other":                   "",
		"items.1.title":                      "second",
		"items.2.title":                      "",
		"items.-1.title":                     "",
		"items.x":                            "",
		"items.0":                            `{"title":"first"}`,
		"a.b.c":                              "dotted",
		"a.b.d":                              "nested",
		"name.more":                          "",
		"bad":                                "xy",
		"cluster":                            "eu", // from the whole body
		"shared.team":                        "payments",
		"{{.name}} in {{.labels.app}}":       "Slow in api",
		"{{.missing}}":                       "",
		"{{.missing.deeper}}":                "",
		"{{.name.deeper}}":                   "",
		"{{upper .name}} {{lower .name}}":    "SLOW slow",
		`{{default "nobody" .missing}}`:      "nobody",
		`{{default "nobody" .name}}`:         "Slow",
		`{{default "none" .none}}`:           "none",
		"{{range .items}}{{.title}} {{end}}": "first second ",
	} {
		f, err := field.Parse(text)
		require.NoError(t, err, text)
		require.Equal(t, want, f.Text(item, root), text)
		require.Equal(t, text == "", f.Empty(), text)
	}
}

func TestPathsAndTemplatesThatCannotWorkAreRefused(t *testing.T) {
	t.Parallel()

	for _, text := range []string{"$.name", ".name", "name.", "items[0]", "{name}", "{{.name", "{{nope .name}}"} {
		_, err := field.Parse(text)
		require.Error(t, err, text)
	}

	require.NoError(t, field.CheckPath("items.0.labels"))
	require.Error(t, field.CheckPath("items[0]"))
	require.ErrorContains(t, field.CheckPath("{{.items}}"), "not a template")
}

func TestTemplateThatGrowsTooLargeHasNoText(t *testing.T) {
	t.Parallel()

	item := decoded(t, `{"text": "`+strings.Repeat("x", tarsy.MaxAlertBytes/2)+`"}`)

	for text, size := range map[string]int{"{{.text}}{{.text}}": tarsy.MaxAlertBytes, "{{.text}}{{.text}}!": 0} {
		f, err := field.Parse(text)
		require.NoError(t, err)
		require.Len(t, f.Text(item, item), size, text)
	}
}
