package slack

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Message is the current state of a message in a channel or thread.
type Message struct {
	Channel  string `json:"channel"`
	TS       string `json:"ts"`
	ThreadTS string `json:"thread_ts,omitempty"`
	// User is the author. Bot means that the app wrote it.
	User string `json:"user"`
	Bot  bool   `json:"bot"`
	Text string `json:"text"`
	// Blocks are as sent, with IDs added where they were missing. Metadata is as sent.
	Blocks   json.RawMessage `json:"blocks,omitempty"`
	Metadata json.RawMessage `json:"metadata,omitempty"`
	// Broadcast means that the reply is also shown in the channel; Ephemeral is the only user who sees the message.
	Broadcast bool   `json:"broadcast,omitempty"`
	Ephemeral string `json:"ephemeral,omitempty"`
	// Updates are the times of its updates.
	Updates []time.Time `json:"updates,omitempty"`
	// Mentions are the mentions that notify: <!channel>, <@U1> and the like, in its text and in the markup of its blocks.
	Mentions []string `json:"mentions,omitempty"`
	// Reactions are the emoji on it, Files the IDs of the files shared with it.
	Reactions []Reaction `json:"reactions,omitempty"`
	Files     []string   `json:"files,omitempty"`
}

// Shown returns what people read of the message: the texts of its blocks, or its text if it has none. Entities are
// resolved.
func (m Message) Shown() string {
	parts := texts(m.Blocks)
	if len(parts) == 0 {
		parts = []string{m.Text}
	}

	return strings.NewReplacer("&lt;", "<", "&gt;", ">", "&amp;", "&").Replace(strings.Join(parts, "\n"))
}

// Buttons returns the action IDs of its buttons.
func (m Message) Buttons() []string {
	var found []string

	eachObject(m.Blocks, func(o map[string]any) {
		if id, ok := o["action_id"].(string); ok && o["type"] == "button" {
			found = append(found, id)
		}
	})

	return found
}

// texts returns the texts of blocks, in order.
func texts(blocks json.RawMessage) []string {
	var found []string

	eachObject(blocks, func(o map[string]any) {
		if text, ok := o["text"].(string); ok {
			found = append(found, text)
		}
	})

	return found
}

// eachObject visits the objects in JSON, outer ones first, and the members of each sorted by name.
func eachObject(raw json.RawMessage, visit func(o map[string]any)) {
	var value any
	if len(raw) == 0 || json.Unmarshal(raw, &value) != nil {
		return
	}

	var walk func(v any)

	walk = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, element := range v {
				walk(element)
			}
		case map[string]any:
			visit(v)

			names := make([]string, 0, len(v))
			for name := range v {
				names = append(names, name)
			}

			slices.Sort(names)

			for _, name := range names {
				walk(v[name])
			}
		}
	}

	walk(value)
}

// mention matches mentions that notify people: of users, user groups, and everyone in a channel.
var mention = regexp.MustCompile(`<(?:@[UW][A-Z0-9]+|!(?:channel|here|everyone|subteam\^[A-Z0-9]+))(?:\|[^>]*)?>`)

// mentions returns the mentions in a message that notify. Plain text notifies nobody.
func mentions(text string, blocks json.RawMessage) []string {
	found := mention.FindAllString(text, -1)

	eachObject(blocks, func(o map[string]any) {
		if text, ok := o["text"].(string); ok && o["type"] == "mrkdwn" {
			found = append(found, mention.FindAllString(text, -1)...)
		}
	})

	return found
}

// nextTS returns a timestamp that no message has; the lock is held.
func (s *Server) nextTS() string {
	s.lastTS = max(s.lastTS+1, s.clock.Now().UnixMicro())

	return fmt.Sprintf("%d.%06d", s.lastTS/1_000_000, s.lastTS%1_000_000)
}

// find returns a message; the lock is held.
func (s *Server) find(channelID, ts string) *Message {
	i := slices.IndexFunc(s.messages, func(m *Message) bool { return m.Channel == channelID && m.TS == ts && m.Ephemeral == "" })
	if i < 0 {
		return nil
	}

	return s.messages[i]
}

