package e2e

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/audit"
	"tarsy.dev/tarsy/tarsytest"
)

// auditLog reads the whole audit log over the API, oldest first, and verifies it.
func auditLog(t *testing.T, app *tarsytest.App) []tarsy.AuditEntry {
	t.Helper()

	answer := app.Do(http.MethodGet, "/api/v1/audit?order=oldest&limit=200", nil)
	require.Equal(t, http.StatusOK, answer.Status, string(answer.Body))

	rows := decode[struct {
		Entries []tarsy.AuditEntry `json:"entries"`
	}](answer.Body).Entries

	var v audit.Verifier

	for _, row := range rows {
		require.NoError(t, v.Add(row))
	}

	return rows
}

func TestAuditLogNamesKeysBrowsersAndProxyUsers(t *testing.T) {
	t.Parallel()

	app := tarsytest.New(t, tarsytest.Options{RequireKey: true, Config: "system: {trusted_proxies: [127.0.0.1]}\n" + oneAgent})
	admin := app.Key("root", tarsy.ScopeAdmin)
	ops := app.Key("ops", tarsy.ScopeWrite)

	app.Token = ops
	tag := func(name string, headers ...string) {
		answer := app.Do(http.MethodPost, "/api/v1/tags", map[string]string{"name": name}, headers...)
		require.Equal(t, http.StatusCreated, answer.Status, string(answer.Body))
	}

	tag("by-key")
	tag("by-user-of-key", "X-Forwarded-User", "ada")

	app.Token = ""
	login := app.Do(http.MethodPost, "/api/v1/login", map[string]string{"key": ops})
	require.Equal(t, http.StatusOK, login.Status)

	cookie := (&http.Response{Header: login.Header}).Cookies()[0]
	token := decode[struct {
		CSRFToken string `json:"csrf_token"`
	}](login.Body).CSRFToken

	tag("by-browser", "Cookie", cookie.Name+"="+cookie.Value, "X-CSRF-Token", token)

	app.Token = admin
	rows := auditLog(t, app)

	type row struct {
		actor, action, target string
		kind                  tarsy.ActorKind
		role                  tarsy.AccessRole
	}

	found := make([]row, len(rows))
	for i, r := range rows {
		found[i] = row{r.Actor, r.Action, r.TargetID, r.ActorKind, r.Role}
	}

	require.Equal(t, []row{
		{"ops", "tag.create", "by-key", tarsy.ActorKey, tarsy.RoleResponder},
		{"ada", "tag.create", "by-user-of-key", tarsy.ActorKey, tarsy.RoleResponder},
		{"ops", "browser.login", rows[2].KeyID, tarsy.ActorBrowser, tarsy.RoleResponder},
		{"ops", "tag.create", "by-browser", tarsy.ActorBrowser, tarsy.RoleResponder},
	}, found)

	// Without keys, the name that a proxy sends is all there is.
	open := tarsytest.New(t, tarsytest.Options{Config: "system: {trusted_proxies: [127.0.0.1]}\n" + oneAgent})
	answer := open.Do(http.MethodPost, "/api/v1/tags", map[string]string{"name": "x"}, "X-Forwarded-User", "ada")
	require.Equal(t, http.StatusCreated, answer.Status)
	require.Equal(t, "ada", auditLog(t, open)[0].Actor)
	require.Equal(t, tarsy.ActorProxy, auditLog(t, open)[0].ActorKind)
}
