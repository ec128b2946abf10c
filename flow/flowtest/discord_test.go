package flowtest_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/flow"
	"tarsy.dev/tarsy/flow/discord"
	"tarsy.dev/tarsy/flow/flowtest"
	"tarsy.dev/tarsy/flow/program"
	"tarsy.dev/tarsy/internal/kit/testfailure"
	"tarsy.dev/tarsy/internal/kit/wait"
)

// echoInDiscord replies to each message with its content.
func echoInDiscord(env *program.Env) (*flow.Flow, error) {
	chat, err := discord.New(discord.Config{
		Connection: discord.ClientConfig{Token: env.Discord.Token, API: env.Discord.API, Gateway: env.Discord.Gateway, End: env.Discord.End},
		Channels:   []string{env.Discord.Channel},
	})
	if err != nil {
		return nil, err
	}

	return flow.Build([]*flow.Branch{chat.Branch},
		flow.Route(chat.Messages, chat.Drafts, func(_ context.Context, m discord.Message) (discord.Draft, error) {
			return discord.Draft{ChannelID: m.ChannelID, ReplyTo: m.MessageID, Text: "You wrote: " + m.Content}, nil
		}))
}

func TestDiscordCarriesMessagesToAProgramAndBack(t *testing.T) {
	t.Parallel()

	host := flowtest.New(t, echoInDiscord, flowtest.WithDiscord()).Start()
	chat := host.Discord()

	chat.Say("general", "pager", "from a bot")
	chat.Say("random", "alice", "in another channel")
	said := chat.Say("general", "alice", "Hello")

	answer := chat.WaitSent("the echo", flowtest.Content("You wrote: Hello"))
	require.Equal(t, said.ID, answer.ReplyTo)
	require.Equal(t, []string{"You wrote: Hello"}, chat.Contents())

	chat.Say("general", "bob", "<@bot> in a thread", flowtest.InThread("incident"), flowtest.InReplyTo(""))
	require.Equal(t, chat.ID("incident"), chat.WaitSent("the echo", flowtest.Content("You wrote: in a thread")).ChannelID)
}

func TestDiscordMessageHasTheIDAndTimeThatTheTestGives(t *testing.T) {
	t.Parallel()

	host := flowtest.New(t, echoInDiscord, flowtest.WithDiscord()).Start()
	written := time.Date(2020, time.February, 29, 12, 0, 0, 0, time.UTC)

	host.Discord().Say("general", "alice", "Hello", flowtest.WithID("123456789012345678"), flowtest.WrittenAt(written))
	require.Equal(t, "123456789012345678", host.Discord().WaitSent("the echo", flowtest.Content("You wrote: Hello")).ReplyTo)

	got := flowtest.Entries[discord.Message](host, "discord")[0]
	require.Equal(t, "123456789012345678", got.MessageID)
	require.Equal(t, written, got.Timestamp)
	require.Equal(t, host.Discord().ID("general"), got.ChannelID)
	require.Equal(t, "alice", got.Author)

	for id, want := range map[string]string{
		"12":                 `"12" is not an id: ids have 15 to 20 digits`,
		"123456789012345678": "there is already a message 123456789012345678 in general",
	} {
		require.Contains(t, testfailure.Of(t, func(inner testing.TB) {
			chat := flowtest.New(inner, echoInDiscord, flowtest.WithDiscord()).Discord()
			chat.Say("general", "alice", "first", flowtest.WithID("123456789012345678"))
			chat.Say("general", "alice", "second", flowtest.WithID(id))
		}), want)
	}
}

func TestDiscordIsQuietWhenEverythingWrittenIsHandled(t *testing.T) {
	t.Parallel()

	host := flowtest.New(t, echoInDiscord, flowtest.WithDiscord()).Start()
	chat := host.Discord()

	chat.Say("general", "pager", "from a bot")
	chat.Say("random", "alice", "in another channel")
	chat.AssertQuiet()

	for i := range 20 {
		chat.Say("general", "alice", fmt.Sprint(i))
	}

	host.WaitQuiet()
	require.Len(t, chat.Contents(), 20)

	chat.WaitSent("the last echo", flowtest.Content("You wrote: 19"))
	chat.AssertQuiet()
	chat.DropGateway(flowtest.DiscordDrop{})
	chat.Play(
		flowtest.DiscordStep{Say: &flowtest.DiscordSay{Channel: "general", Author: "bob", Content: "Again"}},
		flowtest.DiscordStep{Expect: &flowtest.DiscordExpect{Content: &flowtest.DiscordText{Contains: "Again"}}},
	)
	chat.AssertQuiet()

	require.Contains(t, testfailure.Of(t, func(inner testing.TB) {
		chat := flowtest.New(inner, echoInDiscord, flowtest.WithDiscord()).Start().Discord()
		chat.Say("general", "alice", "Hello")
		chat.AssertQuiet()
	}), `expected no message after action 0; the bot did:
  1. message in general: "You wrote: Hello"`)
}

