package discord

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

const (
	maxWebhooks    = 15
	maxWebhookName = 80
	webhookType    = 1
	// answerTime is how long the token of an interaction can be used.
	answerTime = 15 * time.Minute
)

var (
	errUnknownWebhook = &apiError{status: http.StatusNotFound, Message: "Unknown Webhook", Code: 10015}
	errWebhookToken   = &apiError{status: http.StatusUnauthorized, Message: "Invalid Webhook Token", Code: 50027}
	errMaxWebhooks    = &apiError{status: http.StatusBadRequest, Message: "Maximum number of webhooks reached (15)", Code: 30007}
)

// webhook lets anyone who has its token write in a channel. Responses to an interaction also use one, with the ID of the
// application.
type webhook struct {
	id, token, name string
	channel         *channel
	asked           *interaction // nil for a webhook that a client created
}

// webhookRequest is the body of a request that creates or changes a webhook.
type webhookRequest struct {
	Name    *string `json:"name"`
	Channel string  `json:"channel_id"`
}

func (r webhookRequest) check() error {
	if r.Name == nil {
		return nil
	}

	name := strings.ToLower(strings.TrimSpace(*r.Name))
	if n := utf8.RuneCountInString(name); n < 1 || n > maxWebhookName {
		return invalidForm("name", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 80 in length.")
	}

	if strings.Contains(name, "discord") || strings.Contains(name, "clyde") {
		return invalidForm("name", "USERNAME_INVALID_CONTAINS", "Username cannot contain \""+name+"\"")
	}

	return nil
}

// webhookObject returns a webhook; callers that only have its token do not see its creator.
func (w *world) webhookObject(h *webhook, whole bool) object {
	o := object{
		"id": h.id, "type": webhookType, "guild_id": h.channel.guildID(), "channel_id": h.channel.id, "name": h.name, "avatar": nil, "token": h.token,
		"application_id": w.bot.id, "url": fmt.Sprintf("http://%s%s/webhooks/%s/%s", w.host, apiPath, h.id, h.token),
	}
	if whole {
		o["user"] = userObject(w.bot)
	}

	return o
}

func (c *call) wholeWebhook(h *webhook) object { return c.world.webhookObject(h, true) }

func (c *call) postWebhook() (any, error) {
	var request webhookRequest
	if err := c.decode(&request); err != nil {
		return nil, err
	}

	switch {
	case c.channel.guild == nil || c.channel.isThread():
		return nil, errChannelType
	case request.Name == nil:
		return nil, invalidForm("name", "BASE_TYPE_REQUIRED", "This field is required")
	case len(c.world.webhooksOf(func(h *webhook) bool { return h.channel == c.channel })) == maxWebhooks:
		return nil, errMaxWebhooks
	}

	if err := request.check(); err != nil {
		return nil, err
	}

	h := &webhook{id: c.world.ids.next(), token: "webhook-" + c.world.ids.next(), name: *request.Name, channel: c.channel}
	c.world.webhooks = append(c.world.webhooks, h)
	c.server.publishWebhooks(c.channel)

	return c.wholeWebhook(h), nil
}

// webhooksOf returns the matching webhooks.
func (w *world) webhooksOf(fits func(h *webhook) bool) []*webhook {
	return slices.DeleteFunc(slices.Clone(w.webhooks), func(h *webhook) bool { return !fits(h) })
}

// publishWebhooks notifies clients that the webhooks of a channel changed.
func (s *Server) publishWebhooks(c *channel) {
	s.publish(event{name: "WEBHOOKS_UPDATE", intents: intentWebhooks, guild: c.guildID(), data: withGuild(object{"channel_id": c.id}, c)})
}

func (c *call) getChannelWebhooks() (any, error) {
	return mapped(c.world.webhooksOf(func(h *webhook) bool { return h.channel == c.channel }), c.wholeWebhook), nil
}

func (c *call) getGuildWebhooks() (any, error) {
	g, err := c.guild()
	if err != nil {
		return nil, err
	}

	return mapped(c.world.webhooksOf(func(h *webhook) bool { return h.channel.guild == g }), c.wholeWebhook), nil
}

// hook returns the webhook in the path. If the path has a token, it must be correct.
func (c *call) hook() (*webhook, error) {
	id, token := c.PathValue("webhook"), c.PathValue("token")
	if id == c.world.bot.id && token != "" {
		return c.answering(token)
	}

	found := c.world.webhooksOf(func(h *webhook) bool { return h.id == id })

	switch {
	case len(found) == 0:
		return nil, errUnknownWebhook
	case token != "" && token != found[0].token:
		return nil, errWebhookToken
	}

	return found[0], nil
}

// answering returns the webhook for responses to an interaction that has been acknowledged.
func (c *call) answering(token string) (*webhook, error) {
	i := c.world.interaction(func(i *interaction) bool { return i.token == token })

	switch {
	case i == nil || !i.answered:
		return nil, errUnknownWebhook
	case c.server.clock.Since(i.at) > answerTime:
		return nil, errWebhookToken
	}

	return &webhook{id: c.world.bot.id, token: token, name: c.world.bot.name, channel: i.channel, asked: i}, nil
}

func (c *call) getWebhook() (any, error) {
	h, err := c.hook()
	if err != nil {
		return nil, err
	}

	return c.world.webhookObject(h, c.PathValue("token") == ""), nil
}

func (c *call) patchWebhook() (any, error) {
	h, err := c.hook()
	if err != nil {
		return nil, err
	}

	var request webhookRequest
	if err := c.decode(&request); err != nil {
		return nil, err
	}

	if err := request.check(); err != nil {
		return nil, err
	}

	if request.Name != nil {
		h.name = *request.Name
	}

	if to := c.world.channelByID(request.Channel); to != nil && c.PathValue("token") == "" {
		h.channel = to
	}

	c.server.publishWebhooks(h.channel)

	return c.world.webhookObject(h, c.PathValue("token") == ""), nil
}

func (c *call) deleteWebhook() (any, error) {
	h, err := c.hook()
	if err != nil {
		return nil, err
	}

	c.world.webhooks = slices.DeleteFunc(c.world.webhooks, func(other *webhook) bool { return other == h })
	c.server.publishWebhooks(h.channel)

	return noContent{}, nil
}

// place returns where the webhook writes: its channel, or the thread in it that the request names.
func (c *call) place(h *webhook) (*channel, error) {
	id := c.URL.Query().Get("thread_id")
	if id == "" {
		return h.channel, nil
	}

	t := c.world.channelByID(id)
	if t == nil || !t.isThread() || t.thread.parent != h.channel {
		return nil, errUnknownChannel
	}

	return t, nil
}

// author returns the author of the webhook's messages.
func (c *call) author(h *webhook, name string) *user {
	if h.asked != nil {
		return c.world.bot
	}

	if name == "" {
		name = h.name
	}

	return &user{id: h.id, name: name, bot: true}
}

// executeWebhook writes a message, or a follow-up response to an interaction.
func (c *call) executeWebhook() (any, error) {
	h, err := c.hook()
	if err != nil {
		return nil, err
	}

	in, err := c.place(h)
	if err != nil {
		return nil, err
	}

	var request struct {
		messageRequest

		Username string `json:"username"`
	}
	if err := c.decode(&request); err != nil {
		return nil, err
	}

	// The first follow-up response replaces the one that Discord shows as loading.
	if h.asked != nil && h.asked.original != nil && h.asked.original.Flags&loading != 0 {
		return c.revise(h.asked.original, in, &request.messageRequest)
	}

	m, err := c.draft(&request.messageRequest)
	if err != nil {
		return nil, err
	}

	m.WebhookID, m.asked = h.id, h.asked
	m.limitTo(h.asked, request.Flags)
	c.server.post(m, in, c.author(h, request.Username))
	c.server.record(Action{Kind: KindMessage, Message: m}, in)

	if h.asked == nil && c.URL.Query().Get("wait") != "true" {
		return noContent{}, nil
	}

	return c.world.messageObject(m, true), nil
}

// hookMessage returns the message in the path, which the webhook must have written, and its channel.
func (c *call) hookMessage() (*Message, *channel, error) {
	h, err := c.hook()
	if err != nil {
		return nil, nil, err
	}

	in, err := c.place(h)
	if err != nil {
		return nil, nil, err
	}

	id := c.PathValue("message")
	i := slices.IndexFunc(in.messages, func(m *Message) bool {
		mine := m.WebhookID == h.id && m.asked == h.asked && m.ID == id
		original := h.asked != nil && m == h.asked.original && (id == "@original" || id == m.ID)

		return !m.Deleted && (mine || original)
	})

	if i < 0 {
		return nil, nil, errUnknownMessage
	}

	return in.messages[i], in, nil
}

func (c *call) getHookMessage() (any, error) {
	m, _, err := c.hookMessage()
	if err != nil {
		return nil, err
	}

	return c.world.messageObject(m, true), nil
}

func (c *call) patchHookMessage() (any, error) {
	m, in, err := c.hookMessage()
	if err != nil {
		return nil, err
	}

	var request messageRequest
	if err := c.decode(&request); err != nil {
		return nil, err
	}

	return c.revise(m, in, &request)
}

func (c *call) deleteHookMessage() (any, error) {
	m, in, err := c.hookMessage()
	if err != nil {
		return nil, err
	}

	c.server.delete(m, in)

	return noContent{}, nil
}
