package alert_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/alert"
	"tarsy.dev/tarsy/internal/config"
)

// hostile returns parts of bodies that break parsers.
func hostile() map[string]string {
	var labels strings.Builder
	for i := range 2_000 {
		fmt.Fprintf(&labels, `"label_%05d": "value", `, i)
	}

	return map[string]string{
		"NUL":              `{"alertname": "a\u0000b", "na\u0000me": "\u0000", "pod": "\u0000\u0000"}`,
		"invalid UTF-8":    "{\"alertname\": \"a\xff\xfeb\", \"\xff\": \"x\"}",
		"lone surrogate":   `{"alertname": "a\ud800b"}`,
		"directions":       "{\"alertname\": \"a\u202eb\u2066c\", \"x\u200by\": \"\u200b\"}",
		"line breaks":      `{"alertname": "a\nb\r\nc\u2028d", "x\ny": "1\n2"}`,
		"escape sequences": `{"alertname": "\u001b[2J\u001b]0;x\u0007"}`,
		"many labels":      `{` + labels.String() + `"namespace": "ns", "severity": "page", "alertname": "Many"}`,
		"long value":       `{"alertname": "` + strings.Repeat("a", 50_000) + `"}`,
		"long name":        `{"` + strings.Repeat("n", 50_000) + `": "x"}`,
		"duplicate keys":   `{"alertname": "first", "alertname": "last", "alertname": {"a": 1}, "alertname": "last"}`,
		"nested":           `{"alertname": ` + strings.Repeat(`[`, 90) + strings.Repeat(`]`, 90) + `}`,
		"wide and deep":    `{"x": ` + strings.Repeat(`[`, 90) + strings.Repeat("1,", 5_000) + "1" + strings.Repeat(`]`, 90) + `}`,
		"template":         `{"alertname": "{{.}} <no value> %s %!d"}`,
		"prototype":        `{"__proto__": {"a": 1}, "constructor": "x", "": "empty"}`,
		"blanks":           `{"alertname": "` + strings.Repeat(" ", 50_000) + `x"}`,
	}
}

func TestHostileBodiesBecomeBoundedAlerts(t *testing.T) {
	t.Parallel()

	for name, labels := range hostile() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			for source, body := range map[string]string{
				"alertmanager": `{"version": "4", "groupLabels": ` + labels + `, "alerts": [{"status": "firing", "labels": ` + labels + `, "annotations": ` + labels + `, "fingerprint": "a\u0000\n"}]}`,
				"grafana":      `{"title": "x", "commonLabels": ` + labels + `, "alerts": [{"labels": ` + labels + `, "values": ` + labels + `}]}`,
				"pagerduty":    `{"event": {"id": "1", "event_type": "incident.triggered", "data": {"title": "a\u0000b\nc", "service": ` + labels + `, "teams": [` + labels + `]}}}`,
				"generic":      `{"n": 1, "labels": ` + labels + `, "title": ` + labels + `, "x": ` + labels + `}`,
			} {
				delivery, err := alert.Read(config.Receiver{Name: "r", Source: source, Mapping: config.Mapping{}}, []byte(body), config.AlertFields{}, nil)
				require.NoError(t, err, source)
				require.Len(t, delivery.Alerts, 1)
				requireBounded(t, delivery.Alerts[0])
				requireReadable(t, delivery.Alerts[0])
			}
		})
	}
}

func TestLabelLimitKeepsLabelsUsedForFacts(t *testing.T) {
	t.Parallel()

	delivery, err := read("alertmanager", `{"version": "4", "alerts": [{"labels": `+hostile()["many labels"]+`}]}`)
	require.NoError(t, err)

	f := delivery.Alerts[0].Facts
	require.Len(t, f.Labels, tarsy.MaxLabels)
	require.Equal(t, "Many", f.Labels["alertname"])
	require.Equal(t, "ns", f.Namespace)
	require.Equal(t, "ns", f.Labels["namespace"])
	require.Equal(t, "page", f.Labels["severity"])
	require.Equal(t, tarsy.SeverityCritical, f.Severity)
	require.Contains(t, delivery.Alerts[0].Data, "label_01999", "the text has them all")
}

func TestLastOfDuplicateKeysCounts(t *testing.T) {
	t.Parallel()

	for _, source := range []string{"alertmanager", "grafana"} {
		delivery, err := read(source, `{"alerts": [], "alerts": [{"status": "firing", "labels": {"alertname": "first", "alertname": "last"}, "status": "resolved"}]}`)
		require.NoError(t, err)
		require.Equal(t, "last", delivery.Alerts[0].Facts.Labels["alertname"])
		require.True(t, delivery.Alerts[0].Resolved)
	}

	delivery, err := read("generic", `{"title": "first", "title": "last"}`)
	require.NoError(t, err)
	require.Equal(t, "last", delivery.Alerts[0].Facts.Title)
}

func TestDeepNestingIsRefused(t *testing.T) {
	t.Parallel()

	for _, depth := range []int{101, 200_000} {
		deep := strings.Repeat(`{"a":`, depth) + `1` + strings.Repeat(`}`, depth)

		for _, source := range webhookSources() {
			_, err := read(string(source), deep)
			require.Equal(t, tarsy.CodeInvalidJSON, tarsy.CodeOf(err))
			require.ErrorContains(t, err, "nested deeper than 100 levels")
		}

		a := tarsy.Alert{Data: deep}
		alert.Complete(&a, config.AlertFields{}, nil)
		requireBounded(t, a)
	}
}

