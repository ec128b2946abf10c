package slack_test

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/kit/mock/slack"
)

// workspace is a server and makes requests to it without an SDK.
type workspace struct {
	*slack.Server

	t     *testing.T
	clock *clockwork.FakeClock
}

// newWorkspace returns a Slack with the channels general and secret, which the bot has not joined, and the people alice and
// bob.
func newWorkspace(t *testing.T) *workspace {
	t.Helper()

	clock := clockwork.NewFakeClock()
	server, err := slack.New(slack.Config{Clock: clock, Setup: slack.Setup{
		Token: "xoxb-1", AppToken: "xapp-1", Users: []slack.User{{Name: "alice", Email: "alice@corp.test"}, {Name: "bob"}},
		Channels: []slack.Channel{{Name: "general"}, {Name: "secret", NotJoined: true}},
	}})
	require.NoError(t, err)
	require.NoError(t, server.Start())
	t.Cleanup(server.Stop)

	return &workspace{server, t, clock}
}

const (
	alice, bob, bot = "U0000000001", "U0000000002", "U0000000000"
	general, secret = "C0000000001", "C0000000002"
)

type args map[string]string

// send sends a request and returns the status and body of the response.
func (w *workspace) send(method, address, contentType, body string) (int, string) {
	w.t.Helper()

	request, err := http.NewRequestWithContext(w.t.Context(), method, address, strings.NewReader(body))
	require.NoError(w.t, err)
	request.Header.Set("Authorization", "Bearer xoxb-1")
	request.Header.Set("Content-Type", contentType)

	request.Close = true

	response, err := http.DefaultClient.Do(request)
	require.NoError(w.t, err)

	defer response.Body.Close()

	text, err := io.ReadAll(response.Body)
	require.NoError(w.t, err)

	return response.StatusCode, string(text)
}

// call calls a method of the Web API.
func (w *workspace) call(method string, a args) map[string]any {
	w.t.Helper()

	form := url.Values{}
	for name, value := range a {
		form.Set(name, value)
	}

	_, body := w.send(http.MethodPost, w.API()+"/"+method, "application/x-www-form-urlencoded", form.Encode())

	return decoded(w.t, body)
}

// ok calls a method that must succeed.
func (w *workspace) ok(method string, a args) map[string]any {
	w.t.Helper()

	result := w.call(method, a)
	require.Equal(w.t, true, result["ok"], "%s: %v", method, result)

	return result
}

func decoded(t *testing.T, text string) map[string]any {
	t.Helper()

	var result map[string]any
	require.NoError(t, json.Unmarshal([]byte(text), &result), text)

	return result
}

// at returns the value at a path in JSON; numbers are indexes.
func at(value any, path ...any) any {
	for _, step := range path {
		switch key := step.(type) {
		case string:
			o, _ := value.(map[string]any)
			value = o[key]
		case int:
			list, _ := value.([]any)
			if key >= len(list) {
				return nil
			}

			value = list[key]
		}
	}

	return value
}

func textAt(value any, path ...any) string {
	text, _ := at(value, path...).(string)

	return text
}

const goButton = `[{"type":"section","text":{"type":"mrkdwn","text":"Restart?"}},
	{"type":"actions","block_id":"choice","elements":[{"type":"button","action_id":"go","value":"42","style":"primary","text":{"type":"plain_text","text":"Go"}}]}]`

// clicked returns the payload of the last click.
func (w *workspace) clicked() map[string]any {
	w.t.Helper()

	all := w.Envelopes()
	require.NotEmpty(w.t, all)

	return decoded(w.t, string(all[len(all)-1].Payload))
}

