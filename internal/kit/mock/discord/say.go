package discord

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// Options are the optional parts of a message.
type Options struct {
	// ReplyTo is the ID of the message to reply to, or "last" for the last one in the channel.
	ReplyTo string
	// Thread is the name of a thread in the channel, which is created if it does not exist.
	Thread string
	// ID is the ID of the message; empty means a new one.
	ID string
	// Created is when the message was written; zero means now.
	Created time.Time
}

// last refers to the last message of a channel.
const last = "last"

// Say writes a message as a user: in a channel or thread given by name or ID, or, with @NAME, as a direct message to the
// bot. Mentions can use names: <@NAME>, <@&ROLE>, <#CHANNEL>.
func (s *Server) Say(channel, author, content string, o Options) (Message, error) {
	if o.ID != "" && !snowflakePattern.MatchString(o.ID) {
		return Message{}, fmt.Errorf("say: %q is not an id: ids have 15 to 20 digits", o.ID)
	}

	m := &Message{ID: o.ID, Created: o.Created}

	return s.say(Say{Channel: channel, Author: author, Content: content, ReplyTo: o.ReplyTo, Thread: o.Thread}, m)
}

// say fills in a message and posts it.
func (s *Server) say(what Say, m *Message) (Message, error) {
	s.serial.Lock()
	defer s.serial.Unlock()

	by, err := s.world.findUser(what.Author)
	if err != nil {
		return Message{}, fmt.Errorf("say: %w", err)
	}

	in, err := s.place(what, by)
	if err != nil {
		return Message{}, fmt.Errorf("say: %w", err)
	}

	if m.ID != "" && in.message(m.ID) != nil {
		return Message{}, fmt.Errorf("say: there is already a message %s in %s", m.ID, in.label())
	}

	m.Content = s.world.resolve(what.Content, in)

	if what.ReplyTo != "" {
		replied := in.message(what.ReplyTo)
		if what.ReplyTo == last {
			replied = in.last()
		}

		if replied == nil {
			return Message{}, fmt.Errorf("say: there is no message %s in %s to reply to", what.ReplyTo, in.label())
		}

		m.ReplyTo, m.Type = replied.ID, typeReply
	}

	s.post(m, in, by)

	return m.clone(), nil
}

// place returns the channel or thread in which a user writes.
func (s *Server) place(what Say, by *user) (*channel, error) {
	in, err := s.world.findChannel(what.Channel)
	if err != nil {
		return nil, err
	}

	if in.recipient != nil && in.recipient != by && by != s.world.bot {
		return nil, fmt.Errorf("%s cannot write in the direct messages of %s", by.name, in.recipient.name)
	}

	if what.Thread == "" {
		return in, nil
	}

	if in.guild == nil || in.isThread() {
		return nil, errors.New("only channels of guilds have threads")
	}

	if i := slices.IndexFunc(s.world.channels, func(c *channel) bool {
		return c.isThread() && c.thread.parent == in && c.name == what.Thread
	}); i >= 0 {
		return s.world.channels[i], nil
	}

	public := typePublicThread

	return s.startThread(in, by, what.Thread, nil, threadRequest{Type: &public}), nil
}

// Edit changes the content of any message, as its author.
func (s *Server) Edit(id, content string) error {
	s.serial.Lock()
	defer s.serial.Unlock()

	m, c := s.world.findMessage(id)
	if m == nil {
		return fmt.Errorf("edit: there is no message %s", id)
	}

	s.edit(m, s.world.resolve(content, c), c)

	return nil
}

// React adds a reaction to a message as a user.
func (s *Server) React(id, by, emoji string) error {
	s.serial.Lock()
	defer s.serial.Unlock()

	u, err := s.world.findUser(by)
	if err != nil {
		return fmt.Errorf("react: %w", err)
	}

	m, c := s.world.findMessage(id)
	if m == nil {
		return fmt.Errorf("react: there is no message %s", id)
	}

	if m.react(emoji, u.id) {
		s.publishReaction(m, c, u.id, emoji, false)
	}

	return nil
}

// findMessage finds a message in any channel, and its channel; both are nil if there is none.
func (w *world) findMessage(id string) (*Message, *channel) {
	for _, c := range w.channels {
		if m := c.message(id); m != nil {
			return m, c
		}
	}

	return nil, nil
}

// Messages returns the existing messages of a channel, oldest first: those of people and of the bot.
func (s *Server) Messages(channel string) ([]Message, error) {
	s.serial.Lock()
	defer s.serial.Unlock()

	c, err := s.world.findChannel(channel)
	if err != nil {
		return nil, err
	}

	var all []Message

	for _, m := range c.messages {
		if !m.Deleted {
			all = append(all, m.clone())
		}
	}

	return all, nil
}

// ID returns the ID of a channel or thread, a user as @NAME, a role as @&NAME, or a guild.
func (s *Server) ID(ref string) (string, error) {
	s.serial.Lock()
	defer s.serial.Unlock()

	for _, g := range s.world.guilds {
		if g.name == ref {
			return g.id, nil
		}

		if r := g.role(trimRole(ref)); r != nil && trimRole(ref) != ref {
			return r.id, nil
		}
	}

	if len(ref) > 0 && ref[0] == '@' {
		u, err := s.world.findUser(ref)
		if err != nil {
			return "", err
		}

		return u.id, nil
	}

	c, err := s.world.findChannel(ref)
	if err != nil {
		return "", err
	}

	return c.id, nil
}

func trimRole(ref string) string {
	if len(ref) > 2 && ref[:2] == "@&" {
		return ref[2:]
	}

	return ref
}
