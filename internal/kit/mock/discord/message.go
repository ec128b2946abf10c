package discord

import (
	"encoding/json"
	"slices"
	"time"
)

// Message is the current state of a message.
type Message struct {
	ID        string `json:"id"`
	Channel   string `json:"channel"` // its name, or @NAME for direct messages
	ChannelID string `json:"channel_id"`
	GuildID   string `json:"guild_id,omitempty"`
	Author    string `json:"author"`
	AuthorID  string `json:"author_id"`
	Content   string `json:"content"`
	// ReplyTo is the id of the message that this one replies to.
	ReplyTo string `json:"reply_to,omitempty"`
	// AllowedMentions is the sender's choice about mentions, nil if there is none.
	AllowedMentions *AllowedMentions `json:"allowed_mentions,omitempty"`
	// Notified, NotifiedRoles and NotifiedEveryone are who is notified by the message: the allowed mentions.
	Notified         []string        `json:"notified,omitempty"`
	NotifiedRoles    []string        `json:"notified_roles,omitempty"`
	NotifiedEveryone bool            `json:"notified_everyone,omitempty"`
	Embeds           json.RawMessage `json:"embeds,omitempty"`
	Components       json.RawMessage `json:"components,omitempty"`
	Attachments      []Attachment    `json:"attachments,omitempty"`
	Flags            int             `json:"flags,omitempty"`
	Nonce            json.RawMessage `json:"nonce,omitempty"`
	// Thread is the id of the thread that was started from this message.
	Thread    string     `json:"thread,omitempty"`
	Reactions []Reaction `json:"reactions,omitempty"`
	// Pinned is when it was pinned; zero if it is not.
	Pinned time.Time `json:"pinned,omitzero"`
	// Type is 0 for an ordinary message, 19 for a reply, 18 and 21 for Discord's messages about threads.
	Type    int       `json:"type"`
	Created time.Time `json:"created"`
	Edited  time.Time `json:"edited,omitzero"`
	// Earlier has the content before each edit, oldest first.
	Earlier []Version `json:"earlier,omitempty"`
	Deleted bool      `json:"deleted,omitempty"`
	// WebhookID is the ID of the webhook that wrote it; for a response to an interaction, that of the application.
	WebhookID string `json:"webhook_id,omitempty"`
	// Ephemeral is the ID of the only user who sees it.
	Ephemeral string `json:"ephemeral,omitempty"`

	asked *interaction // what it responds to
}

// Version is an earlier content of a message.
type Version struct {
	Content string    `json:"content"`
	Since   time.Time `json:"since"`
}

// Reaction is an emoji on a message, and the users who added it.
type Reaction struct {
	Emoji string   `json:"emoji"`
	Users []string `json:"users"`
}

// The supported types of messages.
const (
	typeOrdinary      = 0
	typeThreadCreated = 18
	typeReply         = 19
	typeThreadStarter = 21
)

// clone returns a copy that no longer changes.
func (m *Message) clone() Message {
	copied := *m
	copied.Notified = slices.Clone(m.Notified)
	copied.NotifiedRoles = slices.Clone(m.NotifiedRoles)
	copied.Attachments = slices.Clone(m.Attachments)
	copied.Earlier = slices.Clone(m.Earlier)
	copied.Reactions = make([]Reaction, len(m.Reactions))

	for i, r := range m.Reactions {
		copied.Reactions[i] = Reaction{Emoji: r.Emoji, Users: slices.Clone(r.Users)}
	}

	return copied
}

// isShown reports whether everyone in the channel sees the message.
func (m *Message) isShown() bool { return !m.Deleted && m.Ephemeral == "" }

// change replaces the content and remembers the previous one.
func (m *Message) change(content string, now time.Time) {
	since := m.Created
	if !m.Edited.IsZero() {
		since = m.Edited
	}

	m.Earlier = append(m.Earlier, Version{Content: m.Content, Since: since})
	m.Content, m.Edited = content, now
}

// react adds a reaction; it reports whether that changed anything.
func (m *Message) react(emoji, userID string) bool {
	i := slices.IndexFunc(m.Reactions, func(r Reaction) bool { return r.Emoji == emoji })
	if i < 0 {
		m.Reactions = append(m.Reactions, Reaction{Emoji: emoji, Users: []string{userID}})

		return true
	}

	if slices.Contains(m.Reactions[i].Users, userID) {
		return false
	}

	m.Reactions[i].Users = append(m.Reactions[i].Users, userID)

	return true
}

// unreact removes a reaction; it reports whether that changed anything.
func (m *Message) unreact(emoji, userID string) bool {
	i := slices.IndexFunc(m.Reactions, func(r Reaction) bool { return r.Emoji == emoji })
	if i < 0 || !slices.Contains(m.Reactions[i].Users, userID) {
		return false
	}

	m.Reactions[i].Users = slices.DeleteFunc(m.Reactions[i].Users, func(id string) bool { return id == userID })
	if len(m.Reactions[i].Users) == 0 {
		m.Reactions = slices.Delete(m.Reactions, i, i+1)
	}

	return true
}