func TestClickNamesItsBlockMessageAndPlace(t *testing.T) {
	t.Parallel()

	w := newWorkspace(t)
	parent := textAt(w.ok("chat.postMessage", args{"channel": "general", "text": "alert"}), "ts")
	ts := textAt(w.ok("chat.postMessage", args{"channel": "general", "text": "x", "blocks": goButton, "thread_ts": parent}), "ts")

	_, err := w.Click("general", "alice", ts, "go")
	require.NoError(t, err)

	payload := w.clicked()
	require.Equal(t, "choice", at(payload, "actions", 0, "block_id"))
	require.Equal(t, "primary", at(payload, "actions", 0, "style"))
	require.NotEmpty(t, at(payload, "actions", 0, "action_ts"))
	require.NotEmpty(t, at(payload, "trigger_id"))
	require.Equal(t, map[string]any{"type": "message", "message_ts": ts, "channel_id": general, "is_ephemeral": false, "thread_ts": parent}, at(payload, "container"))
	require.Equal(t, map[string]any{"id": general, "name": "general"}, at(payload, "channel"))
	require.Equal(t, ts, at(payload, "message", "ts"))
	require.Equal(t, "choice", at(payload, "message", "blocks", 1, "block_id"))
	require.NotEmpty(t, at(payload, "message", "blocks", 0, "block_id"), "a block without an ID gets one")

	// A block without an ID is identified by the one that it was given.
	unnamed := strings.Replace(goButton, `"block_id":"choice",`, "", 1)
	sent := w.ok("chat.postMessage", args{"channel": "general", "text": "x", "blocks": unnamed})
	_, err = w.Click("general", "alice", textAt(sent, "ts"), "go")
	require.NoError(t, err)
	require.NotEmpty(t, at(w.clicked(), "actions", 0, "block_id"))
	require.Equal(t, at(sent, "message", "blocks", 1, "block_id"), at(w.clicked(), "actions", 0, "block_id"))
	require.NotContains(t, at(w.clicked(), "container"), "thread_ts")
}

func TestClickOnEphemeralMessageIsForItsReaderOnly(t *testing.T) {
	t.Parallel()

	w := newWorkspace(t)
	ts := textAt(w.ok("chat.postEphemeral", args{"channel": "general", "user": bob, "text": "x", "blocks": goButton}), "message_ts")

	_, err := w.Click("general", "alice", ts, "go")
	require.ErrorContains(t, err, "no message")
	_, err = w.Click("general", "bob", ts, "go")
	require.NoError(t, err)
	require.Equal(t, true, at(w.clicked(), "container", "is_ephemeral"))
	require.NotContains(t, w.clicked(), "message")
}

func TestResponseURLReplacesAddsAndDeletes(t *testing.T) {
	t.Parallel()

	w := newWorkspace(t)
	ts := textAt(w.ok("chat.postMessage", args{"channel": "general", "text": "x", "blocks": goButton}), "ts")
	_, err := w.Click("general", "bob", ts, "go")
	require.NoError(t, err)

	address := textAt(w.clicked(), "response_url")
	respond := func(body, want string) {
		t.Helper()

		status, answer := w.send(http.MethodPost, address, "application/json", body)
		if want == "" {
			require.Equal(t, http.StatusOK, status, answer)

			return
		}

		require.Equal(t, http.StatusNotFound, status)
		require.Equal(t, want, decoded(t, answer)["error"])
	}

	respond(`{"blocks":[{"type":"section"}]}`, "invalid_blocks")
	respond(`{}`, "no_text")
	respond(`{"text":"done","replace_original":true}`, "")
	require.Equal(t, "done", w.Messages("")[0].Shown())
	respond(`{"text":"for you","replace_original":false}`, "")
	require.Equal(t, bob, w.Messages("")[1].Ephemeral)
	respond(`{"text":"for all","response_type":"in_channel"}`, "")
	require.Equal(t, "for all", w.Sent("general")[1].Text)
	respond(`{"text":"changed again"}`, "")
	require.Equal(t, "changed again", w.Messages("")[0].Text, "the original is replaced by default")
	respond(`{"delete_original":"true"}`, "")
	require.Len(t, w.Sent("general"), 1)
	respond(`{"text":"a sixth time"}`, "used_url")
}

func TestResponseURLExpiresAfterHalfAnHour(t *testing.T) {
	t.Parallel()

	w := newWorkspace(t)
	ts := textAt(w.ok("chat.postMessage", args{"channel": "general", "text": "x", "blocks": goButton}), "ts")
	_, err := w.Click("general", "bob", ts, "go")
	require.NoError(t, err)

	address := textAt(w.clicked(), "response_url")

	w.clock.Advance(30 * time.Minute)
	status, _ := w.send(http.MethodPost, address, "application/json", `{"text":"in time"}`)
	require.Equal(t, http.StatusOK, status)
	w.clock.Advance(time.Second)
	_, answer := w.send(http.MethodPost, address, "application/json", `{"text":"late"}`)
	require.Equal(t, "expired_url", decoded(t, answer)["error"])
}

