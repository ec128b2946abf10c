package api_test

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/api"
	"tarsy.dev/tarsy/internal/audit"
	"tarsy.dev/tarsy/internal/ident"
)

// audited returns the whole audit log, oldest first, and checks its chain.
func (f *fixture) audited(t *testing.T) []tarsy.AuditEntry {
	t.Helper()

	rows, err := f.accounts.Audit(t.Context(), tarsy.AuditFilter{OldestFirst: true, Limit: 1000})
	require.NoError(t, err)

	var v audit.Verifier

	for _, row := range rows {
		require.NoError(t, v.Add(row))
	}

	return rows
}

// lastAudited returns the newest row.
func (f *fixture) lastAudited(t *testing.T) tarsy.AuditEntry {
	t.Helper()

	rows := f.audited(t)
	require.NotEmpty(t, rows)

	return rows[len(rows)-1]
}

func TestEveryOperationThatChangesSomethingHasAuditAction(t *testing.T) {
	t.Parallel()

	changing := map[string]bool{}

	for _, o := range newFixture(t).operations(t) {
		// The issuer redirects browsers, which always results in a GET.
		if o.method != http.MethodGet || o.pattern == "/api/v1/login/oidc/callback" {
			changing[o.method+" "+o.pattern] = true
		}
	}

	names := map[string]string{}

	for pattern, name := range api.AuditActionNames() {
		require.True(t, changing[pattern], "there is no operation %s", pattern)
		require.Empty(t, names[name], "%s and %s have one name", pattern, names[name])
		require.Regexp(t, `^[a-z_]+\.[a-z_]+$`, name)

		names[name] = pattern
		delete(changing, pattern)
	}

	require.Empty(t, changing, "operations without an audit action in their table")
}

func TestChangesAreAuditedWithActorTargetAndRequest(t *testing.T) {
	t.Parallel()

	f := newFixture(t, locked, behindProxy)
	key, headers := f.key(t, "ops", tarsy.ScopeAdmin)
	headers = append(headers, "X-Forwarded-For", "198.51.100.7", "X-Request-ID", "req-1")
	id := f.session(t, func(*tarsy.Session) {})

	require.Equal(t, http.StatusAccepted, f.request(t, http.MethodPost, "/api/v1/sessions/"+id+"/cancel", "", headers...).status)

	got := f.lastAudited(t)
	require.Equal(t, f.clock.Now().UTC(), got.At)
	got.At, got.Hash = got.At.Truncate(0), ""
	require.Equal(t, tarsy.AuditEntry{
		ID: 1, At: got.At, Actor: "ops", ActorKind: tarsy.ActorKey, KeyID: key.ID, KeyPrefix: key.Prefix, Role: tarsy.RoleAdmin,
		Action: "session.cancel", TargetType: "session", TargetID: id, RequestID: "req-1", Remote: "198.51.100.7", Outcome: tarsy.AuditOK,
		Details: map[string]string{}, PrevHash: audit.FirstHash(),
	}, got)

	other := f.session(t, func(*tarsy.Session) {})
	f.request(t, http.MethodPost, "/api/v1/sessions/"+other+"/cancel", "", append(headers, "X-Forwarded-User", "ada")...)
	require.Equal(t, "ada", f.lastAudited(t).Actor, "whom the proxy names")

	b := f.login(t, headers)
	require.Equal(t, "browser.login", f.lastAudited(t).Action)
	require.Equal(t, tarsy.ActorBrowser, f.lastAudited(t).ActorKind)
	require.Equal(t, key.ID, f.lastAudited(t).TargetID)

	created := f.request(t, http.MethodPost, "/api/v1/keys", `{"name":"ci","scopes":["write"]}`, b.headers()...)
	require.Equal(t, http.StatusCreated, created.status)

	row := f.lastAudited(t)
	require.Equal(t, "key.create", row.Action)
	require.Equal(t, tarsy.ActorBrowser, row.ActorKind)
	require.Equal(t, "ci", row.Details["name"])
	require.Equal(t, "write", row.Details["scopes"])

	f.request(t, http.MethodDelete, "/api/v1/keys/"+row.Details["prefix"], "", headers...)
	require.Equal(t, row.TargetID, f.lastAudited(t).TargetID, "a key by its prefix")
	require.Equal(t, "key.revoke", f.lastAudited(t).Action)

	silenced := f.request(t, http.MethodPost, "/api/v1/silences", `{"matchers":["a=b"],"reason":"x","duration":"1h"}`, headers...)
	require.Equal(t, http.StatusCreated, silenced.status, silenced.body)
	require.Equal(t, decode[tarsy.Silence](t, silenced).ID, f.lastAudited(t).TargetID)

	rerun := f.request(t, http.MethodPost, "/api/v1/sessions/"+id+"/rerun", "", headers...)
	require.Equal(t, http.StatusAccepted, rerun.status, rerun.body)
	require.Equal(t, id, f.lastAudited(t).TargetID)
	require.True(t, strings.HasSuffix(rerun.header.Get("Location"), f.lastAudited(t).Details["created"]))

	tag := f.request(t, http.MethodPost, "/api/v1/tags", `{"name":"a b"}`, headers...)
	require.Equal(t, http.StatusCreated, tag.status, tag.body)
	require.Equal(t, "a b", f.lastAudited(t).TargetID, "from Location")
	f.request(t, http.MethodDelete, "/api/v1/tags/"+url.PathEscape("a b"), "", headers...)
	require.Equal(t, "a b", f.lastAudited(t).TargetID, "from the path")

	f.request(t, http.MethodPost, "/api/v1/logout", "", b.headers()...)
	require.Equal(t, "browser.logout", f.lastAudited(t).Action)

	for _, row := range f.audited(t) {
		require.NotContains(t, row.Details, secretOf(headers))
	}
}

