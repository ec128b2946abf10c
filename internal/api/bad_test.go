package api_test

import (
	"encoding/base64"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/ident"
)

// badRequest is a request and how it is refused.
type badRequest struct {
	name, method, path, body string
	headers                  []string
	status                   int
	code                     tarsy.Code
	field, says              string
}

func (b badRequest) about(field string) badRequest {
	b.field = field

	return b
}

func badAlerts() []badRequest {
	alert := func(name, body string, code tarsy.Code, field, says string) badRequest {
		return badRequest{
			name: name, method: http.MethodPost, path: "/api/v1/alerts", body: body,
			status: http.StatusBadRequest, code: code, field: field, says: says,
		}
	}

	return []badRequest{
		alert("empty body", "", tarsy.CodeInvalidJSON, "", "empty"),
		alert("blank body", "  \n", tarsy.CodeInvalidJSON, "", "empty"),
		alert("broken JSON", "{\n  \"alert_type\": kubernetes}", tarsy.CodeInvalidJSON, "", "line 2, column 17"),
		alert("unfinished JSON", `{"data": "x"`, tarsy.CodeInvalidJSON, "", "unexpected end"),
		alert("more after the JSON", `{"alert_type":"kubernetes","data":"x"} {}`, tarsy.CodeInvalidJSON, "", "line 1, column 40"),
		alert("nesting without end", strings.Repeat("[", 20000), tarsy.CodeInvalidJSON, "", "depth"),
		alert("a list", `[]`, tarsy.CodeInvalidField, "", "must be an object, not a list"),
		alert("null", `null`, tarsy.CodeInvalidField, "", "not null"),
		alert("unknown field", `{"alert_typ":"kubernetes","data":"x"}`, tarsy.CodeUnknownField, "alert_typ", "did you mean alert_type?"),
		alert("field in other case", `{"Data":"x"}`, tarsy.CodeUnknownField, "Data", "did you mean data?"),
		alert("unknown field far from any", `{"severity":"x"}`, tarsy.CodeUnknownField, "severity", "known fields: "),
		alert("field twice", `{"data":"x","data":"y"}`, tarsy.CodeInvalidField, "data", "twice"),
		alert("no data", `{"alert_type":"kubernetes"}`, tarsy.CodeMissingField, "data", "text, an object or a list"),
		alert("data null", `{"alert_type":"kubernetes","data":null}`, tarsy.CodeMissingField, "data", "missing"),
		alert("data blank", `{"alert_type":"kubernetes","data":" \u0000 "}`, tarsy.CodeInvalidField, "data", "empty"),
		alert("data a number", `{"alert_type":"kubernetes","data":5}`, tarsy.CodeInvalidField, "data", "not a number"),
		alert("data true", `{"alert_type":"kubernetes","data":true}`, tarsy.CodeInvalidField, "data", "not true or false"),
		alert("type a number", `{"alert_type":7,"data":"x"}`, tarsy.CodeInvalidField, "alert_type", "must be text, not a number"),
		alert("type too long", `{"alert_type":"`+strings.Repeat("k", 201)+`","data":"x"}`, tarsy.CodeInvalidField, "alert_type", "200"),
		alert("type unknown", `{"alert_type":"nagios","data":"x"}`, tarsy.CodeUnknownAlertType, "alert_type", "nagios"),
		alert("runbook a list", `{"data":"x","runbook":[]}`, tarsy.CodeInvalidField, "runbook", "must be text, not a list"),
		alert("runbook address of another kind", `{"data":"x","runbook_url":"file:///etc/passwd"}`,
			tarsy.CodeInvalidField, "runbook_url", "http://"),
		alert("runbook address without host", `{"data":"x","runbook_url":"https:///x"}`, tarsy.CodeInvalidField, "runbook_url", "http://"),
		alert("two selections", `{"data":"x","mcp":{"servers":[{"name":"k8s"}]},"mcp_selection":{"servers":[{"name":"k8s"}]}}`,
			tarsy.CodeInvalidField, "mcp", "send one of them"),
		alert("fingerprint too long", `{"data":"x","slack_message_fingerprint":"`+strings.Repeat("k", 1001)+`"}`,
			tarsy.CodeInvalidField, "slack_message_fingerprint", "1000"),
		alert("selection a text", `{"data":"x","mcp_selection":"k8s"}`, tarsy.CodeInvalidField, "mcp_selection", "must be an object, not text"),
		alert("selection without servers", `{"data":"x","mcp_selection":{}}`, tarsy.CodeMissingField, "mcp_selection.servers", "at least one"),
		alert("selection of no servers", `{"data":"x","mcp_selection":{"servers":[]}}`,
			tarsy.CodeMissingField, "mcp_selection.servers", "at least one"),
		alert("selection with unknown field", `{"data":"x","mcp_selection":{"server":[]}}`,
			tarsy.CodeUnknownField, "mcp_selection.server", "did you mean servers?"),
		alert("server a text", `{"data":"x","mcp_selection":{"servers":["k8s"]}}`,
			tarsy.CodeInvalidField, "mcp_selection.servers[0]", "must be an object, not text"),
		alert("server without name", `{"data":"x","mcp_selection":{"servers":[{"name":"a"},{"tools":[]}]}}`,
			tarsy.CodeMissingField, "mcp_selection.servers[1].name", "missing"),
		alert("server twice", `{"data":"x","mcp_selection":{"servers":[{"name":"a"},{"name":"a"}]}}`,
			tarsy.CodeInvalidField, "mcp_selection.servers[1].name", "twice"),
		alert("tool a number", `{"data":"x","mcp_selection":{"servers":[{"name":"a","tools":["b",3]}]}}`,
			tarsy.CodeInvalidField, "mcp_selection.servers[0].tools[1]", "must be text, not a number"),
		alert("tool empty", `{"data":"x","mcp_selection":{"servers":[{"name":"a","tools":[""]}]}}`,
			tarsy.CodeInvalidField, "mcp_selection.servers[0].tools[0]", "empty"),
		alert("native tool a text", `{"data":"x","mcp_selection":{"servers":[{"name":"a"}],"native_tools":{"google_search":"yes"}}}`,
			tarsy.CodeInvalidField, "mcp_selection.native_tools.google_search", "must be true or false, not text"),
		alert("native tool unknown", `{"data":"x","mcp_selection":{"servers":[{"name":"a"}],"native_tools":{"googlesearch":true}}}`,
			tarsy.CodeUnknownField, "mcp_selection.native_tools.googlesearch", "did you mean google_search?"),
	}
}

