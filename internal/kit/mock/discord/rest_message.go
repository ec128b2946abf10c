package discord

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

const (
	// maxContent is the maximum length of a message in Unicode code points, which is what Discord counts.
	maxContent = 2000
	maxPage    = 100
	maxNonce   = 25
	// nonceWindow is how long a nonce is remembered: Discord's documentation says a few minutes.
	nonceWindow = 5 * time.Minute
	// Flags of messages. A sender can set all except hasThread.
	suppressEmbeds        = 1 << 2
	hasThread             = 1 << 5
	suppressNotifications = 1 << 12
	componentsV2          = 1 << 15
)

// messageRequest is the body of a message that is sent or edited. A missing field is nil.
type messageRequest struct {
	Content         *string          `json:"content"`
	Nonce           json.RawMessage  `json:"nonce"`
	EnforceNonce    bool             `json:"enforce_nonce"`
	Embeds          json.RawMessage  `json:"embeds"`
	Components      json.RawMessage  `json:"components"`
	AllowedMentions *AllowedMentions `json:"allowed_mentions"`
	Reference       *struct {
		Message string `json:"message_id"`
		Fail    *bool  `json:"fail_if_not_exists"`
	} `json:"message_reference"`
	Flags       *int                `json:"flags"`
	Attachments []attachmentRequest `json:"attachments"`
}

// check returns what is wrong with a request, whatever the channel.
func (r *messageRequest) check() error {
	if r.Content != nil {
		// Discord trims white space around a message.
		trimmed := strings.TrimSpace(*r.Content)
		r.Content = &trimmed

		if utf8.RuneCountInString(trimmed) > maxContent {
			return invalidForm("content", "BASE_TYPE_MAX_LENGTH", "Must be "+strconv.Itoa(maxContent)+" or fewer in length.")
		}
	}

	if len(r.Nonce) > maxNonce+len(`""`) {
		return invalidForm("nonce", "BASE_TYPE_MAX_LENGTH", "Must be "+strconv.Itoa(maxNonce)+" or fewer in length.")
	}

	if err := r.AllowedMentions.check(); err != nil {
		return err
	}

	var embeds []json.RawMessage
	if len(r.Embeds) > 0 && json.Unmarshal(r.Embeds, &embeds) != nil {
		return invalidForm("embeds", "LIST_TYPE_CONVERT", "Only iterables may be used in a ListType")
	}

	if len(embeds) > 10 {
		return invalidForm("embeds", "BASE_TYPE_MAX_LENGTH", "Must be 10 or fewer in length.")
	}

	return nil
}

// isEmpty reports whether a message would show nothing.
func isEmpty(m *Message) bool {
	none := func(raw json.RawMessage) bool { return len(raw) == 0 || string(raw) == "[]" || string(raw) == "null" }

	return m.Content == "" && none(m.Embeds) && none(m.Components) && len(m.Attachments) == 0
}

// draft returns the message in a request. It is not in any channel yet.
func (c *call) draft(request *messageRequest) (*Message, error) {
	if err := request.check(); err != nil {
		return nil, err
	}

	m := &Message{
		AllowedMentions: request.AllowedMentions, Embeds: request.Embeds, Components: request.Components, Nonce: request.Nonce,
		Attachments: c.newAttachments(request.Attachments),
	}
	if request.Content != nil {
		m.Content = *request.Content
	}

	if request.Flags != nil {
		m.Flags = *request.Flags & (suppressEmbeds | suppressNotifications | componentsV2)
	}

	if isEmpty(m) {
		return nil, errEmpty
	}

	return m, nil
}

func (c *call) postMessage() (any, error) {
	var request messageRequest
	if err := c.decode(&request); err != nil {
		return nil, err
	}

	m, err := c.draft(&request)

	switch {
	case !c.channel.allowed("send"):
		return nil, errPermissions
	case c.channel.isThread() && c.channel.thread.locked:
		return nil, errArchived
	case err != nil:
		return nil, err
	}

	if request.EnforceNonce && len(request.Nonce) > 0 {
		if earlier := c.channel.sentWith(request.Nonce, c.server.clock.Now().Add(-nonceWindow)); earlier != nil {
			return c.world.messageObject(earlier, true), nil
		}
	}

	if ref := request.Reference; ref != nil && ref.Message != "" {
		switch replied := c.channel.message(ref.Message); {
		case replied != nil:
			m.ReplyTo, m.Type = replied.ID, typeReply
		case ref.Fail == nil || *ref.Fail:
			return nil, invalidForm("message_reference", "REPLIES_UNKNOWN_MESSAGE", "Unknown message")
		}
	}

	c.server.post(m, c.channel, c.world.bot)
	c.server.record(Action{Kind: KindMessage, Message: m}, c.channel)

	return c.world.messageObject(m, true), nil
}

