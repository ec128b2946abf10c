package api_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/api"
	"tarsy.dev/tarsy/internal/engine"
	"tarsy.dev/tarsy/internal/kit/mock/issuer"
	"tarsy.dev/tarsy/internal/oidc"
	"tarsy.dev/tarsy/notebook"
)

// decision is a request that changes something, and a server on whose rows it succeeds.
type decision struct {
	f *fixture
	// params are the values of the pattern's parameters, in order.
	params []string
	// query follows the path.
	query   string
	body    string
	headers []string
}

// send sends the request, and does not follow redirects.
func (d decision) send(t *testing.T, pattern string) answer {
	t.Helper()

	method, path, _ := strings.Cut(pattern, " ")
	parts, params := strings.Split(path, "/"), d.params

	for i, part := range parts {
		if strings.HasPrefix(part, "{") {
			require.NotEmpty(t, params, "a parameter of %s has no value", pattern)
			parts[i], params = url.PathEscape(params[0]), params[1:]
		}
	}

	d.f.http.Client().CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

	return d.f.request(t, method, strings.Join(parts, "/")+d.query, d.body, d.headers...)
}

// onlyDenied returns the patterns whose requests have a row only if they were denied, with the reason.
func onlyDenied() map[string]string {
	return map[string]string{
		"POST /api/v1/alerts":                   "an alert is a session or a suppressed alert, which has its author",
		"POST /api/v1/webhooks/{source}/{name}": "as above",
		"POST /mcp":                             "tools make requests of their own, which have rows",
	}
}

// notStored returns the patterns whose requests change nothing in the database, with what they change instead.
func notStored() map[string]string {
	return map[string]string{
		"POST /api/v1/system/config/reload": "the configuration in memory",
		"PUT /api/v1/system/log-level":      "the level of the logger",
	}
}

// decisions returns a function for each pattern that prepares a request.
func decisions() map[string]func(*testing.T) decision {
	all := map[string]func(*testing.T) decision{}
	maps.Copy(all, sessionDecisions())
	maps.Copy(all, noteDecisions())
	maps.Copy(all, boardDecisions())
	maps.Copy(all, systemDecisions())
	maps.Copy(all, loginDecisions())

	return all
}

func sessionDecisions() map[string]func(*testing.T) decision {
	share := func(t *testing.T) decision {
		t.Helper()

		f := newFixture(t)
		id := f.session(t, func(*tarsy.Session) {})

		made := f.request(t, http.MethodPost, "/api/v1/sessions/"+id+"/shares", "")
		require.Equal(t, http.StatusCreated, made.status, made.body)

		return decision{f: f, params: []string{id, decode[createdShare](t, made).ID}}
	}
	feedback := func(t *testing.T) decision {
		t.Helper()

		f := newFixture(t)
		id, _ := f.ended(t)

		return decision{f: f, params: []string{id}, body: `{"rating":"wrong"}`}
	}
	// on prepares a request for a new session. A %s in the body is replaced with its id.
	on := func(body string) func(*testing.T) decision {
		return func(t *testing.T) decision {
			t.Helper()

			f := newFixture(t)
			id := f.session(t, func(*tarsy.Session) {})

			return decision{f: f, params: []string{id}, body: strings.ReplaceAll(body, "%s", id)}
		}
	}
	// about prepares a request for a call that waits for an approval.
	about := func(t *testing.T) decision {
		t.Helper()

		f := newFixture(t)

		return decision{f: f, params: []string{f.waiting(t).ID}, body: `{"reason":"because"}`}
	}

	return map[string]func(*testing.T) decision{
		"POST /api/v1/sessions/{id}/cancel": on(""),
		"POST /api/v1/sessions/cancel":      on(`{"ids":["%s"]}`),
		"POST /api/v1/sessions/{id}/rerun":  on(""),
		"POST /api/v1/sessions/{id}/chat/messages": func(t *testing.T) decision {
			f := newFixture(t, withChats)

			return decision{f: f, params: []string{f.over(t, tarsy.SessionCompleted)}, body: `{"content":"why?"}`}
		},
		"DELETE /api/v1/sessions/{id}": func(t *testing.T) decision {
			f := newFixture(t)

			return decision{f: f, params: []string{f.over(t, tarsy.SessionCompleted)}}
		},
		"PATCH /api/v1/sessions/{id}/handling": on(`{"state":"acknowledged"}`),
		"POST /api/v1/sessions/handling":       on(`{"ids":["%s"],"state":"acknowledged"}`),
		"PUT /api/v1/sessions/{id}/feedback":   feedback,
		"DELETE /api/v1/sessions/{id}/feedback": func(t *testing.T) decision {
			d := feedback(t)
			require.Equal(t, http.StatusOK, d.send(t, "PUT /api/v1/sessions/{id}/feedback").status)

			return decision{f: d.f, params: d.params}
		},
		"POST /api/v1/sessions/{id}/shares":              on(""),
		"DELETE /api/v1/sessions/{id}/shares/{share_id}": share,
		"POST /api/v1/approvals/{id}/approve":            about,
		"POST /api/v1/approvals/{id}/reject":             about,
	}
}

