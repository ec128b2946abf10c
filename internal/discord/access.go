package discord

import (
	"slices"

	"tarsy.dev/tarsy/flow/discord"
)

// anyone in a list allows everything that the list is about.
const anyone = "*"

// Access allows a person who is in one of the guilds, writes in one of the channels and has one of the roles. The zero value allows nobody.
type Access struct {
	Guilds   []string
	Channels []string
	Roles    []string
}

// allows reports whether the author of a message is allowed. Direct messages come from no guild and never are.
func (a Access) allows(m discord.Message) bool {
	return m.GuildID != "" && has(a.Guilds, m.GuildID) && has(a.Channels, m.ChannelID, m.ParentID) && has(a.Roles, m.RoleIDs...)
}

func has(allowed []string, ids ...string) bool {
	return slices.Contains(allowed, anyone) ||
		slices.ContainsFunc(ids, func(id string) bool { return id != "" && slices.Contains(allowed, id) })
}
