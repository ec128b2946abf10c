// Declarative-discord-agent is an agent in Discord whose flow is a table: each row routes one type of entry.
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
		"I am a scripted assistant. Everything that we say is in two journals.",
		"I have nothing more to say.",
	)})
}

// rules is the table, read from top to bottom.
func rules(chat *discord.Discord, bot *agent.Agent) []flow.Rule {
	return []flow.Rule{
		flow.Route(chat.Messages, bot.Prompts, ask),
		flow.Route(bot.Responses, chat.Drafts, answer),
		flow.Route(bot.Failures, chat.Drafts, apologize),
		flow.Terminal(bot.Thoughts),
	}
}

func ask(_ context.Context, m discord.Message) (agent.Prompt, error) {
	return agent.Prompt{Conversation: m.ChannelID, Text: m.Author + ": " + m.Content}, nil
}

func answer(_ context.Context, r agent.Response) (discord.Draft, error) {
	return discord.Draft{ChannelID: r.Conversation, Text: r.Text}, nil
}

func apologize(_ context.Context, f agent.Failure) (discord.Draft, error) {
	return discord.Draft{ChannelID: f.Conversation, Text: "I cannot answer now. Please try again later."}, nil
}

// configure creates the branches, keeps each in a file and connects them with the rules.
func configure(env *program.Env) (*flow.Flow, error) {
	chat, err := discord.New(discord.Config{
		Connection: discord.ClientConfig{Token: env.Discord.Token, API: env.Discord.API, Gateway: env.Discord.Gateway, End: env.Discord.End},
		Channels:   []string{env.Discord.Channel}, Shatter: env.Shatter(flow.ShatterParagraph), Typing: true,
		Clock: env.Clock, Logger: env.Logger,
	})
	if err != nil {
		return nil, err
	}

	bot := agent.New(agent.Config{
		Client: env.LLM, Model: env.Model, Clock: env.Clock,
		Instructions: "You are a helpful assistant in a Discord channel. Answer concisely.",
	})

	for _, branch := range []*flow.Branch{chat.Branch, bot.Branch} {
		kept, err := env.Journal("declarative-" + branch.Name())
		if err != nil {
			return nil, err
		}

		branch.KeepIn(kept)
	}

	return flow.Build([]*flow.Branch{chat.Branch, bot.Branch}, rules(chat, bot)...)
}
