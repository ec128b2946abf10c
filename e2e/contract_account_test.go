package e2e

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/llm/script"
	"tarsy.dev/tarsy/tarsytest"
)

func (c *contracts) usage(t *testing.T) {
	app, _, _ := investigated(t)
	spent, called := usage(100, 22, 3, 2, 75), equal(6.0)
	summary := get(t, app, "/api/v1/usage/summary?from=2030-03-01T00:00:00Z&to=2030-03-02T00:00:00Z")
	c.require(t, "UsageSummary", summary, map[string]is{
		"from": equal("2030-03-01T00:00:00Z"), "to": equal("2030-03-02T00:00:00Z"), "total": isObject,
		"daily_budget_usd": equal(1000.0), "by_day": list(1), "by_kind": list(1), "by_alert_type": list(1), "by_model": list(1), "by_provider": list(1),
	})
	c.require(t, "SpendShare", summary["total"], map[string]is{"name": equal(""), "llm_calls": called, "tool_calls": equal(1.0), "usage": spent})
	c.require(t, "SpendShare", within(t, summary, "by_day", 0), map[string]is{
		"name": equal("2030-03-01"), "llm_calls": called, "tool_calls": equal(1.0), "usage": spent,
	})
	c.require(t, "SpendShare", within(t, summary, "by_kind", 0), map[string]is{
		"name": equal("sessions"), "llm_calls": called, "tool_calls": equal(1.0), "usage": spent,
	})
	c.require(t, "SpendShare", within(t, summary, "by_alert_type", 0), map[string]is{
		"name": equal("test"), "llm_calls": called, "tool_calls": equal(1.0), "usage": spent,
	})
	c.require(t, "UsageShare", within(t, summary, "by_model", 0), map[string]is{"name": equal("test-model"), "llm_calls": called, "usage": spent})
	c.require(t, "UsageShare", within(t, summary, "by_provider", 0), map[string]is{"name": equal("test"), "llm_calls": called, "usage": spent})

	model := script.New(script.Options{})
	model.Add(used(says("Analysed."), 10, 5), used(says("Summed up."), 20, 7))
	unpriced := tarsytest.New(t, tarsytest.Options{
		Config: oneAgent + "defaults: {llm_provider: new}\nllm_providers: {new: {type: openai, model: without-a-price, api: chat, api_key_env: KEY, base_url: '" +
			tarsytest.NewLLMServer(t, model).OpenAI() + "'}}\n",
		Providers: true, Env: map[string]string{"KEY": "key-of-the-test"},
	})
	c.requireSome(t, "SessionDetail", get(t, unpriced, "/api/v1/sessions/"+unpriced.Run("test", "an alert").ID), map[string]is{
		"usage": equal(map[string]any{
			"input_tokens": 30.0, "output_tokens": 12.0, "thinking_tokens": 0.0, "cached_tokens": 0.0,
			"total_tokens": 42.0, "cost_usd": 0.0, "unpriced_tokens": 42.0,
		}),
	})
}

func (c *contracts) keys(t *testing.T) {
	clock := clockwork.NewFakeClockAt(beginning())
	app := tarsytest.New(t, tarsytest.Options{Clock: clock})
	keyRequest := map[string]any{"name": "ci", "scopes": []any{"write", "read"}, "expires_at": "2030-03-02T12:00:00Z", "teams": []any{"storage"}}
	made := decode[map[string]any](app.Do(http.MethodPost, "/api/v1/keys", keyRequest).Body)
	secret, _ := made["key"].(string)
	prefix, _ := made["prefix"].(string)

	fields := map[string]is{
		"id": isID, "name": equal("ci"), "prefix": equal(prefix), "scopes": equal([]any{"read", "write"}),
		"created_at": minute(0), "last_used_at": isNull, "revoked_at": isNull, "expires_at": equal(keyRequest["expires_at"]), "teams": equal(keyRequest["teams"]),
		"key": that(func(any) bool { return strings.HasPrefix(secret, "tarsy_"+prefix+"_") }),
	}
	c.require(t, "CreatedKey", made, fields)
	c.require(t, "KeyRequest", keyRequest, map[string]is{
		"name": equal(made["name"]), "scopes": that(func(v any) bool { return len(v.([]any)) == len(made["scopes"].([]any)) }),
		"expires_at": equal(made["expires_at"]), "teams": equal(made["teams"]),
	})

	clock.Advance(time.Hour)
	require.Equal(t, http.StatusOK, app.Do(http.MethodGet, "/api/v1/sessions", nil, "Authorization", "Bearer "+secret).Status)

	revoked := decode[map[string]any](app.Do(http.MethodDelete, "/api/v1/keys/"+prefix, nil).Body)
	delete(fields, "key")
	fields["last_used_at"], fields["revoked_at"] = equal("2030-03-01T13:00:00Z"), equal("2030-03-01T13:00:00Z")
	c.require(t, "APIKey", revoked, fields)
	c.require(t, "KeyList", get(t, app, "/api/v1/keys"), map[string]is{"keys": that(func(v any) bool { return equal([]any{revoked})(v) == same })})
}

