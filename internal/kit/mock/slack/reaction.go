package slack

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Reaction is an emoji on a message, by its name without colons, and the IDs of the users who added it.
type Reaction struct {
	Name  string   `json:"name"`
	Users []string `json:"users"`
}

// emojiName matches the name of an emoji, with or without a skin tone.
var emojiName = regexp.MustCompile(`^[a-z0-9_+'-]+(::skin-tone-[2-6])?$`)

func reactionObjects(m *Message) []object {
	all := make([]object, len(m.Reactions))
	for i, r := range m.Reactions {
		all[i] = object{"name": r.Name, "users": slices.Clone(r.Users), "count": len(r.Users)}
	}

	return all
}

// react adds a reaction of a user; it reports whether that changed anything.
func react(m *Message, name, userID string) bool {
	i := slices.IndexFunc(m.Reactions, func(r Reaction) bool { return r.Name == name })

	switch {
	case i < 0:
		m.Reactions = append(m.Reactions, Reaction{Name: name, Users: []string{userID}})
	case slices.Contains(m.Reactions[i].Users, userID):
		return false
	default:
		m.Reactions[i].Users = append(m.Reactions[i].Users, userID)
	}

	return true
}

// unreact removes a reaction of a user; it reports whether that changed anything.
func unreact(m *Message, name, userID string) bool {
	i := slices.IndexFunc(m.Reactions, func(r Reaction) bool { return r.Name == name })
	if i < 0 || !slices.Contains(m.Reactions[i].Users, userID) {
		return false
	}

	m.Reactions[i].Users = slices.DeleteFunc(m.Reactions[i].Users, func(id string) bool { return id == userID })
	m.Reactions = slices.DeleteFunc(m.Reactions, func(r Reaction) bool { return len(r.Users) == 0 })

	return true
}

// reactedTo returns the message that a request about reactions refers to.
func (c *call) reactedTo() (*Message, error) {
	if c.args["channel"] == "" || c.args["timestamp"] == "" {
		return nil, refusal("no_item_specified")
	}

	_, m, err := c.named("timestamp")

	return m, err
}

func (c *call) addReaction() (object, error) {
	return c.changeReaction("reaction_added", "already_reacted", react)
}

func (c *call) removeReaction() (object, error) {
	return c.changeReaction("reaction_removed", "no_reaction", unreact)
}

// changeReaction changes a reaction of the bot; unchanged is the error if there is nothing to change.
func (c *call) changeReaction(event, unchanged string, change func(m *Message, name, userID string) bool) (object, error) {
	name := strings.Trim(c.args["name"], ":")
	if !emojiName.MatchString(name) {
		return nil, refusal("invalid_name")
	}

	m, err := c.reactedTo()
	if err != nil {
		return nil, err
	}

	if !change(m, name, c.server.self.ID) {
		return nil, refusal(unchanged)
	}

	c.server.sendReaction(event, m, c.server.self.ID, name)

	return object{}, nil
}

func (c *call) getReactions() (object, error) {
	m, err := c.reactedTo()
	if err != nil {
		return nil, err
	}

	o := c.server.object(m, false)
	o["permalink"] = permalink(m)

	return object{"type": "message", "channel": m.Channel, "message": o}, nil
}

// sendReaction sends a reaction event to the app; the lock is held.
func (s *Server) sendReaction(event string, m *Message, userID, name string) {
	s.send("events_api", s.callback(object{
		"type": event, "user": userID, "reaction": name, "item_user": m.User, "event_ts": s.nextTS(),
		"item": object{"type": "message", "channel": m.Channel, "ts": m.TS},
	}))
}

// React adds a reaction to a message as a person.
func (s *Server) React(channel, user, ts, name string) error {
	u, err := s.user(user)
	if err != nil {
		return fmt.Errorf("react: %w", err)
	}

	s.mu.Lock()
	defer s.mu.Unlock()

	c, err := s.channel(channel)
	if err != nil {
		return fmt.Errorf("react: %w", err)
	}

	m := s.find(c.ID, ts)
	if m == nil {
		return fmt.Errorf("react: there is no message %s in %s", ts, channel)
	}

	if !react(m, name, u.ID) {
		return errors.New("react: the reaction is there already")
	}

	s.sendReaction("reaction_added", m, u.ID, name)
	s.changes.Notify()

	return nil
}
