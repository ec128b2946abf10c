package slack

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Say writes a message as a person, in a channel given by name or ID, or in the thread under a message. <@NAME> mentions by
// name. It returns the message.
func (s *Server) Say(channel, user, text, threadTS string) (Message, error) {
	u, err := s.user(user)
	if err != nil {
		return Message{}, fmt.Errorf("say: %w", err)
	}

	// Slack escapes these characters in what people type; only mentions and links contain them unescaped.
	text = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(text)

	for _, other := range append([]User{s.self}, s.setup.Users...) {
		for _, name := range []string{other.Name, other.ID} {
			text = strings.ReplaceAll(text, "&lt;@"+name+"&gt;", "<@"+other.ID+">")
		}
	}

	s.mu.Lock()
	defer s.mu.Unlock()

	c, err := s.channel(channel)
	if err != nil {
		return Message{}, fmt.Errorf("say: %w", err)
	}

	if threadTS != "" && s.find(c.ID, threadTS) == nil {
		return Message{}, fmt.Errorf("say: there is no message %s in %s", threadTS, channel)
	}

	m := &Message{Channel: c.ID, TS: s.nextTS(), ThreadTS: threadTS, User: u.ID, Text: text, Bot: u == s.self, Mentions: mentions(text, nil)}
	s.messages = append(s.messages, m)

	event := s.object(m, false)
	event["channel"], event["channel_type"], event["event_ts"] = c.ID, c.eventKind(), m.TS
	s.send("events_api", s.callback(event))

	if strings.Contains(text, "<@"+s.self.ID+">") {
		mentioned := s.object(m, false)
		mentioned["type"], mentioned["channel"], mentioned["event_ts"] = "app_mention", c.ID, m.TS
		s.send("events_api", s.callback(mentioned))
	}

	s.changes.Notify()

	return *m, nil
}

// callback returns the payload of an event; the lock is held.
func (s *Server) callback(event object) object {
	return object{
		"type": "event_callback", "team_id": teamID, "api_app_id": appID, "event": event, "event_id": s.makeID("Ev"), "event_time": s.clock.Now().Unix(),
		"authorizations": []object{{"team_id": teamID, "user_id": s.self.ID, "is_bot": true}},
	}
}

// send creates an envelope and delivers it; the lock is held.
func (s *Server) send(kind string, payload object) string {
	raw, err := json.Marshal(payload)
	if err != nil {
		panic("slack: a payload: " + err.Error())
	}

	return s.socket.deliver(s.makeID("envelope-"), kind, raw)
}

// person returns a user in the format of interaction payloads.
func person(u User) object {
	return object{"id": u.ID, "username": u.Name, "name": u.Name, "team_id": teamID}
}

// Click clicks a button of a message that the person sees. It returns the ID of the envelope sent to the app.
func (s *Server) Click(channel, user, ts, actionID string) (string, error) {
	u, err := s.user(user)
	if err != nil {
		return "", fmt.Errorf("click: %w", err)
	}

	s.mu.Lock()
	defer s.mu.Unlock()

	c, err := s.channel(channel)
	if err != nil {
		return "", fmt.Errorf("click: %w", err)
	}

	m := s.seen(c.ID, ts, u.ID)
	if m == nil {
		return "", fmt.Errorf("click: there is no message %s in %s", ts, channel)
	}

	payload, err := s.clicked(u, m.Blocks, actionID)
	if err != nil {
		return "", fmt.Errorf("click: %w", err)
	}

	container := object{"type": "message", "message_ts": m.TS, "channel_id": c.ID, "is_ephemeral": m.Ephemeral != ""}
	if m.ThreadTS != "" {
		container["thread_ts"] = m.ThreadTS
	}

	payload["container"], payload["channel"] = container, object{"id": c.ID, "name": c.payloadName()}
	payload["response_url"] = s.makeResponseURL(m, u.ID)

	// Slack does not send the content of an ephemeral message.
	if m.Ephemeral == "" {
		payload["message"] = s.object(m, true)
	}

	return s.send("interactive", payload), nil
}

// ClickModal clicks a button of the modal that a person sees. It returns the ID of the envelope sent to the app.
func (s *Server) ClickModal(user, actionID string) (string, error) {
	u, err := s.user(user)
	if err != nil {
		return "", fmt.Errorf("click: %w", err)
	}

	s.mu.Lock()
	defer s.mu.Unlock()

	m := s.modal(u.ID)
	if m == nil {
		return "", fmt.Errorf("click: %s sees no modal", user)
	}

	payload, err := s.clicked(u, m.read().Blocks, actionID)
	if err != nil {
		return "", fmt.Errorf("click: %w", err)
	}

	payload["container"], payload["view"] = object{"type": "view", "view_id": m.ID}, s.viewObject(m)

	return s.send("interactive", payload), nil
}

// clicked returns the payload fields that all clicks have; the lock is held.
func (s *Server) clicked(u User, blocks json.RawMessage, actionID string) (object, error) {
	found, blockID := button(blocks, actionID)
	if found == nil {
		return nil, fmt.Errorf("there is no button %s", actionID)
	}

	action := object{"type": "button", "action_id": actionID, "block_id": blockID, "text": found["text"], "action_ts": s.nextTS()}

	for _, key := range []string{"value", "style"} {
		if found[key] != nil {
			action[key] = found[key]
		}
	}

	return object{
		"type": "block_actions", "user": person(u), "api_app_id": appID, "token": "mock", "team": object{"id": teamID, "domain": "mock"},
		"enterprise": nil, "is_enterprise_install": false, "trigger_id": s.makeTrigger(u.ID), "actions": []object{action}, "state": object{"values": object{}},
	}, nil
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

	state := object{}

	eachObject(m.read().Blocks, func(o map[string]any) {
		block, _ := o["block_id"].(string)
		element, _ := o["element"].(map[string]any)
		action, _ := element["action_id"].(string)

		if value, ok := values[block]; ok && o["type"] == "input" {
			state[block] = object{action: object{"type": element["type"], "value": value}}
		}
	})

	shown := s.viewObject(m)
	shown["state"] = object{"values": state}

	return s.send("interactive", object{
		"type": "view_submission", "user": person(u), "api_app_id": appID, "token": "mock", "team": object{"id": teamID, "domain": "mock"},
		"enterprise": nil, "is_enterprise_install": false, "trigger_id": s.makeTrigger(u.ID), "view": shown, "response_urls": []any{},
	}), nil
}
