package discord

import (
	"encoding/json"
	"slices"
	"time"
)

// object is what Discord's documentation calls an object. Keys are sorted when it is encoded, so equal objects are equal
// text.
type object map[string]any

// timeForm is Discord's format of times.
const timeForm = "2006-01-02T15:04:05.000000-07:00"

func timestamp(at time.Time) any {
	if at.IsZero() {
		return nil
	}

	return at.UTC().Format(timeForm)
}

// orNull returns a text, or null if it is empty.
func orNull(text string) any {
	if text == "" {
		return nil
	}

	return text
}

// list returns the raw JSON of a list, or an empty list if there is none.
func list(raw json.RawMessage) any {
	if len(raw) == 0 || string(raw) == "null" {
		return []any{}
	}

	return raw
}

func mapped[T, R any](values []T, by func(T) R) []R {
	made := make([]R, len(values))
	for i, value := range values {
		made[i] = by(value)
	}

	return made
}

func userObject(u *user) object {
	o := object{
		"id": u.id, "username": u.name, "discriminator": "0", "global_name": orNull(u.display), "avatar": nil, "public_flags": 0,
	}
	if u.bot {
		o["bot"] = true
	}

	return o
}

func roleObject(r *role) object {
	return object{
		"id": r.id, "name": r.name, "color": 0, "hoist": false, "position": 0, "permissions": "2248473465835073", "managed": false,
		"mentionable": true, "flags": 0, "icon": nil, "unicode_emoji": nil,
		"colors": object{"primary_color": 0, "secondary_color": nil, "tertiary_color": nil},
	}
}

// memberObject returns a member; whole includes the user, which messages omit.
func (w *world) memberObject(m *member, whole bool) object {
	o := object{
		"nick": orNull(m.nick), "avatar": nil, "roles": mapped(m.roles, func(r *role) string { return r.id }),
		"joined_at": timestamp(w.begin), "premium_since": nil, "deaf": false, "mute": false, "flags": 0, "pending": false,
		"communication_disabled_until": nil,
	}
	if whole {
		o["user"] = userObject(m.user)
	}

	return o
}

func (w *world) channelObject(c *channel) object {
	o := object{"id": c.id, "type": c.kind, "last_message_id": nil, "flags": 0}
	if last := c.last(); last != nil {
		o["last_message_id"] = last.ID
	}

	if c.recipient != nil {
		o["recipients"] = []object{userObject(c.recipient)}

		return o
	}

	o["guild_id"], o["name"], o["nsfw"], o["rate_limit_per_user"] = c.guild.id, c.name, false, 0

	if c.isThread() {
		t := c.thread
		o["parent_id"], o["owner_id"] = t.parent.id, t.owner.id
		o["message_count"], o["total_message_sent"], o["member_count"] = len(c.messages), len(c.messages), len(t.members)
		o["thread_metadata"] = object{
			"archived": t.archived, "auto_archive_duration": t.duration, "archive_timestamp": timestamp(t.changed), "locked": t.locked,
			"create_timestamp": timestamp(t.created),
		}

		if slices.Contains(t.members, w.bot) {
			o["member"] = threadMemberObject(c, w.bot)
		}

		return o
	}

	o["topic"], o["position"], o["parent_id"], o["permission_overwrites"] = orNull(c.topic), 0, nil, []any{}

	return o
}

func threadMemberObject(c *channel, u *user) object {
	return object{"id": c.id, "user_id": u.id, "join_timestamp": timestamp(c.thread.created), "flags": 1}
}

// guildObject returns a guild as REST shows it; the gateway adds channels, members and more.
func (w *world) guildObject(g *guild) object {
	return object{
		"id": g.id, "name": g.name, "icon": nil, "splash": nil, "discovery_splash": nil, "owner_id": g.owner().id, "afk_channel_id": nil,
		"afk_timeout": 300, "verification_level": 0, "default_message_notifications": 0, "explicit_content_filter": 0,
		"roles": mapped(g.roles, roleObject), "emojis": []any{}, "stickers": []any{}, "features": []any{}, "mfa_level": 0, "application_id": nil,
		"system_channel_id": nil, "system_channel_flags": 0, "rules_channel_id": nil, "vanity_url_code": nil, "description": nil,
		"banner": nil, "premium_tier": 0, "premium_subscription_count": 0, "preferred_locale": "en-US", "public_updates_channel_id": nil,
		"nsfw_level": 0, "premium_progress_bar_enabled": false, "safety_alerts_channel_id": nil,
	}
}