func TestTextOfManyAlertsDoesNotRepeatALargeGroup(t *testing.T) {
	t.Parallel()

	const alerts = 500

	large := strings.Repeat("x", 50_000)
	body := `{"version": "4", "truncatedAlerts": 7, "groupLabels": {"a": "` + large + `"}, "commonAnnotations": {"b": "` + large + `"}, "alerts": [` +
		strings.TrimSuffix(strings.Repeat(`{"labels": {"alertname": "A"}},`, alerts), ",") + `]}`

	delivery, err := read("alertmanager", body)
	require.NoError(t, err)
	require.Len(t, delivery.Alerts, alerts)

	size := 0
	for _, a := range delivery.Alerts {
		size += len(a.Data)
	}

	require.Less(t, size, 10*len(body))
	require.Contains(t, delivery.Alerts[0].Data, `"alerts": 500`)
	require.Contains(t, delivery.Alerts[0].Data, `"truncated_alerts": 7`)
}

func TestTooManyAlertsAreRefusedNotDropped(t *testing.T) {
	t.Parallel()

	list := func(n int) string { return `{"alerts": [` + strings.TrimSuffix(strings.Repeat(`{},`, n), ",") + `]}` }

	for _, source := range []string{"alertmanager", "generic"} {
		r := config.Receiver{Name: "r", Source: source}
		if source == "generic" {
			r.Mapping.Alerts = "alerts"
		}

		_, err := alert.Read(r, []byte(list(alert.MaxAlerts+1)), config.AlertFields{}, nil)
		require.Equal(t, tarsy.CodeTooLarge, tarsy.CodeOf(err))
		require.ErrorContains(t, err, "max_alerts")
	}

	delivery, err := read("alertmanager", list(alert.MaxAlerts))
	require.NoError(t, err)
	require.Len(t, delivery.Alerts, alert.MaxAlerts)
}

func TestTextOfAnAlertThatIsTooLargeIsCut(t *testing.T) {
	t.Parallel()

	delivery, err := read("alertmanager", `{"version": "4", "alerts": [{"labels": {"a": "begin`+strings.Repeat("é", tarsy.MaxAlertBytes*2/3)+`", "z": "end"}}]}`)
	require.NoError(t, err)

	text := delivery.Alerts[0].Data
	require.Contains(t, text, "begin")
	require.Contains(t, text, `"z":"end"`)
	require.Contains(t, text, "left out")
	requireReadable(t, delivery.Alerts[0])
}

func TestInvisibleCharactersAreEscapedInTheText(t *testing.T) {
	t.Parallel()

	delivery, err := read("alertmanager", "{\"alerts\": [{\"labels\": {\"a\": \"x\u202ey\\u202e<b>&\"}}]}")
	require.NoError(t, err)
	require.Contains(t, delivery.Alerts[0].Data, `x\u202ey\u202e<b>&`)
}

// Reading any JSON body either fails with an error for the sender or returns bounded alerts, deterministically.
func TestAnyBodyIsReadTheSameWayTwice(t *testing.T) {
	t.Parallel()

	names := []string{
		"alerts", "labels", "annotations", "status", "startsAt", "event", "id", "event_type", "data", "title", "summary", "alertname", "severity", "links",
		"runbook_url", "version", "groupLabels", "values", "\u202e",
	}
	texts := []string{"", "firing", "resolved", "incident.triggered", "4", "https://example.com", "a\x00b", "\n", "critical", "2026-11-16T10:00:00Z", "\u202e"}

	var value func(t *rapid.T, depth int) any
	value = func(t *rapid.T, depth int) any {
		switch kind := rapid.IntRange(0, 6).Draw(t, "kind"); {
		case kind < 3 && depth > 0:
			object := map[string]any{}
			for range rapid.IntRange(0, 5).Draw(t, "size") {
				object[rapid.SampledFrom(names).Draw(t, "name")] = value(t, depth-1)
			}

			return object
		case kind == 3 && depth > 0:
			list := []any{}
			for range rapid.IntRange(0, 3).Draw(t, "size") {
				list = append(list, value(t, depth-1))
			}

			return list
		case kind == 4:
			return rapid.Float64Range(-1e9, 1e18).Draw(t, "number")
		case kind == 5:
			return nil
		default:
			return rapid.SampledFrom(texts).Draw(t, "text")
		}
	}

	rapid.Check(t, func(t *rapid.T) {
		body, err := json.Marshal(value(t, 5))
		require.NoError(t, err)

		for _, source := range webhookSources() {
			first, err := read(string(source), string(body))
			if err != nil {
				require.NotEqual(t, tarsy.CodeInternal, tarsy.CodeOf(err), "%s: %v", body, err)

				continue
			}

			again, err := read(string(source), string(bytes.Clone(body)))
			require.NoError(t, err)
			require.Equal(t, first, again)

			for _, a := range first.Alerts {
				requireBounded(t, a)
				requireReadable(t, a)
			}
		}

		a := tarsy.Alert{Data: string(body)}
		alert.Complete(&a, config.AlertFields{}, nil)
		requireBounded(t, a)

		once := a
		alert.Complete(&a, config.AlertFields{}, nil)
		require.Equal(t, once, a)
		alert.Recognize(body)
	})
}
