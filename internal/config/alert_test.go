package config_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/config"
)

func TestReceiversHaveAddressesAndBuiltinsExist(t *testing.T) {
	t.Parallel()
	paths := func(text string) []string {
		var all []string
		for _, r := range mustLoad(t, text, nil).Receivers() {
			all = append(all, r.Path())
		}
		return all
	}
	builtin := []string{"/api/v1/webhooks/alertmanager/default", "/api/v1/webhooks/grafana/default"}
	require.Equal(t, builtin, paths(""))
	require.Equal(t, append([]string{builtin[0], "/api/v1/webhooks/generic/default"}, builtin[1]),
		paths("alerts: {receivers: {default: {source: generic}}}"), "a name belongs to its source")
	c := mustLoad(t, "alerts: {receivers: {default: {source: alertmanager, labels: {cluster: eu}}, oncall: {source: pagerduty, secret_env: S}}}", nil)
	require.Len(t, c.Receivers(), 3)
	r, ok := c.Receiver("alertmanager", "default")
	require.True(t, ok)
	require.Equal(t, "eu", r.Labels["cluster"], "a built-in receiver can be configured")
	_, ok = c.Receiver("grafana", "oncall")
	require.False(t, ok)
	c2 := mustLoad(t, "alerts: {receivers: {a: {source: generic, mapping: {title: '{{.name}} {{.a.b}}'}}}}", map[string]string{"name": "x"})
	require.Equal(t, "{{.name}} {{.a.b}}", c2.Alerts.Receivers["a"].Mapping.Title, "templates are not for variables of the environment")
	require.Equal(t, "alerts.receivers.oncall.secret_env", c.UnsetReceiverVariables(env(nil))[0].Path)
	require.Empty(t, c.UnsetReceiverVariables(env(map[string]string{"S": "x"})))
	require.Contains(t, c.Secrets(env(map[string]string{"S": "a-webhook-secret"})), "a-webhook-secret", "the masker hides it")
}

func TestMistakesInAlertsAreReported(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"receivers: {a/b: {source: grafana}}":                                                `alerts.receivers["a/b"]: not a valid name in a URL`,
		"receivers: {..: {source: grafana}}":                                                 "not a valid name in a URL",
		"write_back: {Chat: {url: 'https://a.example'}}":                                     "alerts.write_back.Chat: not a valid queue name",
		"write_back: {a: {}}":                                                                "alerts.write_back.a.url: is required",
		"write_back: {a: {url: 'ftp://a.example'}}":                                          "alerts.write_back.a.url: not an address",
		"write_back: {a: {url: 'https://a.example', from: x}}":                               "alerts.write_back.a.from: is only for the type pagerduty",
		"write_back: {a: {url: 'https://a.example', token_env: X}}":                          "alerts.write_back.a.token_env: is only for the type pagerduty",
		"write_back: {a: {url: 'https://a.example', on: [done]}}":                            "alerts.write_back.a.on[0]: unknown value",
		"write_back: {a: {url: 'https://a.example', match: [severity]}}":                     "alerts.write_back.a.match[0]: not a matcher",
		"write_back: {a: {url: 'https://a.example', headers: {'A B': x}}}":                   "not a valid HTTP header",
		"write_back: {a: {url: 'https://a.example', timeout: 1ms}}":                          "alerts.write_back.a.timeout: must be at least 100ms",
		"write_back: {a: {url: 'https://a.example', body: '{{.Nope}}'}}":                     "alerts.write_back.a.body: the template fails",
		"write_back: {a: {url: 'https://a.example', body: '{\"text\": \"{{.Title}}\"}'}}":    "alerts.write_back.a.body: does not make JSON",
		"write_back: {a: {type: teams}}":                                                     "alerts.write_back.a.url: is required",
		"write_back: {a: {type: mattermost}}":                                                "alerts.write_back.a.url: is required",
		"write_back: {a: {type: teams, url: 'https://a.example', token_env: X}}":             "alerts.write_back.a.token_env: is only for the type pagerduty",
		"write_back: {a: {type: mattermost, url: 'https://a.example', to: [a@example.org]}}": "alerts.write_back.a.to: is only for the type email",
		"write_back: {a: {type: teams, url: 'https://a.example', body: '{{.Nope}}'}}":        "alerts.write_back.a.body: the template fails",
		"write_back: {a: {type: pagerduty, from: a@example.org}}":                            "alerts.write_back.a.token_env: is required",
		"write_back: {a: {type: pagerduty, token_env: T}}":                                   "alerts.write_back.a.from: is required",
		"write_back: {a: {type: pagerduty, token_env: T, from: a@example.org, body: '{{'}}":  "alerts.write_back.a.body: invalid template",
		"receivers: {a: {}}":                                                                                        "alerts.receivers.a.source: is required",
		"receivers: {a: {source: nagios}}":                                                                          "alerts.receivers.a.source: unknown value",
		"receivers: {a: {source: pagerduty}}":                                                                       "alerts.receivers.a.secret_env: is required",
		"receivers: {a: {source: grafana, token_env: 'a b'}}":                                                       "alerts.receivers.a.token_env: not the name of an environment variable",
		"receivers: {a: {source: grafana, alert_type: nope}}":                                                       "alerts.receivers.a.alert_type: unknown alert type",
		"receivers: {a: {source: grafana, mapping: {title: x}}}":                                                    "alerts.receivers.a.mapping: is only for the source generic",
		"receivers: {a: {source: generic, mapping: {links: {x: y}}}}":                                               "alerts.receivers.a.mapping.links.x: unknown kind of link",
		"receivers: {a: {source: generic, mapping: {title: '{{.x'}}}":                                               "alerts.receivers.a.mapping.title: invalid template",
		"receivers: {a: {source: generic, mapping: {title: $.x}}}":                                                  "alerts.receivers.a.mapping.title: not a path",
		"receivers: {a: {source: generic, mapping: {alerts: '{{.items}}'}}}":                                        "alerts.receivers.a.mapping.alerts: a path is expected",
		"receivers: {a: {source: generic, mapping: {links: {panel: 'a[0]'}}}}":                                      "alerts.receivers.a.mapping.links.panel: not a path",
		"routes: [{match: [severity]}]":                                                                             "alerts.routes[0].match[0]: not a matcher (no operator",
		"routes: [{match: ['a=~\"(\"']}]":                                                                           "alerts.routes[0].match[0]: not a matcher (invalid regular expression",
		"routes: [{alert_type: nope}]":                                                                              "alerts.routes[0].alert_type: unknown alert type",
		"routes: [{chain: kubernets}]":                                                                              "alerts.routes[0].chain: unknown agent chain \"kubernets\" (did you mean kubernetes?",
		"routes: [{severity: bad}]":                                                                                 "alerts.routes[0].severity: unknown value",
		"routes: [{mcp_servers: [nope]}]":                                                                           "alerts.routes[0].mcp_servers[0]: unknown MCP server",
		"group_by: []":                                                                                              "alerts.group_by: is empty",
		"group_by: ['']":                                                                                            "alerts.group_by[0]: a label needs a name",
		"deduplicate: {window: -1s}":                                                                                "alerts.deduplicate.window: must be at least 0s",
		"storm: {threshold: -1}":                                                                                    "alerts.storm.threshold: must be at least 0",
		"resolved: {flapping_after: 1}":                                                                             "alerts.resolved.flapping_after: must be at least 2",
		"maintenance: [{match: [a=b], days: [monday]}]":                                                             "alerts.maintenance[0].name: is required",
		"maintenance: [{name: m, match: [a=b]}]":                                                                    "alerts.maintenance[0]: set start and end, or days with from and to",
		"maintenance: [{name: m, match: [a=b], from: '1:00', to: '2:00'}]":                                          "set start and end, or days with from and to",
		"maintenance: [{name: m, match: [a=b], start: 2026-11-15T22:00:00Z, days: [monday]}]":                       "set start and end, or days with from and to",
		"maintenance: [{name: m, match: [a=b], start: yesterday, end: 2026-11-15T22:00:00Z}]":                       "start must be a time",
		"maintenance: [{name: m, match: [a=b], start: 2026-11-15T22:00:00Z, end: soon}]":                            "end must be a time",
		"maintenance: [{name: m, match: [a=b], start: 2026-11-15T22:00:00Z, end: 2026-11-15T22:00:00Z}]":            "end must be after start",
		"maintenance: [{name: m, match: [a=b], days: [mon], from: '22:00', to: '23:00'}]":                           "alerts.maintenance[0].days[0]: unknown value",
		"maintenance: [{name: m, match: [a=b], days: [monday], from: '25:00', to: '23:00'}]":                        "from must be a time of day",
		"maintenance: [{name: m, match: [a=b], days: [monday], from: '22:00', to: late}]":                           "to must be a time of day",
		"maintenance: [{name: m, match: [a=b], days: [monday], from: '22:00', to: '23:00', zone: Europe/Atlantis}]": "zone must be a time zone",
		"maintenance: [{name: m, match: [], start: 2026-11-15T22:00:00Z, end: 2026-11-15T23:00:00Z}]":               "alerts.maintenance[0].match: is required",
	} {
		_, err := load("alerts: {"+text+"}", nil)
		require.ErrorContains(t, err, want, text)
	}
}

