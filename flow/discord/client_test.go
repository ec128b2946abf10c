package discord_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/flow/discord"
	mock "tarsy.dev/tarsy/internal/kit/mock/discord"
)

func TestClientSendsRepliesEditsAndShowsTyping(t *testing.T) {
	t.Parallel()

	server := serve(t)
	client := newClient(t, server)
	general := id(t, server, "general")
	question := say(t, server, "general", "alice", "Hello?")

	require.NoError(t, client.Typing(within(t), general))

	sent, err := client.Send(within(t), general, discord.Post{Text: "Hello.", ReplyTo: question.ID})
	require.NoError(t, err)
	require.NoError(t, client.Edit(within(t), general, sent, "Hello, Alice."))

	// The message replied to can be gone.
	_, err = client.Send(within(t), general, discord.Post{Text: "Who?", ReplyTo: "123456789012345678"})
	require.NoError(t, err)

	did := server.Sent()
	require.Equal(t, []string{"general"}, did.Typing)
	require.Len(t, did.Messages, 2)
	require.Equal(t, sent, did.Messages[0].ID)
	require.Equal(t, "Hello, Alice.", did.Messages[0].Content)
	require.Equal(t, "Hello.", did.Messages[0].Earlier[0].Content)
	require.Equal(t, question.ID, did.Messages[0].ReplyTo)
	require.Empty(t, did.Messages[1].ReplyTo)
}

func TestClientSuppressesMentions(t *testing.T) {
	t.Parallel()

	server := serve(t)
	client := newClient(t, server)
	general := id(t, server, "general")
	text := "@everyone <@" + id(t, server, "@alice") + "> <@&" + id(t, server, "@&on-call") + ">"

	sent, err := client.Send(within(t), general, discord.Post{Text: text, ReplyTo: say(t, server, "general", "bob", "?").ID})
	require.NoError(t, err)

	check := func() {
		m := server.Sent().Messages[0]
		require.True(t, strings.HasPrefix(m.Content, text))
		require.False(t, m.NotifiedEveryone)
		require.Empty(t, m.Notified)
		require.Empty(t, m.NotifiedRoles)
	}

	check()
	require.NoError(t, client.Edit(within(t), general, sent, text+" again"))
	check()
}

func TestClientSendsAMessageWithANonceOnce(t *testing.T) {
	t.Parallel()

	server := serve(t)
	client := newClient(t, server)
	general := id(t, server, "general")
	nonce := strings.Repeat("longer than Discord accepts ", 5)

	first, err := client.Send(within(t), general, discord.Post{Text: "once", Nonce: nonce + "1"})
	require.NoError(t, err)
	second, err := client.Send(within(t), general, discord.Post{Text: "once", Nonce: nonce + "1"})
	require.NoError(t, err)
	other, err := client.Send(within(t), general, discord.Post{Text: "once", Nonce: nonce + "2"})
	require.NoError(t, err)

	require.Equal(t, first, second)
	require.NotEqual(t, first, other)
	require.Len(t, server.Sent().Messages, 2)
}

func TestClientStartsOneThreadFromAMessage(t *testing.T) {
	t.Parallel()

	server := serve(t)
	client := newClient(t, server)
	general := id(t, server, "general")
	said := say(t, server, "general", "alice", "The database is down")

	thread, err := client.StartThread(within(t), general, said.ID, "a\nlong "+strings.Repeat("name ", 50))
	require.NoError(t, err)
	again, err := client.StartThread(within(t), general, said.ID, "another name")
	require.NoError(t, err)
	require.Equal(t, thread, again)

	threads := server.Sent().Threads
	require.Len(t, threads, 1)
	require.Equal(t, thread, threads[0].ID)
	require.Len(t, threads[0].Name, 100)
	require.True(t, strings.HasPrefix(threads[0].Name, "a long name "))

	found, err := client.Channel(within(t), thread)
	require.NoError(t, err)
	require.True(t, found.Thread)
	require.Equal(t, general, found.ParentID)
}

