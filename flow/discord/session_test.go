package discord_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/flow/discord"
	mock "tarsy.dev/tarsy/internal/kit/mock/discord"
)

func TestClientDeliversWhatPeopleWrite(t *testing.T) {
	t.Parallel()

	server := serve(t)
	b := run(t, server)

	said := say(t, server, "general", "alice", "Hello \x00bot")
	m := b.next(t)
	require.WithinDuration(t, said.Created, m.Timestamp, time.Second)

	m.Timestamp = time.Time{}
	require.Equal(t, discord.Message{
		GuildID: id(t, server, "ops"), ChannelID: id(t, server, "general"), MessageID: said.ID, AuthorID: id(t, server, "@alice"),
		Author: "Alice", Content: "Hello bot", RoleIDs: []string{id(t, server, "@&on-call")},
	}, m)

	say(t, server, "general", "bob", "Hi")
	require.Equal(t, "Bobby", b.next(t).Author)

	say(t, server, "@bob", "bob", "in private")
	direct := b.next(t)
	require.Equal(t, "in private", direct.Content)
	require.Empty(t, direct.GuildID)
}

func TestClientDropsMessagesOfBots(t *testing.T) {
	t.Parallel()

	server := serve(t)
	b := run(t, server)

	_, err := b.Send(within(t), id(t, server, "general"), discord.Post{Text: "from the bot itself"})
	require.NoError(t, err)
	say(t, server, "general", "pager", "from another bot")
	say(t, server, "general", "alice", "from a person")

	m := b.next(t)
	require.Equal(t, "from a person", m.Content)
	require.False(t, m.IsBot)
}

func TestClientMarksMentionsAndRemovesThemFromTheStart(t *testing.T) {
	t.Parallel()

	server := serve(t)
	b := run(t, server)
	me := "<@" + id(t, server, "@tarsy") + ">"

	for content, want := range map[string]discord.Message{
		me + " status?":         {Content: "status?", Mentioned: true},
		"ask " + me + " please": {Content: "ask " + me + " please", Mentioned: true},
		"nobody":                {Content: "nobody"},
	} {
		say(t, server, "general", "alice", content)

		m := b.next(t)
		require.Equal(t, want, discord.Message{Content: m.Content, Mentioned: m.Mentioned})
	}
}

func TestClientKnowsTheParentOfAThread(t *testing.T) {
	t.Parallel()

	server := serve(t)
	b := run(t, server)

	_, err := server.Say("general", "alice", "in the thread", mock.Options{Thread: "incident"})
	require.NoError(t, err)

	m := b.next(t)
	require.Equal(t, "in the thread", m.Content)
	require.Equal(t, id(t, server, "incident"), m.ChannelID)
	require.Equal(t, id(t, server, "general"), m.ParentID)

	thread, err := b.Channel(within(t), m.ChannelID)
	require.NoError(t, err)
	require.Equal(t, discord.Channel{
		ID: m.ChannelID, GuildID: id(t, server, "ops"), ParentID: id(t, server, "general"), Name: "incident", Thread: true,
	}, thread)
}

func TestChannelsComeFromTheGatewayAndOtherwiseOnceFromTheAPI(t *testing.T) {
	t.Parallel()

	server := serve(t)

	var reads atomic.Int32

	address := proxy(t, server, func(*http.Response) { reads.Add(1) })
	client, err := discord.NewClient(discord.ClientConfig{Token: token, API: address, Gateway: server.Gateway()})
	require.NoError(t, err)
	t.Cleanup(client.Close)

	check := func(want int32) {
		channel, err := client.Channel(within(t), id(t, server, "general"))
		require.NoError(t, err)
		require.Equal(t, discord.Channel{ID: id(t, server, "general"), GuildID: id(t, server, "ops"), Name: "general"}, channel)
		require.Equal(t, want, reads.Load())
	}

	check(1) // not connected: read from the API
	check(1) // cached

	_, err = client.Channel(within(t), "123456789012345678")
	require.True(t, discord.IsPermanent(err), "%v", err)
	require.EqualValues(t, 2, reads.Load())

	connected, err := discord.NewClient(discord.ClientConfig{Token: token, API: address, Gateway: server.Gateway()})
	require.NoError(t, err)

	client = connected
	runClient(t, connected)
	check(2) // the gateway reported it
}

// collect reads n messages and returns their contents.
func collect(t *testing.T, b *bot, n int) []string {
	t.Helper()

	var all []string
	for range n {
		all = append(all, b.next(t).Content)
	}

	return all
}