func TestThreadParentsCountTheirReplies(t *testing.T) {
	t.Parallel()

	w := newWorkspace(t)
	parent, err := w.Say("general", "alice", "help", "")
	require.NoError(t, err)
	require.NotContains(t, at(w.ok("conversations.history", args{"channel": general}), "messages", 0), "reply_count")

	_, err = w.Say("general", "bob", "looking", parent.TS)
	require.NoError(t, err)
	w.ok("chat.postEphemeral", args{"channel": general, "user": bob, "text": "not counted", "thread_ts": parent.TS})
	w.ok("chat.postMessage", args{"channel": general, "text": "first", "thread_ts": parent.TS})
	last := textAt(w.ok("chat.postMessage", args{"channel": general, "text": "second", "thread_ts": parent.TS}), "ts")

	replies := w.ok("conversations.replies", args{"channel": general, "ts": parent.TS})
	for _, shown := range []any{at(w.ok("conversations.history", args{"channel": general}), "messages", 0), at(replies, "messages", 0)} {
		require.InDelta(t, 3, at(shown, "reply_count"), 0)
		require.InDelta(t, 2, at(shown, "reply_users_count"), 0)
		require.Equal(t, []any{bob, bot}, at(shown, "reply_users"))
		require.Equal(t, last, at(shown, "latest_reply"))
		require.Equal(t, parent.TS, at(shown, "thread_ts"))
	}

	require.Equal(t, alice, at(replies, "messages", 1, "parent_user_id"))
	require.NotContains(t, at(replies, "messages", 1), "reply_count")
}

func TestMethodsRefuseWithSlacksCodes(t *testing.T) {
	t.Parallel()

	w := newWorkspace(t)
	theirs, err := w.Say("general", "alice", "mine", "")
	require.NoError(t, err)

	item := func(more args) args {
		all := args{"channel": general, "timestamp": theirs.TS}
		maps.Copy(all, more)

		return all
	}
	w.ok("reactions.add", item(args{"name": "eyes"}))

	for _, test := range []struct {
		method string
		args   args
		want   string
	}{
		{"chat.delete", args{"channel": general, "ts": theirs.TS}, "cant_delete_message"},
		{"chat.delete", args{"channel": general, "ts": "1.1"}, "message_not_found"},
		{"chat.update", args{"channel": general, "ts": theirs.TS, "text": "x"}, "cant_update_message"},
		{"chat.getPermalink", args{"channel": general, "message_ts": "1.1"}, "message_not_found"},
		{"chat.postMessage", args{"channel": secret, "text": "x"}, "not_in_channel"},
		{"chat.postEphemeral", args{"channel": general, "user": "U0NOBODY", "text": "x"}, "user_not_in_channel"},
		{"reactions.add", item(args{"name": "eyes"}), "already_reacted"},
		{"reactions.add", item(args{"name": "no emoji"}), "invalid_name"},
		{"reactions.add", args{"channel": general, "timestamp": "1.1", "name": "eyes"}, "message_not_found"},
		{"reactions.add", args{"name": "eyes"}, "no_item_specified"},
		{"reactions.remove", item(args{"name": "wave"}), "no_reaction"},
		{"reactions.get", args{"channel": "C0NOTHERE", "timestamp": theirs.TS}, "channel_not_found"},
		{"conversations.info", args{"channel": "C0NOTHERE"}, "channel_not_found"},
		{"conversations.history", args{"channel": secret}, "not_in_channel"},
		{"conversations.history", args{"channel": general, "cursor": "7"}, "invalid_cursor"},
		{"conversations.list", args{"types": "rooms"}, "invalid_types"},
		{"conversations.list", args{"limit": "0"}, "invalid_limit"},
		{"conversations.members", args{"channel": "C0NOTHERE"}, "channel_not_found"},
		{"conversations.open", args{}, "users_list_not_supplied"},
		{"conversations.open", args{"users": "U0NOBODY"}, "user_not_found"},
		{"users.info", args{"user": "U0NOBODY"}, "user_not_found"},
		{"users.list", args{"cursor": "!"}, "invalid_cursor"},
		{"users.lookupByEmail", args{"email": "eve@corp.test"}, "users_not_found"},
		{"files.info", args{"file": "F1"}, "file_not_found"},
		{"files.getUploadURLExternal", args{"filename": "a"}, "invalid_arguments"},
		{"files.completeUploadExternal", args{"files": `[{"id":"F1"}]`}, "file_not_found"},
		{"views.update", args{"view_id": "V1"}, "not_found"},
		{"views.publish", args{"user_id": "U0NOBODY"}, "user_not_found"},
		{"views.push", args{"trigger_id": "t"}, "invalid_trigger_id"},
	} {
		require.Equal(t, test.want, w.call(test.method, test.args)["error"], "%s %v", test.method, test.args)
	}

	require.Empty(t, w.Unexpected())
}