func TestMaintenanceTimesAreRead(t *testing.T) {
	t.Parallel()
	times, err := config.Maintenance{Start: "2026-11-15T22:00:00+01:00", End: "2026-11-15T22:00:00Z"}.Times()
	require.NoError(t, err)
	require.Equal(t, time.Hour, times.End.Sub(times.Start))

	times, err = config.Maintenance{Days: []string{"saturday", "sunday"}, From: "22:30", To: "02:00", Zone: "Europe/Berlin"}.Times()
	require.NoError(t, err)
	require.Equal(t, []time.Weekday{time.Sunday, time.Saturday}, times.Days)
	require.Equal(t, 22*time.Hour+30*time.Minute, times.From)
	require.Equal(t, 2*time.Hour, times.To)
	require.Equal(t, "Europe/Berlin", times.Zone.String())
}

func TestTargetsOfWriteBackHideTheirAddress(t *testing.T) {
	t.Parallel()
	c := mustLoad(t, "alerts: {write_back: {chat: {url: 'https://chat.example.org/hooks/T00/secret', headers: {Content-Type: text/plain}, body: '{{.Title}}'}, "+
		"oncall: {type: pagerduty, token_env: T, from: a@example.org, on: [failed]}}}", nil)
	for _, value := range c.Origins() {
		require.NotContains(t, value.Value, "secret", value.Path)
	}
	chat := c.Alerts.WriteBack["chat"]
	require.Equal(t, "https://chat.example.org/hooks/T00/secret", chat.URL.Reveal())
	require.Equal(t, "{{.Title}}", chat.Body, "templates are not for variables of the environment")
	require.Equal(t, []string{"started", "finished", "failed"}, chat.Events())
	require.Equal(t, []string{"failed"}, c.Alerts.WriteBack["oncall"].Events())
	require.Equal(t, "alerts.write_back.oncall.token_env", c.UnsetWriteBackVariables(env(nil))[0].Path)
	require.Empty(t, c.UnsetWriteBackVariables(env(map[string]string{"T": "x"})))
	require.Contains(t, c.Secrets(env(map[string]string{"T": "a-pagerduty-key"})), "a-pagerduty-key", "the masker hides it")
}
