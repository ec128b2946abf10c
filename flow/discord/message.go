package discord

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"tarsy.dev/tarsy/internal/plaintext"
)

// Message is a message written by a person.
type Message struct {
	// GuildID is empty for a direct message.
	GuildID string `json:"guild_id,omitempty"`
	// ChannelID is the channel or thread of the message, ParentID the parent channel of that thread.
	ChannelID string `json:"channel_id"`
	ParentID  string `json:"parent_id,omitempty"`
	MessageID string `json:"message_id"`
	AuthorID  string `json:"author_id"`
	// Author is the author's display name in the guild.
	Author string `json:"author"`
	// Content is the text, without a mention of the bot at its start.
	Content string `json:"content"`
	// RoleIDs are the roles of the author in the guild.
	RoleIDs   []string  `json:"role_ids,omitempty"`
	Timestamp time.Time `json:"timestamp"`
	// IsBot is false in all messages that a client delivers: messages from bots are dropped.
	IsBot bool `json:"is_bot,omitempty"`
	// Mentioned reports whether the message mentions the bot, or replies to it with a notification.
	Mentioned bool `json:"mentioned,omitempty"`
}

// messageObject is a message as the gateway sends it.
type messageObject struct {
	ID        string       `json:"id"`
	Type      int          `json:"type"`
	ChannelID string       `json:"channel_id"`
	GuildID   string       `json:"guild_id"`
	WebhookID string       `json:"webhook_id"`
	Author    userObject   `json:"author"`
	Mentions  []userObject `json:"mentions"`
	Content   string       `json:"content"`
	Timestamp time.Time    `json:"timestamp"`
	Member    struct {
		Nick  string   `json:"nick"`
		Roles []string `json:"roles"`
	} `json:"member"`
}

type userObject struct {
	ID         string `json:"id"`
	Username   string `json:"username"`
	GlobalName string `json:"global_name"`
	Bot        bool   `json:"bot"`
}

// The types of messages that people write. Others are notices, such as the creation of a thread.
const (
	typeOrdinary = 0
	typeReply    = 19
)

// fromPerson reports whether a person wrote the message. It is the only place that filters out messages from bots.
func (o messageObject) fromPerson(botID string) bool {
	return !o.Author.Bot && o.Author.ID != botID && o.WebhookID == "" && (o.Type == typeOrdinary || o.Type == typeReply)
}

// message converts the object for the bot with this id. It does not set ParentID.
func (o messageObject) message(botID string) Message {
	m := Message{
		GuildID: o.GuildID, ChannelID: o.ChannelID, MessageID: o.ID, AuthorID: o.Author.ID,
		Author: plaintext.Clean(cmp.Or(o.Member.Nick, o.Author.GlobalName, o.Author.Username)), RoleIDs: o.Member.Roles,
		Timestamp: o.Timestamp.UTC(), IsBot: o.Author.Bot,
		Mentioned: slices.ContainsFunc(o.Mentions, func(u userObject) bool { return u.ID == botID }),
	}

	m.Content = strings.TrimSpace(plaintext.Clean(o.Content))

	for _, mention := range []string{"<@" + botID + ">", "<@!" + botID + ">"} {
		if rest, found := strings.CutPrefix(m.Content, mention); found {
			m.Content, m.Mentioned = strings.TrimSpace(rest), true
		}
	}

	return m
}