func TestMessagesAreDeletedLinkedAndReactedTo(t *testing.T) {
	t.Parallel()

	w := newWorkspace(t)
	ts := textAt(w.ok("chat.postMessage", args{"channel": general, "text": "x"}), "ts")

	w.ok("reactions.add", args{"channel": general, "timestamp": ts, "name": "eyes"})
	require.NoError(t, w.React("general", "alice", ts, "eyes"))
	require.Equal(t, "reaction_added", at(w.clicked(), "event", "type"))
	require.Equal(t, ts, at(w.clicked(), "event", "item", "ts"))

	got := w.ok("reactions.get", args{"channel": general, "timestamp": ts})
	require.Equal(t, map[string]any{"name": "eyes", "users": []any{bot, alice}, "count": float64(2)}, at(got, "message", "reactions", 0))
	w.ok("reactions.remove", args{"channel": general, "timestamp": ts, "name": "eyes"})
	require.Equal(t, []slack.Reaction{{Name: "eyes", Users: []string{alice}}}, w.Messages("")[0].Reactions)

	link := w.ok("chat.getPermalink", args{"channel": general, "message_ts": ts})
	require.Equal(t, "https://mock.slack.com/archives/"+general+"/p"+strings.ReplaceAll(ts, ".", ""), at(link, "permalink"))

	w.ok("chat.delete", args{"channel": general, "ts": ts})
	require.Empty(t, w.Messages(""))
}

func TestChannelsAreListedJoinedAndOpened(t *testing.T) {
	t.Parallel()

	w := newWorkspace(t)
	first := w.ok("conversations.list", args{"limit": "1"})
	require.Equal(t, "general", at(first, "channels", 0, "name"))

	second := w.ok("conversations.list", args{"limit": "1", "cursor": textAt(first, "response_metadata", "next_cursor")})
	require.Equal(t, false, at(second, "channels", 0, "is_member"))
	require.Empty(t, at(second, "response_metadata", "next_cursor"))

	require.Equal(t, []any{alice, bob}, at(w.ok("conversations.members", args{"channel": secret}), "members"))
	require.Equal(t, true, at(w.ok("conversations.join", args{"channel": secret}), "channel", "is_member"))
	require.Equal(t, "already_in_channel", at(w.ok("conversations.join", args{"channel": secret}), "warning"))
	w.ok("chat.postMessage", args{"channel": secret, "text": "hello"})

	direct := textAt(w.ok("conversations.open", args{"users": alice}), "channel", "id")
	require.Equal(t, direct, at(w.ok("conversations.open", args{"users": alice, "return_im": "true"}), "channel", "id"))
	require.Equal(t, direct, at(w.ok("chat.postMessage", args{"channel": alice, "text": "psst"}), "channel"), "the ID of a person is a channel too")
	require.Equal(t, alice, at(w.ok("conversations.list", args{"types": "im,mpim"}), "channels", 0, "user"))

	group := textAt(w.ok("conversations.open", args{"users": bob + "," + alice}), "channel", "id")
	require.Equal(t, []any{bot, alice, bob}, at(w.ok("conversations.members", args{"channel": group}), "members"))

	_, err := w.Say(direct, "alice", "yes?", "")
	require.NoError(t, err)
	require.Equal(t, "im", at(w.clicked(), "event", "channel_type"))
}

func TestUsersAreListedAndFoundByEmail(t *testing.T) {
	t.Parallel()

	w := newWorkspace(t)
	first := w.ok("users.list", args{"limit": "2"})
	require.Equal(t, true, at(first, "members", 0, "is_bot"))

	second := w.ok("users.list", args{"limit": "2", "cursor": textAt(first, "response_metadata", "next_cursor")})
	require.Equal(t, "bob@example.com", at(second, "members", 0, "profile", "email"))
	require.Equal(t, alice, at(w.ok("users.lookupByEmail", args{"email": "Alice@corp.test"}), "user", "id"))
}

