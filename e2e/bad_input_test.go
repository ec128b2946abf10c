package e2e

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/tarsytest"
)

// badRequest is a request that must be refused, and the expected response; says is a part of the explanation.
type badRequest struct {
	name, method, path, body string
	headers                  []string
	status                   int
	code                     tarsy.Code
	field, says              string
}

func badAlerts() []badRequest {
	const good = `{"alert_type":"test","data":"x"}`

	alert := func(name, body string, code tarsy.Code, field, says string) badRequest {
		return badRequest{name, http.MethodPost, "/api/v1/alerts", body, nil, http.StatusBadRequest, code, field, says}
	}
	other := func(name, body string, status int, code tarsy.Code, field string, headers ...string) badRequest {
		return badRequest{name, http.MethodPost, "/api/v1/alerts", body, headers, status, code, field, ""}
	}

	return []badRequest{
		alert("no body", ``, tarsy.CodeInvalidJSON, "", "alert_type, data"),
		alert("no JSON", `alert!`, tarsy.CodeInvalidJSON, "", "line 1, column 1"),
		alert("half of the JSON", good[:20], tarsy.CodeInvalidJSON, "", "unexpected end"),
		alert("two alerts", good+good, tarsy.CodeInvalidJSON, "", "column 33"),
		alert("bottomless nesting", strings.Repeat(`{"data":`, 20_000), tarsy.CodeInvalidJSON, "", "depth"),
		alert("a list of alerts", "["+good+"]", tarsy.CodeInvalidField, "", "an object, not a list"),
		alert("a misspelt field", `{"alert_tpye":"test","data":"x"}`, tarsy.CodeUnknownField, "alert_tpye", "did you mean alert_type?"),
		alert("a field twice", `{"alert_type":"test","data":"x","data":"y"}`, tarsy.CodeInvalidField, "data", "twice"),
		alert("an unknown type", `{"alert_type":"tets","data":"x"}`, tarsy.CodeUnknownAlertType, "alert_type", "test"),
		alert("a type of another case", `{"alert_type":"Test","data":"x"}`, tarsy.CodeUnknownAlertType, "alert_type", "test"),
		alert("a type that is not text", `{"alert_type":{},"data":"x"}`, tarsy.CodeInvalidField, "alert_type", "text, not an object"),
		alert("a type without end", `{"alert_type":"`+strings.Repeat("t", 201)+`","data":"x"}`, tarsy.CodeInvalidField, "alert_type", "200"),
		alert("no data", `{"alert_type":"test"}`, tarsy.CodeMissingField, "data", "text, an object or a list"),
		alert("data that is null", `{"alert_type":"test","data":null}`, tarsy.CodeMissingField, "data", ""),
		alert("data that is blank", `{"alert_type":"test","data":"\n\u0000\t"}`, tarsy.CodeInvalidField, "data", "empty"),
		alert("data that is a number", `{"alert_type":"test","data":42}`, tarsy.CodeInvalidField, "data", "not a number"),
		alert("a runbook that is not text", `{"alert_type":"test","data":"x","runbook":1}`, tarsy.CodeInvalidField, "runbook", "text"),
		alert("a runbook in a file", `{"alert_type":"test","data":"x","runbook_url":"file:///etc/passwd"}`,
			tarsy.CodeInvalidField, "runbook_url", "https://"),
		alert("a selection that is a name", `{"alert_type":"test","data":"x","mcp_selection":"kubernetes"}`,
			tarsy.CodeInvalidField, "mcp_selection", "object"),
		alert("a selection of nothing", `{"alert_type":"test","data":"x","mcp_selection":{"servers":[]}}`,
			tarsy.CodeMissingField, "mcp_selection.servers", "at least one"),
		alert("a server that is not there", `{"alert_type":"test","data":"x","mcp_selection":{"servers":[{"name":"github"}]}}`,
			tarsy.CodeUnknownMCPServer, "mcp_selection.servers", "kubernetes"),
		alert("a server twice", `{"alert_type":"test","data":"x","mcp_selection":{"servers":[{"name":"kubernetes"},{"name":"kubernetes"}]}}`,
			tarsy.CodeInvalidField, "mcp_selection.servers[1].name", "twice"),
		alert("a tool that is not text", `{"alert_type":"test","data":"x","mcp_selection":{"servers":[{"name":"kubernetes","tools":[1]}]}}`,
			tarsy.CodeInvalidField, "mcp_selection.servers[0].tools[0]", "text"),
		// The server does not read a body that is too large: a client that does not ask first may be cut off before it gets the reason.
		other("a byte too much", strings.Repeat(" ", tarsy.MaxAlertBytes+1-len(good))+good,
			http.StatusRequestEntityTooLarge, tarsy.CodeTooLarge, "", "Expect", "100-continue"),
		other("too much once it is clean", `{"alert_type":"test","data":"`+strings.Repeat("\xff", tarsy.MaxAlertBytes/2)+`"}`,
			http.StatusRequestEntityTooLarge, tarsy.CodeTooLarge, "data"),
		other("a form", good, http.StatusUnsupportedMediaType, tarsy.CodeUnsupportedMedia, "Content-Type",
			"Content-Type", "application/x-www-form-urlencoded"),
		other("another character set", good, http.StatusUnsupportedMediaType, tarsy.CodeUnsupportedMedia, "Content-Type",
			"Content-Type", "application/json; charset=latin1"),
		other("a compressed body", good, http.StatusUnsupportedMediaType, tarsy.CodeUnsupportedMedia, "Content-Encoding",
			"Content-Encoding", "gzip"),
		other("a page of a stranger", good, http.StatusForbidden, tarsy.CodeForbiddenOrigin, "Origin", "Origin", "https://evil.example"),
		other("a name of a stranger", good, http.StatusForbidden, tarsy.CodeForbiddenOrigin, "Host", "Host", "evil.example"),
	}
}