func TestClientWaitsForRateLimits(t *testing.T) {
	t.Parallel()

	for name, global := range map[string]bool{"of the route": false, "global": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			server := serve(t)
			client := newClient(t, server)

			server.Force429(mock.Force429{RetryAfter: time.Second, Times: 2, Global: global})

			begin := time.Now()
			_, err := client.Send(within(t), id(t, server, "general"), discord.Post{Text: "late"})
			require.NoError(t, err)
			require.GreaterOrEqual(t, time.Since(begin), 1900*time.Millisecond)
			require.Empty(t, server.Unused())
		})
	}
}

func TestClientRespectsKnownRateLimit(t *testing.T) {
	t.Parallel()

	const route = "POST /channels/{channel}/messages"

	server := serve(t, func(s *mock.Setup) {
		s.RateLimits = []mock.RateLimit{{Route: route, Limit: 2, Window: 300 * time.Millisecond}}
	})
	client := newClient(t, server)

	begin := time.Now()

	for range 5 {
		_, err := client.Send(within(t), id(t, server, "general"), discord.Post{Text: "text"})
		require.NoError(t, err)
	}

	require.GreaterOrEqual(t, time.Since(begin), 500*time.Millisecond)
}

func TestRateLimitWaitEndsWithContext(t *testing.T) {
	t.Parallel()

	server := serve(t)
	general := id(t, server, "general")
	enough := errors.New("waited long enough")

	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)

	client, err := discord.NewClient(discord.ClientConfig{
		// A fixed timeout could expire before the request arrives, and another request would get the 429.
		Token: token, API: server.API(), Logger: slog.New(onRecord{func(slog.Record) { cancel(enough) }}),
	})
	require.NoError(t, err)
	t.Cleanup(client.Close)
	server.Force429(mock.Force429{RetryAfter: time.Hour})

	_, err = client.Send(ctx, general, discord.Post{Text: "text"})
	require.ErrorIs(t, err, enough)
	require.Empty(t, server.Unused())

	// Other routes are not affected.
	require.NoError(t, client.Typing(within(t), general))
}

func TestErrorsDistinguishPermanentFromTransient(t *testing.T) {
	t.Parallel()

	server := serve(t)
	client := newClient(t, server)

	_, err := client.Send(within(t), id(t, server, "read-only"), discord.Post{Text: "text"})
	require.ErrorContains(t, err, "discord: Missing Permissions (status 403, code 50013)")
	require.True(t, discord.IsPermanent(err))

	var refused *discord.APIError

	require.ErrorAs(t, err, &refused)
	require.Equal(t, discord.APIError{Status: 403, Code: 50013, Message: "Missing Permissions"}, *refused)

	_, err = client.Channel(within(t), "1")
	require.True(t, discord.IsPermanent(err))
	require.ErrorContains(t, err, "Unknown Channel (status 404, code 10003)")

	other, err := discord.NewClient(discord.ClientConfig{Token: "another-token", API: server.API()})
	require.NoError(t, err)
	t.Cleanup(other.Close)

	_, err = other.Self(within(t))
	require.ErrorContains(t, err, "read the bot's own user: discord: 401: Unauthorized (status 401)")
	require.True(t, discord.IsPermanent(err))

	name, err := client.Self(within(t))
	require.NoError(t, err)
	require.Equal(t, "tarsy", name)

	_, err = client.Channel(within(t), "../users/@me")
	require.True(t, discord.IsPermanent(err), "an id is not a path")

	failing := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) }))
	t.Cleanup(failing.Close)

	client, err = discord.NewClient(discord.ClientConfig{Token: token, API: failing.URL})
	require.NoError(t, err)
	t.Cleanup(client.Close)

	_, err = client.Send(within(t), "1", discord.Post{Text: "text"})
	require.EqualError(t, err, "send a message to channel 1: discord: Bad Gateway (status 502)")
	require.False(t, discord.IsPermanent(err))

	failing.Close()

	_, err = client.Send(within(t), "1", discord.Post{Text: "text"})
	require.Error(t, err)
	require.False(t, discord.IsPermanent(err))
}
