package e2e

import (
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"testing"

	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/agent"
	"tarsy.dev/tarsy/llm/script"
	"tarsy.dev/tarsy/tarsytest"
)

// operations checks what people on call see.
func (c *contracts) operations(t *testing.T) {
	app := c.operated(t)
	id := app.Run("test", map[string]any{"severity": "critical", "title": "Disk full"}).ID

	paused := decode[map[string]any](app.Do(http.MethodPut, "/api/v1/system/pauses/claiming", map[string]any{"reason": "upgrade", "duration": "30m"}).Body)
	c.require(t, "Pause", paused, map[string]is{
		"kind": equal("claiming"), "reason": equal("upgrade"), "author": equal("api-client"), "paused_at": minute(0), "ends_at": minute(30),
	})
	c.require(t, "PauseList", get(t, app, "/api/v1/system/pauses"), map[string]is{"pauses": equal([]any{paused})})

	waiting := app.Submit("test", "another")
	result := decode[map[string]any](app.Do(http.MethodPost, "/api/v1/sessions/cancel", map[string]any{"ids": []string{id, waiting}, "dry_run": true}).Body)
	c.require(t, "BulkCancel", result, map[string]is{
		"dry_run": equal(true), "matched": equal(2.0), "requested": equal(1.0), "more": equal(false), "session_ids": equal([]any{waiting}),
		"skipped": equal([]any{map[string]any{"session_id": id, "reason": "not_running"}}),
	})
	app.Do(http.MethodDelete, "/api/v1/system/pauses/claiming", nil)
	app.WaitFor(waiting, tarsy.SessionFailed)

	c.shares(t, app, id)

	_, secret := shareOf(t, app, waiting)
	c.sharedSession(t, app, waiting, secret)
}

// operated returns a server whose first session gets a verdict, and whose second one fails.
func (c *contracts) operated(t *testing.T) *tarsytest.App {
	t.Helper()

	raw, err := json.Marshal(agent.VerdictAnswer{
		Outcome: tarsy.OutcomeCauseFound, Cause: "The disk is full", Confidence: tarsy.ConfidenceHigh, ConfidenceReason: "Seen.", Impact: "None.",
		NextSteps: []agent.StepAnswer{}, NotChecked: []string{},
	})
	require.NoError(t, err)

	options := everything()
	options.Clock = clockwork.NewFakeClockAt(beginning())
	app := tarsytest.New(t, options)
	app.Script.Route("Investigator", calls("kubernetes__get_pods"), says("The disk is full."), script.Reply{Err: errors.New("no quota")})
	app.Script.Route("ExecSummaryAgent", says("In short."))
	app.Script.Route("VerdictAgent", script.Reply{Text: string(raw)})

	return app
}

// shares checks a share from creation to revocation.
func (c *contracts) shares(t *testing.T, app *tarsytest.App, id string) {
	t.Helper()

	created := decode[map[string]any](app.Do(http.MethodPost, "/api/v1/sessions/"+id+"/shares", map[string]any{"expires_in": "30m"}).Body)
	secret, _ := created["secret"].(string)
	share := map[string]is{
		"id": isID, "session_id": equal(id), "author": equal("api-client"), "created_at": minute(0), "expires_at": minute(30), "revoked_at": isNull,
		"last_used_at": isNull, "uses": equal(0.0),
	}
	withSecret := maps.Clone(share)
	withSecret["secret"], withSecret["url"] = equal(secret), equal("https://tarsy.example/shared#"+secret)
	c.require(t, "CreatedShare", created, withSecret)
	c.sharedSession(t, app, id, secret)

	share["last_used_at"], share["uses"] = minute(0), equal(1.0)
	listed := get(t, app, "/api/v1/sessions/"+id+"/shares")
	c.require(t, "ShareList", listed, map[string]is{"shares": list(1)})
	c.require(t, "Share", within(t, listed, "shares", 0), share)

	// More events than fit on a page.
	app.Exec(`INSERT INTO timeline_events SELECT (jsonb_populate_record(e, jsonb_build_object('id', gen_random_uuid(), 'sequence_number', 1000 + n))).*
FROM timeline_events e, generate_series(1, 3000) n WHERE e.session_id = $1 AND e.event_type = 'final_analysis'`, id)

	long := decode[map[string]any](readShared(t, app, secret).Body)
	c.requireSome(t, "Shared", long, map[string]is{"next_cursor": that(func(value any) bool { return value != "" && value != nil })})

	c.requireSome(t, "SharedSession", long["session"], map[string]is{
		"severity": equal("critical"), "outcome": equal("cause_found"), "verdict": isObject, "final_analysis": equal("The disk is full."),
	})

	shareID, _ := created["id"].(string)
	share["revoked_at"], share["uses"] = minute(0), equal(2.0)
	c.require(t, "Share", decode[map[string]any](app.Do(http.MethodDelete, "/api/v1/sessions/"+id+"/shares/"+shareID, nil).Body), share)
}

// sharedSession compares what a share shows with the session.
func (c *contracts) sharedSession(t *testing.T, app *tarsytest.App, id, secret string) {
	t.Helper()

	whole := get(t, app, "/api/v1/sessions/"+id)
	body := decode[map[string]any](readShared(t, app, secret).Body)
	c.require(t, "Shared", body, map[string]is{
		"shared_by": equal("api-client"), "expires_at": that(func(value any) bool { return value != "" }), "next_cursor": isAbsent,
		"session": that(func(value any) bool { return value.(map[string]any)["id"] == id }),
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
