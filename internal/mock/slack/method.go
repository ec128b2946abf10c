package slack

import (
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// maxBody bounds requests.
const maxBody = 4 << 20

// object is a JSON object.
type object = map[string]any

// apiError is an error of the Web API, as Slack writes it: with status 200.
type apiError struct {
	Code     string
	Messages []string
}

func (e *apiError) Error() string { return e.Code }

func refusal(code string) error { return &apiError{Code: code} }

// Request is one request to the Web API, without tokens.
type Request struct {
	Number int       `json:"number"`
	Method string    `json:"method"`
	At     time.Time `json:"at"`
	// Status is that of HTTP; 0 means that the connection was closed without an answer. Error is Slack's.
	Status int    `json:"status"`
	Error  string `json:"error,omitempty"`
	// Arguments are what was sent.
	Arguments map[string]string `json:"arguments"`
}

// call is a request to a method. Its handler runs alone: the server's lock is held.
type call struct {
	server *Server
	host   string
	args   map[string]string
}

// methods are the methods of the Web API by name. Those in appMethods want the app-level token.
func methods() map[string]func(c *call) (object, error) {
	return map[string]func(c *call) (object, error){
		"api.test":              func(*call) (object, error) { return object{}, nil },
		"apps.connections.open": (*call).openConnection,
		"auth.test":             (*call).authTest,
		"chat.postEphemeral":    (*call).postEphemeral,
		"chat.postMessage":      (*call).postMessage,
		"chat.update":           (*call).update,
		"conversations.history": (*call).history,
		"conversations.info":    (*call).channelInfo,
		"conversations.replies": (*call).replies,
		"users.info":            (*call).userInfo,
		"views.open":            (*call).openView,
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
	fault := s.takeFault(method)
	entry := Request{Number: len(s.journal) + 1, Method: method, At: s.clock.Now(), Status: http.StatusOK, Arguments: args}

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

	s.journal = append(s.journal, entry)
	s.notify()
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
		s.strange = append(s.strange, "Slack: there is no method "+method)

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

// arguments reads a form, a query or JSON. Values of JSON that are no texts stay JSON.
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

		result = object{"ok": false, "error": failed.Code}
		if len(failed.Messages) > 0 {
			result["response_metadata"] = object{"messages": failed.Messages}
		}
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

func (c *call) userInfo() (object, error) {
	u, err := c.server.user(c.args["user"])
	if err != nil || u.ID != c.args["user"] {
		return nil, refusal("user_not_found")
	}

	return object{"user": object{
		"id": u.ID, "team_id": teamID, "name": u.Name, "real_name": u.Name, "is_bot": u == c.server.self, "profile": object{"display_name": u.Name, "real_name": u.Name},
	}}, nil
}

func (c *call) channelInfo() (object, error) {
	in, err := c.in()
	if err != nil {
		return nil, err
	}

	return object{"channel": object{"id": in.ID, "name": in.Name, "is_channel": true, "is_member": true}}, nil
}

// in is the channel that is named.
func (c *call) in() (Channel, error) {
	found, err := c.server.channel(c.args["channel"])
	if err != nil {
		return found, refusal("channel_not_found")
	}

	return found, nil
}

// raw is an argument that is JSON.
func (c *call) raw(name string) json.RawMessage {
	if c.args[name] == "" {
		return nil
	}

	return json.RawMessage(c.args[name])
}

// content checks what a message shows, and puts it there.
func (c *call) content(m *Message) error {
	blocks := c.raw("blocks")

	switch {
	case c.args["text"] == "" && len(texts(blocks)) == 0:
		return refusal("no_text")
	case len([]rune(c.args["text"])) > maxText:
		return refusal("msg_too_long")
	}

	if err := checkBlocks(blocks); err != nil {
		return err
	}

	if metadata := c.raw("metadata"); metadata != nil {
		var read struct {
			EventType    string         `json:"event_type"`
			EventPayload map[string]any `json:"event_payload"`
		}
		if json.Unmarshal(metadata, &read) != nil || read.EventType == "" || read.EventPayload == nil {
			return refusal("invalid_metadata_format")
		}

		m.Metadata = metadata
	}

	m.Text, m.Blocks, m.Mentions = c.args["text"], blocks, mentions(c.args["text"], blocks)

	return nil
}

func (c *call) postMessage() (object, error) {
	in, err := c.in()
	if err != nil {
		return nil, err
	}

	m := &Message{Channel: in.ID, ThreadTS: c.args["thread_ts"], User: c.server.self.ID, Bot: true, Broadcast: c.args["reply_broadcast"] == "true"}
	if m.ThreadTS != "" && c.server.find(in.ID, m.ThreadTS) == nil {
		return nil, refusal("thread_not_found")
	}

	if err := c.content(m); err != nil {
		return nil, err
	}

	m.TS = c.server.nextTS()
	c.server.messages = append(c.server.messages, m)

	return object{"channel": in.ID, "ts": m.TS, "message": c.server.object(m, true)}, nil
}

func (c *call) postEphemeral() (object, error) {
	in, err := c.in()
	if err != nil {
		return nil, err
	}

	u, err := c.server.user(c.args["user"])
	if err != nil {
		return nil, refusal("user_not_in_channel")
	}

	m := &Message{Channel: in.ID, ThreadTS: c.args["thread_ts"], User: c.server.self.ID, Bot: true, Ephemeral: u.ID}
	if err := c.content(m); err != nil {
		return nil, err
	}

	m.TS = c.server.nextTS()
	c.server.messages = append(c.server.messages, m)

	return object{"message_ts": m.TS}, nil
}

func (c *call) update() (object, error) {
	in, err := c.in()
	if err != nil {
		return nil, err
	}

	m := c.server.find(in.ID, c.args["ts"])

	switch {
	case m == nil:
		return nil, refusal("message_not_found")
	case !m.Bot:
		return nil, refusal("cant_update_message")
	}

	changed := *m
	if err := c.content(&changed); err != nil {
		return nil, err
	}

	changed.Updates = append(slices.Clone(m.Updates), c.server.clock.Now())
	*m = changed

	return object{"channel": in.ID, "ts": m.TS, "text": m.Text, "message": c.server.object(m, true)}, nil
}

func (c *call) history() (object, error) {
	in, err := c.in()
	if err != nil {
		return nil, err
	}

	return c.page(func(m *Message) bool {
		return m.Channel == in.ID && (m.ThreadTS == "" || m.ThreadTS == m.TS || m.Broadcast)
	}, true)
}

func (c *call) replies() (object, error) {
	in, err := c.in()
	if err != nil {
		return nil, err
	}

	if c.server.find(in.ID, c.args["ts"]) == nil {
		return nil, refusal("thread_not_found")
	}

	return c.page(func(m *Message) bool {
		return m.Channel == in.ID && (m.TS == c.args["ts"] || m.ThreadTS == c.args["ts"])
	}, false)
}

// page returns messages, newest first or oldest first, within oldest and latest. The first message of a thread is always there.
func (c *call) page(fits func(m *Message) bool, newestFirst bool) (object, error) {
	var found []object

	for _, m := range c.server.messages {
		if m.Ephemeral == "" && fits(m) && (m.TS == c.args["ts"] || c.within(m.TS)) {
			found = append(found, c.server.object(m, c.flag("include_all_metadata")))
		}
	}

	if newestFirst {
		slices.Reverse(found)
	}

	limit, err := strconv.Atoi(or(c.args["limit"], "100"))
	if err != nil || limit < 1 || limit > 1000 {
		return nil, refusal("invalid_limit")
	}

	from, err := strconv.Atoi(or(c.args["cursor"], "0"))
	if err != nil || from < 0 || from > len(found) {
		return nil, refusal("invalid_cursor")
	}

	to, next := min(from+limit, len(found)), ""
	if to < len(found) {
		next = strconv.Itoa(to)
	}

	return object{"messages": append([]object{}, found[from:to]...), "has_more": next != "", "response_metadata": object{"next_cursor": next}}, nil
}

// flag is an argument that is true or false.
func (c *call) flag(name string) bool { return c.args[name] == "1" || c.args[name] == "true" }

// within reports whether a timestamp is between oldest and latest.
func (c *call) within(ts string) bool {
	oldest, latest := c.args["oldest"], c.args["latest"]
	if c.flag("inclusive") && (ts == oldest || ts == latest) {
		return true
	}

	return (oldest == "" || ts > oldest) && (latest == "" || ts < latest)
}

// object is a message as Slack writes it; the lock is held.
func (s *Server) object(m *Message, metadata bool) object {
	o := object{"type": "message", "user": m.User, "text": m.Text, "ts": m.TS, "team": teamID}
	if m.Bot {
		o["bot_id"], o["app_id"] = botID, appID
	}

	if m.ThreadTS != "" {
		o["thread_ts"] = m.ThreadTS
	}

	if m.Broadcast {
		o["subtype"] = "thread_broadcast"
	}

	if len(m.Blocks) > 0 {
		o["blocks"] = m.Blocks
	}

	if metadata && len(m.Metadata) > 0 {
		o["metadata"] = m.Metadata
	}

	if n := len(m.Updates); n > 0 {
		o["edited"] = object{"user": m.User, "ts": fmt.Sprintf("%d.000000", m.Updates[n-1].Unix())}
	}

	return o
}
