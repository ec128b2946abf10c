package config

import (
	"regexp"
	"slices"
)

// Discord is system.discord.
type Discord struct {
	Enabled  bool   `yaml:"enabled" doc:"Connect to Discord."`
	TokenEnv string `yaml:"token_env" doc:"Environment variable that holds the bot token." format:"env" secret:"env" default:"DISCORD_TOKEN"`
	Channel  string `yaml:"channel" doc:"ID of the channel to announce sessions in; required if enabled." format:"discord_channel"`

	Teams     map[string]string `yaml:"teams" doc:"IDs of channels by team; the team's sessions are announced there instead." format:"discord_channel"`
	On        []string          `yaml:"on" doc:"Events to announce: started, finished (completed), failed (failed or timed out) and approval (a tool call waits for approval)." enum:"started,finished,failed,approval" default:"finished,failed,approval"`
	Quiet     *QuietHours       `yaml:"quiet_hours" doc:"Hours during which announcements are held back. Replies to people are not."`
	Templates map[string]string `yaml:"templates" doc:"Templates of announcements by event (text/template); see docs/notifications.md. Each has a default." runtime:"*"`

	APIURL     string        `yaml:"api_url" doc:"Base URL of the REST API, for a proxy or a test server." format:"url" secret:"url"`
	GatewayURL string        `yaml:"gateway_url" doc:"URL of the gateway, for a proxy or a test server; by default, the API provides it." format:"ws_url" secret:"url"`
	Allow      DiscordAccess `yaml:"allow" doc:"Who can ask questions and give feedback in the thread of an announcement."`
	Approve    []string      `yaml:"approve" doc:"IDs of users and roles that can approve and reject tool calls in threads; an empty list means nobody." format:"discord_id"`
	Submit     DiscordSubmit `yaml:"submit" doc:"Who can submit an alert by mentioning the bot, and its alert type."`
}

// DiscordAccess allows a person who is in one of the guilds, writes in one of the channels and has one of the roles. An empty list allows
// no one.
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
	AlertType string   `yaml:"alert_type" doc:"Alert type of the submitted alerts; if empty, the default alert type." ref:"alert_types"`
}

// Access returns who can submit alerts.
func (s DiscordSubmit) Access() DiscordAccess {
	return DiscordAccess{Guilds: s.Guilds, Channels: s.Channels, Roles: s.Roles}
}

// discordID matches Discord IDs of any kind.
var discordID = regexp.MustCompile(`^[0-9]{5,20}$`)

// checkDiscord requires a channel for announcements, and rejects a wildcard for those who decide on tool calls.
func (c *Config) checkDiscord() []Problem {
	problems := c.checkQuietHours("system.discord.quiet_hours", c.System.Discord.Quiet)
	if slices.Contains(c.System.Discord.Approve, "*") {
		problems = append(problems, c.problem("system.discord.approve", "must not contain '*'", "list the IDs of the users and roles that can decide"))
	}
	if c.System.Discord.Enabled && c.System.Discord.Channel == "" {
		problems = append(problems, c.problem("system.discord.channel", "is required", "the ID of the channel in which sessions are announced"))
	}
	return append(problems, c.checkTemplates("system.discord.templates", c.System.Discord.Templates)...)
}