// withChats configures a server whose chains all accept questions.
func withChats(cfg *api.Config) {
	cfg.Intake = engine.NewIntake(engine.IntakeConfig{
		DB: cfg.Store, TakesQuestions: func(string) (takes, known bool) { return true, true },
		Mask: func(text string) string { return text }, Clock: cfg.Clock,
	})
}

func noteDecisions() map[string]func(*testing.T) decision {
	capture := func(t *testing.T) (*noteFixture, string) {
		t.Helper()

		f := newNoteFixture(t)

		return f, f.capture(t, "check the disk").ID
	}
	review := func(t *testing.T) decision {
		t.Helper()

		f := newReviewFixture(t)

		return decision{f: f.fixture, params: []string{f.item(t, "One").ID}, body: `{"decision":"reject"}`, headers: []string{"If-Match", `"1"`}}
	}
	queue := func(t *testing.T) decision {
		t.Helper()

		return decision{f: newNoteFixture(t).fixture, params: []string{"notes-extract"}}
	}

	return map[string]func(*testing.T) decision{
		"POST /api/v1/notes": func(t *testing.T) decision {
			return decision{f: newNoteFixture(t).fixture, body: `{"content":"check the disk","source":"cli"}`}
		},
		"POST /api/v1/notes/reprocess": func(t *testing.T) decision {
			f, _ := capture(t)
			f.execute(t, `UPDATE notes SET status = 'done'`)
			f.clock.Advance(time.Second)

			return decision{f: f.fixture, body: `{"since":"2026-11-01T00:00:00Z"}`}
		},
		"POST /api/v1/notes/{id}/reprocess": func(t *testing.T) decision {
			f, id := capture(t)

			return decision{f: f.fixture, params: []string{id}}
		},
		"POST /api/v1/review/{id}/resolve": review,
		"POST /api/v1/review/{id}/undo": func(t *testing.T) decision {
			d := review(t)
			require.Equal(t, http.StatusOK, d.send(t, "POST /api/v1/review/{id}/resolve").status)

			return decision{f: d.f, params: d.params}
		},
		"POST /api/v1/review/bulk": func(t *testing.T) decision {
			d := review(t)

			return decision{f: d.f, body: fmt.Sprintf(`{"decision":"reject","items":[{"id":%q,"version":1}]}`, d.params[0])}
		},
		"POST /api/v1/jobs/{id}/retry": func(t *testing.T) decision {
			f, _ := capture(t)
			f.execute(t, `UPDATE river_job SET state = 'discarded', attempt = 2, finalized_at = now(), errors = ARRAY['{"error": "overloaded"}'::jsonb]`)
			f.execute(t, `UPDATE notes SET status = 'failed', processing_error = 'overloaded'`)

			return decision{f: f.fixture, params: []string{fmt.Sprint(get[jobPage](t, f.fixture, "/api/v1/jobs").Jobs[0].ID)}}
		},
		"POST /api/v1/queues/{name}/pause": queue,
		"POST /api/v1/queues/{name}/resume": func(t *testing.T) decision {
			d := queue(t)
			require.Equal(t, http.StatusOK, d.send(t, "POST /api/v1/queues/{name}/pause").status)

			return d
		},
	}
}

