package main

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/flow"
	"tarsy.dev/tarsy/flow/agent"
	"tarsy.dev/tarsy/flow/chat"
	"tarsy.dev/tarsy/flow/flowtest"
	"tarsy.dev/tarsy/flow/program"
	"tarsy.dev/tarsy/internal/kit/wait"
)

// person talks with the program on one of its channels.
type person struct {
	say func(text string)
	// received returns the texts that the program has written since the last call, without their sender.
	received func() []string
	leave    func()
}

// channel is a virtual channel with a person on it.
type channel struct {
	open    func(*program.Env) (chat.Channel, error)
	virtual flowtest.Option
	person  func(*flowtest.Host) person
}

func channels() map[string]channel {
	return map[string]channel{
		"console": {onConsole, flowtest.WithConsole(), atConsole},
		"discord": {onDiscord, flowtest.WithDiscord(), inDiscord},
	}
}

func atConsole(host *flowtest.Host) person {
	console := host.Console()

	return person{
		say: console.Send,
		received: func() []string {
			var texts []string

			for _, line := range append(console.CollectUntilQuiet(), console.DrainErrors()...) {
				_, text, _ := strings.Cut(line, "]: ")
				texts = append(texts, text)
			}

			return texts
		},
		leave: console.End,
	}
}

func inDiscord(host *flowtest.Host) person {
	discord, known := host.Discord(), 0

	return person{
		say: func(text string) { discord.Say("general", "alice", text) },
		received: func() []string {
			host.WaitQuiet()

			all := discord.Contents()
			news := all[known:]
			known = len(all)

			return news
		},
		leave: func() { discord.End() },
	}
}

// onEach runs a test on each channel.
func onEach(t *testing.T, test func(*testing.T, *flowtest.Host, person)) {
	t.Helper()

	for name, channel := range channels() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			host := flowtest.New(t, configure(channel.open), channel.virtual, flowtest.WithLLM()).Start()
			test(t, host, channel.person(host))
		})
	}
}

func TestConversationIsTheSameOnEachChannel(t *testing.T) {
	t.Parallel()

	onEach(t, func(t *testing.T, host *flowtest.Host, somebody person) {
		t.Helper()

		host.LLM().EnqueueThoughts([]string{"Who asks?"}, []string{"I am a ", "helpful assistant."})
		somebody.say("Who are you?")
		require.Equal(t, []string{"I am a helpful assistant."}, somebody.received())

		host.LLM().EnqueueFailure(errors.New("quota exceeded"))
		somebody.say("Are you there?")
		require.Equal(t, []string{"I cannot answer now."}, somebody.received())

		host.LLM().Enqueue("As I said.")
		somebody.say("Who are you?")
		require.Equal(t, []string{"As I said."}, somebody.received())

		require.Equal(t, []string{"Who are you?", "Are you there?", "Who are you?"}, host.LLM().Prompts())
		require.Len(t, host.LLM().Requests()[2].Messages, 4, "the instructions, the first turn and the prompt")

		asked, answered := flowtest.Entries[agent.Prompt](host, "agent"), flowtest.Entries[agent.StreamCompleted](host, "agent")
		require.Equal(t, asked[0].Conversation, answered[0].Conversation)
	})
}

func TestProgramEndsWithTheInputOfEachChannel(t *testing.T) {
	t.Parallel()

	onEach(t, func(t *testing.T, host *flowtest.Host, somebody person) {
		t.Helper()

		host.LLM().Enqueue("Good night.")
		somebody.say("Good night")
		somebody.leave()
		require.Equal(t, []string{"Good night."}, somebody.received())

		daemons := host.Flow().Daemons()
		require.NoError(t, daemons[len(daemons)-1].WaitFor(wait.Context(t), flow.StatusCompleted))
	})
}

func TestChatAgentDeclaresItsFlow(t *testing.T) {
	t.Parallel()

	for name, golden := range map[string]string{"console": "flow.mmd", "discord": "flow-discord.mmd"} {
		host := flowtest.New(t, configure(channels()[name].open), channels()[name].virtual, flowtest.WithLLM())
		flowtest.Golden(t, golden, []byte(host.Flow().Mermaid()))
	}
}
