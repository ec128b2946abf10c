package config

import (
	"regexp"
	"slices"
)

// Discord is system.discord.
type Discord struct {
	Enabled    bool          `yaml:"enabled" doc:"Connect to Discord."`
	TokenEnv   string        `yaml:"token_env" doc:"Environment variable that holds the bot token." format:"env" secret:"env" default:"DISCORD_TOKEN"`
	Channel    string        `yaml:"channel" doc:"ID of the channel in which sessions that completed, failed or timed out are announced; required if enabled." format:"discord_channel"`
	APIURL     string        `yaml:"api_url" doc:"Base URL of the REST API, for a proxy or a test server." format:"url" secret:"url"`
	GatewayURL string        `yaml:"gateway_url" doc:"URL of the gateway, for a proxy or a test server; by default the API provides it." format:"ws_url" secret:"url"`
	Allow      DiscordAccess `yaml:"allow" doc:"Who can ask questions in the thread of an announcement."`
	Approve    []string      `yaml:"approve" doc:"IDs of users and roles that can approve and reject tool calls in threads; an empty list means nobody." format:"discord_id"`
	Submit     DiscordSubmit `yaml:"submit" doc:"Who can submit an alert by mentioning the bot, and as what."`
}

// DiscordAccess allows a person who is in one of the guilds, writes in one of the channels and has one of the roles. An empty list allows
// nobody.
type DiscordAccess struct {
	Guilds   []string `yaml:"guilds" doc:"IDs of guilds; '*' means any guild, an empty list none." format:"discord_id"`
	Channels []string `yaml:"channels" doc:"IDs of channels, including their threads; '*' means any channel, an empty list none." format:"discord_id"`
	Roles    []string `yaml:"roles" doc:"IDs of roles; '*' means every member of the guild, an empty list nobody." format:"discord_id"`
}

// DiscordSubmit is system.discord.submit.
type DiscordSubmit struct {
	Guilds    []string `yaml:"guilds" doc:"IDs of guilds; '*' means any guild, an empty list none." format:"discord_id"`
	Channels  []string `yaml:"channels" doc:"IDs of channels, including their threads; '*' means any channel, an empty list none." format:"discord_id"`
	Roles     []string `yaml:"roles" doc:"IDs of roles; '*' means every member of the guild, an empty list nobody." format:"discord_id"`
	AlertType string   `yaml:"alert_type" doc:"Type of the submitted alerts; by default the default alert type." ref:"alert_types"`
}

// Access is who can submit alerts.
func (s DiscordSubmit) Access() DiscordAccess {
	return DiscordAccess{Guilds: s.Guilds, Channels: s.Channels, Roles: s.Roles}
}

// discordID is how Discord writes the IDs of everything.
var discordID = regexp.MustCompile(`^[0-9]{5,20}$`)

// checkDiscord requires a channel for the announcements, and names for those who decide about tool calls.
func (c *Config) checkDiscord() []Problem {
	if slices.Contains(c.System.Discord.Approve, "*") {
		return []Problem{c.problem("system.discord.approve", "must not contain '*'", "list the IDs of the users and roles that can decide")}
	}

	if !c.System.Discord.Enabled || c.System.Discord.Channel != "" {
		return nil
	}
	return []Problem{c.problem("system.discord.channel", "is required", "the ID of the channel in which sessions are announced")}
}