func badBodies() []badRequest {
	const good = `{"alert_type":"kubernetes","data":"x"}`

	media := func(name string, headers ...string) badRequest {
		return badRequest{
			name: name, method: http.MethodPost, path: "/api/v1/alerts", body: good, headers: headers,
			status: http.StatusUnsupportedMediaType, code: tarsy.CodeUnsupportedMedia, field: headers[0],
		}
	}
	large := func(name, body string) badRequest {
		return badRequest{
			name: name, method: http.MethodPost, path: "/api/v1/alerts", body: body,
			status: http.StatusRequestEntityTooLarge, code: tarsy.CodeTooLarge, says: "1048576 bytes",
		}
	}

	return []badRequest{
		media("body a form", "Content-Type", "application/x-www-form-urlencoded"),
		media("body text", "Content-Type", "text/plain"),
		media("body of no type", "Content-Type", ""),
		media("body of broken type", "Content-Type", "application/json; charset"),
		media("body in Latin-1", "Content-Type", "application/json; charset=latin1"),
		media("body compressed", "Content-Encoding", "gzip"),
		large("body too large", `{"alert_type":"kubernetes","data":"`+strings.Repeat("x", tarsy.MaxAlertBytes)+`"}`),
		large("data too large once it is clean",
			`{"alert_type":"kubernetes","data":"`+strings.Repeat("\xff", tarsy.MaxAlertBytes/2)+`"}`).about("data"),
	}
}

