package discord_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/flow"
	"tarsy.dev/tarsy/flow/discord"
	mock "tarsy.dev/tarsy/internal/kit/mock/discord"
)

// echo runs a flow that repeats what people write, until its input ends.
func echo(t *testing.T, server *mock.Server, end <-chan struct{}) (result <-chan error) {
	t.Helper()

	chat, err := discord.New(discord.Config{
		Connection: discord.ClientConfig{Token: token, API: server.API(), Gateway: server.Gateway(), End: end}, Typing: true,
	})
	require.NoError(t, err)

	built, err := flow.Build([]*flow.Branch{chat.Branch},
		flow.Route(chat.Messages, chat.Drafts, func(_ context.Context, m discord.Message) (discord.Draft, error) {
			return discord.Draft{ChannelID: m.ChannelID, Text: m.Content}, nil
		}))
	require.NoError(t, err)

	ended := make(chan error, 1)

	go func() { ended <- built.Run(within(t)) }()

	return ended
}

func TestFlowEndsWithTheInputOfDiscord(t *testing.T) {
	t.Parallel()

	server, end := serve(t), make(chan struct{})
	ended := echo(t, server, end)
	require.NoError(t, server.WaitReady(within(t)))

	var written []string

	for i := range 50 {
		written = append(written, fmt.Sprint("message ", i))
		say(t, server, "general", "alice", written[i])
	}

	require.NoError(t, server.WaitReceived(within(t)))
	close(end)
	require.NoError(t, <-ended)

	var sent []string
	for _, m := range server.Sent().Messages {
		sent = append(sent, m.Content)
	}

	require.Equal(t, written, sent, "what was written before the end is handled")

	left, err := server.WaitConnection(within(t), "the end", func(c mock.Connection) bool { return !c.Open })
	require.NoError(t, err)
	require.Equal(t, "client", left.ClosedBy)
	require.Equal(t, 1000, left.Code)
	require.Len(t, server.Connections(), 1, "it does not reconnect")
}

// A flow whose input has ended before the start still starts, and then ends.
func TestInputEndedBeforeStartIsNotAFailure(t *testing.T) {
	t.Parallel()

	server, end := serve(t), make(chan struct{})
	close(end)
	require.NoError(t, <-echo(t, server, end))
	require.Len(t, server.Connections(), 1)
}

// The handler is slower than the end of input: messages that have arrived wait for it.
func TestMessagesThatArrivedBeforeTheEndOfInputAreHandled(t *testing.T) {
	t.Parallel()

	server, end := serve(t), make(chan struct{})
	client, err := discord.NewClient(discord.ClientConfig{Token: token, API: server.API(), Gateway: server.Gateway(), End: end})
	require.NoError(t, err)

	gate, ended := make(chan struct{}), make(chan error, 1)

	var handled []string // owned by Run until it returns

	go func() {
		ended <- client.Run(within(t), func() {}, func(_ context.Context, m discord.Message) error {
			<-gate

			handled = append(handled, m.Content)

			return nil
		})
	}()

	require.NoError(t, server.WaitReady(within(t)))

	const messages = 50
	for i := range messages {
		say(t, server, "general", "alice", fmt.Sprint(i))
	}

	require.NoError(t, server.WaitReceived(within(t)))
	close(end)
	close(gate)
	require.NoError(t, <-ended)
	require.Len(t, handled, messages)
}
