// Chat-agent is a conversation with a model on any channel: one line of main chooses between the console and Discord.
package main

import (
	"context"

	"tarsy.dev/tarsy/examples/internal/example"
	"tarsy.dev/tarsy/examples/internal/model"
	"tarsy.dev/tarsy/flow"
	"tarsy.dev/tarsy/flow/agent"
	"tarsy.dev/tarsy/flow/chat"
	"tarsy.dev/tarsy/flow/console"
	"tarsy.dev/tarsy/flow/discord"
	"tarsy.dev/tarsy/flow/program"
)

// For Discord, the line is: example.Main(configure(onDiscord), example.Options{Discord: true, Model: answers()}).
func main() {
	example.Main(configure(onConsole), example.Options{Model: answers()})
}

func answers() func(*program.Env) error {
	return model.OrScript(
		"I am a scripted assistant. I say the same on the console and in Discord.",
		"I have nothing more to say.",
	)
}

func onConsole(env *program.Env) (chat.Channel, error) {
	return console.New(console.Config{In: env.In, Out: env.Out, Err: env.Err}).Chat(), nil
}

func onDiscord(env *program.Env) (chat.Channel, error) {
	branch, err := discord.New(discord.Config{
		Connection: discord.ClientConfig{Token: env.Discord.Token, API: env.Discord.API, Gateway: env.Discord.Gateway, End: env.Discord.End},
		Channels:   []string{env.Discord.Channel}, Typing: true,
		Clock: env.Clock, Logger: env.Logger,
	})
	if err != nil {
		return chat.Channel{}, err
	}

	return branch.Chat(), nil
}

// configure declares the flow on any channel.
func configure(open func(*program.Env) (chat.Channel, error)) program.Configure {
	return func(env *program.Env) (*flow.Flow, error) {
		channel, err := open(env)
		if err != nil {
			return nil, err
		}

		bot := agent.New(agent.Config{
			Client: env.LLM, Model: env.Model, Clock: env.Clock,
			Instructions: "You are a helpful assistant. Answer concisely.",
			Window:       env.Window(flow.WindowParagraph),
		})

		return flow.Build([]*flow.Branch{channel.Branch, bot.Branch},
			flow.Route(channel.Messages, bot.Prompts, func(_ context.Context, m chat.Message) (agent.Prompt, error) {
				return agent.Prompt{Conversation: m.Conversation, Text: m.Text}, nil
			}),
			flow.Route(bot.Responses, channel.Drafts, func(_ context.Context, r agent.Response) (chat.Draft, error) {
				return chat.Draft{Conversation: r.Conversation, Sender: "assistant", Text: r.Text, StreamID: r.ResponseID, Last: r.Last}, nil
			}),
			flow.Route(bot.Failures, channel.Drafts, func(_ context.Context, f agent.Failure) (chat.Draft, error) {
				return chat.Draft{Conversation: f.Conversation, Sender: "error", Text: "I cannot answer now.", Error: true}, nil
			}),
			flow.Terminal(bot.Thoughts),
		)
	}
}
