package discord

import (
	"context"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/flow/discord"
	"tarsy.dev/tarsy/internal/notify"
)

// handle processes one message of a person. No message content can end the connection.
func (b *Bot) handle(ctx context.Context, m discord.Message) error {
	if d, ok := parseDecision(m.Content); ok {
		sessionID, err := b.cfg.Outbox.ThreadSession(ctx, tarsy.ChannelDiscord, m.ChannelID)

		switch {
		case err != nil:
			b.explain(ctx, m, err)

			return nil
		case sessionID != "":
			b.decide(ctx, m, sessionID, d)

			return nil
		}
	}

	sessionID, err := b.cfg.Outbox.AnnouncedSession(ctx, tarsy.ChannelDiscord, m.ChannelID)

	switch {
	case err != nil:
		b.cfg.Logger.Error("a Discord message could not be processed", "message_id", m.MessageID, "error", err)
	case sessionID != "" && !b.cfg.Ask.allows(m):
		b.refuse(m, "ask")
	case sessionID != "":
		b.say(ctx, m, b.people.Discuss(ctx, sessionID, written(m)))
	case m.Mentioned && !b.cfg.Submit.allows(m):
		b.refuse(m, "submit")
	case m.Mentioned:
		b.say(ctx, m, b.people.Submit(ctx, written(m), b.cfg.AlertType))
	}

	return nil
}

// refuse logs a refused attempt without replying: strangers must not be able to make the bot post.
func (b *Bot) refuse(m discord.Message, operation string) {
	b.cfg.Logger.Warn("refused a Discord message", "operation", operation, "guild_id", m.GuildID, "channel_id", m.ChannelID,
		"author_id", m.AuthorID, "message_id", m.MessageID)
}

// explain replies with the reason for a refusal.
func (b *Bot) explain(ctx context.Context, m discord.Message, err error) {
	b.say(ctx, m, b.people.Reason(err))
}

// say posts a short reply that is not stored as a row: if it is lost, the person asks again.
func (b *Bot) say(ctx context.Context, m discord.Message, text string) {
	if text == "" {
		return
	}

	post := discord.Post{Text: inert(text), ReplyTo: m.MessageID, Nonce: "r" + m.MessageID}
	if _, err := b.cfg.Client.Send(ctx, m.ChannelID, post); err != nil {
		b.cfg.Logger.Warn("could not reply in Discord", "channel_id", m.ChannelID, "error", err)
	}
}

// written converts a message for intake and the audit log.
func written(m discord.Message) notify.Message {
	return notify.Message{
		Key: m.MessageID, Target: m.ChannelID, UserID: m.AuthorID, UserName: m.Author, Text: m.Content,
		Details: map[string]string{"author_id": m.AuthorID, "message_id": m.MessageID, "channel_id": m.ChannelID},
	}
}
