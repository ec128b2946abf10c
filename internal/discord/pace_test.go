package discord

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/flow/discord"
	"tarsy.dev/tarsy/internal/ident"
	mock "tarsy.dev/tarsy/internal/kit/mock/discord"
	"tarsy.dev/tarsy/internal/kit/wait"
	"tarsy.dev/tarsy/internal/postgres"
	"tarsy.dev/tarsy/internal/postgres/outbox"
	"tarsy.dev/tarsy/internal/postgres/pgtest"
)

// A token rejected by Discord is tried again after a pause: an operator may have reset it.
func TestBotPausesAfterRefusedConnection(t *testing.T) {
	t.Parallel()

	const authenticationFailed = 4004

	server, err := mock.New(mock.Config{Setup: mock.Setup{Token: "right", Guilds: []mock.Guild{{Name: "guild", Channels: []mock.Channel{{Name: "alerts"}}}}}})
	require.NoError(t, err)
	require.NoError(t, server.Start())
	t.Cleanup(server.Stop)

	client, err := discord.NewClient(discord.ClientConfig{Token: "wrong", API: server.API(), Gateway: server.Gateway()})
	require.NoError(t, err)
	t.Cleanup(client.Close)

	clock := clockwork.NewFakeClock()
	b := New(Config{Client: client, Clock: clock, Logger: slog.New(slog.DiscardHandler)})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})

	go func() {
		defer close(ended)

		b.listen(ctx)
	}()

	for attempts := 1; attempts <= 3; attempts++ {
		require.NoError(t, clock.BlockUntilContext(wait.Context(t), 1))
		clock.Advance(15*time.Second - time.Millisecond)
		require.NoError(t, clock.BlockUntilContext(wait.Context(t), 1))

		made := server.Connections()
		require.Len(t, made, attempts, "no attempt during the pause")
		require.Equal(t, authenticationFailed, made[attempts-1].Code)
		require.Equal(t, "server", made[attempts-1].ClosedBy)
		clock.Advance(time.Millisecond)
	}

	cancel()
	wait.For(t, ended, "the end of listening")
}

// Another server was killed after it posted the beginning of an answer. Discord returns that message for the same nonce.
func TestMessageOfAnotherServerIsUpdatedAfterTakeover(t *testing.T) {
	t.Parallel()

	server, err := mock.New(mock.Config{Setup: mock.Setup{Token: "right", Guilds: []mock.Guild{{Name: "guild", Channels: []mock.Channel{{Name: "alerts"}}}}}})
	require.NoError(t, err)
	require.NoError(t, server.Start())
	t.Cleanup(server.Stop)

	client, err := discord.NewClient(discord.ClientConfig{Token: "right", API: server.API(), Gateway: server.Gateway()})
	require.NoError(t, err)
	t.Cleanup(client.Close)

	ctx, clock := wait.Context(t), clockwork.NewFakeClock()
	db, err := postgres.Open(ctx, postgres.Config{URL: pgtest.New(t), MaxConns: 2})
	require.NoError(t, err)
	db.Start()
	t.Cleanup(db.Stop)

	channelID, err := server.ID("alerts")
	require.NoError(t, err)

	a := tarsy.Announcement{ID: ident.New(), Target: channelID, CreatedAt: clock.Now()}
	_, err = client.Send(ctx, channelID, discord.Post{Text: "The disk", Nonce: nonce(a.ID, 0)})
	require.NoError(t, err)
	clock.Advance(time.Second)

	s := newSender(Config{Outbox: outbox.New(db), Client: client, Clock: clock, Logger: slog.New(slog.DiscardHandler)})
	require.NoError(t, s.post(ctx, &a, &draft{}, "The disk is full."))

	messages, err := server.Messages("alerts")
	require.NoError(t, err)
	require.Len(t, messages, 1)
	require.Equal(t, "The disk is full.", messages[0].Content)
}
