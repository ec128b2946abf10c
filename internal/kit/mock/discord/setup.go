// Package discord is a virtual Discord on the wire: the REST API (v9 and v10) and the gateway, complete enough for the
// usual client libraries to run against it unmodified. Tests and scripts determine what people write, read what the bot
// sent, and break connections, sessions and rate limits on purpose. There is one bot; voice, forums and permissions beyond
// Channel.Deny are not simulated. The package knows nothing about models, TARSy, or where its script comes from.
package discord

import "time"

// Setup is the discord section of a script: who and what exists at the start, and the conversation.
type Setup struct {
	Token      string        `yaml:"token" doc:"The bot token to accept; by default any token."`
	Bot        string        `yaml:"bot" doc:"The name of the bot." default:"tarsy"`
	Heartbeat  time.Duration `yaml:"heartbeat" doc:"The heartbeat interval sent to clients." min:"10ms" default:"41250ms"`
	Disallow   []string      `yaml:"disallow_intents" doc:"Privileged intents that the bot may not use; requesting one closes the connection with code 4014." enum:"guild_members,presences,message_content"`
	RateLimits []RateLimit   `yaml:"rate_limits" doc:"Limits on REST routes; routes without one allow 1000 requests a second."`
	Users      []User        `yaml:"users" doc:"The people, and other bots."`
	Guilds     []Guild       `yaml:"guilds" doc:"The guilds that the bot is in; by default one, named guild, with the channel general."`
	// Conversation is played once the bot is ready.
	Conversation []Step `yaml:"conversation" doc:"The steps to play once the bot is connected."`
}

// User is a person or another bot.
type User struct {
	Name        string `yaml:"name" doc:"The user name." required:"true" short:"true"`
	ID          string `yaml:"id" doc:"The ID; generated if empty."`
	DisplayName string `yaml:"display_name" doc:"The display name."`
	Bot         bool   `yaml:"bot" doc:"Whether the user is another bot."`
}

// Guild is a Discord server.
type Guild struct {
	Name     string    `yaml:"name" doc:"The name of the guild." required:"true" short:"true"`
	ID       string    `yaml:"id" doc:"The ID; generated if empty."`
	Roles    []Role    `yaml:"roles" doc:"The roles other than @everyone."`
	Channels []Channel `yaml:"channels" doc:"The channels."`
	Members  []Member  `yaml:"members" doc:"The members; by default all users, without roles. The bot is always a member."`
}

// Role is a role of a guild.
type Role struct {
	Name string `yaml:"name" doc:"The name of the role." required:"true" short:"true"`
	ID   string `yaml:"id" doc:"The ID; generated if empty."`
}

// Channel is a channel of a guild.
type Channel struct {
	Name  string   `yaml:"name" doc:"The name, without #." required:"true" short:"true"`
	ID    string   `yaml:"id" doc:"The ID; generated if empty."`
	Topic string   `yaml:"topic" doc:"The topic."`
	Type  string   `yaml:"type" doc:"The kind of channel." enum:"text,announcement,voice" default:"text"`
	Deny  []string `yaml:"deny" doc:"What the bot may not do in the channel: see it, send messages, create threads." enum:"view,send,threads"`
}

// Member is a user in a guild.
type Member struct {
	User  string   `yaml:"user" doc:"The name of the user." required:"true" short:"true"`
	Nick  string   `yaml:"nick" doc:"The nickname in this guild."`
	Roles []string `yaml:"roles" doc:"The names of the roles."`
}

// RateLimit is a limit on a route, for each channel or guild in its path.
type RateLimit struct {
	Route  string        `yaml:"route" doc:"The route, such as POST /channels/{channel}/messages." required:"true"`
	Limit  int           `yaml:"limit" doc:"The number of requests allowed in the window." required:"true" min:"1"`
	Window time.Duration `yaml:"window" doc:"The length of the window." default:"1s" min:"1ms"`
}
