package slack

import (
	"context"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/slack-go/slack/slackevents"

	"tarsy.dev/tarsy/internal/notify"
)

// question is a message of a person: a question or feedback in a thread, or an alert.
type question struct {
	channel, thread, ts string
	user                string
	text                string
	// mention means that the message mentions the bot.
	mention bool
}

// key identifies the message: a timestamp is unique only within its channel.
func (q question) key() string { return q.channel + "/" + q.ts }

func (q question) place() place { return place{channel: q.channel, thread: q.thread} }

// handleEvent handles one event. No event content can end the connection. It returns false if the event must be delivered
// again.
func (b *Bot) handleEvent(ctx context.Context, self string, event any) bool {
	var q question

	switch e := event.(type) {
	case *slackevents.AppMentionEvent:
		if e.BotID != "" || e.Edited != nil {
			return true
		}

		q = question{channel: e.Channel, thread: e.ThreadTimeStamp, ts: e.TimeStamp, user: e.User, text: e.Text, mention: true}
	case *slackevents.MessageEvent:
		// Edits, deletions and messages of bots, including our own, have a subtype or a bot ID.
		if e.BotID != "" || e.SubType != "" && e.SubType != "thread_broadcast" && e.SubType != "file_share" {
			return true
		}

		q = question{channel: e.Channel, thread: e.ThreadTimeStamp, ts: e.TimeStamp, user: e.User, text: e.Text}
	default:
		return true
	}

	if q.user == "" || q.user == self {
		return true
	}

	q.text = plain(q.text, self)

	if q.thread != "" && q.thread != q.ts {
		return b.answer(ctx, q)
	}

	q.thread = q.ts
	b.alert(ctx, q)

	return true
}

// answer asks a question if it is in a thread of ours and its author is allowed to. It returns false if that cannot be
// determined yet.
func (b *Bot) answer(ctx context.Context, q question) bool {
	sessionID, beginning, err := b.threadSession(ctx, q)

	switch {
	case err != nil:
		b.explain(ctx, q.place(), q.user, err)
	case beginning:
		return false
	case sessionID == "":
		b.alert(ctx, q)
	case !b.cfg.Ask.allows(q.channel, q.user):
		b.logRefusedMessage(q, "ask")
	case q.text == "" || b.replied[q.key()]:
	default:
		b.discuss(ctx, q, sessionID)
	}

	return true
}

// threadSession returns the session of a thread. A person who replies immediately can be faster than the record of the message:
// it waits for the record briefly, and then leaves the reply to be delivered again.
func (b *Bot) threadSession(ctx context.Context, q question) (sessionID string, beginning bool, err error) {
	const most, pause = 2 * time.Second, 100 * time.Millisecond

	var began time.Time

	if seconds, err := strconv.ParseFloat(q.thread, 64); err == nil {
		began = time.UnixMilli(int64(seconds * 1000)).Add(skew)
	}

	for waited := time.Duration(0); ; waited += pause {
		sessionID, beginning, err = b.cfg.Outbox.SlackThreadSession(ctx, q.channel, q.thread, began)
		if err != nil || !beginning || waited >= most {
			return sessionID, beginning, err
		}

		select {
		case <-ctx.Done():
			return "", true, nil
		case <-time.After(pause): //nolint:forbidigo // real time: the database is written to meanwhile
		}
	}
}

// logRefusedMessage logs a refused attempt without replying: strangers must not be able to make the bot post.
func (b *Bot) logRefusedMessage(q question, operation string) {
	b.cfg.Logger.Warn("refused a Slack message", "operation", operation, "channel_id", q.channel, "user_id", q.user, "ts", q.ts)
}

// alert submits a mention of the bot outside its threads as an alert.
func (b *Bot) alert(ctx context.Context, q question) {
	switch {
	case !q.mention || b.replied[q.key()]:
	case !b.cfg.Submit.allows(q.channel, q.user):
		b.logRefusedMessage(q, "submit")
	default:
		b.reply(ctx, q, b.people.Submit(ctx, b.written(ctx, q), b.cfg.AlertType))
	}
}

// discuss processes a question or feedback.
func (b *Bot) discuss(ctx context.Context, q question, sessionID string) {
	b.reply(ctx, q, b.people.Discuss(ctx, sessionID, b.written(ctx, q)))
}

// written converts a message for intake and the audit log.
func (b *Bot) written(ctx context.Context, q question) notify.Message {
	return notify.Message{
		Key: q.key(), Target: q.channel + "/" + q.thread, UserID: q.user, UserName: b.cfg.Client.userName(ctx, q.user), Text: q.text,
		Details: map[string]string{"user_id": q.user, "channel_id": q.channel, "ts": q.ts},
	}
}

// reply shows a text to the author of a message, unless it is empty.
func (b *Bot) reply(ctx context.Context, q question, text string) {
	if text == "" {
		return
	}

	const most = 1000

	if len(b.replied) >= most {
		clear(b.replied)
	}

	b.replied[q.key()] = true
	b.tell(ctx, q.place(), q.user, text)
}

// explain shows a person why a request was refused.
func (b *Bot) explain(ctx context.Context, in place, userID string, err error) {
	b.tell(ctx, in, userID, b.people.Reason(err))
}

// tell shows a person a short text that is visible to no one else. It is not stored as a row: if it is lost, the person tries
// again.
func (b *Bot) tell(ctx context.Context, in place, userID, text string) {
	if err := b.cfg.Client.ephemeral(ctx, in, userID, literal(text)); err != nil {
		b.cfg.Logger.Warn("could not reply in Slack", "channel_id", in.channel, "error", err)
	}
}

// reference matches a link or a mention in a Slack text, such as <https://example.org|text> or <@U1>.
var reference = regexp.MustCompile(`<([@#!]?)([^<>|]*)(?:\|([^<>]*))?>`)

// plain returns the text of a message as its author wrote it, without mentions of the bot.
func plain(text, self string) string {
	text = reference.ReplaceAllStringFunc(text, func(found string) string {
		parts := reference.FindStringSubmatch(found)
		kind, target, label := parts[1], parts[2], parts[3]

		switch {
		case kind == "@" && target == self:
			return ""
		case kind == "!":
			return "@" + target
		case kind != "" && label != "":
			return kind + label
		case kind != "" || label == "" || strings.HasSuffix(target, label):
			return kind + target
		default:
			return label + " (" + target + ")"
		}
	})

	return strings.TrimSpace(strings.NewReplacer("&lt;", "<", "&gt;", ">", "&amp;", "&").Replace(text))
}
