package discord

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"tarsy.dev/tarsy/internal/nearest"
)

// world is who and what exists. It has no lock: the Server allows one change or request at a time to access it.
type world struct {
	ids          *ids
	bot          *user
	users        []*user
	guilds       []*guild
	channels     []*channel
	webhooks     []*webhook
	commands     []*command
	interactions []*interaction
	// deletedThreads are the deleted threads, with the messages that the bot sent there.
	deletedThreads []*channel
	// host is the host name of the last request, for the URLs of files.
	host string
	// begin is the creation time of guilds, roles and memberships.
	begin time.Time
}

type user struct {
	id, name, display string
	bot               bool
}

type guild struct {
	id, name string
	roles    []*role
	members  []*member
}

type role struct{ id, name string }

type member struct {
	user  *user
	nick  string
	roles []*role
}

// The supported types of channels.
const (
	typeText               = 0
	typeDM                 = 1
	typeVoice              = 2
	typeAnnouncement       = 5
	typeAnnouncementThread = 10
	typePublicThread       = 11
	typePrivateThread      = 12
)

type channel struct {
	id, name, topic string
	kind            int
	guild           *guild // nil for a direct message
	deny            []string
	recipient       *user // of a direct message
	thread          *thread
	messages        []*Message
}

// thread has the additional fields of a channel that is a thread.
type thread struct {
	parent   *channel
	owner    *user
	starter  string // the ID of the message that it was started from
	archived bool
	locked   bool
	duration int // minutes of inactivity until it is hidden
	created  time.Time
	changed  time.Time
	members  []*user
}

func (c *channel) isThread() bool { return c.thread != nil }

// allowed reports whether the bot may do something here. Threads inherit the permissions of their channel.
func (c *channel) allowed(what string) bool {
	if c.isThread() {
		return c.thread.parent.allowed(what)
	}

	return !slices.Contains(c.deny, what)
}

func (c *channel) guildID() string {
	if c.guild == nil {
		return ""
	}

	return c.guild.id
}

// label returns the name by which people refer to the channel.
func (c *channel) label() string {
	if c.recipient != nil {
		return "@" + c.recipient.name
	}

	return c.name
}

func (c *channel) message(id string) *Message {
	if i := slices.IndexFunc(c.messages, func(m *Message) bool { return m.ID == id && m.isShown() }); i >= 0 {
		return c.messages[i]
	}

	return nil
}

// last returns the last visible message, or nil.
func (c *channel) last() *Message {
	for _, m := range slices.Backward(c.messages) {
		if m.isShown() {
			return m
		}
	}

	return nil
}

// sentWith returns the bot's message with a nonce since a time, or nil. Only the bot's messages have nonces.
func (c *channel) sentWith(nonce json.RawMessage, since time.Time) *Message {
	for _, m := range slices.Backward(c.messages) {
		if bytes.Equal(m.Nonce, nonce) && !m.Created.Before(since) {
			return m
		}
	}

	return nil
}

func (g *guild) member(id string) *member {
	if i := slices.IndexFunc(g.members, func(m *member) bool { return m.user.id == id }); i >= 0 {
		return g.members[i]
	}

	return nil
}

func (g *guild) role(ref string) *role {
	if i := slices.IndexFunc(g.roles, func(r *role) bool { return r.id == ref || r.name == ref }); i >= 0 {
		return g.roles[i]
	}

	return nil
}

// userByID finds a user, or returns nil.
func (w *world) userByID(id string) *user {
	if i := slices.IndexFunc(w.users, func(u *user) bool { return u.id == id }); i >= 0 {
		return w.users[i]
	}

	return nil
}

// findUser finds a user by name or id.
func (w *world) findUser(ref string) (*user, error) {
	ref = strings.TrimPrefix(ref, "@")
	names := make([]string, len(w.users))

	for i, u := range w.users {
		if u.id == ref || u.name == ref {
			return u, nil
		}

		names[i] = u.name
	}

	return nil, fmt.Errorf("there is no user %q; %s", ref, nearest.HintWithList(ref, names, "users"))
}

func (w *world) channelByID(id string) *channel {
	if i := slices.IndexFunc(w.channels, func(c *channel) bool { return c.id == id }); i >= 0 {
		return w.channels[i]
	}

	return nil
}

// findSent returns a message, even if it or its thread was deleted. A thread has the ID of its message, so a later thread
// may have the same ID.
func (w *world) findSent(channelID, id string) *Message {
	for _, c := range append(slices.Clone(w.channels), w.deletedThreads...) {
		if i := slices.IndexFunc(c.messages, func(m *Message) bool { return c.id == channelID && m.ID == id }); i >= 0 {
			return c.messages[i]
		}
	}

	return nil
}

func (w *world) guildByID(id string) *guild {
	if i := slices.IndexFunc(w.guilds, func(g *guild) bool { return g.id == id }); i >= 0 {
		return w.guilds[i]
	}

	return nil
}

// findChannel finds a channel or thread by name or ID, or the direct messages of a user by @NAME. If several threads have
// the same name, it returns the newest.
func (w *world) findChannel(ref string) (*channel, error) {
	if strings.HasPrefix(ref, "@") {
		u, err := w.findUser(ref)
		if err != nil {
			return nil, err
		}

		return w.directMessages(u), nil
	}

	ref = strings.TrimPrefix(ref, "#")

	var names []string

	for _, c := range slices.Backward(w.channels) {
		if c.recipient == nil && (c.id == ref || c.name == ref) || c.id == ref {
			return c, nil
		}

		if c.recipient == nil {
			names = append(names, c.name)
		}
	}

	return nil, fmt.Errorf("there is no channel %q; %s", ref, nearest.HintWithList(ref, names, "channels"))
}

// directMessages returns the channel between the bot and a user, creating it if necessary.
func (w *world) directMessages(u *user) *channel {
	if i := slices.IndexFunc(w.channels, func(c *channel) bool { return c.recipient == u }); i >= 0 {
		return w.channels[i]
	}

	c := &channel{id: w.ids.next(), kind: typeDM, recipient: u}
	w.channels = append(w.channels, c)

	return c
}

// channelsOf returns the channels of a guild, either without threads or only the threads.
func (w *world) channelsOf(g *guild, threads bool) []*channel {
	return slices.DeleteFunc(slices.Clone(w.channels), func(c *channel) bool {
		return c.guild != g || c.isThread() != threads || !c.allowed("view")
	})
}
