package alert_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/alert"
	"tarsy.dev/tarsy/internal/config"
)

func readMapped(t *testing.T, m config.Mapping, body string) []tarsy.Alert {
	t.Helper()

	delivery, err := alert.Read(config.Receiver{Name: "g", Source: "generic", Mapping: m}, []byte(body), config.AlertFields{}, nil)
	require.NoError(t, err)

	for _, a := range delivery.Alerts {
		requireBounded(t, a)
		requireReadable(t, a)
	}

	return delivery.Alerts
}

func TestMappingFollowsPathsAndTemplates(t *testing.T) {
	t.Parallel()

	const body = `{"a": {"b": ["zero", {"c": "deep"}], "x.y": "dotted"}, "n": 12345678901234567890, "f": 1.50, "yes": true, "none": null, "list": [1, "two"]}`

	for text, want := range map[string]string{
		"a.b.0":                           "zero",
		"a.b.1.c":                         "deep",
		"a.x.y":                           "dotted",
		"n":                               "12345678901234567890",
		"f":                               "1.50",
		"yes":                             "true",
		"list":                            `[1,"two"]`,
		"a.b.2":                           "",
		"a.b.-1":                          "",
		"a.b.x":                           "",
		"a.b.0.c":                         "",
		"none":                            "",
		"none.deeper":                     "",
		"missing":                         "",
		"{{.a.x}}":                        "",
		"{{.missing}}":                    "",
		"{{.missing.deeper.still}}":       "",
		"n={{.n}} {{index .list 1}}":      "n=12345678901234567890 two",
		"{{upper (index .a.b 0)}}":        "ZERO",
		`{{default "x" .none}}`:           "x",
		`{{range .list}}{{.}};{{end}}`:    "1;two;",
		`{{if .yes}}on{{else}}off{{end}}`: "on",
		`{{index .list 9}}`:               "",
		`{{printf "%s" (lower "ABC")}}`:   "abc",
		` {{.a.b}} `:                      `[zero map[c:deep]]`,
	} {
		a := readMapped(t, config.Mapping{Team: text}, body)[0]
		require.Equal(t, want, a.Facts.Team, text)
	}
}

func TestGenericBodyIsAlertOrListIncludingResolved(t *testing.T) {
	t.Parallel()

	require.Len(t, readMapped(t, config.Mapping{}, `{"title": "one"}`), 1)
	require.Len(t, readMapped(t, config.Mapping{}, `[{"title": "one"}, {"title": "two"}]`), 2)
	require.Len(t, readMapped(t, config.Mapping{Alerts: "a.0"}, `{"a": [[{"n": 1}, {"n": 2}, {"n": 3}]]}`), 3)
	require.Len(t, readMapped(t, config.Mapping{Alerts: "a"}, `{"a": {"title": "one"}}`), 1)
	require.Empty(t, readMapped(t, config.Mapping{Alerts: "a"}, `{"a": []}`))

	_, err := alert.Read(config.Receiver{Source: "generic", Mapping: config.Mapping{Alerts: "a.b"}}, []byte(`{"a": {}}`), config.AlertFields{}, nil)
	require.ErrorContains(t, err, "no list of alerts at a.b")
	require.Equal(t, tarsy.CodeMissingField, tarsy.CodeOf(err))

	for body, want := range map[string]bool{
		`{"title": "x", "status": "Resolved"}`: true,
		`{"title": "x", "state": "OK"}`:        true,
		`{"title": "x", "status": "closed"}`:   true,
		`{"title": "x", "status": "firing"}`:   false,
		`{"title": "x"}`:                       false,
	} {
		require.Equal(t, want, readMapped(t, config.Mapping{}, body)[0].Resolved, body)
	}

	fine := readMapped(t, config.Mapping{Status: "s", Resolved: []string{"fine"}}, `[{"s": "Fine", "status": "firing"}, {"s": "ok", "status": "ok"}]`)
	require.True(t, fine[0].Resolved)
	require.False(t, fine[1].Resolved, "only the configured words and field count")
}

