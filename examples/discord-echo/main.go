// Discord-echo replies to each message with its own text: the smallest flow in Discord.
package main

import (
	"context"

	"tarsy.dev/tarsy/examples/internal/example"
	"tarsy.dev/tarsy/flow"
	"tarsy.dev/tarsy/flow/discord"
	"tarsy.dev/tarsy/flow/program"
)

func main() { example.Main(configure, example.Options{Discord: true}) }

// configure declares the flow: each message is sent back.
func configure(env *program.Env) (*flow.Flow, error) {
	chat, err := discord.New(discord.Config{
		Connection: discord.ClientConfig{Token: env.Discord.Token, API: env.Discord.API, Gateway: env.Discord.Gateway, End: env.Discord.End},
		Channels:   []string{env.Discord.Channel},
		Clock:      env.Clock, Logger: env.Logger,
	})
	if err != nil {
		return nil, err
	}

	return flow.Build([]*flow.Branch{chat.Branch},
		flow.Route(chat.Messages, chat.Drafts, func(_ context.Context, m discord.Message) (discord.Draft, error) {
			return discord.Draft{ChannelID: m.ChannelID, ReplyTo: m.MessageID, Text: m.Content}, nil
		}),
	)
}
