package discord

import (
	"context"
	"crypto/sha256"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/flow/discord"
	"tarsy.dev/tarsy/internal/notify"
)

// saidNothing is what people read who mention the bot and say nothing.
const saidNothing = "Describe the alert after the mention."

// handle takes one message of a person. Nothing that it contains ends the connection.
func (b *Bot) handle(ctx context.Context, m discord.Message) error {
	if d, ok := parseDecision(m.Content); ok {
		sessionID, err := b.cfg.DB.ThreadSession(ctx, tarsy.ChannelDiscord, m.ChannelID)

		switch {
		case err != nil:
			b.explain(ctx, m, err)

			return nil
		case sessionID != "":
			b.decide(ctx, m, sessionID, d)

			return nil
		}
	}

	sessionID, err := b.cfg.DB.AnnouncedSession(ctx, tarsy.ChannelDiscord, m.ChannelID)

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
		b.submit(ctx, m)
	}

	return nil
}

// refuse logs what somebody tried who is not allowed to. They are not answered: strangers should not make the bot write.
func (b *Bot) refuse(m discord.Message, operation string) {
	b.cfg.Logger.Warn("refused a Discord message", "operation", operation, "guild_id", m.GuildID, "channel_id", m.ChannelID,
		"author_id", m.AuthorID, "message_id", m.MessageID)
}

// submit submits an alert. A message that is delivered twice makes one session: its id is the idempotency key.
func (b *Bot) submit(ctx context.Context, m discord.Message) {
	if m.Content == "" {
		b.say(ctx, m, saidNothing)

		return
	}

	key := sha256.Sum256([]byte("discord\x00" + m.MessageID))

	session, err := b.cfg.Intake.Submit(ctx, tarsy.Alert{
		AlertType: b.cfg.AlertType, Data: m.Content, Author: b.people.Author(m.Author), Facts: tarsy.AlertFacts{Source: tarsy.SourceDiscord},
		// A message keeps its id and arrives as it was sent, so the id also identifies its content.
		Idempotency: &tarsy.IdempotencyKey{Hash: key[:], Fingerprint: key[:]},
	})
	if err != nil {
		b.explain(ctx, m, err)

		return
	}

	if _, err := b.cfg.DB.AddAnnouncement(ctx, b.people.Reply(session.ID, tarsy.SubjectReceipt, written(m))); err != nil {
		b.cfg.Logger.Error("an alert from Discord was accepted, but the reply could not be stored", "session_id", session.ID, "error", err)
	}
}

// explain answers why something was refused.
func (b *Bot) explain(ctx context.Context, m discord.Message, err error) {
	b.say(ctx, m, b.people.Reason(err))
}

// say posts a short reply that is not worth a row: without it, the person asks again.
func (b *Bot) say(ctx context.Context, m discord.Message, text string) {
	if text == "" {
		return
	}

	post := discord.Post{Text: inert(text), ReplyTo: m.MessageID, Nonce: "r" + m.MessageID}
	if _, err := b.cfg.Client.Send(ctx, m.ChannelID, post); err != nil {
		b.cfg.Logger.Warn("could not reply in Discord", "channel_id", m.ChannelID, "error", err)
	}
}

// written is a message as intake and the audit log know it.
func written(m discord.Message) notify.Message {
	return notify.Message{
		Key: m.MessageID, Target: m.ChannelID, UserID: m.AuthorID, UserName: m.Author, Text: m.Content,
		Details: map[string]string{"author_id": m.AuthorID, "message_id": m.MessageID, "channel_id": m.ChannelID},
	}
}
