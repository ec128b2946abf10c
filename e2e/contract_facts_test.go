package e2e

import (
	"maps"
	"net/url"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/tarsytest"
)

// someFacts are the fields of what an alert is about, whatever it tells.
func someFacts() map[string]is {
	text := that(func(value any) bool { _, ok := value.(string); return ok })
	object := that(func(value any) bool { _, ok := value.(map[string]any); return ok })
	items := that(func(value any) bool { _, ok := value.([]any); return ok })

	return map[string]is{
		"title": text, "severity": text, "service": text, "namespace": text, "cluster": text, "team": text, "labels": object, "links": items,
		"starts_at": isNull, "fingerprint": text, "group_key": text, "source": equal("api"), "receiver": equal(""), "alert": isNull,
	}
}

// facts is a session whose alert tells everything, and to which everything happened. The rows are those that intake of alerts writes.
func (c *contracts) facts(t *testing.T) {
	app := tarsytest.New(t, everything())
	app.Script.Add(says("Analysed."), says("Summed up."))
	sessionID := app.Run("test", "an alert").ID
	earlier := tarsy.NewID()

	conn, err := pgx.Connect(t.Context(), app.Database)
	require.NoError(t, err)

	defer func() { require.NoError(t, conn.Close(t.Context())) }()

	_, err = conn.Exec(t.Context(), `
UPDATE sessions SET title = 'Checkout is slow', severity = 'critical', service = 'checkout', namespace = 'shop', cluster = 'eu-1', team = 'payments',
    labels = '{"env": "prod"}', links = '[{"kind": "runbook", "url": "https://runbooks.example/slow"}]', starts_at = '2030-03-01T12:00:00Z',
    fingerprint = '5f3a', group_key = 'shop', source = 'alertmanager', receiver = 'main' WHERE id = $1`, sessionID)
	require.NoError(t, err)
	_, err = conn.Exec(t.Context(), `
UPDATE session_list SET severity = 'critical', service = 'checkout', namespace = 'shop', cluster = 'eu-1', team = 'payments', fingerprint = '5f3a',
    words = words || label_words('{"env": "prod"}') WHERE session_id = $1`, sessionID)
	require.NoError(t, err)
	_, err = conn.Exec(t.Context(), `
INSERT INTO session_alerts (session_id, fingerprint, group_key, firing, occurrences, last_at, times, resolved_at, flapping, storm, members, firing_members,
    earlier_session_id)
VALUES ($1, '5f3a', 'shop', true, 12, '2030-03-01T12:05:00Z', '{2030-03-01T12:00:00Z,2030-03-01T12:05:00Z}', '2030-03-01T12:06:00Z', true, true, 3, 2, $2)`,
		sessionID, earlier)
	require.NoError(t, err)

	state := map[string]is{
		"firing": equal(true), "occurrences": equal(12.0), "last_at": minute(5), "times": equal([]any{"2030-03-01T12:00:00Z", "2030-03-01T12:05:00Z"}),
		"resolved_at": minute(6), "flapping": equal(true), "storm": equal(true), "members": equal(3.0), "firing_members": equal(2.0),
		"earlier_session_id": equal(earlier),
	}
	facts := map[string]is{
		"title": equal("Checkout is slow"), "severity": equal("critical"), "service": equal("checkout"), "namespace": equal("shop"), "cluster": equal("eu-1"),
		"team": equal("payments"), "labels": equal(map[string]any{"env": "prod"}),
		"links":     equal([]any{map[string]any{"kind": "runbook", "url": "https://runbooks.example/slow"}}),
		"starts_at": minute(0), "fingerprint": equal("5f3a"), "group_key": equal("shop"), "source": equal("alertmanager"), "receiver": equal("main"),
		"alert": isObject,
	}

	detail := get(t, app, "/api/v1/sessions/"+sessionID)
	c.requireSome(t, "SessionDetail", detail, facts)
	c.require(t, "AlertState", within(t, detail, "alert"), state)
	c.require(t, "AlertLink", within(t, detail, "links", 0), map[string]is{"kind": equal("runbook"), "url": equal("https://runbooks.example/slow")})

	filter := url.Values{
		"severity": {"critical"}, "service": {"checkout"}, "namespace": {"shop"}, "cluster": {"eu-1"}, "team": {"payments"}, "fingerprint": {"5f3a"},
		"label": {"env=prod"},
	}
	item := within(t, get(t, app, "/api/v1/sessions?"+filter.Encode()), "sessions", 0)
	c.requireSome(t, "SessionItem", item, facts)
	c.require(t, "AlertState", within(t, item, "alert"), maps.Clone(state))

	c.requireSome(t, "FilterOptions", get(t, app, "/api/v1/sessions/filter-options"), map[string]is{
		"services": equal([]any{"checkout"}), "namespaces": equal([]any{"shop"}), "clusters": equal([]any{"eu-1"}), "teams": equal([]any{"payments"}),
	})

	exported := get(t, app, "/api/v1/sessions/"+sessionID+"/export")
	c.requireSome(t, "SessionDetail", within(t, exported, "session"), facts)
}
