package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/flow/discord"
	"tarsy.dev/tarsy/flow/flowtest"
)

func TestDiscordEchoRepliesToPeople(t *testing.T) {
	t.Parallel()

	host := flowtest.New(t, configure, flowtest.WithDiscord()).Start()
	chat := host.Discord()

	chat.Say("general", "pager", "from a bot")
	chat.Say("random", "bob", "in a channel where the bot does not listen")
	chat.AssertQuiet()

	said := chat.Say("general", "alice", "Hello, @everyone!")

	answer := chat.WaitSent("the echo", flowtest.Content("Hello, @everyone!"))
	require.Equal(t, said.ID, answer.ReplyTo)
	require.False(t, answer.NotifiedEveryone)
	chat.AssertQuiet()

	host.AssertOrdered("discord",
		flowtest.Expect("the message", func(m discord.Message) bool { return m.Author == "alice" }),
		flowtest.Expect("the draft", func(d discord.Draft) bool { return d.ReplyTo == said.ID }),
	)
}

func TestDiscordEchoContinuesAfterALostConnection(t *testing.T) {
	t.Parallel()

	chat := flowtest.New(t, configure, flowtest.WithDiscord()).Start().Discord()

	chat.DropGateway(flowtest.DiscordDrop{})
	chat.Say("general", "alice", "Still there?")
	chat.WaitSent("the echo", flowtest.Content("Still there?"))
}

func TestDiscordEchoDeclaresItsFlow(t *testing.T) {
	t.Parallel()

	flowtest.Golden(t, "flow.mmd", []byte(flowtest.New(t, configure, flowtest.WithDiscord()).Flow().Mermaid()))
}