func badQueries() []badRequest {
	list := func(name, query string, code tarsy.Code, field, says string) badRequest {
		return badRequest{
			name: name, method: http.MethodGet, path: "/api/v1/sessions?" + query,
			status: http.StatusBadRequest, code: code, field: field, says: says,
		}
	}
	cursor := func(text string) string { return "cursor=" + base64.RawURLEncoding.EncodeToString([]byte(text)) }
	id := ident.New()
	ofSession := func(name, rest, field, says string) badRequest {
		return badRequest{
			name: name, method: http.MethodGet, path: "/api/v1/sessions/" + id + rest,
			status: http.StatusBadRequest, code: tarsy.CodeInvalidParameter, field: field, says: says,
		}
	}

	return []badRequest{
		list("unknown parameter", "stauts=pending", tarsy.CodeInvalidParameter, "stauts", "did you mean status?"),
		list("parameter twice", "limit=1&limit=2", tarsy.CodeInvalidParameter, "limit", "more than once"),
		list("parameter with NUL", "search=a%00b", tarsy.CodeInvalidParameter, "search", "UTF-8"),
		list("parameter not UTF-8", "author=%ff", tarsy.CodeInvalidParameter, "author", "UTF-8"),
		list("broken encoding", "search=%zz", tarsy.CodeInvalidParameter, "", "encoded"),
		list("unknown status", "status=pending,done", tarsy.CodeInvalidParameter, "status", "timed_out"),
		list("unknown outcome", "outcome=false_alarm,bad", tarsy.CodeInvalidParameter, "outcome", `no outcome "bad"; there are cause_found`),
		list("unknown severity", "severity=bad", tarsy.CodeInvalidParameter, "severity", "one of critical, high, info, warning"),
		list("label without a value", "label=env", tarsy.CodeInvalidParameter, "label", "name=value"),
		list("label without a name", "label=%3Dprod", tarsy.CodeInvalidParameter, "label", "name=value"),
		list("label with two values", "label=env=prod&label=env=test", tarsy.CodeInvalidParameter, "label", "two values"),
		list("too many labels", strings.Repeat("label=env=prod&", 65), tarsy.CodeInvalidParameter, "label", "more than 64 times"),
		list("second label that is not UTF-8", "label=env=prod&label=job=%ff", tarsy.CodeInvalidParameter, "label", "UTF-8"),
		list("service twice", "service=a&service=b", tarsy.CodeInvalidParameter, "service", "more than once"),
		list("limit zero", "limit=0", tarsy.CodeInvalidParameter, "limit", "from 1 to 200"),
		list("limit too large", "limit=201", tarsy.CodeInvalidParameter, "limit", "from 1 to 200"),
		list("limit a word", "limit=all", tarsy.CodeInvalidParameter, "limit", "from 1 to 200"),
		list("time a day", "created_after=2026-11-15", tarsy.CodeInvalidParameter, "created_after", "such as"),
		list("time a word", "created_before=yesterday", tarsy.CodeInvalidParameter, "created_before", "such as"),
		list("search too long", "search="+strings.Repeat("x", 201), tarsy.CodeInvalidParameter, "search", "200"),
		list("unknown status of approvals", "approvals=open", tarsy.CodeInvalidParameter, "approvals", "waiting"),
		list("unknown order", "order=oldest", tarsy.CodeInvalidParameter, "order", "attention, newest"),
		list("cursor of the order of attention", cursor(`{"a":1,"t":"2026-11-15T10:00:00Z","i":"`+id+`"}`),
			tarsy.CodeInvalidCursor, "cursor", "the order must be the same"),
		list("cursor of the order of time", "order=attention&"+cursor(`{"t":"2026-11-15T10:00:00Z","i":"`+id+`"}`),
			tarsy.CodeInvalidCursor, "cursor", "the order must be the same"),
		list("cursor with a rank that is none", "order=attention&"+cursor(`{"a":"x","t":"2026-11-15T10:00:00Z","i":"`+id+`"}`),
			tarsy.CodeInvalidCursor, "cursor", "next_cursor"),
		list("cursor with a rank that no session has", "order=attention&"+cursor(`{"a":9,"t":"2026-11-15T10:00:00Z","i":"`+id+`"}`),
			tarsy.CodeInvalidCursor, "cursor", "next_cursor"),
		list("cursor of an older release", "order=attention&"+cursor(`{"r":1,"t":"2026-11-15T10:00:00Z","i":"`+id+`"}`),
			tarsy.CodeInvalidCursor, "cursor", "next_cursor"),
		list("cursor with a rank that no database holds", "order=attention&"+cursor(`{"a":99999999999,"t":"2026-11-15T10:00:00Z","i":"`+id+`"}`),
			tarsy.CodeInvalidCursor, "cursor", "next_cursor"),
		list("cursor of a list for a search", "search=disk&"+cursor(`{"t":"2026-11-15T10:00:00Z","i":"`+id+`"}`),
			tarsy.CodeInvalidCursor, "cursor", "the order must be the same"),
		list("cursor of a search for a list", cursor(`{"m":1,"t":"2026-11-15T10:00:00Z","i":"`+id+`"}`),
			tarsy.CodeInvalidCursor, "cursor", "the order must be the same"),
		list("cursor of a search that no search has", "search=disk&"+cursor(`{"m":2,"t":"2026-11-15T10:00:00Z","i":"`+id+`"}`),
			tarsy.CodeInvalidCursor, "cursor", "next_cursor"),
		list("cursor not base64", "cursor=!!", tarsy.CodeInvalidCursor, "cursor", "next_cursor"),
		list("cursor not JSON", cursor("hello"), tarsy.CodeInvalidCursor, "cursor", "next_cursor"),
		list("cursor with a bad id", cursor(`{"t":"2026-11-15T10:00:00Z","i":"1"}`), tarsy.CodeInvalidCursor, "cursor", "next_cursor"),
		list("cursor without time", cursor(`{"i":"`+id+`"}`), tarsy.CodeInvalidCursor, "cursor", "next_cursor"),
		list("cursor with more", cursor(`{"t":"2026-11-15T10:00:00Z","i":"`+id+`"} 1`), tarsy.CodeInvalidCursor, "cursor", "next_cursor"),
		ofSession("preview of nothing", "/timeline?preview=0", "preview", "from 1 to 10000"),
		ofSession("preview too large", "/timeline?preview=10001", "preview", "from 1 to 10000"),
		ofSession("preview a word", "/timeline?preview=all", "preview", "from 1 to 10000"),
		ofSession("page of nothing", "/timeline?limit=0", "limit", "from 1 to 5000"),
		ofSession("trace page too large", "/trace?limit=5001", "limit", "from 1 to 5000"),
		ofSession("export in another form", "/export?format=pdf", "format", "json, markdown"),
		ofSession("more similar sessions than there may be", "/similar?limit=21", "limit", "from 1 to 20"),
		ofSession("similar sessions with a cursor", "/similar?cursor=x", "cursor", "limit"),
		ofSession("export with a preview", "/export?preview=5", "preview", "format"),
		{
			name: "parameter where there are none", method: http.MethodGet, path: "/health?verbose=1",
			status: http.StatusBadRequest, code: tarsy.CodeInvalidParameter, field: "verbose", says: "there are no ",
		},
	}
}