func TestGenericFingerprintStaysWhenTheAlertIsOver(t *testing.T) {
	t.Parallel()

	of := func(m config.Mapping, body string) string { return readMapped(t, m, body)[0].Facts.Fingerprint }

	require.Equal(t,
		of(config.Mapping{}, `{"title": "Disk full", "labels": {"host": "a"}, "status": "firing", "value": 93}`),
		of(config.Mapping{}, `{"title": "Disk full", "labels": {"host": "a"}, "status": "ok", "value": 12}`))
	require.NotEqual(t,
		of(config.Mapping{}, `{"title": "Disk full", "labels": {"host": "a"}}`),
		of(config.Mapping{}, `{"title": "Disk full", "labels": {"host": "b"}}`))
	require.NotEqual(t, of(config.Mapping{}, `{"title": "Disk full"}`), of(config.Mapping{}, `{"title": "Disk empty"}`))
	require.NotEqual(t, of(config.Mapping{}, `{"x": 1}`), of(config.Mapping{}, `{"x": 2}`), "by text, if there is nothing else")
	require.Equal(t, "generic/g:42-b", of(config.Mapping{Fingerprint: "{{.id}}-{{.kind}}"}, `{"id": 42, "kind": "b"}`))
}

func TestBodiesWithoutContentAreRefused(t *testing.T) {
	t.Parallel()

	for _, body := range []string{
		``, " \n", `{}`, `[]`, `null`, `""`, `"  "`, `[{}]`, `[null]`, `{"alert": {}}`, `{"title": "", "labels": {}, "tags": [], "text": null}`, `{"a": [[{"b": "\u200b"}]]}`,
	} {
		_, err := read("generic", body)
		require.Equal(t, tarsy.CodeEmptyAlert, tarsy.CodeOf(err), "%q: %v", body, err)
		require.ErrorContains(t, err, "contains no alert", body)
	}

	_, err := read("generic", `[{"title": "Disk full"}, {"title": ""}]`)
	require.Equal(t, tarsy.CodeEmptyAlert, tarsy.CodeOf(err))
	require.ErrorContains(t, err, "Alert 2 of 2 contains nothing")

	for _, body := range []string{`{"value": 0}`, `{"up": false}`, `{"a": [null, {"b": "x"}]}`, `[["x"]]`} {
		_, err := read("generic", body)
		require.NoError(t, err, body)
	}
}

func TestTimesAreReadInEveryForm(t *testing.T) {
	t.Parallel()

	for value, want := range map[string]string{
		`"2026-11-16T10:00:00Z"`:        "2026-11-16 10:00:00",
		`"2026-11-16T12:00:00.5+02:00"`: "2026-11-16 10:00:00.5",
		`1794823200`:                    "2026-11-16 10:00:00",
		`1794823200000`:                 "2026-11-16 10:00:00",
		`"1794823200"`:                  "2026-11-16 10:00:00",
		`1794823200.25`:                 "2026-11-16 10:00:00.25",
		`"0001-01-01T00:00:00Z"`:        "",
		`0`:                             "",
		`-5`:                            "",
		`1e300`:                         "",
		`"NaN"`:                         "",
		`"Inf"`:                         "",
		`"yesterday"`:                   "",
		`null`:                          "",
		`{}`:                            "",
	} {
		got := readMapped(t, config.Mapping{StartsAt: "at"}, `{"n": 1, "at": `+value+`}`)[0].Facts.StartsAt
		if want == "" {
			require.Nil(t, got, value)

			continue
		}

		require.NotNil(t, got, value)
		require.Equal(t, want, got.Format("2006-01-02 15:04:05.999"), value)
	}
}

func TestMistakesInMappingsNameTheKey(t *testing.T) {
	t.Parallel()

	for want, m := range map[string]config.Mapping{
		"title: ":           {Title: "{{.a"},
		"severity: ":        {Severity: "{{nosuch .a}}"},
		"links.panel: ":     {Links: map[string]string{"panel": "{{end}}"}},
		"links.image: ":     {Links: map[string]string{"image": "a"}},
		"alerts: a path is": {Alerts: "{{.a}}"},
		"labels: a path is": {Labels: "{{.a}}"},
	} {
		_, err := alert.Read(config.Receiver{Name: "g", Source: "generic", Mapping: m}, []byte(`{}`), config.AlertFields{}, nil)
		require.ErrorContains(t, err, want)
	}

	_, err := alert.Read(config.Receiver{Name: "g", Source: "generic", Mapping: config.Mapping{Title: "{{"}}, []byte(`{}`), config.AlertFields{}, nil)
	require.ErrorContains(t, err, "mapping of the receiver generic/g: title")
	require.Equal(t, tarsy.CodeInternal, tarsy.CodeOf(err), "not the sender's fault")
}
