package discord_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/kit/mock/discord"
	"tarsy.dev/tarsy/internal/kit/mock/match"
)

// answer is a response.
type answer struct {
	status int
	header http.Header
	body   string
}

func post(t *testing.T, s *discord.Server, method, path, body string) answer {
	t.Helper()

	request, err := http.NewRequestWithContext(t.Context(), method, s.API()+path, strings.NewReader(body))
	require.NoError(t, err)
	request.Header.Set("Authorization", "Bot "+token)
	request.Header.Set("Content-Type", "application/json")

	request.Close = true

	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)

	defer response.Body.Close()

	text, err := io.ReadAll(response.Body)
	require.NoError(t, err)

	return answer{response.StatusCode, response.Header, string(text)}
}

func TestErrorsHaveDiscordsFormAndCodes(t *testing.T) {
	t.Parallel()

	s := start(t)
	alerts := "/channels/" + id(t, s, "alerts")
	theirs, err := s.Say("alerts", "alice", "mine", discord.Options{})
	require.NoError(t, err)

	long := strings.Repeat("ü", 2001)

	for name, test := range map[string]struct {
		method, path, body string
		status             int
		want               string
	}{
		"no such channel":    {"GET", "/channels/1", "", 404, `{"message":"Unknown Channel","code":10003}`},
		"no such guild":      {"GET", "/guilds/1", "", 404, `{"message":"Unknown Guild","code":10004}`},
		"no such member":     {"GET", "/guilds/" + id(t, s, "ops") + "/members/1", "", 404, `{"message":"Unknown Member","code":10007}`},
		"no such message":    {"GET", alerts + "/messages/1", "", 404, `{"message":"Unknown Message","code":10008}`},
		"no such user":       {"GET", "/users/1", "", 404, `{"message":"Unknown User","code":10013}`},
		"no such operation":  {"GET", "/nothing", "", 404, `{"message":"404: Not Found","code":0}`},
		"channel not viewed": {"GET", "/channels/" + id(t, s, "secret"), "", 403, `{"message":"Missing Access","code":50001}`},
		"may not send": {
			"POST", "/channels/" + id(t, s, "read-only") + "/messages", `{"content":"a"}`, 403, `{"message":"Missing Permissions","code":50013}`,
		},
		"message of another": {"PATCH", alerts + "/messages/" + theirs.ID, `{"content":"b"}`, 403, `{"message":"Cannot edit a message authored by another user","code":50005}`},
		"empty message":      {"POST", alerts + "/messages", `{"content":" \n"}`, 400, `{"message":"Cannot send an empty message","code":50006}`},
		"no JSON":            {"POST", alerts + "/messages", `{`, 400, `{"message":"The request body contains invalid JSON.","code":50109}`},
		"too long": {
			"POST", alerts + "/messages", `{"content":"` + long + `"}`, 400,
			`{"message":"Invalid Form Body","code":50035,"errors":{"content":{"_errors":[{"code":"BASE_TYPE_MAX_LENGTH","message":"Must be 2000 or fewer in length."}]}}}`,
		},
		"exclusive mentions": {
			"POST", alerts + "/messages", `{"content":"a","allowed_mentions":{"parse":["users"],"users":["1"]}}`, 400,
			`{"message":"Invalid Form Body","code":50035,"errors":{"allowed_mentions":{"_errors":[{"code":"MESSAGE_ALLOWED_MENTIONS_PARSE_EXCLUSIVE","message":"parse:[\"users\"] and users: [ids...] are mutually exclusive."}]}}}`,
		},
		"reply to nothing": {
			"POST", alerts + "/messages", `{"content":"a","message_reference":{"message_id":"1"}}`, 400,
			`{"message":"Invalid Form Body","code":50035,"errors":{"message_reference":{"_errors":[{"code":"REPLIES_UNKNOWN_MESSAGE","message":"Unknown message"}]}}}`,
		},
		"thread without a name": {
			"POST", alerts + "/threads", `{"type":11}`, 400,
			`{"message":"Invalid Form Body","code":50035,"errors":{"name":{"_errors":[{"code":"BASE_TYPE_REQUIRED","message":"This field is required"}]}}}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			got := post(t, s, test.method, test.path, test.body)
			require.Equal(t, test.status, got.status, got.body)
			require.JSONEq(t, test.want, got.body)
		})
	}
}

func TestTheLimitOfAMessageCountsCodePoints(t *testing.T) {
	t.Parallel()

	s := start(t)
	path := "/channels/" + id(t, s, "alerts") + "/messages"

	require.Equal(t, 200, post(t, s, "POST", path, `{"content":"`+strings.Repeat("🦊", 2000)+`"}`).status)
	require.Equal(t, 400, post(t, s, "POST", path, `{"content":"`+strings.Repeat("🦊", 2001)+`"}`).status)
}

func TestAMessageHasOneThreadAtMost(t *testing.T) {
	t.Parallel()

	s := start(t)
	said, err := s.Say("alerts", "alice", "hello", discord.Options{})
	require.NoError(t, err)

	path := "/channels/" + said.ChannelID + "/messages/" + said.ID + "/threads"
	require.Equal(t, 201, post(t, s, "POST", path, `{"name":"first"}`).status)

	again := post(t, s, "POST", path, `{"name":"second"}`)
	require.Equal(t, 400, again.status)
	require.Contains(t, again.body, "160004")
	require.Len(t, s.Sent().Threads, 1)
}

func TestAllowedMentionsDecideWhoIsNotified(t *testing.T) {
	t.Parallel()

	s := start(t)
	said, err := s.Say("alerts", "bob", "hello", discord.Options{})
	require.NoError(t, err)

	alice, role := id(t, s, "@alice"), id(t, s, "@&on-call")
	content := `"content":"<@` + alice + `> <@&` + role + `> @everyone","message_reference":{"message_id":"` + said.ID + `"}`

	for name, test := range map[string]struct {
		allowed  string
		users    []string
		roles    []string
		everyone bool
	}{
		"nothing said":    {"", []string{alice, said.AuthorID}, []string{role}, true},
		"nobody":          {`,"allowed_mentions":{"parse":[]}`, nil, nil, false},
		"the replied one": {`,"allowed_mentions":{"parse":[],"replied_user":true}`, []string{said.AuthorID}, nil, false},
		"users":           {`,"allowed_mentions":{"parse":["users"]}`, []string{alice}, nil, false},
		"one role":        {`,"allowed_mentions":{"roles":["` + role + `"]}`, nil, []string{role}, false},
		"everyone":        {`,"allowed_mentions":{"parse":["everyone"]}`, nil, nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			s := s
			require.Equal(t, 200, post(t, s, "POST", "/channels/"+said.ChannelID+"/messages", "{"+content+test.allowed+"}").status)

			sent := s.Sent().Messages
			got := sent[len(sent)-1]
			require.Equal(t, test.users, got.Notified)
			require.Equal(t, test.roles, got.NotifiedRoles)
			require.Equal(t, test.everyone, got.NotifiedEveryone)
		})
	}
}

func TestRateLimitsCountByChannelAndRefill(t *testing.T) {
	t.Parallel()

	clock := clockwork.NewFakeClock()
	s := start(t, func(c *discord.Config) {
		c.Clock = clock
		c.RateLimits = []discord.RateLimit{{Route: "POST /channels/{channel}/typing", Limit: 2, Window: 1500 * time.Millisecond}}
	})
	path := "/channels/" + id(t, s, "alerts") + "/typing"

	first := post(t, s, "POST", path, "")
	require.Equal(t, 204, first.status)
	require.Equal(t, "2", first.header.Get("X-Ratelimit-Limit"))
	require.Equal(t, "1", first.header.Get("X-Ratelimit-Remaining"))
	require.Equal(t, "1.500", first.header.Get("X-Ratelimit-Reset-After"))
	require.NotEmpty(t, first.header.Get("X-Ratelimit-Bucket"))
	require.Equal(t, 204, post(t, s, "POST", path, "").status)

	refused := post(t, s, "POST", path, "")
	require.Equal(t, 429, refused.status)
	require.JSONEq(t, `{"message":"You are being rate limited.","retry_after":1.5,"global":false,"code":0}`, refused.body)
	require.Equal(t, "2", refused.header.Get("Retry-After"))
	require.Equal(t, "user", refused.header.Get("X-Ratelimit-Scope"))
	require.Equal(t, first.header.Get("X-Ratelimit-Bucket"), refused.header.Get("X-Ratelimit-Bucket"))

	require.Equal(t, 403, post(t, s, "POST", "/channels/"+id(t, s, "read-only")+"/typing", "").status, "another channel has its own count")

	clock.Advance(1500 * time.Millisecond)
	require.Equal(t, 204, post(t, s, "POST", path, "").status)

	s.Force429(discord.Force429{Global: true, RetryAfter: 3 * time.Second})

	refused = post(t, s, "GET", "/users/@me", "")
	require.Equal(t, 429, refused.status)
	require.Equal(t, "true", refused.header.Get("X-Ratelimit-Global"))
	require.Contains(t, refused.body, `"global":true`)
	require.Equal(t, 200, post(t, s, "GET", "/users/@me", "").status)
}

func TestRunsHaveTheSameIDs(t *testing.T) {
	t.Parallel()

	var seen []string

	for range 2 {
		s := start(t)
		said, err := s.Say("alerts", "alice", "hello", discord.Options{})
		require.NoError(t, err)

		seen = append(seen, said.ID)
	}

	require.Equal(t, seen[0], seen[1])
	require.Regexp(t, `^[0-9]{19}$`, seen[0])
}

func TestConversationPlaysAndTellsWhatIsMissing(t *testing.T) {
	t.Parallel()

	s := start(t, func(c *discord.Config) {
		c.Conversation = []discord.Step{
			{Say: &discord.Say{Channel: "alerts", Author: "alice", Content: "<@tarsy> ping"}},
			{Expect: &discord.Expect{Channel: "alerts", Content: &match.Text{Contains: "pong"}, ReplyTo: "alice"}},
			{Drop: &discord.Drop{}},
			{Say: &discord.Say{Channel: "alerts", Author: "alice", Content: "still there?"}},
			{Expect: &discord.Expect{Content: &match.Text{Contains: "never"}}},
		}
	})
	require.Len(t, s.Unused(), 5)

	b := openGoBot(t, s, allIntents)
	asked := next(t, b.messages)

	_, err := b.ChannelMessageSendReply(asked.ChannelID, "pong", asked.Reference())
	require.NoError(t, err)

	for next(t, b.messages).Content != "still there?" {
	}

	_, err = b.ChannelMessageSend(asked.ChannelID, "yes")
	require.NoError(t, err)

	s.Stop()

	unused := s.Unused()
	require.Len(t, unused, 1)
	require.Contains(t, unused[0], `step 5 of the conversation (expect message or edit that contains "never")`)
	require.Contains(t, unused[0], `2. message in alerts: "yes"`)
}

func TestWaitingFailsWithWhatTheBotDid(t *testing.T) {
	t.Parallel()

	clock := clockwork.NewFakeClock()
	s := start(t, func(c *discord.Config) { c.Clock = clock })
	require.Equal(t, 200, post(t, s, "POST", "/channels/"+id(t, s, "alerts")+"/messages", `{"content":"hello"}`).status)

	failed := make(chan error)

	go func() {
		_, err := s.Play(t.Context(), discord.Step{Expect: &discord.Expect{Channel: "alerts", Content: &match.Text{Equals: "bye"}, Within: time.Second}})
		failed <- err
	}()

	require.NoError(t, clock.BlockUntilContext(within(t), 1))
	clock.Advance(time.Second)

	err := next(t, failed)
	require.ErrorContains(t, err, `no message or edit in alerts that equals "bye" (within 1s)`)
	require.ErrorContains(t, err, `1. message in alerts: "hello"`)
}

func TestASetupThatIsWrongIsExplained(t *testing.T) {
	t.Parallel()

	_, err := discord.New(discord.Config{Setup: discord.Setup{
		Users: []discord.User{{Name: "alice"}, {Name: "alice"}},
		Guilds: []discord.Guild{{
			Name: "ops", ID: "7", Members: []discord.Member{{User: "alise"}, {User: "alice", Roles: []string{"boss"}}},
			Channels: []discord.Channel{{Name: "a"}, {Name: "a"}},
		}},
		RateLimits:   []discord.RateLimit{{Route: "POST /channels/{channel}/message"}},
		Conversation: []discord.Step{{}, {Say: &discord.Say{Author: "eve"}, Reconnect: true}},
	}})

	for _, part := range []string{
		`users[1].name: there is a user "alice" already`, `guilds[0].id: an id has 15 to 20 digits`, `guilds[0].members[0].user: there is no user "alise"; did you mean alice?`,
		`guilds[0].members[1].roles[0]: the guild has no role "boss"`, `guilds[0].channels[1].name: there is a channel "a" already`,
		`rate_limits[0].route: there is no route "POST /channels/{channel}/message"; did you mean POST /channels/{channel}/messages?`,
		`conversation[0]: a step does exactly one thing, this one 0`, `conversation[1]: a step does exactly one thing, this one 2`,
		`conversation[1].say.author: there is no user "eve"`,
	} {
		require.ErrorContains(t, err, part)
	}
}