func boardDecisions() map[string]func(*testing.T) decision {
	// with prepares a request for a row that a POST has created.
	with := func(path, made, body string) func(*testing.T) decision {
		return func(t *testing.T) decision {
			t.Helper()

			f := newFixture(t)
			row := created[json.RawMessage](t, f, path, made)

			var named struct{ ID, Name string }

			require.NoError(t, json.Unmarshal(row, &named))

			return decision{f: f, params: []string{cmp.Or(named.ID, named.Name)}, body: body, headers: []string{"If-Match", `"1"`}}
		}
	}
	post := func(body string) func(*testing.T) decision {
		return func(t *testing.T) decision { return decision{f: newFixture(t), body: body} }
	}
	epic := func(body string) func(*testing.T) decision {
		return func(t *testing.T) decision {
			t.Helper()

			d := with("/api/v1/projects", `{"name":"Login"}`, body)(t)
			d.params[0] = created[notebook.Epic](t, d.f, "/api/v1/projects/"+d.params[0]+"/epics", `{"name":"Safari"}`).ID

			return d
		}
	}

	const task = `{"type":"task","title":"Fix it"}`

	return map[string]func(*testing.T) decision{
		"POST /api/v1/entities":            post(task),
		"PATCH /api/v1/entities/{id}":      with("/api/v1/entities", task, `{"title":"Fix it soon"}`),
		"DELETE /api/v1/entities/{id}":     with("/api/v1/entities", task, ""),
		"POST /api/v1/entities/{id}/move":  with("/api/v1/entities", task, `{"status":"done"}`),
		"POST /api/v1/projects":            post(`{"name":"Login"}`),
		"PATCH /api/v1/projects/{id}":      with("/api/v1/projects", `{"name":"Login"}`, `{"description":"All of it"}`),
		"DELETE /api/v1/projects/{id}":     with("/api/v1/projects", `{"name":"Login"}`, ""),
		"POST /api/v1/projects/{id}/epics": with("/api/v1/projects", `{"name":"Login"}`, `{"name":"Safari"}`),
		"PATCH /api/v1/epics/{id}":         epic(`{"status":"done"}`),
		"DELETE /api/v1/epics/{id}":        epic(""),
		"POST /api/v1/tags":                post(`{"name":"a b"}`),
		"PATCH /api/v1/tags/{name}":        with("/api/v1/tags", `{"name":"a b"}`, `{"name":"c"}`),
		"DELETE /api/v1/tags/{name}":       with("/api/v1/tags", `{"name":"a b"}`, ""),
	}
}

func systemDecisions() map[string]func(*testing.T) decision {
	const silence = `{"matchers":["severity=critical"],"reason":"load test","duration":"2h"}`

	return map[string]func(*testing.T) decision{
		"POST /api/v1/silences": func(t *testing.T) decision { return decision{f: newFixture(t), body: silence} },
		"DELETE /api/v1/silences/{id}": func(t *testing.T) decision {
			f := newFixture(t)

			return decision{f: f, params: []string{decode[tarsy.Silence](t, f.request(t, http.MethodPost, "/api/v1/silences", silence)).ID}}
		},
		"POST /api/v1/suppressed/{id}/investigate": func(t *testing.T) decision {
			f := newFixture(t)
			require.Equal(t, http.StatusCreated, f.request(t, http.MethodPost, "/api/v1/silences", silence).status)

			return decision{f: f, params: []string{*f.delivered(t, "alertmanager/default", alertmanager("firing", "A")).Alerts[0].SuppressedID}}
		},
		"PUT /api/v1/system/pauses/{kind}": func(t *testing.T) decision {
			return decision{f: newFixture(t), params: []string{"intake"}, body: `{"reason":"database upgrade"}`}
		},
		"DELETE /api/v1/system/pauses/{kind}": func(t *testing.T) decision {
			f := newFixture(t)
			require.Equal(t, http.StatusOK, f.request(t, http.MethodPut, pausesPath+"/intake", "").status)

			return decision{f: f, params: []string{"intake"}}
		},
		"POST /api/v1/system/config/reload": func(t *testing.T) decision {
			return decision{f: newFixture(t, func(cfg *api.Config) {
				cfg.Reload = func(context.Context, bool, string) (api.ConfigReload, error) {
					return api.ConfigReload{Applied: true}, nil
				}
			})}
		},
		"PUT /api/v1/system/log-level": func(t *testing.T) decision {
			return decision{f: newFixture(t, func(cfg *api.Config) { cfg.LogLevel = &slog.LevelVar{} }), body: `{"level":"debug"}`}
		},
	}
}

