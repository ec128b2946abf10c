package discord

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// defaultReactions is how many users of a reaction are listed without a limit in the request.
const defaultReactions = 25

var errUnknownEmoji = &apiError{status: http.StatusBadRequest, Message: "Unknown Emoji", Code: 10014}

// emojiObject returns an emoji: a character, or NAME:ID for one of a guild.
func emojiObject(emoji string) object {
	if name, id, custom := strings.Cut(emoji, ":"); custom {
		return object{"id": id, "name": name}
	}

	return object{"id": nil, "name": emoji}
}

// isEmoji reports whether a text can be an emoji: one of a guild, or a non-ASCII character.
func isEmoji(text string) bool {
	return strings.Contains(text, ":") || strings.ContainsFunc(text, func(r rune) bool { return r > 127 })
}

func (c *call) putReaction() (any, error) { return c.react(c.world.bot.id, false) }

func (c *call) deleteReaction() (any, error) { return c.react(c.world.bot.id, true) }

// deleteUserReaction removes any user's reaction.
func (c *call) deleteUserReaction() (any, error) { return c.react(c.PathValue("user"), true) }

// react adds or removes a reaction of a user.
func (c *call) react(userID string, remove bool) (any, error) {
	m, err := c.message()
	if err != nil {
		return nil, err
	}

	emoji := c.PathValue("emoji")

	switch {
	case !isEmoji(emoji):
		return nil, errUnknownEmoji
	case remove && !m.unreact(emoji, userID), !remove && !m.react(emoji, userID):
		return noContent{}, nil
	}

	c.server.publishReaction(m, c.channel, userID, emoji, remove)
	c.server.record(Action{Kind: KindReaction, Message: m, Emoji: emoji, Removed: remove}, c.channel)

	return noContent{}, nil
}

// publishReaction notifies clients that a user added or removed a reaction.
func (s *Server) publishReaction(m *Message, c *channel, userID, emoji string, removed bool) {
	o := object{"user_id": userID, "channel_id": c.id, "message_id": m.ID, "emoji": emojiObject(emoji), "type": 0, "burst": false}
	name := "MESSAGE_REACTION_REMOVE"

	if !removed {
		name, o["message_author_id"] = "MESSAGE_REACTION_ADD", m.AuthorID

		if c.guild != nil && c.guild.member(userID) != nil {
			o["member"] = s.world.memberObject(c.guild.member(userID), true)
		}
	}

	s.publishReactions(name, o, c)
}

// publishReactions sends clients an event about reactions.
func (s *Server) publishReactions(name string, o object, c *channel) {
	s.publish(event{
		name: name, intents: in(c, intentGuildReactions, intentDirectReactions), guild: c.guildID(), data: withGuild(o, c),
	})
}

// getReactions lists the users who reacted with an emoji, sorted by ID.
func (c *call) getReactions() (any, error) {
	m, err := c.message()
	if err != nil {
		return nil, err
	}

	limit, err := c.limit(defaultReactions, maxPage)
	if err != nil {
		return nil, err
	}

	emoji, after := c.PathValue("emoji"), number(c.URL.Query().Get("after"))
	if !isEmoji(emoji) {
		return nil, errUnknownEmoji
	}

	users := []*user{}

	for _, r := range m.Reactions {
		for _, id := range r.Users {
			if r.Emoji == emoji && number(id) > after {
				users = append(users, c.world.userByID(id))
			}
		}
	}

	slices.SortFunc(users, func(a, b *user) int { return cmp.Compare(number(a.id), number(b.id)) })

	return mapped(users[:min(limit, len(users))], userObject), nil
}

// limit returns the number of items that the request asks for.
func (c *call) limit(usual, most int) (int, error) {
	text := c.URL.Query().Get("limit")
	if text == "" {
		return usual, nil
	}

	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > most {
		return 0, invalidForm("limit", "NUMBER_TYPE_MAX", "int value should be between 1 and "+strconv.Itoa(most)+".")
	}

	return n, nil
}

// deleteReactions removes all reactions.
func (c *call) deleteReactions() (any, error) {
	return c.clearReactions("MESSAGE_REACTION_REMOVE_ALL", func(Reaction) bool { return true })
}

// deleteEmojiReactions removes all reactions with one emoji.
func (c *call) deleteEmojiReactions() (any, error) {
	return c.clearReactions("MESSAGE_REACTION_REMOVE_EMOJI", func(r Reaction) bool { return r.Emoji == c.PathValue("emoji") })
}

func (c *call) clearReactions(name string, fits func(Reaction) bool) (any, error) {
	m, err := c.message()
	if err != nil {
		return nil, err
	}

	before := len(m.Reactions)
	if m.Reactions = slices.DeleteFunc(m.Reactions, fits); len(m.Reactions) == before {
		return noContent{}, nil
	}

	o, emoji := object{"channel_id": c.channel.id, "message_id": m.ID}, c.PathValue("emoji")
	if emoji != "" {
		o["emoji"] = emojiObject(emoji)
	}

	c.server.publishReactions(name, o, c.channel)
	c.server.record(Action{Kind: KindReaction, Message: m, Emoji: emoji, Removed: true}, c.channel)

	return noContent{}, nil
}
