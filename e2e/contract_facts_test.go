package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
	"tarsy.dev/tarsy/tarsytest"
)

func isText(value any) match {
	return that(func(value any) bool { _, ok := value.(string); return ok })(value)
}

// someFacts checks the facts of an alert, whatever their values.
func someFacts() map[string]is {
	object := that(func(value any) bool { _, ok := value.(map[string]any); return ok })
	items := that(func(value any) bool { _, ok := value.([]any); return ok })

	return map[string]is{
		"title": isText, "severity": isText, "service": isText, "namespace": isText, "cluster": isText, "team": isText, "labels": object,
		"links": items, "starts_at": isNull, "fingerprint": isText, "group_key": isText, "source": equal("api"), "receiver": equal(""), "alert": isNull,
	}
}

const (
	alertRules = `
alerts: {receivers: {main: {source: alertmanager, alert_type: test}}, resolved: {flapping_after: 2}, storm: {threshold: 2}}
`
	slowCheckout = `{"version": "4", "groupKey": "{}", "status": "%s", "receiver": "tarsy", "alerts": [{"status": "%s", "fingerprint": "5f3a",
"labels": {"alertname": "Slow", "severity": "critical", "service": "checkout", "namespace": "shop", "cluster": "eu-1", "team": "payments"},
"annotations": {"summary": "Checkout is slow", "runbook_url": "https://runbooks.example/slow"}, "startsAt": "2030-03-01T%sZ"}]}`
)

// alerts returns a server that ann uses to receive alerts, with a model that answers every call immediately.
func alerts(t *testing.T) (*tarsytest.App, *clockwork.FakeClock) {
	t.Helper()

	options, clock := everything(), clockwork.NewFakeClockAt(beginning())
	options.Clock, options.RequireKey, options.Config = clock, true, options.Config+alertRules
	app := tarsytest.New(t, options)
	app.Token = app.Key("ann", tarsy.ScopeWrite)
	app.Script.RouteFunc(func(*llm.Request) bool { return true }, func(*llm.Request, int) script.Reply { return says("Done.") })

	return app, clock
}

// deliver posts an Alertmanager body and returns the response and its first alert.
func deliver(t *testing.T, app *tarsytest.App, body string) (result map[string]any, first tarsy.DeliveredAlert) {
	t.Helper()

	answer := app.Do(http.MethodPost, "/api/v1/webhooks/alertmanager/main", json.RawMessage(body))
	require.Equal(t, http.StatusOK, answer.Status, "%s", answer.Body)

	return decode[map[string]any](answer.Body), decode[tarsy.DeliveryResult](answer.Body).Alerts[0]
}

