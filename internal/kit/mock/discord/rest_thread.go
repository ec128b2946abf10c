package discord

import (
	"slices"
	"unicode/utf8"
)

// threadRequest is the body of a request that creates or changes a thread.
type threadRequest struct {
	Name     *string `json:"name"`
	Duration *int    `json:"auto_archive_duration"`
	Type     *int    `json:"type"`
	Archived *bool   `json:"archived"`
	Locked   *bool   `json:"locked"`
}

const (
	maxThreadName = 100
	dayInMinutes  = 1440
)

func (r *threadRequest) check() error {
	if r.Name != nil && (*r.Name == "" || utf8.RuneCountInString(*r.Name) > maxThreadName) {
		return invalidForm("name", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 100 in length.")
	}

	if r.Duration != nil && !slices.Contains([]int{60, dayInMinutes, 3 * dayInMinutes, 7 * dayInMinutes}, *r.Duration) {
		return invalidForm("auto_archive_duration", "BASE_TYPE_CHOICES", "Value must be one of {60, 1440, 4320, 10080}.")
	}

	return nil
}

// newThread decodes and checks a request for a thread in the channel.
func (c *call) newThread() (threadRequest, error) {
	var request threadRequest
	if err := c.decode(&request); err != nil {
		return request, err
	}

	if err := request.check(); err != nil {
		return request, err
	}

	switch {
	case request.Name == nil:
		return request, invalidForm("name", "BASE_TYPE_REQUIRED", "This field is required")
	case c.channel.kind != typeText && c.channel.kind != typeAnnouncement:
		return request, errChannelType
	case !c.channel.allowed("threads"):
		return request, errPermissions
	}

	return request, nil
}

func (c *call) postThreadFromMessage() (any, error) {
	request, err := c.newThread()
	if err != nil {
		return nil, err
	}

	m, err := c.message()
	if err != nil {
		return nil, err
	}

	if m.Thread != "" {
		return nil, errThreadExists
	}

	made := c.server.startThread(c.channel, c.world.bot, *request.Name, m, request)
	c.server.record(Action{Kind: KindThread, Thread: &Thread{ID: made.id, Name: made.name, Parent: c.channel.label(), Message: m.ID}}, c.channel)

	return created{c.world.channelObject(made)}, nil
}

func (c *call) postThread() (any, error) {
	request, err := c.newThread()
	if err != nil {
		return nil, err
	}

	made := c.server.startThread(c.channel, c.world.bot, *request.Name, nil, request)
	c.server.record(Action{Kind: KindThread, Thread: &Thread{ID: made.id, Name: made.name, Parent: c.channel.label()}}, c.channel)

	return created{c.world.channelObject(made)}, nil
}

// patchChannel changes a thread; the bot cannot change other channels.
func (c *call) patchChannel() (any, error) {
	var request threadRequest
	if err := c.decode(&request); err != nil {
		return nil, err
	}

	if err := request.check(); err != nil {
		return nil, err
	}

	if !c.channel.isThread() {
		return nil, errPermissions
	}

	t := c.channel.thread

	if request.Name != nil {
		c.channel.name = *request.Name
	}

	if request.Duration != nil {
		t.duration = *request.Duration
	}

	if request.Archived != nil {
		t.archived, t.changed = *request.Archived, c.server.clock.Now()
	}

	if request.Locked != nil {
		t.locked = *request.Locked
	}

	o := c.world.channelObject(c.channel)
	c.server.publish(event{name: "THREAD_UPDATE", intents: intentGuilds, guild: c.channel.guildID(), data: o})

	return o, nil
}

// deleteChannel deletes a thread with its messages; the bot cannot delete other channels. Direct messages are only closed.
func (c *call) deleteChannel() (any, error) {
	o := c.world.channelObject(c.channel)

	switch {
	case c.channel.recipient != nil:
		return o, nil
	case !c.channel.isThread():
		return nil, errPermissions
	}

	c.world.removeThread(c.channel)
	c.server.publish(event{
		name: "THREAD_DELETE", intents: intentGuilds, guild: c.channel.guildID(),
		data: object{"id": c.channel.id, "guild_id": c.channel.guildID(), "parent_id": c.channel.thread.parent.id, "type": c.channel.kind},
	})
	c.server.record(Action{
		Kind: KindDelete, Thread: &Thread{ID: c.channel.id, Name: c.channel.name, Parent: c.channel.thread.parent.label(), Message: c.channel.thread.starter},
	}, c.channel)

	return o, nil
}

// removeThread removes a thread, and its reference in the message that it was started from.
func (w *world) removeThread(c *channel) {
	w.channels = slices.DeleteFunc(w.channels, func(other *channel) bool { return other == c })
	w.deletedThreads = append(w.deletedThreads, c)

	if from := c.thread.parent.message(c.thread.starter); from != nil {
		from.Thread, from.Flags = "", from.Flags&^hasThread
	}
}

func (c *call) getThreadMembers() (any, error) {
	if !c.channel.isThread() {
		return nil, errUnknownChannel
	}

	return mapped(c.channel.thread.members, func(u *user) object { return threadMemberObject(c.channel, u) }), nil
}

func (c *call) putThreadMember() (any, error) {
	if !c.channel.isThread() {
		return nil, errUnknownChannel
	}

	if t := c.channel.thread; !slices.Contains(t.members, c.world.bot) {
		t.members = append(t.members, c.world.bot)
	}

	return noContent{}, nil
}

func (c *call) deleteThreadMember() (any, error) {
	if !c.channel.isThread() {
		return nil, errUnknownChannel
	}

	t := c.channel.thread
	t.members = slices.DeleteFunc(t.members, func(u *user) bool { return u == c.world.bot })

	return noContent{}, nil
}
