package main

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/flow/discord"
	"tarsy.dev/tarsy/flow/flowtest"
)

// start starts the program with a fake clock that advances whenever the program waits for it.
func start(t *testing.T) *flowtest.Host {
	t.Helper()

	clock := clockwork.NewFakeClock()
	host := flowtest.New(t, configure, flowtest.WithDiscord(), flowtest.WithClock(clock)).Start()

	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})

	go func() {
		defer close(ended)

		for clock.BlockUntilContext(ctx, 1) == nil {
			clock.Advance(100 * time.Millisecond)
		}
	}()

	t.Cleanup(func() {
		cancel()
		<-ended
	})

	return host
}

func TestReplyGrowsInOneMessage(t *testing.T) {
	t.Parallel()

	host := start(t)
	text := strings.TrimSpace(strings.Repeat("one two three ", 10))
	said := host.Discord().Say("general", "alice", text)

	whole := host.Discord().WaitSent("the whole reply", flowtest.Content(text))
	require.Equal(t, said.ID, whole.ReplyTo)
	require.Equal(t, "one", whole.Earlier[0].Content)
	require.Len(t, host.Discord().Sent(), 1)
	require.Less(t, len(whole.Earlier), 30, "not every word is an edit")
}

func TestEachMessageGetsSeparateReply(t *testing.T) {
	t.Parallel()

	host := start(t)

	for _, author := range []string{"alice", "bob"} {
		host.Discord().Say("general", author, "from "+author)
	}

	host.Discord().WaitSent("the second reply", flowtest.Content("from bob"))
	require.Equal(t, []string{"from alice", "from bob"}, host.Discord().Contents())
	require.NotEmpty(t, flowtest.Entries[discord.Sent](host, "discord"))
}

func TestDiscordStreamingDeclaresItsFlow(t *testing.T) {
	t.Parallel()

	flowtest.Golden(t, "flow.mmd", []byte(flowtest.New(t, configure, flowtest.WithDiscord()).Flow().Mermaid()))
}
