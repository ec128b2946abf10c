package slack

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// conversation is a channel, or the direct messages of the bot with some people.
type conversation struct {
	Channel

	// people has the members of direct messages, without the bot; nil for a channel.
	people []string
}

// maxPeople is the maximum number of people in direct messages.
const maxPeople = 8

// kind returns Slack's type of the conversation.
func (v *conversation) kind() string {
	switch {
	case len(v.people) > 1:
		return "mpim"
	case v.people != nil:
		return "im"
	default:
		return "public_channel"
	}
}

// eventKind returns the channel_type in events.
func (v *conversation) eventKind() string { return strings.TrimPrefix(v.kind(), "public_") }

func (v *conversation) object() object {
	o := object{
		"id": v.ID, "created": 1, "is_archived": false, "is_channel": v.people == nil, "is_group": false, "is_im": v.kind() == "im", "is_mpim": v.kind() == "mpim",
		"is_private": v.people != nil, "is_member": !v.NotJoined, "is_general": v.Name == "general", "context_team_id": teamID,
	}

	if v.kind() == "im" {
		o["user"], o["is_open"] = v.people[0], true
		delete(o, "is_member")
	} else {
		o["name"], o["name_normalized"] = v.Name, v.Name
	}

	return o
}

// payloadName returns the name of the conversation in interaction payloads.
func (v *conversation) payloadName() string {
	if v.people != nil {
		return "directmessage"
	}

	return v.Name
}

// channel finds a conversation by name or ID; the lock is held.
func (s *Server) channel(ref string) (*conversation, error) {
	ref = strings.TrimPrefix(ref, "#")
	for _, v := range s.conversations {
		if v.ID == ref || v.Name != "" && v.Name == ref {
			return v, nil
		}
	}

	return nil, fmt.Errorf("there is no channel %q", ref)
}

// members returns the IDs of the members of a conversation. All people are in all channels.
func (s *Server) members(v *conversation) []string {
	ids := slices.Clone(v.people)

	if v.people == nil {
		for _, u := range s.setup.Users {
			ids = append(ids, u.ID)
		}
	}

	if v.NotJoined {
		return ids
	}

	return append([]string{s.self.ID}, ids...)
}

// direct returns the conversation with some people, which it creates if necessary, and whether it existed; the lock is
// held.
func (s *Server) direct(people []string) (*conversation, bool) {
	slices.Sort(people)
	people = slices.Compact(people)

	if i := slices.IndexFunc(s.conversations, func(v *conversation) bool { return slices.Equal(v.people, people) }); i >= 0 {
		return s.conversations[i], true
	}

	v := &conversation{Channel: Channel{ID: s.makeID("D")}, people: people}
	if len(people) > 1 {
		v.ID = s.makeID("G")
		v.Name = "mpdm-" + strings.ToLower(strings.Join(people, "--")) + "-1"
	}

	s.conversations = append(s.conversations, v)

	return v, false
}

// in returns the conversation in the arguments. The ID of a person means the direct messages with them.
func (c *call) in() (*conversation, error) {
	ref := c.args["channel"]
	if u, err := c.server.user(ref); err == nil && u.ID == ref && u != c.server.self {
		v, _ := c.server.direct([]string{u.ID})

		return v, nil
	}

	found, err := c.server.channel(ref)
	if err != nil {
		return nil, refusal("channel_not_found")
	}

	return found, nil
}

// joined returns the conversation in the arguments, if the bot is in it.
func (c *call) joined() (*conversation, error) {
	v, err := c.in()
	if err == nil && v.NotJoined {
		return nil, refusal("not_in_channel")
	}

	return v, err
}

func (c *call) channelInfo() (object, error) {
	v, err := c.in()
	if err != nil {
		return nil, err
	}

	o := v.object()
	if c.flag("include_num_members") {
		o["num_members"] = len(c.server.members(v))
	}

	return object{"channel": o}, nil
}