func loginDecisions() map[string]func(*testing.T) decision {
	return map[string]func(*testing.T) decision{
		"POST /api/v1/keys": func(t *testing.T) decision {
			return decision{f: newFixture(t), body: `{"name":"ci","scopes":["write"]}`}
		},
		"DELETE /api/v1/keys/{id}": func(t *testing.T) decision {
			f := newFixture(t)
			key, _ := f.key(t, "ci", tarsy.ScopeWrite)

			return decision{f: f, params: []string{key.ID}}
		},
		"POST /api/v1/login": func(t *testing.T) decision {
			f := newFixture(t, locked)
			_, key := f.key(t, "ada", tarsy.ScopeWrite)
			before := f.login(t, key) // this login ends it

			return decision{f: f, body: `{"key":"` + secretOf(key) + `"}`, headers: before.without()}
		},
		"POST /api/v1/logout": func(t *testing.T) decision {
			f := newFixture(t, locked)
			_, key := f.key(t, "ada", tarsy.ScopeWrite)

			return decision{f: f, headers: f.login(t, key).headers()}
		},
		"GET /api/v1/login/oidc/callback": returnFromIssuer,
	}
}

// returnFromIssuer returns the request of a browser that the issuer has sent back.
func returnFromIssuer(t *testing.T) decision {
	t.Helper()

	const callback = "http://127.0.0.1:1/api/v1/login/oidc/callback"

	redirect, err := url.Parse(callback)
	require.NoError(t, err)

	people := httptest.NewServer(issuer.New(issuer.Config{ClientID: "tarsy", RedirectURIs: []string{callback}, People: []issuer.Person{{Subject: "rob"}}}))
	t.Cleanup(people.Close)

	f := newFixture(t, locked, func(cfg *api.Config) {
		cfg.Auth.Users = &api.Users{Issuer: people.URL, Default: tarsy.RoleResponder}
		cfg.OIDC = &api.OIDC{Provider: oidc.New(oidc.Config{Issuer: people.URL, ClientID: "tarsy", Scopes: []string{"openid"}}), RedirectURL: redirect, Lifetime: time.Hour}
	})

	begun := decision{f: f}.send(t, "GET /api/v1/login/oidc")
	require.Equal(t, http.StatusSeeOther, begun.status, begun.body)

	asked, err := url.Parse(begun.header.Get("Location"))
	require.NoError(t, err)

	form := asked.Query()
	form.Set("subject", "rob")

	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, people.URL+asked.Path, strings.NewReader(form.Encode()))
	require.NoError(t, err)
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")

	response, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(request)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())

	back, err := response.Location()
	require.NoError(t, err)

	attempt := cookieOf(t, begun)

	// A program gets the error; a browser is redirected to the login page.
	return decision{f: f, query: "?" + back.RawQuery, headers: []string{"Cookie", attempt.Name + "=" + attempt.Value, "Accept", "application/json"}}
}

// bulkPatterns returns the patterns whose response has an error for each item.
func bulkPatterns() map[string]bool {
	return map[string]bool{"POST /api/v1/sessions/handling": true, "POST /api/v1/review/bulk": true}
}

func TestEveryActionHasADecisionToTest(t *testing.T) {
	t.Parallel()

	tested := slices.Concat(slices.Collect(maps.Keys(decisions())), slices.Collect(maps.Keys(onlyDenied())))
	require.ElementsMatch(t, slices.Collect(maps.Keys(api.AuditActionNames())), tested)
}

