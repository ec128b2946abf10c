// Discord-agent-file-journal is a conversation with a model in Discord. The conversation is kept in a file, so the bot remembers
// it after a restart.
package main

import (
	"context"

	"tarsy.dev/tarsy/examples/internal/example"
	"tarsy.dev/tarsy/examples/internal/model"
	"tarsy.dev/tarsy/flow"
	"tarsy.dev/tarsy/flow/agent"
	"tarsy.dev/tarsy/flow/discord"
	"tarsy.dev/tarsy/flow/program"
)

func main() {
	example.Main(configure, example.Options{Discord: true, Model: model.OrScript(
		"I am a scripted assistant.\n\nSet OPENAI_API_KEY to talk to a real model, and DISCORD_TOKEN to do so in Discord.",
		"I have nothing more to say.",
	)})
}

// configure declares the flow. A channel is a conversation; a response appears paragraph by paragraph.
func configure(env *program.Env) (*flow.Flow, error) {
	chat, err := discord.New(discord.Config{
		Connection: discord.ClientConfig{Token: env.Discord.Token, API: env.Discord.API, Gateway: env.Discord.Gateway, End: env.Discord.End},
		Channels:   []string{env.Discord.Channel}, Typing: true,
		Clock: env.Clock, Logger: env.Logger,
	})
	if err != nil {
		return nil, err
	}

	bot := agent.New(agent.Config{
		Client: env.LLM, Model: env.Model, Clock: env.Clock,
		Instructions: "You are a helpful assistant in a Discord channel. Answer concisely.",
		Window:       env.Window(flow.WindowParagraph),
	})

	memory, err := env.Journal("discord-agent")
	if err != nil {
		return nil, err
	}

	bot.KeepIn(memory)

	return flow.Build([]*flow.Branch{chat.Branch, bot.Branch},
		flow.Route(chat.Messages, bot.Prompts, func(_ context.Context, m discord.Message) (agent.Prompt, error) {
			return agent.Prompt{Conversation: m.ChannelID, Text: m.Author + ": " + m.Content}, nil
		}),
		flow.Route(bot.Responses, chat.Drafts, func(_ context.Context, r agent.Response) (discord.Draft, error) {
			return discord.Draft{ChannelID: r.Conversation, StreamID: r.ResponseID, Text: r.Text, Last: r.Last}, nil
		}),
		flow.Route(bot.Failures, chat.Drafts, func(_ context.Context, f agent.Failure) (discord.Draft, error) {
			return discord.Draft{ChannelID: f.Conversation, Text: "I cannot answer now. Please try again later."}, nil
		}),
		flow.Terminal(bot.Thoughts),
	)
}