func badAddresses() []badRequest {
	missing := func(method, path string, code tarsy.Code) badRequest {
		return badRequest{name: "missing " + path + " " + method, method: method, path: path, status: http.StatusNotFound, code: code}
	}
	method := func(method, path, allow string) badRequest {
		return badRequest{
			name: method + " " + path, method: method, path: path,
			status: http.StatusMethodNotAllowed, code: tarsy.CodeMethodNotAllowed, says: allow,
		}
	}
	stranger := "/api/v1/sessions/" + ident.New()

	return []badRequest{
		missing(http.MethodGet, "/", tarsy.CodeNotFound),
		missing(http.MethodGet, "/api/v1/session", tarsy.CodeNotFound),
		missing(http.MethodGet, "/api//v1/sessions", tarsy.CodeNotFound),
		missing(http.MethodGet, "/api/v1/sessions/", tarsy.CodeNotFound),
		missing(http.MethodGet, "/docs", tarsy.CodeNotFound),
		missing(http.MethodGet, stranger, tarsy.CodeSessionNotFound),
		missing(http.MethodGet, stranger+"/timeline", tarsy.CodeSessionNotFound),
		missing(http.MethodGet, stranger+"/timeline/"+ident.New(), tarsy.CodeSessionNotFound),
		missing(http.MethodGet, stranger+"/timeline/nothing", tarsy.CodeEventNotFound),
		missing(http.MethodGet, stranger+"/status", tarsy.CodeSessionNotFound),
		missing(http.MethodGet, stranger+"/summary", tarsy.CodeSessionNotFound),
		missing(http.MethodGet, stranger+"/similar", tarsy.CodeSessionNotFound),
		missing(http.MethodGet, "/api/v1/sessions/1/similar", tarsy.CodeSessionNotFound),
		missing(http.MethodGet, stranger+"/export", tarsy.CodeSessionNotFound),
		missing(http.MethodGet, "/api/v1/sessions/1/export?format=markdown", tarsy.CodeSessionNotFound),
		missing(http.MethodGet, "/api/v1/sessions/%00/status", tarsy.CodeSessionNotFound),
		missing(http.MethodGet, "/api/v1/sessions/1/summary", tarsy.CodeSessionNotFound),
		missing(http.MethodPost, stranger+"/rerun", tarsy.CodeSessionNotFound),
		missing(http.MethodPost, "/api/v1/sessions/nothing/rerun", tarsy.CodeSessionNotFound),
		missing(http.MethodPost, stranger+"/cancel", tarsy.CodeSessionNotFound),
		missing(http.MethodGet, "/api/v1/sessions/1", tarsy.CodeSessionNotFound),
		missing(http.MethodGet, "/api/v1/sessions/%00/timeline", tarsy.CodeSessionNotFound),
		missing(http.MethodPost, "/api/v1/sessions/nothing/cancel", tarsy.CodeSessionNotFound),
		missing(http.MethodDelete, "/api/v1/keys/"+ident.New(), tarsy.CodeKeyNotFound),
		missing(http.MethodDelete, "/api/v1/keys/abcdefgh", tarsy.CodeKeyNotFound),
		missing(http.MethodDelete, "/api/v1/keys/%00", tarsy.CodeKeyNotFound),
		method(http.MethodGet, "/api/v1/alerts", "POST"),
		method(http.MethodDelete, "/api/v1/sessions", "GET, HEAD"),
		method(http.MethodPut, "/api/v1/keys", "GET, HEAD, POST"),
		method(http.MethodPost, "/livez", "GET, HEAD"),
		method(http.MethodOptions, "/api/v1/alerts", "POST"),
		method("BREW", "/health", "GET, HEAD"),
	}
}