func TestFilesAreUploadedSharedAndDownloaded(t *testing.T) {
	t.Parallel()

	w := newWorkspace(t)
	begun := w.ok("files.getUploadURLExternal", args{"filename": "graph.txt", "length": "8"})
	id, address := textAt(begun, "file_id"), textAt(begun, "upload_url")
	complete := args{"files": `[{"id":"` + id + `","title":"Graph"}]`, "channel_id": general, "initial_comment": "see"}

	require.Equal(t, "file_not_found", w.call("files.completeUploadExternal", complete)["error"], "nothing was uploaded")

	status, _ := w.send(http.MethodPost, address, "application/octet-stream", "short")
	require.Equal(t, http.StatusBadRequest, status)
	status, _ = w.send(http.MethodPost, address, "application/octet-stream", "evidence")
	require.Equal(t, http.StatusOK, status)

	require.Equal(t, "Graph", at(w.ok("files.completeUploadExternal", complete), "files", 0, "title"))

	info := w.ok("files.info", args{"file": id})
	require.InDelta(t, 8, at(info, "file", "size"), 0)
	require.Equal(t, "text/plain", at(info, "file", "mimetype"))

	shared := w.ok("conversations.history", args{"channel": general})
	require.Equal(t, id, at(shared, "messages", 0, "files", 0, "id"))
	require.Equal(t, "see", at(shared, "messages", 0, "text"))

	status, text := w.send(http.MethodGet, textAt(info, "file", "url_private"), "", "")
	require.Equal(t, http.StatusOK, status)
	require.Equal(t, "evidence", text)

	w.ok("files.delete", args{"file": id})
	status, _ = w.send(http.MethodGet, textAt(info, "file", "url_private"), "", "")
	require.Equal(t, http.StatusNotFound, status)
}

// modalView returns a modal with a button.
func modalView(title string) string {
	return `{"type":"modal","callback_id":"c","title":{"type":"plain_text","text":"` + title + `"},"blocks":` + goButton + `}`
}

func TestViewsAreOpenedPushedUpdatedAndPublished(t *testing.T) {
	t.Parallel()

	w := newWorkspace(t)
	ts := textAt(w.ok("chat.postMessage", args{"channel": general, "text": "x", "blocks": goButton}), "ts")
	_, err := w.Click("general", "bob", ts, "go")
	require.NoError(t, err)

	opened := w.ok("views.open", args{"trigger_id": textAt(w.clicked(), "trigger_id"), "view": modalView("One")})
	first := textAt(opened, "view", "id")

	push := func(title string) map[string]any {
		_, err := w.ClickModal("bob", "go")
		require.NoError(t, err)
		require.Equal(t, "choice", at(w.clicked(), "actions", 0, "block_id"))

		return w.call("views.push", args{"trigger_id": textAt(w.clicked(), "trigger_id"), "view": modalView(title)})
	}

	second := push("Two")
	require.Equal(t, first, at(second, "view", "previous_view_id"))
	require.Equal(t, first, at(push("Three"), "view", "root_view_id"))
	require.Equal(t, "push_limit_reached", push("Four")["error"])

	id, hash := textAt(second, "view", "id"), textAt(second, "view", "hash")
	updated := w.ok("views.update", args{"view_id": id, "hash": hash, "view": modalView("Two, changed")})
	require.Equal(t, "Two, changed", at(updated, "view", "title", "text"))
	require.Equal(t, "hash_conflict", w.call("views.update", args{"view_id": id, "hash": hash, "view": modalView("late")})["error"])

	home := `{"type":"home","blocks":[{"type":"divider"}]}`
	published := w.ok("views.publish", args{"user_id": alice, "view": home})
	require.Equal(t, at(published, "view", "id"), at(w.ok("views.publish", args{"user_id": alice, "view": home}), "view", "id"), "there is one home tab")

	refused := w.call("views.publish", args{"user_id": alice, "view": modalView("not a home tab")})
	require.Equal(t, "invalid_arguments", refused["error"])
}

func TestLongTextsAreCutOrRefused(t *testing.T) {
	t.Parallel()

	w := newWorkspace(t)
	sent := w.ok("chat.postMessage", args{"channel": general, "text": strings.Repeat("ü", 40_001)})
	require.Equal(t, "message_truncated", at(sent, "response_metadata", "warnings", 0))
	require.Len(t, []rune(w.Messages("")[0].Text), 40_000)

	update := args{"channel": general, "ts": textAt(sent, "ts"), "text": strings.Repeat("ü", 4001)}
	require.Equal(t, "msg_too_long", w.call("chat.update", update)["error"])
}

