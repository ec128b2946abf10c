package discord

import (
	"regexp"
	"slices"
)

// AllowedMentions selects which mentions in a message send notifications.
type AllowedMentions struct {
	Parse       []string `json:"parse,omitempty"`
	Roles       []string `json:"roles,omitempty"`
	Users       []string `json:"users,omitempty"`
	RepliedUser *bool    `json:"replied_user,omitempty"`
}

const maxAllowedMentions = 100

// check returns the error with which Discord rejects the value.
func (a *AllowedMentions) check() *apiError {
	if a == nil {
		return nil
	}

	for kind, ids := range map[string][]string{"users": a.Users, "roles": a.Roles} {
		if len(ids) > 0 && slices.Contains(a.Parse, kind) {
			return invalidForm("allowed_mentions", "MESSAGE_ALLOWED_MENTIONS_PARSE_EXCLUSIVE",
				"parse:[\""+kind+"\"] and "+kind+": [ids...] are mutually exclusive.")
		}

		if len(ids) > maxAllowedMentions {
			return invalidForm("allowed_mentions."+kind, "BASE_TYPE_MAX_LENGTH", "Must be 100 or fewer in length.")
		}
	}

	for _, kind := range a.Parse {
		if !slices.Contains([]string{"users", "roles", "everyone"}, kind) {
			return invalidForm("allowed_mentions.parse", "BASE_TYPE_CHOICES", "Value must be one of {'users', 'roles', 'everyone'}.")
		}
	}

	return nil
}

// allows reports whether a mention of this kind, "users" or "roles", and ID sends a notification.
func (a *AllowedMentions) allows(kind, id string) bool {
	if a == nil {
		return true
	}

	listed := a.Users
	if kind == "roles" {
		listed = a.Roles
	}

	return slices.Contains(a.Parse, kind) || slices.Contains(listed, id)
}

// allowsReply reports whether the author of the message being replied to is notified.
func (a *AllowedMentions) allowsReply() bool {
	return a == nil || a.RepliedUser != nil && *a.RepliedUser
}

var (
	userMention     = regexp.MustCompile(`<@!?([0-9]+)>`)
	roleMention     = regexp.MustCompile(`<@&([0-9]+)>`)
	everyoneMention = regexp.MustCompile(`@(everyone|here)\b`)
	// named matches mentions by name, which only authors of scripts use.
	named = regexp.MustCompile(`<(@&|@|#)([^<>\s0-9][^<>]*)>`)
)

// notify sets who is notified by a message.
func (w *world) notify(m *Message, c *channel) {
	m.Notified, m.NotifiedRoles, m.NotifiedEveryone = nil, nil, false

	for _, found := range userMention.FindAllStringSubmatch(m.Content, -1) {
		id := found[1]
		if w.userByID(id) != nil && m.AllowedMentions.allows("users", id) && !slices.Contains(m.Notified, id) {
			m.Notified = append(m.Notified, id)
		}
	}

	if replied := c.message(m.ReplyTo); replied != nil && w.userByID(replied.AuthorID) != nil && m.AllowedMentions.allowsReply() && !slices.Contains(m.Notified, replied.AuthorID) {
		m.Notified = append(m.Notified, replied.AuthorID)
	}

	if c.guild == nil {
		return
	}

	for _, found := range roleMention.FindAllStringSubmatch(m.Content, -1) {
		id := found[1]
		if c.guild.role(id) != nil && m.AllowedMentions.allows("roles", id) && !slices.Contains(m.NotifiedRoles, id) {
			m.NotifiedRoles = append(m.NotifiedRoles, id)
		}
	}

	m.NotifiedEveryone = everyoneMention.MatchString(m.Content) && m.AllowedMentions.allows("everyone", "")
}

// resolve replaces names in mentions with IDs. Unknown names are unchanged.
func (w *world) resolve(content string, in *channel) string {
	return named.ReplaceAllStringFunc(content, func(mention string) string {
		found := named.FindStringSubmatch(mention)

		switch kind, name := found[1], found[2]; kind {
		case "@":
			if u, err := w.findUser(name); err == nil {
				return "<@" + u.id + ">"
			}
		case "@&":
			if in.guild != nil && in.guild.role(name) != nil {
				return "<@&" + in.guild.role(name).id + ">"
			}
		default:
			if c, err := w.findChannel(name); err == nil {
				return "<#" + c.id + ">"
			}
		}

		return mention
	})
}