func badKeys() []badRequest {
	key := func(name, body string, code tarsy.Code, field, says string) badRequest {
		return badRequest{
			name: name, method: http.MethodPost, path: "/api/v1/keys", body: body,
			status: http.StatusBadRequest, code: code, field: field, says: says,
		}
	}

	return []badRequest{
		key("key from nothing", "", tarsy.CodeInvalidJSON, "", "name, scopes"),
		key("key without name", `{"scopes":["read"]}`, tarsy.CodeMissingField, "name", "name"),
		key("key without scopes", `{"name":"ci"}`, tarsy.CodeMissingField, "scopes", "at least one"),
		key("key with unknown scope", `{"name":"ci","scopes":["root"]}`, tarsy.CodeInvalidField, "scopes[0]", "read, write and admin"),
		key("key with a text for scopes", `{"name":"ci","scopes":"read"}`, tarsy.CodeInvalidField, "scopes", "must be a list, not text"),
		key("key with unknown field", `{"name":"ci","scope":["read"]}`, tarsy.CodeUnknownField, "scope", "did you mean scopes?"),
		{
			name: "re-run with another alert", method: http.MethodPost, path: "/api/v1/sessions/" + ident.New() + "/rerun", body: `{"data":"x"}`,
			status: http.StatusBadRequest, code: tarsy.CodeUnknownField, field: "data", says: "known fields: ",
		},
		{
			name: "re-run with two selections", method: http.MethodPost, path: "/api/v1/sessions/" + ident.New() + "/rerun",
			body:   `{"mcp":{"servers":[{"name":"a"}]},"mcp_selection":{"servers":[{"name":"a"}]}}`,
			status: http.StatusBadRequest, code: tarsy.CodeInvalidField, field: "mcp", says: "send one of them",
		},
		{
			name: "re-run with an empty selection", method: http.MethodPost, path: "/api/v1/sessions/" + ident.New() + "/rerun", body: `{"mcp":{"servers":[]}}`,
			status: http.StatusBadRequest, code: tarsy.CodeMissingField, field: "mcp.servers", says: "at least one server",
		},
		{
			name: "cancel with a reason", method: http.MethodPost, path: "/api/v1/sessions/" + ident.New() + "/cancel", body: `{"reason":"x"}`,
			status: http.StatusBadRequest, code: tarsy.CodeUnknownField, field: "reason", says: "there are no ",
		},
	}
}

