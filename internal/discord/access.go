package discord

import (
	"tarsy.dev/tarsy/flow/discord"
	"tarsy.dev/tarsy/internal/notify"
)

// Access allows a person who is in one of the guilds, writes in one of the channels and has one of the roles. The zero value
// allows no one.
type Access struct {
	Guilds   []string
	Channels []string
	Roles    []string
}

// allows reports whether the author of a message is allowed. Direct messages have no guild and are never allowed.
func (a Access) allows(m discord.Message) bool {
	return m.GuildID != "" && notify.Allowed(a.Guilds, m.GuildID) && notify.Allowed(a.Channels, m.ChannelID, m.ParentID) && notify.Allowed(a.Roles, m.RoleIDs...)
}
