package discord

import (
	"net/http"
	"slices"
	"time"
)

const (
	// maxPins is how many messages of a channel can be pinned.
	maxPins    = 250
	maxPinPage = 50
	// typePinned is the type of Discord's message about a pinned message.
	typePinned = 6
)

var errTooManyPins = &apiError{status: http.StatusBadRequest, Message: "Maximum number of pins reached (250)", Code: 30003}

// pinned returns the pinned messages of the channel, most recently pinned first.
func (c *channel) pinned() []*Message {
	found := slices.DeleteFunc(slices.Clone(c.messages), func(m *Message) bool { return m.Deleted || m.Pinned.IsZero() })
	slices.SortStableFunc(found, func(a, b *Message) int { return b.Pinned.Compare(a.Pinned) })

	return found
}

// getOldPins lists the pins for the deprecated route, which has no pages.
func (c *call) getOldPins() (any, error) {
	all := c.channel.pinned()

	return mapped(all[:min(len(all), maxPinPage)], func(m *Message) object { return c.world.messageObject(m, true) }), nil
}

// getPins lists the messages pinned before a time.
func (c *call) getPins() (any, error) {
	limit, err := c.limit(maxPinPage, maxPinPage)
	if err != nil {
		return nil, err
	}

	all := c.channel.pinned()

	if text := c.URL.Query().Get("before"); text != "" {
		before, err := time.Parse(time.RFC3339, text)
		if err != nil {
			return nil, invalidForm("before", "DATE_TIME_TYPE_PARSE", "Could not parse "+text+". Should be ISO8601.")
		}

		all = slices.DeleteFunc(all, func(m *Message) bool { return !m.Pinned.Before(before) })
	}

	shown := all[:min(limit, len(all))]

	return object{
		"items": mapped(shown, func(m *Message) object {
			return object{"pinned_at": timestamp(m.Pinned), "message": c.world.messageObject(m, true)}
		}),
		"has_more": len(shown) < len(all),
	}, nil
}

func (c *call) putPin() (any, error) {
	m, err := c.message()

	switch {
	case err != nil:
		return nil, err
	case !m.Pinned.IsZero():
		return noContent{}, nil
	case len(c.channel.pinned()) == maxPins:
		return nil, errTooManyPins
	}

	m.Pinned = c.server.clock.Now()
	c.publishPins(m)
	c.server.record(Action{Kind: KindPin, Message: m}, c.channel)
	c.server.post(&Message{Type: typePinned, ReplyTo: m.ID, AllowedMentions: &AllowedMentions{}}, c.channel, c.world.bot)

	return noContent{}, nil
}

func (c *call) deletePin() (any, error) {
	m, err := c.message()
	if err != nil {
		return nil, err
	}

	if m.Pinned.IsZero() {
		return noContent{}, nil
	}

	m.Pinned = time.Time{}
	c.publishPins(m)
	c.server.record(Action{Kind: KindPin, Message: m, Removed: true}, c.channel)

	return noContent{}, nil
}

// publishPins notifies clients that a message was pinned or unpinned.
func (c *call) publishPins(m *Message) {
	var last any

	if all := c.channel.pinned(); len(all) > 0 {
		last = timestamp(all[0].Pinned)
	}

	c.server.publish(event{
		name: "CHANNEL_PINS_UPDATE", intents: in(c.channel, intentGuilds, intentDirectMessages), guild: c.channel.guildID(),
		data: withGuild(object{"channel_id": c.channel.id, "last_pin_timestamp": last}, c.channel),
	})
	c.server.publishMessage("MESSAGE_UPDATE", m, c.channel)
}
