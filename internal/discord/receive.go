package discord

import (
	"context"
	"crypto/sha256"
	"errors"
	"strings"
	"unicode"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/flow/discord"
)

// What people read who are refused without an error of intake.
const (
	saidNothing = "Describe the alert after the mention."
	saidFailed  = "This could not be processed. Try again later."
)

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
	case sessionID != "" && isFeedback(m.Content):
		b.rate(ctx, m, sessionID)
	case sessionID != "":
		b.ask(ctx, m, sessionID)
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

// ask asks a question. The announcement of its answer is stored first, with the id of the stage that will answer: a
// crash in between leaves an answer that reports that the question was lost, and never an answer that nobody delivers.
func (b *Bot) ask(ctx context.Context, m discord.Message, sessionID string) {
	stageID := tarsy.NewID()

	answer := b.reply(m, sessionID, tarsy.SubjectAnswer)
	answer.StageID = &stageID

	added, err := b.cfg.DB.AddAnnouncement(ctx, answer)
	if err != nil {
		b.explain(ctx, m, err)

		return
	}

	if !added {
		return // a message that was delivered twice
	}

	if _, err := b.cfg.Intake.AskForStage(ctx, sessionID, b.author(m), m.Content, stageID); err != nil {
		b.explain(ctx, m, err)

		if err := b.cfg.DB.RemoveAnnouncement(context.WithoutCancel(ctx), answer.ID); err != nil {
			b.cfg.Logger.Warn("could not remove the announcement of a refused question", "error", err)
		}

		return
	}

	b.record(ctx, m, "session.ask", sessionID)
}

// record appends to the audit log what a person did. The names of actions are those of the API. Alerts are not recorded, as there.
func (b *Bot) record(ctx context.Context, m discord.Message, action, sessionID string) {
	row := b.actor(m)
	row.At, row.Action, row.TargetType, row.TargetID, row.Outcome = b.cfg.Clock.Now(), action, "session", sessionID, tarsy.AuditOK

	if err := b.cfg.DB.AppendAudit(context.WithoutCancel(ctx), row); err != nil {
		b.cfg.Logger.Error("could not append to the audit log", "error", err, "action", action, "target_id", sessionID, "author_id", m.AuthorID)
	}
}

// actor is who did something, for the audit log.
func (b *Bot) actor(m discord.Message) tarsy.AuditEntry {
	return tarsy.AuditEntry{
		Actor: b.author(m), ActorKind: tarsy.ActorDiscord,
		Details: map[string]string{"author_id": m.AuthorID, "message_id": m.MessageID, "channel_id": m.ChannelID},
	}
}

// submit submits an alert. A message that is delivered twice makes one session: its id is the idempotency key.
func (b *Bot) submit(ctx context.Context, m discord.Message) {
	if m.Content == "" {
		b.say(ctx, m, saidNothing)

		return
	}

	key := sha256.Sum256([]byte("discord\x00" + m.MessageID))

	session, err := b.cfg.Intake.Submit(ctx, tarsy.Alert{
		AlertType: b.cfg.AlertType, Data: m.Content, Author: b.author(m), Facts: tarsy.AlertFacts{Source: tarsy.SourceDiscord},
		// A message keeps its id and arrives as it was sent, so the id also identifies its content.
		Idempotency: &tarsy.IdempotencyKey{Hash: key[:], Fingerprint: key[:]},
	})
	if err != nil {
		b.explain(ctx, m, err)

		return
	}

	if _, err := b.cfg.DB.AddAnnouncement(ctx, b.reply(m, session.ID, tarsy.SubjectReceipt)); err != nil {
		b.cfg.Logger.Error("an alert from Discord was accepted, but the reply could not be stored", "session_id", session.ID, "error", err)
	}
}

// reply is an announcement that replies to a message.
func (b *Bot) reply(m discord.Message, sessionID string, subject tarsy.AnnouncementSubject) tarsy.Announcement {
	now := tarsy.Time(b.cfg.Clock.Now())

	return tarsy.Announcement{
		ID: tarsy.NewID(), SessionID: sessionID, Channel: tarsy.ChannelDiscord, Subject: subject, Target: m.ChannelID,
		ReplyTo: m.MessageID, State: tarsy.AnnouncementPending, DueAt: now, CreatedAt: now,
	}
}

// explain answers why intake refused something. Internal errors are logged and not shown.
func (b *Bot) explain(ctx context.Context, m discord.Message, err error) {
	reason := saidFailed

	if known, ok := errors.AsType[*tarsy.Error](err); ok && known.Code != tarsy.CodeInternal {
		reason = sentence(known.Message)
	} else {
		b.cfg.Logger.Error("a Discord message could not be processed", "message_id", m.MessageID, "error", err)
	}

	b.say(ctx, m, reason)
}

// say posts a short reply that is not worth a row: without it, the person asks again.
func (b *Bot) say(ctx context.Context, m discord.Message, text string) {
	post := discord.Post{Text: inert(text), ReplyTo: m.MessageID, Nonce: "r" + m.MessageID}
	if _, err := b.cfg.Client.Send(ctx, m.ChannelID, post); err != nil {
		b.cfg.Logger.Warn("could not reply in Discord", "channel_id", m.ChannelID, "error", err)
	}
}

// author is the name under which a person's questions and alerts are stored.
func (b *Bot) author(m discord.Message) string {
	const most = 100

	name := strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || tarsy.Invisible(r) {
			return -1
		}

		return r
	}, tarsy.CleanText(m.Author))

	return "discord:" + tarsy.CutText(b.cfg.Mask(strings.TrimSpace(name)), most)
}

// person is who wrote a message. Names in Discord change and are not unique.
func (b *Bot) person(m discord.Message) tarsy.Person {
	return tarsy.Person{Name: b.author(m), ID: "discord:" + m.AuthorID}
}

// sentence is an error's message as people read it.
func sentence(message string) string {
	first, rest := message[:min(1, len(message))], message[min(1, len(message)):]

	return strings.ToUpper(first) + rest + "."
}