// badOthers returns bad requests to other routes; {session} is replaced by the id of an existing session, {stranger} by an unknown one.
func badOthers() []badRequest {
	get := func(name, path string, status int, code tarsy.Code, field string, headers ...string) badRequest {
		return badRequest{name, http.MethodGet, path, "", headers, status, code, field, ""}
	}
	send := func(name, method, path, body string, status int, code tarsy.Code, field, says string) badRequest {
		return badRequest{name, method, path, body, nil, status, code, field, says}
	}
	parameter := func(name, query, field string) badRequest {
		return get(name, "/api/v1/sessions?"+query, http.StatusBadRequest, tarsy.CodeInvalidParameter, field)
	}

	return []badRequest{
		parameter("a misspelt parameter", "limt=5", "limt"),
		parameter("a parameter twice", "limit=5&limit=6", "limit"),
		parameter("a limit of nothing", "limit=0", "limit"),
		parameter("a limit without end", "limit=1000000", "limit"),
		parameter("a status that is none", "status=done", "status"),
		parameter("a time that is none", "created_after=today", "created_after"),
		parameter("a search with NUL", "search=%00", "search"),
		parameter("a search without end", "search="+strings.Repeat("x", 201), "search"),
		parameter("an author in Latin-1", "author=%e9", "author"),
		parameter("a broken escape", "author=%zz", ""),
		get("an invented cursor", "/api/v1/sessions?cursor=abc", http.StatusBadRequest, tarsy.CodeInvalidCursor, "cursor"),
		get("a session that is not there", "{stranger}", http.StatusNotFound, tarsy.CodeSessionNotFound, ""),
		get("its timeline", "{stranger}/timeline", http.StatusNotFound, tarsy.CodeSessionNotFound, ""),
		get("its events", "{stranger}/events", http.StatusNotFound, tarsy.CodeSessionNotFound, ""),
		get("a session with SQL for an id", "/api/v1/sessions/'%20OR%201=1--", http.StatusNotFound, tarsy.CodeSessionNotFound, ""),
		get("events after a word", "{session}/events?last_event_id=last", http.StatusBadRequest, tarsy.CodeInvalidParameter, "last_event_id"),
		get("events after what is to come", "{session}/events", http.StatusBadRequest, tarsy.CodeInvalidParameter, "last_event_id",
			"Last-Event-ID", "1000000"),
		get("events before the first", "{session}/events", http.StatusBadRequest, tarsy.CodeInvalidParameter, "last_event_id",
			"Last-Event-ID", "-1"),
		get("a WebSocket without WebSocket", "/api/v1/ws", http.StatusUpgradeRequired, tarsy.CodeUpgradeRequired, ""),
		get("an address that is not there", "/api/v2/sessions", http.StatusNotFound, tarsy.CodeNotFound, ""),
		get("a path out of the tree", "/api/v1/../../etc/passwd", http.StatusNotFound, tarsy.CodeNotFound, ""),
		send("another method", http.MethodPut, "/api/v1/alerts", `{}`, http.StatusMethodNotAllowed, tarsy.CodeMethodNotAllowed, "", "POST"),
		send("cancelling nothing", http.MethodPost, "{stranger}/cancel", ``, http.StatusNotFound, tarsy.CodeSessionNotFound, "", ""),
		send("cancelling what has ended", http.MethodPost, "{session}/cancel", ``,
			http.StatusConflict, tarsy.CodeSessionNotRunning, "", "completed"),
		send("cancelling with a reason", http.MethodPost, "{session}/cancel", `{"reason":"x"}`,
			http.StatusBadRequest, tarsy.CodeUnknownField, "reason", ""),
		send("a key for nothing", http.MethodPost, "/api/v1/keys", `{"name":"x"}`, http.StatusBadRequest, tarsy.CodeMissingField, "scopes", ""),
		send("a key for everything", http.MethodPost, "/api/v1/keys", `{"name":"x","scopes":["root"]}`,
			http.StatusBadRequest, tarsy.CodeInvalidField, "scopes[0]", "admin"),
		send("a key that is not there", http.MethodDelete, "/api/v1/keys/abcdefgh", ``, http.StatusNotFound, tarsy.CodeKeyNotFound, "", ""),
	}
}

