package slack

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Say writes a message as a person, in a channel named by its name or ID, or in the thread under a message. <@NAME> mentions by name. It
// returns the message.
func (s *Server) Say(channel, user, text, threadTS string) (Message, error) {
	c, err := s.channel(channel)
	if err != nil {
		return Message{}, fmt.Errorf("say: %w", err)
	}

	u, err := s.user(user)
	if err != nil {
		return Message{}, fmt.Errorf("say: %w", err)
	}

	// Slack passes on what people type with these characters escaped; only mentions and links have them.
	text = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(text)

	for _, other := range append([]User{s.self}, s.setup.Users...) {
		for _, name := range []string{other.Name, other.ID} {
			text = strings.ReplaceAll(text, "&lt;@"+name+"&gt;", "<@"+other.ID+">")
		}
	}

	s.mu.Lock()
	defer s.mu.Unlock()

	if threadTS != "" && s.find(c.ID, threadTS) == nil {
		return Message{}, fmt.Errorf("say: there is no message %s in %s", threadTS, channel)
	}

	m := &Message{Channel: c.ID, TS: s.nextTS(), ThreadTS: threadTS, User: u.ID, Text: text, Bot: u == s.self, Mentions: mentions(text, nil)}
	s.messages = append(s.messages, m)

	event := s.object(m, false)
	event["channel"], event["channel_type"], event["event_ts"] = c.ID, "channel", m.TS
	s.send("events_api", s.callback(event))

	if strings.Contains(text, "<@"+s.self.ID+">") {
		mentioned := s.object(m, false)
		mentioned["type"], mentioned["channel"], mentioned["event_ts"] = "app_mention", c.ID, m.TS
		s.send("events_api", s.callback(mentioned))
	}

	s.notify()

	return *m, nil
}

// callback is the payload of an event; the lock is held.
func (s *Server) callback(event object) object {
	return object{
		"type": "event_callback", "team_id": teamID, "api_app_id": appID, "event": event, "event_id": s.makeID("Ev"), "event_time": s.clock.Now().Unix(),
		"authorizations": []object{{"team_id": teamID, "user_id": s.self.ID, "is_bot": true}},
	}
}

// send makes an envelope and delivers it; the lock is held.
func (s *Server) send(kind string, payload object) string {
	raw, err := json.Marshal(payload)
	if err != nil {
		panic("slack: a payload: " + err.Error())
	}

	return s.socket.deliver(s.makeID("envelope-"), kind, raw)
}

// Click clicks a button of a message. It returns the ID of the envelope that tells the app.
func (s *Server) Click(channel, user, ts, actionID string) (string, error) {
	c, err := s.channel(channel)
	if err != nil {
		return "", fmt.Errorf("click: %w", err)
	}

	u, err := s.user(user)
	if err != nil {
		return "", fmt.Errorf("click: %w", err)
	}

	s.mu.Lock()
	defer s.mu.Unlock()

	m := s.find(c.ID, ts)
	if m == nil {
		return "", fmt.Errorf("click: there is no message %s in %s", ts, channel)
	}

	var action object

	eachObject(m.Blocks, func(o map[string]any) {
		if o["type"] == "button" && o["action_id"] == actionID {
			action = object{"type": "button", "action_id": actionID, "block_id": "b", "text": o["text"], "value": o["value"], "action_ts": s.nextTS()}
		}
	})

	if action == nil {
		return "", fmt.Errorf("click: the message has no button %s", actionID)
	}

	id := s.makeID("trigger-")
	s.triggers[id] = &trigger{user: u.ID, at: s.clock.Now()}

	return s.send("interactive", object{
		"type": "block_actions", "user": object{"id": u.ID, "username": u.Name, "name": u.Name, "team_id": teamID}, "api_app_id": appID,
		"team": object{"id": teamID, "domain": "mock"}, "channel": object{"id": c.ID, "name": c.Name}, "trigger_id": id,
		"container": object{"type": "message", "message_ts": m.TS, "channel_id": c.ID, "thread_ts": m.ThreadTS, "is_ephemeral": false},
		"message":   s.object(m, true), "actions": []object{action}, "state": object{"values": object{}},
	}), nil
}

// Submit submits the newest modal of a person with the values of its inputs, by block ID. It returns the ID of the envelope.
func (s *Server) Submit(user string, values map[string]string) (string, error) {
	u, err := s.user(user)
	if err != nil {
		return "", fmt.Errorf("submit: %w", err)
	}

	s.mu.Lock()
	defer s.mu.Unlock()

	m := s.modal(u.ID)
	if m == nil {
		return "", fmt.Errorf("submit: %s sees no modal", user)
	}

	var v view
	if err := json.Unmarshal(m.View, &v); err != nil {
		return "", fmt.Errorf("submit: %w", err)
	}

	state := object{}

	eachObject(v.Blocks, func(o map[string]any) {
		block, _ := o["block_id"].(string)
		element, _ := o["element"].(map[string]any)
		action, _ := element["action_id"].(string)

		if value, ok := values[block]; ok && o["type"] == "input" {
			state[block] = object{action: object{"type": element["type"], "value": value}}
		}
	})

	return s.send("interactive", object{
		"type": "view_submission", "user": object{"id": u.ID, "username": u.Name, "name": u.Name, "team_id": teamID}, "api_app_id": appID,
		"team": object{"id": teamID, "domain": "mock"},
		"view": object{
			"id": m.ID, "type": "modal", "callback_id": v.CallbackID, "private_metadata": v.PrivateMetadata, "blocks": v.Blocks, "title": v.Title,
			"state": object{"values": state},
		},
	}), nil
}