// owner returns the first member that is not a bot, or the bot.
func (g *guild) owner() *user {
	if i := slices.IndexFunc(g.members, func(m *member) bool { return !m.user.bot }); i >= 0 {
		return g.members[i].user
	}

	return g.members[0].user
}

// guildCreate returns a guild as the gateway describes it.
func (w *world) guildCreate(g *guild) object {
	o := w.guildObject(g)
	o["joined_at"], o["large"], o["unavailable"], o["member_count"] = timestamp(w.begin), false, false, len(g.members)
	o["members"] = mapped(g.members, func(m *member) object { return w.memberObject(m, true) })
	o["channels"] = mapped(w.channelsOf(g, false), w.channelObject)
	o["threads"] = mapped(w.channelsOf(g, true), w.channelObject)

	for _, key := range []string{"voice_states", "presences", "stage_instances", "guild_scheduled_events", "soundboard_sounds"} {
		o[key] = []any{}
	}

	return o
}

// messageObject returns a message as REST shows it, including the one that it replies to if deep.
func (w *world) messageObject(m *Message, deep bool) object {
	c := w.channelByID(m.ChannelID)
	attachments := mapped(m.Attachments, func(a Attachment) object { return w.attachmentObject(m.ChannelID, a) })
	o := object{
		"id": m.ID, "channel_id": m.ChannelID, "author": w.authorObject(m), "content": m.Content, "timestamp": timestamp(m.Created),
		"edited_timestamp": timestamp(m.Edited), "tts": false, "mention_everyone": m.NotifiedEveryone, "pinned": !m.Pinned.IsZero(), "type": m.Type,
		"mentions":      mapped(m.Notified, func(id string) object { return userObject(w.userByID(id)) }),
		"mention_roles": append([]string{}, m.NotifiedRoles...), "attachments": attachments, "embeds": list(m.Embeds),
		"components": list(m.Components), "flags": m.Flags,
	}

	if len(m.Nonce) > 0 {
		o["nonce"] = m.Nonce
	}

	if m.ReplyTo != "" {
		o["message_reference"] = object{"type": 0, "message_id": m.ReplyTo, "channel_id": m.ChannelID, "guild_id": c.guildID()}

		if replied := c.message(m.ReplyTo); deep {
			o["referenced_message"] = nil
			if replied != nil {
				o["referenced_message"] = w.messageObject(replied, false)
			}
		}
	}

	if m.WebhookID != "" {
		o["webhook_id"] = m.WebhookID
	}

	if m.asked != nil {
		o["application_id"], o["interaction_metadata"], o["interaction"] = w.bot.id, interactionObject(m.asked), interactionObject(m.asked)
	}

	if m.Thread != "" {
		o["thread"] = w.channelObject(w.channelByID(m.Thread))
	}

	if len(m.Reactions) > 0 {
		o["reactions"] = mapped(m.Reactions, func(r Reaction) object {
			return object{
				"emoji": emojiObject(r.Emoji), "count": len(r.Users), "count_details": object{"burst": 0, "normal": len(r.Users)},
				"me": slices.Contains(r.Users, w.bot.id), "me_burst": false, "burst_colors": []any{},
			}
		})
	}

	return o
}

// authorObject returns the author of a message: a user, or a webhook under a name.
func (w *world) authorObject(m *Message) object {
	if u := w.userByID(m.AuthorID); u != nil {
		return userObject(u)
	}

	return object{"id": m.AuthorID, "username": m.Author, "discriminator": "0000", "global_name": nil, "avatar": nil, "public_flags": 0, "bot": true}
}

// gatewayMessage returns a message as the gateway shows it: with the guild and the roles of the author.
func (w *world) gatewayMessage(m *Message) object {
	o := w.messageObject(m, true)
	o["channel_type"] = w.channelByID(m.ChannelID).kind

	g := w.guildByID(m.GuildID)
	if g == nil {
		return o
	}

	o["guild_id"] = g.id
	if by := g.member(m.AuthorID); by != nil {
		o["member"] = w.memberObject(by, false)
	}

	o["mentions"] = mapped(m.Notified, func(id string) object {
		u := userObject(w.userByID(id))
		if as := g.member(id); as != nil {
			u["member"] = w.memberObject(as, false)
		}

		return u
	})

	return o
}