func TestBlocksOverSlacksLimitsAreRefused(t *testing.T) {
	t.Parallel()

	w := newWorkspace(t)
	plain := func(n int) string { return `{"type":"plain_text","text":"` + strings.Repeat("x", n) + `"}` }
	repeated := func(item string, n int) string {
		return "[" + strings.TrimSuffix(strings.Repeat(item+",", n), ",") + "]"
	}
	element := func(more string) string {
		return `[{"type":"actions","elements":[{"type":"button","text":` + plain(75) + `,` + more + `}]}]`
	}
	buttons := func(n int) string {
		var all []string
		for i := range n {
			all = append(all, fmt.Sprintf(`{"type":"button","action_id":"a%d","text":%s}`, i, plain(1)))
		}

		return `[{"type":"actions","elements":[` + strings.Join(all, ",") + `]}]`
	}
	long := func(n int) string { return `"` + strings.Repeat("x", n) + `"` }

	for name, test := range map[string]struct {
		fits, exceeds, want string
	}{
		"blocks":    {repeated(`{"type":"divider"}`, 50), repeated(`{"type":"divider"}`, 51), "no more than 50 items allowed [json-pointer:/blocks]"},
		"section":   {`[{"type":"section","text":` + plain(3000) + `}]`, `[{"type":"section","text":` + plain(3001) + `}]`, "must be less than 3001 characters [json-pointer:/blocks/0/text/text]"},
		"header":    {`[{"type":"header","text":` + plain(150) + `}]`, `[{"type":"header","text":` + plain(151) + `}]`, "must be less than 151 characters [json-pointer:/blocks/0/text/text]"},
		"empty":     {`[{"type":"header","text":` + plain(1) + `}]`, `[{"type":"header","text":` + plain(0) + `}]`, "must be more than 0 characters [json-pointer:/blocks/0/text/text]"},
		"fields":    {`[{"type":"section","fields":` + repeated(plain(2000), 10) + `}]`, `[{"type":"section","fields":` + repeated(plain(1), 11) + `}]`, "no more than 10 items allowed [json-pointer:/blocks/0/fields]"},
		"field":     {`[{"type":"section","fields":[` + plain(2000) + `]}]`, `[{"type":"section","fields":[` + plain(2001) + `]}]`, "must be less than 2001 characters [json-pointer:/blocks/0/fields/0/text]"},
		"context":   {`[{"type":"context","elements":` + repeated(plain(1), 10) + `}]`, `[{"type":"context","elements":` + repeated(plain(1), 11) + `}]`, "no more than 10 items allowed [json-pointer:/blocks/0/elements]"},
		"actions":   {buttons(25), buttons(26), "no more than 25 items allowed [json-pointer:/blocks/0/elements]"},
		"value":     {element(`"value":` + long(2000)), element(`"value":` + long(2001)), "must be less than 2001 characters [json-pointer:/blocks/0/elements/0/value]"},
		"action_id": {element(`"action_id":` + long(255)), element(`"action_id":` + long(256)), "must be less than 256 characters [json-pointer:/blocks/0/elements/0/action_id]"},
		"url":       {element(`"url":` + long(3000)), element(`"url":` + long(3001)), "must be less than 3001 characters [json-pointer:/blocks/0/elements/0/url]"},
		"button":    {element(`"style":"danger"`), strings.Replace(element(`"style":"danger"`), "xx", "xxx", 1), "must be less than 76 characters [json-pointer:/blocks/0/elements/0/text/text]"},
		"block_id": {
			`[{"type":"divider","block_id":"a"},{"type":"divider","block_id":"b"}]`, `[{"type":"divider","block_id":"a"},{"type":"divider","block_id":"a"}]`,
			"`block_id` already exists: a [json-pointer:/blocks/1/block_id]",
		},
		"type": {`[{"type":"divider"}]`, `[{"type":"dividers"}]`, "unsupported type: dividers [json-pointer:/blocks/0/type]"},
	} {
		w.ok("chat.postMessage", args{"channel": general, "blocks": test.fits})

		refused := w.call("chat.postMessage", args{"channel": general, "blocks": test.exceeds})
		require.Equal(t, "invalid_blocks", refused["error"], name)
		require.Equal(t, []any{test.want}, refused["errors"], name)
		require.Equal(t, []any{"[ERROR] " + test.want}, at(refused, "response_metadata", "messages"), name)
	}

	w.ok("views.publish", args{"user_id": alice, "view": `{"type":"home","blocks":` + repeated(`{"type":"divider"}`, 100) + `}`})
	refused := w.call("views.publish", args{"user_id": alice, "view": `{"type":"home","blocks":` + repeated(`{"type":"divider"}`, 101) + `}`})
	require.Equal(t, "no more than 100 items allowed [json-pointer:/view/blocks]", at(refused, "errors", 0))
}
