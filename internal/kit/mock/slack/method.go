package slack

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// maxBody limits the size of a request.
const maxBody = 4 << 20

// object is a JSON object.
type object = map[string]any

// apiError is an error of the Web API, which Slack returns with status 200. Messages are the details.
type apiError struct {
	Code     string
	Messages []string
}

func (e *apiError) Error() string { return e.Code }

// object returns the response with the error. It contains each message twice, as in Slack.
func (e *apiError) object() object {
	o := object{"ok": false, "error": e.Code}
	if len(e.Messages) == 0 {
		return o
	}

	marked := make([]string, len(e.Messages))
	for i, m := range e.Messages {
		marked[i] = "[ERROR] " + m
	}

	o["errors"], o["response_metadata"] = e.Messages, object{"messages": marked}

	return o
}

func refusal(code string) error { return &apiError{Code: code} }

// Request is one request to the Web API, without tokens.
type Request struct {
	Number int       `json:"number"`
	Method string    `json:"method"`
	At     time.Time `json:"at"`
	// Status is the HTTP status; 0 means that the connection was closed without a response. Error is Slack's error code.
	Status int    `json:"status"`
	Error  string `json:"error,omitempty"`
	// Arguments are the arguments as sent.
	Arguments map[string]string `json:"arguments"`
}

// call is a request to a method. Its handler runs alone: the server's lock is held.
type call struct {
	server *Server
	host   string
	args   map[string]string
}

// methods returns the methods of the Web API by name. apps.connections.open requires the app-level token.
func methods() map[string]func(c *call) (object, error) {
	return map[string]func(c *call) (object, error){
		"api.test":                     func(*call) (object, error) { return object{}, nil },
		"apps.connections.open":        (*call).openConnection,
		"auth.test":                    (*call).authTest,
		"chat.delete":                  (*call).deleteMessage,
		"chat.getPermalink":            (*call).getPermalink,
		"chat.postEphemeral":           (*call).postEphemeral,
		"chat.postMessage":             (*call).postMessage,
		"chat.update":                  (*call).update,
		"conversations.history":        (*call).history,
		"conversations.info":           (*call).channelInfo,
		"conversations.join":           (*call).joinChannel,
		"conversations.list":           (*call).listChannels,
		"conversations.members":        (*call).listMembers,
		"conversations.open":           (*call).openDirect,
		"conversations.replies":        (*call).replies,
		"files.completeUploadExternal": (*call).completeUpload,
		"files.delete":                 (*call).deleteFile,
		"files.getUploadURLExternal":   (*call).startUpload,
		"files.info":                   (*call).fileInfo,
		"reactions.add":                (*call).addReaction,
		"reactions.get":                (*call).getReactions,
		"reactions.remove":             (*call).removeReaction,
		"users.info":                   (*call).userInfo,
		"users.list":                   (*call).listUsers,
		"users.lookupByEmail":          (*call).lookupByEmail,
		"views.open":                   (*call).openView,
		"views.publish":                (*call).publishView,
		"views.push":                   (*call).pushView,
		"views.update":                 (*call).updateView,
	}
}

// serveMethod answers a request to a method.
func (s *Server) serveMethod(w http.ResponseWriter, r *http.Request) {
	method := r.PathValue("method")

	args, err := arguments(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)

		return
	}

	token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	if token == "" {
		token = args["token"]
	}

	delete(args, "token")

	s.mu.Lock()
	s.host = r.Host
	fault := s.faults.Take(func(f Fault) bool { return f.Method == "" || f.Method == method })
	entry := Request{Method: method, At: s.clock.Now(), Status: http.StatusOK, Arguments: args}

	var result object

	if fault == nil || fault.Unknown {
		result, err = s.run(method, token, &call{server: s, host: r.Host, args: args})
	}

	switch {
	case fault != nil && fault.Unknown:
		entry.Status = 0
	case fault != nil:
		entry.Status = fault.Status
	case err != nil:
		entry.Error = err.Error()
	}

	s.journal.AddNumbered(func(number int) Request {
		entry.Number = number

		return entry
	})
	s.changes.Notify()
	s.mu.Unlock()

	switch {
	case fault != nil && fault.Unknown:
		panic(http.ErrAbortHandler) // closes the connection
	case fault != nil:
		if fault.Status == http.StatusTooManyRequests {
			w.Header().Set("Retry-After", strconv.Itoa(int(max(fault.RetryAfter, time.Second)/time.Second)))
		}

		w.WriteHeader(fault.Status)
	default:
		respond(w, result, err)
	}
}