func badOrigins() []badRequest {
	const good = `{"alert_type":"kubernetes","data":"x"}`

	return []badRequest{
		{
			name: "page of another origin", method: http.MethodPost, path: "/api/v1/alerts", body: good,
			headers: []string{"Origin", "https://evil.example"},
			status:  http.StatusForbidden, code: tarsy.CodeForbiddenOrigin, field: "Origin",
		},
		{
			name: "name that somebody pointed here", method: http.MethodGet, path: "/api/v1/sessions",
			headers: []string{"Host", "evil.example:8080"},
			status:  http.StatusForbidden, code: tarsy.CodeForbiddenOrigin, field: "Host", says: "evil.example",
		},
	}
}

func TestBadRequestsGetExactProblemAndChangeNothing(t *testing.T) {
	t.Parallel()

	f := newFixture(t)

	// The group ends when all of its tests have.
	t.Run("refused", func(t *testing.T) {
		for _, c := range slices.Concat(badAlerts(), badBodies(), badQueries(), badAddresses(), badKeys(), badOrigins(), badBoardQueries(), badBoardBodies(), badBoardRows()) {
			t.Run(c.name, func(t *testing.T) {
				t.Parallel()

				got := f.request(t, c.method, c.path, c.body, c.headers...)
				problem := f.requireProblem(t, got, c.status, c.code)
				require.Contains(t, problem.Detail, c.says)
				require.Equal(t, c.field, problem.Field)

				if c.status == http.StatusMethodNotAllowed {
					require.Equal(t, c.says, got.header.Get("Allow"))
				}
			})
		}
	})

	require.NotContains(t, f.log.String(), "level=ERROR")

	sessions, err := f.db.Sessions(t.Context(), tarsy.SessionFilter{Limit: 1})
	require.NoError(t, err)
	require.Empty(t, sessions)

	keys, err := f.accounts.Keys(t.Context())
	require.NoError(t, err)
	require.Empty(t, keys)
}