func TestDiscordShowsThatTheBotTypes(t *testing.T) {
	t.Parallel()

	silent := func(env *program.Env) (*flow.Flow, error) {
		chat, err := discord.New(discord.Config{
			Connection: discord.ClientConfig{Token: env.Discord.Token, API: env.Discord.API, Gateway: env.Discord.Gateway, End: env.Discord.End}, Typing: true,
		})
		if err != nil {
			return nil, err
		}

		return flow.Build([]*flow.Branch{chat.Branch}, flow.Route(chat.Messages, chat.Drafts,
			func(context.Context, discord.Message) (discord.Draft, error) { return discord.Draft{}, flow.ErrSkip }))
	}

	host := flowtest.New(t, silent, flowtest.WithDiscord()).Start()
	chat := host.Discord()
	chat.Say("random", "alice", "Hello")
	chat.WaitTyping("random")
	chat.AssertQuiet()

	// Messages arrive faster than they are handled.
	for range 100 {
		chat.Say("random", "alice", "more")
	}

	host.WaitQuiet()
	require.Len(t, flowtest.Entries[discord.Message](host, "discord"), 101)

	require.Contains(t, testfailure.Of(t, func(inner testing.TB) {
		chat := flowtest.New(inner, silent, flowtest.WithDiscord()).Start().Discord()
		chat.WaitTyping("random", flowtest.Within(10*time.Millisecond))
	}), "no typing in random (the time limit of 10ms was reached); the bot did nothing")
}

// A Discord program ends with its input, as a console program does.
func TestDiscordProgramEndsWithItsInput(t *testing.T) {
	t.Parallel()

	host := flowtest.New(t, echoInDiscord, flowtest.WithDiscord()).Start()
	chat := host.Discord()

	for i := range 20 {
		chat.Say("general", "alice", fmt.Sprint(i))
	}

	chat.End()
	chat.WaitSent("the last echo", flowtest.Content("You wrote: 19"))
	chat.AssertQuiet()
	require.Len(t, chat.Contents(), 20)

	daemons := host.Flow().Daemons()
	input := daemons[len(daemons)-1]
	require.Equal(t, "discord input", input.Name())
	require.NoError(t, input.WaitFor(wait.Context(t), flow.StatusCompleted))

	chat.End()
	host.Stop()

	for name, tooLate := range map[string]func(*flowtest.Discord){
		"say": func(chat *flowtest.Discord) { chat.Say("general", "alice", "too late") },
		"play": func(chat *flowtest.Discord) {
			chat.Play(flowtest.DiscordStep{Say: &flowtest.DiscordSay{Channel: "general", Author: "alice", Content: "too late"}})
		},
	} {
		require.Contains(t, testfailure.Of(t, func(inner testing.TB) {
			chat := flowtest.New(inner, echoInDiscord, flowtest.WithDiscord()).Start().Discord()
			chat.End()
			tooLate(chat)
		}), "the Discord input has ended", name)
	}
}

func TestDiscordSurvivesADroppedGatewayAndRateLimits(t *testing.T) {
	t.Parallel()

	host := flowtest.New(t, echoInDiscord, flowtest.WithDiscord()).Start()
	chat := host.Discord()

	chat.DropGateway(flowtest.DiscordDrop{})
	chat.Force429(flowtest.DiscordForce429{RetryAfter: 100 * time.Millisecond})
	chat.Say("general", "alice", "still there?")
	chat.WaitSent("the echo", flowtest.Content("You wrote: still there?"))
}

func TestDiscordPlaysAConversation(t *testing.T) {
	t.Parallel()

	host := flowtest.New(t, echoInDiscord, flowtest.WithDiscord()).Start()
	host.Discord().Play(
		flowtest.DiscordStep{Say: &flowtest.DiscordSay{Channel: "general", Author: "alice", Content: "One"}},
		flowtest.DiscordStep{Expect: &flowtest.DiscordExpect{Content: &flowtest.DiscordText{Contains: "One"}, ReplyTo: "alice"}},
		flowtest.DiscordStep{Say: &flowtest.DiscordSay{Channel: "general", Author: "bob", Content: "Two"}},
		flowtest.DiscordStep{Expect: &flowtest.DiscordExpect{Content: &flowtest.DiscordText{Contains: "Two"}}},
	)
}

func TestFailedWaitListsWhatWasSent(t *testing.T) {
	t.Parallel()

	limits := flowtest.WithTimeouts(flowtest.Timeouts{Assertion: 2 * time.Second})

	message := testfailure.Of(t, func(inner testing.TB) {
		chat := flowtest.New(inner, echoInDiscord, flowtest.WithDiscord(), limits).Start().Discord()
		chat.Say("general", "alice", "Hello")
		chat.WaitSent("the echo", flowtest.Content("You wrote: Hello"))
		chat.WaitSent("a farewell", flowtest.Content("Bye"))
	})
	require.Contains(t, message, "waited for a farewell: the time limit of 2s was reached; the bot did:")
	require.Contains(t, message, `1. message in general: "You wrote: Hello"`)

	require.Contains(t, testfailure.Of(t, func(inner testing.TB) {
		flowtest.New(inner, echoInDiscord, flowtest.WithDiscord()).Discord().Say("nowhere", "alice", "Hello")
	}), "nowhere")
}

func TestUnknownDiscordRequestFailsTheTest(t *testing.T) {
	t.Parallel()

	require.Contains(t, testfailure.Of(t, func(inner testing.TB) {
		flowtest.New(inner, func(env *program.Env) (*flow.Flow, error) {
			request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, env.Discord.API+"/stage-instances/1", nil)
			if err != nil {
				return nil, err
			}

			request.Close = true

			response, err := http.DefaultClient.Do(request)
			if err != nil {
				return nil, err
			}

			err = response.Body.Close()
			if err != nil {
				return nil, err
			}

			return emptyBranch(env)
		}, flowtest.WithDiscord())
	}), "the virtual Discord got an unknown request: Discord: GET /discord/api/v10/stage-instances/1")
}
