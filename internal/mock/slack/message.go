package slack

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Message is a message in a channel or thread, as it is now.
type Message struct {
	Channel  string `json:"channel"`
	TS       string `json:"ts"`
	ThreadTS string `json:"thread_ts,omitempty"`
	// User is who wrote it. Bot means that the app did.
	User string `json:"user"`
	Bot  bool   `json:"bot"`
	Text string `json:"text"`
	// Blocks and Metadata are as they were sent.
	Blocks   json.RawMessage `json:"blocks,omitempty"`
	Metadata json.RawMessage `json:"metadata,omitempty"`
	// Broadcast means that the reply is shown in the channel too, Ephemeral that only this user sees it.
	Broadcast bool   `json:"broadcast,omitempty"`
	Ephemeral string `json:"ephemeral,omitempty"`
	// Updates are when it was updated.
	Updates []time.Time `json:"updates,omitempty"`
	// Mentions are what it notifies: <!channel>, <@U1> and the like, in its text and in the markup of its blocks.
	Mentions []string `json:"mentions,omitempty"`
}

// Shown is all that people read of the message: the texts of its blocks, or its text if it has none. Entities are resolved.
func (m Message) Shown() string {
	parts := texts(m.Blocks)
	if len(parts) == 0 {
		parts = []string{m.Text}
	}

	return strings.NewReplacer("&lt;", "<", "&gt;", ">", "&amp;", "&").Replace(strings.Join(parts, "\n"))
}

// Buttons are the action IDs of its buttons.
func (m Message) Buttons() []string {
	var found []string

	eachObject(m.Blocks, func(o map[string]any) {
		if id, ok := o["action_id"].(string); ok && o["type"] == "button" {
			found = append(found, id)
		}
	})

	return found
}

// texts are the texts of blocks, in order.
func texts(blocks json.RawMessage) []string {
	var found []string

	eachObject(blocks, func(o map[string]any) {
		if text, ok := o["text"].(string); ok {
			found = append(found, text)
		}
	})

	return found
}

// eachObject visits the objects in JSON, outer ones first, the members of each in the order of their names.
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

// mention is what notifies people: users, user groups, and everybody in a channel.
var mention = regexp.MustCompile(`<(?:@[UW][A-Z0-9]+|!(?:channel|here|everyone|subteam\^[A-Z0-9]+))(?:\|[^>]*)?>`)

// mentions finds what a message notifies. Plain text notifies nobody.
func mentions(text string, blocks json.RawMessage) []string {
	found := mention.FindAllString(text, -1)

	eachObject(blocks, func(o map[string]any) {
		if text, ok := o["text"].(string); ok && o["type"] == "mrkdwn" {
			found = append(found, mention.FindAllString(text, -1)...)
		}
	})

	return found
}

// The limits of Slack.
const (
	maxText    = 40_000
	maxBlocks  = 50
	maxSection = 3000
	maxHeader  = 150
	maxContext = 10
	maxButton  = 75
	maxValue   = 2000
)

// checkBlocks returns what Slack does not accept.
func checkBlocks(raw json.RawMessage) error {
	if len(raw) == 0 {
		return nil
	}

	var blocks []map[string]any
	if json.Unmarshal(raw, &blocks) != nil {
		return refusal("invalid_blocks_format")
	}

	if len(blocks) > maxBlocks {
		return refusal("invalid_blocks")
	}

	for i, b := range blocks {
		if bad := badPart(b); bad != "" {
			return &apiError{Code: "invalid_blocks", Messages: []string{fmt.Sprintf("[ERROR] invalid %s [json-pointer:/blocks/%d/%s]", bad, i, bad)}}
		}
	}

	return nil
}

// badPart is the part of a block that Slack does not accept; empty if there is none.
func badPart(block map[string]any) string {
	elements, _ := block["elements"].([]any)
	n := length(block["text"])

	switch block["type"] {
	case "section":
		if n > maxSection || n == 0 && block["fields"] == nil {
			return "text"
		}
	case "header":
		if n > maxHeader || n == 0 {
			return "text"
		}
	case "context":
		if len(elements) == 0 || len(elements) > maxContext || slices.ContainsFunc(elements, func(e any) bool { return length(e) > maxSection }) {
			return "elements"
		}
	case "actions":
		for _, e := range elements {
			o, _ := e.(map[string]any)
			if value, _ := o["value"].(string); len(value) > maxValue || length(o["text"]) > maxButton {
				return "elements"
			}
		}
	case "divider", "input", "rich_text", "image", "markdown", "table":
	default:
		return "type"
	}

	return ""
}

// length is how long the text of a text object is.
func length(v any) int {
	o, _ := v.(map[string]any)
	text, _ := o["text"].(string)

	return len([]rune(text))
}

// nextTS is a timestamp that no message has; the lock is held.
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

// Messages are all messages of the bot and of people, oldest first. With a channel, only those in it.
func (s *Server) Messages(channel string) []Message {
	s.mu.Lock()
	defer s.mu.Unlock()

	found := []Message{}

	for _, m := range s.messages {
		if c, err := s.channel(channel); channel == "" || err == nil && c.ID == m.Channel {
			found = append(found, *m)
		}
	}

	return found
}

// Sent are the messages of the bot that everybody sees, oldest first.
func (s *Server) Sent(channel string) []Message {
	return slices.DeleteFunc(s.Messages(channel), func(m Message) bool { return !m.Bot || m.Ephemeral != "" })
}

// Delete deletes a message, as an administrator does.
func (s *Server) Delete(channel, ts string) error {
	c, err := s.channel(channel)
	if err != nil {
		return err
	}

	s.mu.Lock()
	defer s.mu.Unlock()

	i := slices.IndexFunc(s.messages, func(m *Message) bool { return m.Channel == c.ID && m.TS == ts })
	if i < 0 {
		return fmt.Errorf("there is no message %s in %s", ts, channel)
	}

	s.messages = slices.Delete(s.messages, i, i+1)
	s.notify()

	return nil
}
