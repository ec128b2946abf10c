package slack

import (
	"encoding/json"
	"slices"
	"strings"
)

const (
	// maxText is how much of a text is kept; Slack truncates longer texts.
	maxText = 40_000
	// maxUpdate is the maximum length of an updated text; Slack rejects longer ones.
	maxUpdate = 4000
)

// content checks the content of a message and sets it in m. It reports whether the text was truncated.
func (c *call) content(m *Message) (bool, error) {
	text, cut := cutText(c.args["text"])

	blocks, err := messageBlocks(c.server, c.raw("blocks"))
	if err != nil {
		return cut, err
	}

	if text == "" && len(blocks) == 0 && len(m.Files) == 0 {
		return cut, refusal("no_text")
	}

	if metadata := c.raw("metadata"); metadata != nil {
		if !validMetadata(metadata) {
			return cut, refusal("invalid_metadata_format")
		}

		m.Metadata = metadata
	}

	m.Text, m.Blocks, m.Mentions = text, blocks, mentions(text, blocks)

	return cut, nil
}

// cutText truncates a text that is too long, and reports whether it did.
func cutText(text string) (string, bool) {
	runes := []rune(text)
	if len(runes) <= maxText {
		return text, false
	}

	return string(runes[:maxText]), true
}

func validMetadata(metadata json.RawMessage) bool {
	var read struct {
		EventType    string         `json:"event_type"`
		EventPayload map[string]any `json:"event_payload"`
	}

	return json.Unmarshal(metadata, &read) == nil && read.EventType != "" && read.EventPayload != nil
}

// warned adds the warning about a truncated text.
func warned(o object, cut bool) object {
	if cut {
		o["warning"] = "message_truncated"
		o["response_metadata"] = object{
			"warnings": []string{"message_truncated"}, "messages": []string{"[WARN] Your message was cut off but still posted. The `text` field takes up to 40,000 characters."},
		}
	}

	return o
}

// add adds a message to its channel; the lock is held.
func (s *Server) add(m *Message) {
	m.TS = s.nextTS()
	s.messages = append(s.messages, m)
}

func (c *call) postMessage() (object, error) {
	in, err := c.joined()
	if err != nil {
		return nil, err
	}

	m := &Message{Channel: in.ID, ThreadTS: c.args["thread_ts"], User: c.server.self.ID, Bot: true, Broadcast: c.args["reply_broadcast"] == "true"}
	if m.ThreadTS != "" && c.server.find(in.ID, m.ThreadTS) == nil {
		return nil, refusal("thread_not_found")
	}

	cut, err := c.content(m)
	if err != nil {
		return nil, err
	}

	c.server.add(m)

	return warned(object{"channel": in.ID, "ts": m.TS, "message": c.server.object(m, true)}, cut), nil
}

func (c *call) postEphemeral() (object, error) {
	in, err := c.joined()
	if err != nil {
		return nil, err
	}

	u, err := c.server.user(c.args["user"])
	if err != nil || !slices.Contains(c.server.members(in), u.ID) {
		return nil, refusal("user_not_in_channel")
	}

	m := &Message{Channel: in.ID, ThreadTS: c.args["thread_ts"], User: c.server.self.ID, Bot: true, Ephemeral: u.ID}

	cut, err := c.content(m)
	if err != nil {
		return nil, err
	}

	c.server.add(m)

	return warned(object{"message_ts": m.TS}, cut), nil
}

// named returns the message that an argument identifies by its timestamp.
func (c *call) named(argument string) (*conversation, *Message, error) {
	in, err := c.in()
	if err != nil {
		return nil, nil, err
	}

	m := c.server.find(in.ID, c.args[argument])
	if m == nil {
		return nil, nil, refusal("message_not_found")
	}

	return in, m, nil
}

func (c *call) update() (object, error) {
	in, m, err := c.named("ts")

	switch {
	case err != nil:
		return nil, err
	case !m.Bot:
		return nil, refusal("cant_update_message")
	case len([]rune(c.args["text"])) > maxUpdate:
		return nil, refusal("msg_too_long")
	}

	changed := *m
	if _, err := c.content(&changed); err != nil {
		return nil, err
	}

	c.server.replace(m, changed)

	return object{"channel": in.ID, "ts": m.TS, "text": m.Text, "message": c.server.object(m, true)}, nil
}

// replace changes a message and records the time; the lock is held.
func (s *Server) replace(m *Message, by Message) {
	by.Updates = append(slices.Clone(m.Updates), s.clock.Now())
	*m = by
}

func (c *call) deleteMessage() (object, error) {
	in, m, err := c.named("ts")

	switch {
	case err != nil:
		return nil, err
	case !m.Bot:
		return nil, refusal("cant_delete_message")
	}

	c.server.remove(m)

	return object{"channel": in.ID, "ts": m.TS}, nil
}

// remove removes a message; the lock is held.
func (s *Server) remove(m *Message) {
	s.messages = slices.DeleteFunc(s.messages, func(other *Message) bool { return other == m })
}

func (c *call) getPermalink() (object, error) {
	in, m, err := c.named("message_ts")
	if err != nil {
		return nil, err
	}

	return object{"channel": in.ID, "permalink": permalink(m)}, nil
}

// permalink returns the URL of a message.
func permalink(m *Message) string {
	link := "https://mock.slack.com/archives/" + m.Channel + "/p" + strings.ReplaceAll(m.TS, ".", "")
	if m.ThreadTS != "" && m.ThreadTS != m.TS {
		link += "?thread_ts=" + m.ThreadTS + "&cid=" + m.Channel
	}

	return link
}