// run runs a method; the lock is held.
func (s *Server) run(method, token string, c *call) (object, error) {
	handle, ok := methods()[method]
	if !ok {
		s.unknownRequests.Add("Slack: there is no method " + method)

		return nil, refusal("unknown_method")
	}

	wanted := s.setup.Token
	if method == "apps.connections.open" {
		wanted = s.setup.AppToken
	}

	switch {
	case token == "" && method != "api.test":
		return nil, refusal("not_authed")
	case wanted != "" && token != wanted && method != "api.test":
		return nil, refusal("invalid_auth")
	}

	return handle(c)
}

// arguments reads a form, a query or JSON. JSON values that are not strings stay JSON.
func arguments(r *http.Request) (map[string]string, error) {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody))
	if err != nil {
		return nil, err
	}

	args := map[string]string{}
	for name, values := range r.URL.Query() {
		args[name] = values[0]
	}

	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))

	if kind == "application/json" {
		var sent map[string]json.RawMessage
		if len(body) > 0 {
			if err := json.Unmarshal(body, &sent); err != nil {
				return nil, err
			}
		}

		for name, raw := range sent {
			var text string
			if json.Unmarshal(raw, &text) != nil {
				text = string(raw)
			}

			args[name] = text
		}

		return args, nil
	}

	form, err := url.ParseQuery(string(body))
	if err != nil {
		return nil, err
	}

	for name, values := range form {
		args[name] = values[0]
	}

	return args, nil
}

func respond(w http.ResponseWriter, result object, err error) {
	if err != nil {
		failed, ok := err.(*apiError) //nolint:errorlint // errors of methods are not wrapped
		if !ok {
			failed = &apiError{Code: "internal_error", Messages: []string{err.Error()}}
		}

		result = failed.object()
	} else {
		result["ok"] = true
	}

	body, err := json.Marshal(result)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)

		return
	}

	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	_, _ = w.Write(body)
}

func (c *call) authTest() (object, error) {
	return object{
		"url": "https://mock.slack.com/", "team": "mock", "team_id": teamID, "user": c.server.self.Name, "user_id": c.server.self.ID, "bot_id": botID,
	}, nil
}

func (c *call) openConnection() (object, error) {
	return object{"url": "ws://" + c.host + socketPath + "?ticket=" + c.server.makeID("t")}, nil
}

// raw returns an argument that is JSON.
func (c *call) raw(name string) json.RawMessage {
	if c.args[name] == "" {
		return nil
	}

	return json.RawMessage(c.args[name])
}

// flag returns a boolean argument.
func (c *call) flag(name string) bool { return c.args[name] == "1" || c.args[name] == "true" }

// page returns the part of a list selected by limit and cursor, and the cursor of the next page, which is empty at the end.
// Cursors are opaque to clients.
func page[T any](c *call, all []T) ([]T, string, error) {
	limit, err := strconv.Atoi(cmp.Or(c.args["limit"], "100"))
	if err != nil || limit < 1 || limit > 1000 {
		return nil, "", refusal("invalid_limit")
	}

	from, err := readCursor(c.args["cursor"])
	if err != nil || from > len(all) {
		return nil, "", refusal("invalid_cursor")
	}

	to := min(from+limit, len(all))
	if to == len(all) {
		return all[from:to], "", nil
	}

	return all[from:to], base64.StdEncoding.EncodeToString([]byte(cursorPrefix + strconv.Itoa(to))), nil
}

const cursorPrefix = "from:"

// readCursor returns the position that a cursor refers to.
func readCursor(cursor string) (int, error) {
	if cursor == "" {
		return 0, nil
	}

	text, err := base64.StdEncoding.DecodeString(cursor)
	if err != nil || !strings.HasPrefix(string(text), cursorPrefix) {
		return 0, errors.New("not a cursor")
	}

	from, err := strconv.ParseUint(strings.TrimPrefix(string(text), cursorPrefix), 10, 31)

	return int(from), err
}

// listed returns the response with a page of a list.
func listed[T any](c *call, name string, all []T) (object, error) {
	found, next, err := page(c, all)
	if err != nil {
		return nil, err
	}

	return object{name: append([]T{}, found...), "response_metadata": object{"next_cursor": next}}, nil
}