func TestBadInputGetsExactProblemAndChangesNothing(t *testing.T) {
	t.Parallel()

	kubernetes := tarsytest.NewMCPServer("kubernetes", tarsytest.Tool{Name: "get_pods"})
	app := tarsytest.New(t, tarsytest.Options{MCP: []*tarsytest.MCPServer{kubernetes}})
	app.Script.Add(says("Analysed."), says("Summed up."))

	session := app.Run("test", "the only alert")
	paths := strings.NewReplacer("{session}", "/api/v1/sessions/"+session.ID, "{stranger}", "/api/v1/sessions/"+ident.New())

	for _, bad := range append(badAlerts(), badOthers()...) {
		var body any
		if bad.body != "" || bad.method == http.MethodPost {
			body = bad.body
		}

		answer := app.Do(bad.method, paths.Replace(bad.path), body, bad.headers...)
		require.Equal(t, bad.status, answer.Status, "%s: %s", bad.name, answer.Body)

		problem := answer.Problem(t)
		require.Equal(t, string(bad.code), problem.Code, bad.name)
		require.Equal(t, bad.status, problem.Status, bad.name)
		require.Equal(t, "urn:tarsy:problem:"+problem.Code, problem.Type, bad.name)
		require.Equal(t, bad.field, problem.Field, bad.name)
		require.NotEmpty(t, problem.Title, bad.name)
		require.NotEmpty(t, problem.Detail, bad.name)
		require.Contains(t, problem.Detail, bad.says, bad.name)
	}

	type row struct{ ID string }

	require.Equal(t, []row{{session.ID}}, tarsytest.Rows[row](app, `SELECT id FROM sessions`), "no session came of it")
	require.Empty(t, tarsytest.Rows[row](app, `SELECT id FROM requests UNION ALL SELECT id FROM api_keys`))
	require.Equal(t, session, app.Session(session.ID), "the session is as it was")
}

// Mistakes of a client on a WebSocket are answered there, and the connection stays open.
func TestBadWebSocketMessagesGetErrorReplies(t *testing.T) {
	t.Parallel()

	app := tarsytest.New(t, tarsytest.Options{})
	app.Script.Add(says("Analysed."), says("Summed up."))
	channel := tarsy.SessionChannel(app.Run("test", "an alert").ID)
	socket := app.Socket()

	tests := []struct{ message, code string }{
		{`hello`, "invalid_json"},
		{`[]`, "invalid_json"},
		{`{"action":"subscribe","channel":7}`, "invalid_json"},
		{`{}`, "unknown_action"},
		{`{"action":"drop"}`, "unknown_action"},
		{`{"action":"subscribe"}`, "unknown_channel"},
		{`{"action":"subscribe","channel":"alerts"}`, "unknown_channel"},
		{`{"action":"subscribe","channel":"session:1"}`, "session_not_found"},
		{`{"action":"subscribe","channel":"session:` + ident.New() + `"}`, "session_not_found"},
		{`{"action":"subscribe","channel":"` + channel + `","last_event_id":1000000}`, "invalid_parameter"},
		{`{"action":"subscribe","channel":"` + channel + `","last_event_id":-1}`, "invalid_parameter"},
		{`{"action":"catchup","channel":"` + channel + `","last_event_id":1}`, "not_subscribed"},
	}

	var got []string

	for i, test := range tests {
		socket.SendText(test.message)
		socket.Wait("the answer to "+test.message, func(tarsytest.Event) bool { return len(socket.OfType("error")) > i })
		got = append(got, decode[tarsytest.Problem](socket.OfType("error")[i].Raw).Code)
		require.Equal(t, test.code, got[i], test.message)
	}

	socket.Send(map[string]any{"action": "ping"})
	socket.WaitType("pong")
	socket.Subscribe(channel)
	socket.WaitStatus("completed")
}
