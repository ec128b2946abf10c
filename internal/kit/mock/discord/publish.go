package discord

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
)

// publish sends an event to clients.
func (s *Server) publish(e event) { s.gateway.dispatch(e) }

// record adds an action of the bot to the journal, with copies of what can still change.
func (s *Server) record(a Action, c *channel) {
	a.Channel, a.ChannelID, a.At = c.label(), c.id, s.clock.Now()

	if a.Message != nil {
		m := a.Message.clone()
		a.Message = &m

		if replied := c.message(m.ReplyTo); replied != nil {
			a.RepliedAuthor = replied.Author
		}
	}

	s.journal.AddNumbered(func(number int) Action {
		a.Number = number

		return a
	})
}

// post adds a message to a channel and notifies clients.
func (s *Server) post(m *Message, c *channel, author *user) {
	m.ID = s.world.ids.given(m.ID)
	if m.Created.IsZero() {
		m.Created = s.clock.Now()
	}

	m.Channel, m.ChannelID, m.GuildID, m.Author, m.AuthorID = c.label(), c.id, c.guildID(), author.name, author.id
	s.world.notify(m, c)

	c.messages = append(c.messages, m)

	if t := c.thread; t != nil {
		// The author of a message in a thread joins it and unarchives it.
		if !slices.Contains(t.members, author) && s.world.userByID(author.id) != nil {
			t.members = append(t.members, author)
		}

		t.archived = false
	}

	s.publishMessage("MESSAGE_CREATE", m, c)
}

// edit changes a message and notifies clients.
func (s *Server) edit(m *Message, content string, c *channel) {
	m.change(content, s.clock.Now())
	s.world.notify(m, c)
	s.publishMessage("MESSAGE_UPDATE", m, c)
}

// publishMessage sends a message to clients. Those without the message content intent see the content only where the bot is
// involved: in its own messages, direct messages, and messages that mention it.
func (s *Server) publishMessage(name string, m *Message, c *channel) {
	if !c.allowed("view") || m.Ephemeral != "" {
		return
	}

	e := event{
		name: name, intents: in(c, intentGuildMessages, intentDirectMessages), guild: c.guildID(), data: s.world.gatewayMessage(m),
	}

	bot := s.world.bot.id
	if c.guild != nil && m.AuthorID != bot && !slices.Contains(m.Notified, bot) && !strings.Contains(m.Content, "<@"+bot+">") {
		e.hidden = hideContent(e.data)
	}

	s.publish(e)
}

// startThread starts a thread in a channel, with or without a message to start from.
func (s *Server) startThread(parent *channel, owner *user, name string, from *Message, request threadRequest) *channel {
	now := s.clock.Now()
	t := &thread{parent: parent, owner: owner, duration: dayInMinutes, created: now, changed: now, members: []*user{owner}}

	if request.Duration != nil {
		t.duration = *request.Duration
	}

	kind := typePublicThread

	switch {
	case parent.kind == typeAnnouncement:
		kind = typeAnnouncementThread
	case from == nil && (request.Type == nil || *request.Type == typePrivateThread):
		// Discord's default for a request without a type.
		kind = typePrivateThread
	}

	made := &channel{name: name, kind: kind, guild: parent.guild, thread: t}
	if from != nil {
		// A thread has the id of the message it was started from.
		made.id, t.starter = from.ID, from.ID
	} else {
		made.id = s.world.ids.next()
	}

	s.world.channels = append(s.world.channels, made)

	o := s.world.channelObject(made)
	o["newly_created"] = true
	s.publish(event{name: "THREAD_CREATE", intents: intentGuilds, guild: parent.guildID(), data: o})

	switch {
	case from != nil:
		from.Thread, from.Flags = made.id, from.Flags|hasThread
		s.publishMessage("MESSAGE_UPDATE", from, parent)
		s.post(&Message{Type: typeThreadStarter}, made, owner)
	case kind != typePrivateThread:
		s.post(&Message{Type: typeThreadCreated, Content: name}, parent, owner)
	}

	return made
}

// memberChunk answers a request for members.
func (s *Server) memberChunk(r memberRequest) (event, bool) {
	s.serial.Lock()
	defer s.serial.Unlock()

	ids := oneOrMore(r.Guild)
	if len(ids) == 0 {
		return event{}, false
	}

	g := s.world.guildByID(ids[0])
	if g == nil {
		return event{}, false
	}

	wanted := oneOrMore(r.UserIDs)
	found := slices.DeleteFunc(slices.Clone(g.members), func(m *member) bool {
		return len(wanted) > 0 && !slices.Contains(wanted, m.user.id) || r.Query != nil && !strings.HasPrefix(m.user.name, *r.Query)
	})
	slices.SortFunc(found, func(a, b *member) int { return cmp.Compare(a.user.id, b.user.id) })

	if r.Limit > 0 && len(found) > r.Limit {
		found = found[:r.Limit]
	}

	data := object{
		"guild_id": g.id, "members": mapped(found, func(m *member) object { return s.world.memberObject(m, true) }), "chunk_index": 0, "chunk_count": 1,
	}
	if r.Nonce != "" {
		data["nonce"] = r.Nonce
	}

	return event{name: "GUILD_MEMBERS_CHUNK", guild: g.id, data: data}, true
}

// oneOrMore decodes an ID or a list of IDs.
func oneOrMore(raw json.RawMessage) []string {
	var (
		one  string
		more []string
	)

	if json.Unmarshal(raw, &one) == nil && one != "" {
		return []string{one}
	}

	_ = json.Unmarshal(raw, &more) // anything else is an empty list

	return more
}