// seen returns a message that a person sees, including one that only they see; the lock is held.
func (s *Server) seen(channelID, ts, userID string) *Message {
	i := slices.IndexFunc(s.messages, func(m *Message) bool {
		return m.Channel == channelID && m.TS == ts && (m.Ephemeral == "" || m.Ephemeral == userID)
	})
	if i < 0 {
		return nil
	}

	return s.messages[i]
}

// Messages returns all messages of the bot and of people, oldest first; with a channel, only those in it.
func (s *Server) Messages(channel string) []Message {
	s.mu.Lock()
	defer s.mu.Unlock()

	found := []Message{}

	for _, m := range s.messages {
		if c, err := s.channel(channel); channel == "" || err == nil && c.ID == m.Channel {
			found = append(found, clone(m))
		}
	}

	return found
}

// clone returns a copy that no longer changes.
func clone(m *Message) Message {
	copied := *m
	copied.Reactions = make([]Reaction, len(m.Reactions))

	for i, r := range m.Reactions {
		copied.Reactions[i] = Reaction{Name: r.Name, Users: slices.Clone(r.Users)}
	}

	return copied
}

// Sent returns the messages of the bot that everyone sees, oldest first.
func (s *Server) Sent(channel string) []Message {
	return slices.DeleteFunc(s.Messages(channel), func(m Message) bool { return !m.Bot || m.Ephemeral != "" })
}

// Delete deletes a message, as an administrator does.
func (s *Server) Delete(channel, ts string) error {
	s.mu.Lock()
	defer s.mu.Unlock()

	c, err := s.channel(channel)
	if err != nil {
		return err
	}

	i := slices.IndexFunc(s.messages, func(m *Message) bool { return m.Channel == c.ID && m.TS == ts })
	if i < 0 {
		return fmt.Errorf("there is no message %s in %s", ts, channel)
	}

	s.messages = slices.Delete(s.messages, i, i+1)
	s.changes.Notify()

	return nil
}

// object returns a message in Slack's format; the lock is held.
func (s *Server) object(m *Message, metadata bool) object {
	o := object{"type": "message", "user": m.User, "text": m.Text, "ts": m.TS, "team": teamID}
	if m.Bot {
		o["bot_id"], o["app_id"] = botID, appID
	}

	if m.Broadcast {
		o["subtype"] = "thread_broadcast"
	}

	if len(m.Blocks) > 0 {
		o["blocks"] = m.Blocks
	}

	if metadata && len(m.Metadata) > 0 {
		o["metadata"] = m.Metadata
	}

	if n := len(m.Updates); n > 0 {
		o["edited"] = object{"user": m.User, "ts": fmt.Sprintf("%d.000000", m.Updates[n-1].Unix())}
	}

	if len(m.Reactions) > 0 {
		o["reactions"] = reactionObjects(m)
	}

	if len(m.Files) > 0 {
		o["files"] = s.fileObjects(m.Files)
	}

	s.addThread(o, m)

	return o
}

// addThread adds the thread's fields to a message: replies and their authors to a parent, the parent's author to a reply;
// the lock is held.
func (s *Server) addThread(o object, m *Message) {
	if m.ThreadTS != "" && m.ThreadTS != m.TS {
		o["thread_ts"] = m.ThreadTS

		if parent := s.find(m.Channel, m.ThreadTS); parent != nil {
			o["parent_user_id"] = parent.User
		}

		return
	}

	var (
		count  int
		latest string
		users  []string
	)

	for _, reply := range s.messages {
		if reply.Channel != m.Channel || reply.ThreadTS != m.TS || reply.TS == m.TS || reply.Ephemeral != "" {
			continue
		}

		count, latest = count+1, reply.TS
		if !slices.Contains(users, reply.User) {
			users = append(users, reply.User)
		}
	}

	if count == 0 {
		return
	}

	o["thread_ts"], o["reply_count"], o["reply_users_count"], o["latest_reply"] = m.TS, count, len(users), latest
	o["reply_users"], o["is_locked"], o["subscribed"] = users, false, false
}