// facts checks a session whose alert has all facts, and to which everything happened that can happen.
func (c *contracts) facts(t *testing.T) {
	app, clock := alerts(t)

	result, first := deliver(t, app, fmt.Sprintf(slowCheckout, "firing", "firing", "11:58:00"))
	c.require(t, "DeliveryResult", result, map[string]is{"repeated": equal(false), "alerts": list(1)})
	c.require(t, "DeliveredAlert", within(t, result, "alerts", 0), map[string]is{
		"action": equal("investigate"), "reason": equal("A new alert."), "fingerprint": equal("alertmanager/main:5f3a"),
		"title": equal("Checkout is slow"), "session_id": isID, "suppressed_id": isNull,
	})

	sessionID := *first.SessionID
	app.WaitFor(sessionID, tarsy.SessionCompleted)

	state := func(change map[string]is) map[string]is {
		fields := map[string]is{
			"firing": equal(true), "occurrences": equal(1.0), "last_at": minute(0), "times": equal([]any{"2030-03-01T12:00:00Z"}),
			"resolved_at": isNull, "flapping": equal(false), "storm": equal(false), "members": equal(0.0), "firing_members": equal(0.0),
			"earlier_session_id": isNull,
		}
		maps.Copy(fields, change)

		return fields
	}
	of := func(sessionID string) any { return within(t, get(t, app, "/api/v1/sessions/"+sessionID), "alert") }
	c.require(t, "AlertState", of(sessionID), state(nil))

	clock.Advance(time.Minute)
	deliver(t, app, fmt.Sprintf(slowCheckout, "resolved", "resolved", "11:58:00"))
	c.require(t, "AlertState", of(sessionID), state(map[string]is{"firing": equal(false), "resolved_at": minute(1)}))

	clock.Advance(time.Minute)

	result, again := deliver(t, app, fmt.Sprintf(slowCheckout, "firing", "firing", "12:02:00"))
	require.Equal(t, sessionID, *again.SessionID)
	c.requireSome(t, "DeliveredAlert", within(t, result, "alerts", 0), map[string]is{"action": equal("count"), "suppressed_id": isID})

	changed := state(map[string]is{
		"occurrences": equal(2.0), "last_at": minute(2), "times": equal([]any{"2030-03-01T12:00:00Z", "2030-03-01T12:02:00Z"}), "flapping": equal(true),
	})
	c.require(t, "AlertState", of(sessionID), changed)

	labels := map[string]any{
		"alertname": "Slow", "severity": "critical", "service": "checkout", "namespace": "shop", "cluster": "eu-1", "team": "payments",
	}
	facts := map[string]is{
		"title": equal("Checkout is slow"), "severity": equal("critical"), "service": equal("checkout"), "namespace": equal("shop"), "cluster": equal("eu-1"),
		"team": equal("payments"), "labels": equal(labels), "links": equal([]any{map[string]any{"kind": "runbook", "url": "https://runbooks.example/slow"}}),
		"starts_at": equal("2030-03-01T11:58:00Z"), "fingerprint": equal("alertmanager/main:5f3a"),
		"group_key": equal("alertmanager/main:alertname=Slow,cluster=eu-1,namespace=shop,team=payments"), "source": equal("alertmanager"), "receiver": equal("main"),
		"alert": isObject,
	}
	c.requireSome(t, "SessionDetail", get(t, app, "/api/v1/sessions/"+sessionID), facts)

	filter := url.Values{
		"severity": {"critical"}, "service": {"checkout"}, "namespace": {"shop"}, "cluster": {"eu-1"}, "team": {"payments"},
		"fingerprint": {"alertmanager/main:5f3a"}, "label": {"alertname=Slow"},
	}
	item := within(t, get(t, app, "/api/v1/sessions?"+filter.Encode()), "sessions", 0)
	c.requireSome(t, "SessionItem", item, facts)
	c.require(t, "AlertState", within(t, item, "alert"), changed)
	c.requireSome(t, "FilterOptions", get(t, app, "/api/v1/sessions/filter-options"), map[string]is{
		"services": equal([]any{"checkout"}), "namespaces": equal([]any{"shop"}), "clusters": equal([]any{"eu-1"}), "teams": equal([]any{"payments"}),
	})
	c.requireSome(t, "SessionDetail", within(t, get(t, app, "/api/v1/sessions/"+sessionID+"/export"), "session"), facts)

	clock.Advance(2 * time.Hour)

	_, later := deliver(t, app, fmt.Sprintf(slowCheckout, "firing", "firing", "12:02:00"))
	c.requireSome(t, "AlertState", of(*later.SessionID), map[string]is{"earlier_session_id": equal(sessionID)})
	app.WaitFor(*later.SessionID, tarsy.SessionCompleted)
}

