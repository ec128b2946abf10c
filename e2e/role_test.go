package e2e

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/llm/script"
	"tarsy.dev/tarsy/tarsytest"
)

const userRoles = `auth: {proxy: true, roles: {admin: [leads], responder: [sre], viewer: [staff]}}`

func TestProxyUsersHaveTheRoleOfTheirGroups(t *testing.T) {
	t.Parallel()

	app := tarsytest.New(t, tarsytest.Options{RequireKey: true, Config: "system: {trusted_proxies: [127.0.0.1], " + userRoles + "}\n" + oneAgent})
	gate := script.NewGate()
	t.Cleanup(gate.Open)
	app.Script.Add(script.Reply{Text: "Analysed.", Gate: gate})

	as := func(method, path string, body any, name, groups string) tarsytest.Response {
		return app.Do(method, path, body, "X-Forwarded-User", name, "X-Forwarded-Groups", groups)
	}

	submitted := as(http.MethodPost, "/api/v1/alerts", map[string]string{"alert_type": "test", "data": "x"}, "rob", "sre")
	require.Equal(t, http.StatusAccepted, submitted.Status, string(submitted.Body))

	id := decode[struct {
		SessionID string `json:"session_id"`
	}](submitted.Body).SessionID
	cancel := "/api/v1/sessions/" + id + "/cancel"

	app.WaitGate(gate)
	require.Equal(t, http.StatusOK, as(http.MethodGet, "/api/v1/sessions/"+id, nil, "vera", "staff").Status)

	refused := as(http.MethodPost, cancel, nil, "vera", "staff")
	require.Equal(t, http.StatusForbidden, refused.Status)
	require.Equal(t, string(tarsy.CodeForbidden), refused.Problem(t).Code)
	require.Contains(t, refused.Problem(t).Detail, `"vera" has the role viewer; this needs the role responder`)

	require.Equal(t, http.StatusForbidden, as(http.MethodPost, cancel, nil, "eve", "others").Status)
	require.Equal(t, http.StatusUnauthorized, app.Do(http.MethodPost, cancel, nil).Status)
	require.Equal(t, http.StatusAccepted, as(http.MethodPost, cancel, nil, "rob", "sre").Status)

	app.Token = app.Key("root", tarsy.ScopeAdmin)

	type row struct {
		actor   string
		kind    tarsy.ActorKind
		role    tarsy.AccessRole
		outcome string
	}

	var rows []row
	for _, r := range auditLog(t, app) {
		require.Equal(t, "session.cancel", r.Action)
		rows = append(rows, row{r.Actor, r.ActorKind, r.Role, r.Outcome})
	}

	require.Equal(t, []row{
		{"vera", tarsy.ActorProxy, tarsy.RoleViewer, "forbidden"},
		{"eve", tarsy.ActorProxy, "", "forbidden"},
		{"rob", tarsy.ActorProxy, tarsy.RoleResponder, "ok"},
	}, rows)
}

func TestUserHeadersFromUntrustedAddressAreIgnored(t *testing.T) {
	t.Parallel()

	app := tarsytest.New(t, tarsytest.Options{RequireKey: true, Config: "system: {trusted_proxies: [10.0.0.0/8], " + userRoles + "}\n" + oneAgent})
	answer := app.Do(http.MethodGet, "/api/v1/sessions", nil, "X-Forwarded-User", "ada", "X-Forwarded-Groups", "leads", "X-Forwarded-For", "10.0.0.1")
	require.Equal(t, http.StatusUnauthorized, answer.Status)
}