func TestClientResumesWithoutLossOrRepetition(t *testing.T) {
	t.Parallel()

	breaks := map[string]func(*mock.Server){
		"dropped network":   func(s *mock.Server) { s.DropGateway(mock.Drop{}) },
		"close code 4000":   func(s *mock.Server) { s.DropGateway(mock.Drop{Code: 4000}) },
		"asks to reconnect": func(s *mock.Server) { s.Reconnect() },
		"invalid session that may be resumed": func(s *mock.Server) {
			s.InvalidSession(true)
		},
	}

	for name, breakIt := range breaks {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			server := serve(t)
			b := run(t, server)

			var want []string

			for i := range 20 {
				if i == 10 {
					breakIt(server)
				}

				want = append(want, fmt.Sprint("message ", i))
				say(t, server, "general", "alice", want[i])
			}

			require.Equal(t, want, collect(t, b, len(want)))

			resumed, err := server.WaitConnection(within(t), "resumed", func(c mock.Connection) bool { return c.How == "resume" })
			require.NoError(t, err)
			require.True(t, resumed.ResumeURL)
		})
	}
}

func TestClientIdentifiesAgainWhenItsSessionIsGone(t *testing.T) {
	t.Parallel()

	server := serve(t)
	b := run(t, server)

	server.InvalidSession(false)

	_, err := server.WaitConnection(within(t), "identified again", func(c mock.Connection) bool { return c.Number > 1 && c.How == "identify" })
	require.NoError(t, err)

	say(t, server, "general", "alice", "still there?")
	require.Equal(t, "still there?", b.next(t).Content)
}

func TestClientReplacesAConnectionThatDoesNotAnswer(t *testing.T) {
	t.Parallel()

	// The server itself gives up after one and a half intervals.
	server := serve(t, func(s *mock.Setup) { s.Heartbeat = 2 * time.Second })
	b := run(t, server)

	server.StopAcks(true)

	closed, err := server.WaitConnection(within(t), "first connection closed", func(c mock.Connection) bool { return c.Number == 1 && !c.Open })
	require.NoError(t, err)
	require.Equal(t, "client", closed.ClosedBy)

	server.StopAcks(false)

	_, err = server.WaitConnection(within(t), "resumed", func(c mock.Connection) bool { return c.How == "resume" && c.Heartbeats > 0 })
	require.NoError(t, err)

	say(t, server, "general", "alice", "again")
	require.Equal(t, "again", b.next(t).Content)
}

func TestClientEndsWithAdviceWhereReconnectingCannotHelp(t *testing.T) {
	t.Parallel()

	for name, test := range map[string]struct {
		change func(*mock.Setup)
		want   string
	}{
		"token": {
			func(s *mock.Setup) { s.Token = "another-token" },
			`discord refused the token: check that it is the token of the bot, or reset it in the developer portal on the page Bot: ` +
				`discord closed the connection with code 4004 Authentication failed.`,
		},
		"intents": {
			func(s *mock.Setup) { s.Disallow = []string{"message_content"} },
			`discord refused the intents: enable "Message Content Intent" in the developer portal on the page Bot: ` +
				`discord closed the connection with code 4014 Disallowed intent(s).`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			client := newClient(t, serve(t, test.change))
			err := client.Run(within(t), func() { t.Error("it is not ready") }, nil)
			require.EqualError(t, err, test.want)
		})
	}

	_, err := discord.NewClient(discord.ClientConfig{Token: " "})
	require.ErrorContains(t, err, "the token of the Discord bot is missing")
}

func TestClientEndsWithTheErrorOfItsHandler(t *testing.T) {
	t.Parallel()

	server := serve(t)
	failure := errors.New("the handler failed")
	ended := make(chan error, 1)
	ready := make(chan struct{})

	client := newClient(t, server)

	go func() {
		ended <- client.Run(within(t), func() { close(ready) }, func(context.Context, discord.Message) error { return failure })
	}()

	<-ready
	say(t, server, "general", "alice", "Hello")
	require.Equal(t, failure, <-ended)
}

func TestClientLeavesGracefully(t *testing.T) {
	t.Parallel()

	server := serve(t)
	b := run(t, server)
	require.Equal(t, errEnd, b.stop())

	left, err := server.WaitConnection(within(t), "closed", func(c mock.Connection) bool { return !c.Open })
	require.NoError(t, err)
	require.Equal(t, "client", left.ClosedBy)
	require.Equal(t, 1000, left.Code)
}
