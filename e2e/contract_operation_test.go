package e2e

import (
	"net/http"
	"testing"

	"github.com/jonboulle/clockwork"

	"tarsy.dev/tarsy/tarsytest"
)

// operations is what people on call see.
func (c *contracts) operations(t *testing.T) {
	options := everything()
	options.Clock = clockwork.NewFakeClockAt(beginning())
	app := tarsytest.New(t, options)
	app.Script.Add(calls("kubernetes__get_pods"), says("Analysed."), says("Summed up."))
	id := app.Run("test", "an alert").ID

	paused := decode[map[string]any](app.Do(http.MethodPut, "/api/v1/system/pauses/claiming", map[string]any{"reason": "upgrade", "duration": "30m"}).Body)
	pause := map[string]is{
		"kind": equal("claiming"), "reason": equal("upgrade"), "author": equal("api-client"), "paused_at": minute(0), "ends_at": minute(30),
	}
	c.require(t, "Pause", paused, pause)

	list := get(t, app, "/api/v1/system/pauses")
	c.require(t, "PauseList", list, map[string]is{"pauses": equal([]any{paused})})

	waiting := app.Submit("test", "another")
	result := decode[map[string]any](app.Do(http.MethodPost, "/api/v1/sessions/cancel", map[string]any{"ids": []string{id, waiting}, "dry_run": true}).Body)
	c.require(t, "BulkCancel", result, map[string]is{
		"dry_run": equal(true), "matched": equal(2.0), "requested": equal(1.0), "more": equal(false), "session_ids": equal([]any{waiting}),
		"skipped": equal([]any{map[string]any{"session_id": id, "reason": "not_running"}}),
	})

	created := decode[map[string]any](app.Do(http.MethodPost, "/api/v1/sessions/"+id+"/shares", map[string]any{"expires_in": "30m"}).Body)
	secret, _ := created["secret"].(string)
	share := map[string]is{
		"id": isID, "session_id": equal(id), "author": equal("api-client"), "created_at": minute(0), "expires_at": minute(30), "revoked_at": isNull,
		"last_used_at": isNull, "uses": equal(0.0),
	}
	withSecret := map[string]is{"secret": equal(secret), "url": equal("https://tarsy.example/shared#" + secret)}

	for name, is := range share {
		withSecret[name] = is
	}

	c.require(t, "CreatedShare", created, withSecret)
	c.sharedSession(t, app, id, secret)

	share["last_used_at"], share["uses"] = minute(0), equal(1.0)
	c.require(t, "Share", within(t, get(t, app, "/api/v1/sessions/"+id+"/shares"), "shares", 0), share)

	shareID, _ := created["id"].(string)
	share["revoked_at"] = minute(0)
	c.require(t, "Share", decode[map[string]any](app.Do(http.MethodDelete, "/api/v1/sessions/"+id+"/shares/"+shareID, nil).Body), share)
}

// sharedSession compares what a share shows with the session.
func (c *contracts) sharedSession(t *testing.T, app *tarsytest.App, id, secret string) {
	t.Helper()

	whole := get(t, app, "/api/v1/sessions/"+id)
	body := decode[map[string]any](readShared(t, app, secret).Body)
	c.require(t, "Shared", body, map[string]is{
		"shared_by": equal("api-client"), "expires_at": minute(30), "next_cursor": isAbsent,
		"session": that(func(value any) bool { return value.(map[string]any)["id"] == id }), //nolint:forcetypeassert // it is a test
		"events":  equal(get(t, app, "/api/v1/sessions/"+id+"/timeline?preview=10000")["events"]),
	})

	fields := map[string]is{"stages": list(1)}

	properties, _ := c.document.Components.Schemas["SharedSession"]["properties"].(map[string]any)
	for name := range properties {
		if name != "stages" {
			fields[name] = equal(valueOf(whole, name))
		}
	}

	c.require(t, "SharedSession", body["session"], fields)
}