func (c *call) listChannels() (object, error) {
	kinds := strings.Split(cmp.Or(c.args["types"], "public_channel"), ",")
	found := []object{}

	for _, kind := range kinds {
		if !slices.Contains([]string{"public_channel", "private_channel", "im", "mpim"}, strings.TrimSpace(kind)) {
			return nil, refusal("invalid_types")
		}
	}

	for _, v := range c.server.conversations {
		if slices.ContainsFunc(kinds, func(kind string) bool { return strings.TrimSpace(kind) == v.kind() }) {
			found = append(found, v.object())
		}
	}

	return listed(c, "channels", found)
}

func (c *call) listMembers() (object, error) {
	v, err := c.in()
	if err != nil {
		return nil, err
	}

	return listed(c, "members", c.server.members(v))
}

// joinChannel makes the bot a member of a channel.
func (c *call) joinChannel() (object, error) {
	v, err := c.in()

	switch {
	case err != nil:
		return nil, err
	case v.people != nil:
		return nil, refusal("method_not_supported_for_channel_type")
	case v.NotJoined:
		v.NotJoined = false

		return object{"channel": v.object()}, nil
	}

	return object{
		"channel": v.object(), "warning": "already_in_channel", "response_metadata": object{"warnings": []string{"already_in_channel"}},
	}, nil
}

// openDirect opens direct messages with people.
func (c *call) openDirect() (object, error) {
	if c.args["channel"] != "" {
		v, err := c.in()
		if err != nil {
			return nil, err
		}

		return object{"channel": v.object(), "no_op": true, "already_open": true}, nil
	}

	people, err := c.people()
	if err != nil {
		return nil, err
	}

	v, known := c.server.direct(people)

	o := object{"channel": object{"id": v.ID}}
	if c.flag("return_im") {
		o["channel"] = v.object()
	}

	if known {
		o["no_op"], o["already_open"] = true, true
	}

	return o, nil
}

// people returns the IDs in the argument users.
func (c *call) people() ([]string, error) {
	if c.args["users"] == "" {
		return nil, refusal("users_list_not_supplied")
	}

	ids := strings.Split(c.args["users"], ",")
	if len(ids) > maxPeople {
		return nil, refusal("too_many_users")
	}

	for i := range ids {
		u, err := c.server.user(strings.TrimSpace(ids[i]))
		if err != nil || u.ID != strings.TrimSpace(ids[i]) || u == c.server.self {
			return nil, refusal("user_not_found")
		}

		ids[i] = u.ID
	}

	return ids, nil
}

func (c *call) history() (object, error) {
	in, err := c.joined()
	if err != nil {
		return nil, err
	}

	return c.messages(func(m *Message) bool {
		return m.Channel == in.ID && (m.ThreadTS == "" || m.ThreadTS == m.TS || m.Broadcast)
	}, true)
}

func (c *call) replies() (object, error) {
	in, err := c.joined()
	if err != nil {
		return nil, err
	}

	if c.server.find(in.ID, c.args["ts"]) == nil {
		return nil, refusal("thread_not_found")
	}

	return c.messages(func(m *Message) bool {
		return m.Channel == in.ID && (m.TS == c.args["ts"] || m.ThreadTS == c.args["ts"])
	}, false)
}

// messages returns a page of messages, newest first or oldest first, between oldest and latest. The first message of a
// thread is always included.
func (c *call) messages(fits func(m *Message) bool, newestFirst bool) (object, error) {
	var found []object

	for _, m := range c.server.messages {
		if m.Ephemeral == "" && fits(m) && (m.TS == c.args["ts"] || c.within(m.TS)) {
			found = append(found, c.server.object(m, c.flag("include_all_metadata")))
		}
	}

	if newestFirst {
		slices.Reverse(found)
	}

	o, err := listed(c, "messages", found)
	if err != nil {
		return nil, err
	}

	metadata, _ := o["response_metadata"].(object)
	o["has_more"] = metadata["next_cursor"] != ""

	return o, nil
}

// within reports whether a timestamp is between oldest and latest.
func (c *call) within(ts string) bool {
	oldest, latest := c.args["oldest"], c.args["latest"]
	if c.flag("inclusive") && (ts == oldest || ts == latest) {
		return true
	}

	return (oldest == "" || ts > oldest) && (latest == "" || ts < latest)
}