// message returns the message in the path.
func (c *call) message() (*Message, error) {
	m := c.channel.message(c.PathValue("message"))
	if m == nil {
		return nil, errUnknownMessage
	}

	return m, nil
}

func (c *call) getMessage() (any, error) {
	m, err := c.message()
	if err != nil {
		return nil, err
	}

	return c.world.messageObject(m, true), nil
}

func (c *call) patchMessage() (any, error) {
	var request messageRequest
	if err := c.decode(&request); err != nil {
		return nil, err
	}

	m, err := c.message()
	if err != nil {
		return nil, err
	}

	if m.AuthorID != c.world.bot.id {
		return nil, errNotAuthor
	}

	return c.revise(m, c.channel, &request)
}

// revise changes a message as requested.
func (c *call) revise(m *Message, in *channel, request *messageRequest) (any, error) {
	if err := request.check(); err != nil {
		return nil, err
	}

	changed := m.clone()
	if request.Content != nil {
		changed.Content = *request.Content
	}

	changed.Embeds = orElse(request.Embeds, m.Embeds)
	changed.Components = orElse(request.Components, m.Components)
	changed.Attachments = append(slices.Clone(keptAttachments(m, request.Attachments)), c.newAttachments(request.Attachments)...)

	if isEmpty(&changed) {
		return nil, errEmpty
	}

	m.Embeds, m.Components, m.Attachments = changed.Embeds, changed.Components, changed.Attachments
	// An edit without it applies Discord's default, as sending does.
	m.AllowedMentions = request.AllowedMentions
	m.Flags &^= loading
	c.server.edit(m, changed.Content, in)
	c.server.record(Action{Kind: KindEdit, Message: m}, in)

	return c.world.messageObject(m, true), nil
}

func orElse(raw, otherwise json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return otherwise
	}

	return raw
}

func (c *call) deleteMessage() (any, error) {
	m, err := c.message()
	if err != nil {
		return nil, err
	}

	c.server.delete(m, c.channel)

	return noContent{}, nil
}

// delete deletes a message and notifies clients.
func (s *Server) delete(m *Message, c *channel) {
	m.Deleted = true

	if m.Ephemeral == "" {
		s.publish(event{
			name: "MESSAGE_DELETE", intents: in(c, intentGuildMessages, intentDirectMessages), guild: c.guildID(),
			data: withGuild(object{"id": m.ID, "channel_id": c.id}, c),
		})
	}

	s.record(Action{Kind: KindDelete, Message: m}, c)
}

// getMessages lists messages, newest first.
func (c *call) getMessages() (any, error) {
	values := c.URL.Query()

	limit, err := c.limit(50, maxPage)
	if err != nil {
		return nil, err
	}

	all := slices.DeleteFunc(slices.Clone(c.channel.messages), func(m *Message) bool { return !m.isShown() })
	position := func(id string) int {
		i, _ := slices.BinarySearchFunc(all, number(id), func(m *Message, id uint64) int { return cmp.Compare(number(m.ID), id) })

		return i
	}

	switch before, after, around := values.Get("before"), values.Get("after"), values.Get("around"); {
	case around != "":
		from := max(0, position(around)-limit/2)
		all = all[from:min(len(all), from+limit)]
	case after != "":
		from := position(strconv.FormatUint(number(after)+1, 10))
		all = all[from:min(len(all), from+limit)]
	case before != "":
		all = all[:position(before)]
	}

	all = all[max(0, len(all)-limit):]
	slices.Reverse(all)

	return mapped(all, func(m *Message) object { return c.world.messageObject(m, true) }), nil
}

func (c *call) postTyping() (any, error) {
	if !c.channel.allowed("send") {
		return nil, errPermissions
	}

	o := withGuild(object{"channel_id": c.channel.id, "user_id": c.world.bot.id, "timestamp": c.server.clock.Now().Unix()}, c.channel)
	if g := c.channel.guild; g != nil {
		o["member"] = c.world.memberObject(g.member(c.world.bot.id), true)
	}

	c.server.publish(event{
		name: "TYPING_START", intents: in(c.channel, intentGuildTyping, intentDirectTyping), guild: c.channel.guildID(), data: o,
	})
	c.server.record(Action{Kind: KindTyping}, c.channel)

	return noContent{}, nil
}

// withGuild adds the guild of a channel, if it has one.
func withGuild(o object, c *channel) object {
	if c.guild != nil {
		o["guild_id"] = c.guild.id
	}

	return o
}