func TestEveryDecisionHasOneAuditRow(t *testing.T) {
	t.Parallel()

	for pattern, prepare := range decisions() {
		t.Run(pattern, func(t *testing.T) {
			t.Parallel()

			d := prepare(t)
			rows, tables := len(d.f.audited(t)), d.f.tables(t)

			got := d.send(t, pattern)
			require.Less(t, got.status, http.StatusBadRequest, got.body)

			added := d.f.audited(t)[rows:]
			require.Len(t, added, 1)
			require.Equal(t, api.AuditActionNames()[pattern], added[0].Action)
			require.Equal(t, tarsy.AuditOK, added[0].Outcome)

			changed := changedTables(tables, d.f.tables(t))
			require.Contains(t, changed, "audit_log")

			if notStored()[pattern] != "" {
				require.Len(t, changed, 1)
			} else {
				require.Greater(t, len(changed), 1, "nothing has changed but the log")
			}
		})
	}
}

func TestDecisionWithoutItsAuditRowIsNotMade(t *testing.T) {
	t.Parallel()

	for pattern, prepare := range decisions() {
		if notStored()[pattern] != "" {
			continue
		}

		t.Run(pattern, func(t *testing.T) {
			t.Parallel()

			d := prepare(t)
			_, err := d.f.connect(t).Exec(t.Context(), `CREATE FUNCTION no_row() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN RAISE EXCEPTION 'no row today'; END $$;
CREATE TRIGGER no_row BEFORE INSERT ON audit_log FOR EACH ROW EXECUTE FUNCTION no_row()`)
			require.NoError(t, err)

			before := d.f.tables(t)
			got := d.send(t, pattern)

			require.Empty(t, changedTables(before, d.f.tables(t)), "the answer was %d", got.status)

			if bulkPatterns()[pattern] {
				require.Contains(t, got.body, `"code":"internal"`)
			} else {
				require.GreaterOrEqual(t, got.status, http.StatusInternalServerError, got.body)
			}
		})
	}
}

// A request that changes nothing is not a decision, though the response is the same.
func TestRepeatedDecisionHasNoRow(t *testing.T) {
	t.Parallel()

	for _, pattern := range []string{
		"POST /api/v1/sessions/{id}/cancel", "DELETE /api/v1/keys/{id}", "DELETE /api/v1/sessions/{id}/shares/{share_id}", "DELETE /api/v1/silences/{id}",
		"PATCH /api/v1/sessions/{id}/handling", "DELETE /api/v1/system/pauses/{kind}",
	} {
		t.Run(pattern, func(t *testing.T) {
			t.Parallel()

			d := decisions()[pattern](t)
			first := d.send(t, pattern)
			require.Less(t, first.status, http.StatusBadRequest, first.body)

			rows := len(d.f.audited(t))
			require.Equal(t, first.status, d.send(t, pattern).status)
			require.Len(t, d.f.audited(t), rows)
		})
	}
}

// tables returns the rows of all tables, sorted.
func (f *fixture) tables(t *testing.T) map[string][]string {
	t.Helper()

	conn := f.connect(t)
	query := func(sql string) []string {
		rows, err := conn.Query(t.Context(), sql)
		require.NoError(t, err)

		texts, err := pgx.CollectRows(rows, pgx.RowTo[string])
		require.NoError(t, err)

		return texts
	}

	all := map[string][]string{}
	for _, name := range query(`SELECT relname FROM pg_catalog.pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace`) {
		// Journal entries are numbered after their commit, by the holder of the lease.
		all[name] = query(`SELECT (to_jsonb(t) - '{seq,head,holder,fence,lease_until}'::text[])::text FROM ` + pgx.Identifier{"public", name}.Sanitize() + ` t ORDER BY 1`)
	}

	require.Contains(t, all, "audit_log")

	return all
}

// changedTables returns the names of the tables whose rows differ, sorted.
func changedTables(before, after map[string][]string) []string {
	var names []string

	for _, name := range slices.Sorted(maps.Keys(after)) {
		if !slices.Equal(before[name], after[name]) {
			names = append(names, name)
		}
	}

	return names
}