// suppressed checks alerts that have no session of their own: three of a group, and one that ann silences.
func (c *contracts) suppressed(t *testing.T) {
	app, clock := alerts(t)

	net := make([]string, 3)
	for i := range net {
		net[i] = fmt.Sprintf(`{"status": "firing", "labels": {"alertname": "Net", "instance": "node-%d"}, "annotations": {}, "fingerprint": "f%d"}`, i, i)
	}

	result, first := deliver(t, app, `{"version": "4", "groupKey": "{}", "status": "firing", "alerts": [`+strings.Join(net, ",")+`]}`)
	storm := *first.SessionID
	c.requireSome(t, "DeliveredAlert", within(t, result, "alerts", 2), map[string]is{"action": equal("storm"), "session_id": equal(storm)})
	app.WaitFor(storm, tarsy.SessionCompleted)
	c.requireSome(t, "AlertState", within(t, get(t, app, "/api/v1/sessions/"+storm), "alert"), map[string]is{
		"storm": equal(true), "members": equal(3.0), "firing_members": equal(3.0), "occurrences": equal(3.0),
	})

	clock.Advance(time.Minute)

	silence := decode[map[string]any](app.Do(http.MethodPost, "/api/v1/silences", map[string]any{
		"matchers": []string{`service="checkout"`}, "reason": "load test", "duration": "5m",
	}).Body)
	held := map[string]is{
		"id": isID, "author": equal("ann"), "reason": equal("load test"), "matchers": equal([]any{`service="checkout"`}),
		"created_at": minute(1), "starts_at": minute(1), "ends_at": minute(6), "ended_by": equal(""),
	}
	c.require(t, "Silence", silence, held)
	silences := get(t, app, "/api/v1/silences")
	c.require(t, "SilenceList", silences, map[string]is{"silences": list(1)})
	c.require(t, "Silence", within(t, silences, "silences", 0), held)

	result, quiet := deliver(t, app, fmt.Sprintf(slowCheckout, "firing", "firing", "11:58:00"))
	c.requireSome(t, "DeliveredAlert", within(t, result, "alerts", 0), map[string]is{"action": equal("silence"), "session_id": isNull})

	accepted := decode[map[string]any](app.Do(http.MethodPost, "/api/v1/suppressed/"+*quiet.SuppressedID+"/investigate", nil).Body)
	sessionID, _ := accepted["session_id"].(string)
	app.WaitFor(sessionID, tarsy.SessionCompleted)

	page := get(t, app, "/api/v1/suppressed?limit=1")
	c.require(t, "SuppressedList", page, map[string]is{"alerts": list(1), "next_cursor": isText})
	c.require(t, "SuppressedAlert", within(t, page, "alerts", 0), map[string]is{
		"id": equal(*quiet.SuppressedID), "reason": equal("silence"), "session_id": isNull, "silence": equal(silence["id"]), "alert_type": equal("test"),
		"title": equal("Checkout is slow"), "severity": equal("critical"), "service": equal("checkout"), "namespace": equal("shop"), "cluster": equal("eu-1"),
		"team": equal("payments"), "labels": isObject, "links": list(1), "starts_at": equal("2030-03-01T11:58:00Z"),
		"fingerprint": equal("alertmanager/main:5f3a"), "group_key": isText, "source": equal("alertmanager"), "receiver": equal("main"),
		"firing": equal(true), "occurrences": equal(1.0), "first_at": minute(1), "last_at": minute(1), "times": equal([]any{"2030-03-01T12:01:00Z"}),
		"investigation_id": equal(sessionID), "investigated_by": equal("ann"),
	})
	members := get(t, app, "/api/v1/suppressed?session_id="+storm)
	c.requireSome(t, "SuppressedList", members, map[string]is{"alerts": list(3)})
	c.requireSome(t, "SuppressedAlert", within(t, members, "alerts", 0), map[string]is{"reason": equal("storm"), "session_id": equal(storm)})

	clock.Advance(time.Minute)

	ended := app.Do(http.MethodDelete, fmt.Sprint("/api/v1/silences/", silence["id"]), nil)
	held["ends_at"], held["ended_by"] = minute(2), equal("ann")
	c.require(t, "Silence", decode[map[string]any](ended.Body), held)

	// An alert with a fingerprint gets the same response.
	alert := decode[map[string]any](app.Do(http.MethodPost, "/api/v1/alerts", map[string]any{
		"alert_type": "test", "data": "disk full", "fingerprint": "disk-1",
	}).Body)
	c.requireSome(t, "AlertAccepted", alert, map[string]is{"alerts": list(1), "message": equal("A new alert.")})
	c.requireSome(t, "DeliveredAlert", within(t, alert, "alerts", 0), map[string]is{"session_id": equal(alert["session_id"])})
	app.WaitFor(alert["session_id"].(string), tarsy.SessionCompleted)
}