func TestRequestsThatChangeNothingAreNotAuditedButDenialsAre(t *testing.T) {
	t.Parallel()

	f := newFixture(t, locked)
	readKey, read := f.key(t, "reader", tarsy.ScopeRead)
	_, write := f.key(t, "writer", tarsy.ScopeWrite)
	id := ident.New()

	f.request(t, http.MethodPost, "/api/v1/sessions/"+id+"/cancel", "", write...)          // 404
	f.request(t, http.MethodPost, "/api/v1/silences", `{}`, write...)                      // 400
	f.request(t, http.MethodPost, "/api/v1/sessions/"+id+"/cancel", "")                    // 401
	f.request(t, http.MethodPost, "/api/v1/login", `{"key":"x"}`)                          // 401
	f.request(t, http.MethodPost, "/api/v1/logout", "")                                    // without a login
	f.request(t, http.MethodPost, "/api/v1/login", `{}`, "Origin", "https://evil.example") // 403, unauthenticated
	f.request(t, http.MethodGet, "/api/v1/keys", "", read...)                              // 403, read-only
	f.request(t, http.MethodPost, "/api/v1/alerts", `{"alert_type":"kubernetes","data":"x"}`, write...)
	require.Empty(t, f.audited(t))

	f.request(t, http.MethodPost, "/api/v1/sessions/"+id+"/cancel", "", read...)

	row := f.lastAudited(t)
	require.Equal(t, []string{"session.cancel", "forbidden", id, readKey.ID, "viewer"}, []string{row.Action, row.Outcome, row.TargetID, row.KeyID, string(row.Role)})

	f.request(t, http.MethodPost, "/api/v1/alerts", `{}`, read...)
	require.Equal(t, "alert.submit", f.lastAudited(t).Action, "denied alerts too")

	b := f.login(t, write)
	f.request(t, http.MethodPost, "/api/v1/silences", `{}`, b.without()...)
	require.Equal(t, "csrf_failed", f.lastAudited(t).Outcome)

	before := len(f.audited(t))

	for range 60 {
		f.request(t, http.MethodPost, "/api/v1/silences", `{}`, read...)
	}

	require.LessOrEqual(t, len(f.audited(t))-before, 30, "denials are bounded per caller and minute")
}

func TestAuditRowThatCannotBeStoredIsLogged(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	_, err := f.connect(t).Exec(t.Context(), `CREATE FUNCTION no_row() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN RAISE EXCEPTION 'disk full'; END $$;
CREATE TRIGGER no_row BEFORE INSERT ON audit_log FOR EACH ROW EXECUTE FUNCTION no_row()`)
	require.NoError(t, err)

	require.Equal(t, http.StatusOK, f.request(t, http.MethodPut, "/api/v1/system/log-level", `{"level":"debug"}`).status)
	line := f.log.line(t, "could not append to the audit log")

	for _, part := range []string{"disk full", "action=log_level.set", "target_id=server-1", "actor=api-client", "level=ERROR"} {
		require.Contains(t, line, part)
	}
}

func TestAuditIsListedInPagesForAdmins(t *testing.T) {
	t.Parallel()

	type page struct {
		Entries    []tarsy.AuditEntry `json:"entries"`
		NextCursor string             `json:"next_cursor"`
	}

	f := newFixture(t, locked)
	_, admin := f.key(t, "root", tarsy.ScopeAdmin)
	_, write := f.key(t, "writer", tarsy.ScopeWrite)

	for i := range 5 {
		f.request(t, http.MethodPost, "/api/v1/tags", `{"name":"t`+strconv.Itoa(i)+`"}`, write...)
	}

	f.requireProblem(t, f.request(t, http.MethodGet, "/api/v1/audit", "", write...), http.StatusForbidden, tarsy.CodeForbidden)

	for _, order := range []string{"newest", "oldest"} {
		var names []string

		for cursor := ""; ; {
			got := get[page](t, f, "/api/v1/audit?actor=writer&limit=2&order="+order+"&cursor="+cursor, admin...)
			for _, e := range got.Entries {
				names = append(names, e.TargetID)
			}

			if cursor = got.NextCursor; cursor == "" {
				break
			}
		}

		want := []string{"t0", "t1", "t2", "t3", "t4"}
		if order == "newest" {
			want = []string{"t4", "t3", "t2", "t1", "t0"}
		}

		require.Equal(t, want, names)
	}

	next := get[page](t, f, "/api/v1/audit?limit=2", admin...).NextCursor
	got := f.request(t, http.MethodGet, "/api/v1/audit?order=oldest&cursor="+next, "", admin...)
	f.requireProblem(t, got, http.StatusBadRequest, tarsy.CodeInvalidCursor)

	for _, bad := range []string{"since=yesterday", "order=random", "limit=0", "cursor=x", "target=x"} {
		require.Equal(t, http.StatusBadRequest, f.request(t, http.MethodGet, "/api/v1/audit?"+bad, "", admin...).status, bad)
	}
}
