package flowtest

import "tarsy.dev/tarsy/flow/program"

// Discord is a virtual Discord server.
type Discord struct{}

func (d *Discord) access() program.DiscordAccess { return program.DiscordAccess{} }
func (d *Discord) stop()                         {}