// me checks the server's view of a browser's user, before and after login.
func (c *contracts) me(t *testing.T) {
	app := tarsytest.New(t, tarsytest.Options{RequireKey: true})
	page := newBrowser(t, app)
	c.require(t, "Me", page.me(t), map[string]is{
		"auth_required": equal(true), "authenticated": equal(false), "name": equal(""), "id": equal(""), "role": equal(""), "scopes": list(0), "csrf_token": equal(""),
		"visibility": equal(map[string]any{"limited": false, "teams": []any{}}),
		"oidc":       isAbsent,
	})

	teams := tarsytest.New(t, byTeam())
	teams.Token = teams.Key("root", tarsy.ScopeAdmin)
	made := decode[map[string]any](teams.Do(http.MethodPost, "/api/v1/keys", map[string]any{"name": "ci", "scopes": []any{"read"}, "teams": []any{"storage"}}).Body)
	teams.Token, _ = made["key"].(string)
	c.require(t, "Visibility", get(t, teams, "/api/v1/me")["visibility"], map[string]is{"limited": equal(true), "teams": equal([]any{"storage"})})

	offered := newBrowser(t, newSSO(t).app).me(t)
	c.require(t, "Me", offered, map[string]is{
		"auth_required": equal(true), "authenticated": equal(false), "name": equal(""), "id": equal(""), "role": equal(""), "scopes": list(0), "csrf_token": equal(""),
		"oidc": that(func(v any) bool { return v != nil }), "visibility": equal(map[string]any{"limited": false, "teams": []any{}}),
	})
	c.require(t, "OidcLogin", offered["oidc"], map[string]is{"label": equal("Log in with Example"), "url": equal(oidcLogin)})

	login := map[string]any{"key": app.Key("ada", tarsy.ScopeWrite)}
	answer := page.ask(t, http.MethodPost, "/api/v1/login", login)
	require.Equal(t, http.StatusOK, answer.Status)

	known := decode[map[string]any](answer.Body)
	page.token, _ = known["csrf_token"].(string)
	c.require(t, "Me", known, map[string]is{
		"auth_required": equal(true), "authenticated": equal(true), "name": equal("ada"), "id": isID, "role": equal("responder"), "scopes": equal([]any{"read", "write"}),
		"csrf_token": that(func(any) bool { return page.token != "" }), "oidc": isAbsent, "visibility": equal(map[string]any{"limited": false, "teams": []any{}}),
	})
	require.Equal(t, known, page.me(t))

	alert := map[string]any{"alert_type": "test", "data": "sent with the token"}
	app.Script.Add(says("Analysed."), says("Summed up."))

	accepted := page.ask(t, http.MethodPost, "/api/v1/alerts", alert)
	require.Equal(t, http.StatusAccepted, accepted.Status, "%s", accepted.Body)

	app.Token, _ = login["key"].(string)
	sessionID, _ := decode[map[string]any](accepted.Body)["session_id"].(string)
	require.Equal(t, "ada", app.WaitFor(sessionID, tarsy.SessionCompleted).Author)
}
