package config

import "regexp"

// Slack is system.slack.
type Slack struct {
	Enabled     bool              `yaml:"enabled" doc:"Connect to Slack."`
	TokenEnv    string            `yaml:"token_env" doc:"Environment variable that holds the bot token (xoxb-…)." format:"env" secret:"env" default:"SLACK_BOT_TOKEN"`
	AppTokenEnv string            `yaml:"app_token_env" doc:"Environment variable that holds the app-level token (xapp-…) for Socket Mode. Without it, TARSy sends messages but receives none." format:"env" secret:"env" default:"SLACK_APP_TOKEN"`
	Channel     string            `yaml:"channel" doc:"ID of the channel to post in; required if enabled." format:"slack_channel"`
	Teams       map[string]string `yaml:"teams" doc:"IDs of channels by team; the team's sessions are announced there instead." format:"slack_channel"`
	On          []string          `yaml:"on" doc:"Events to announce: started, finished (completed), failed (failed or timed out) and approval (a tool call waits for approval)." enum:"started,finished,failed,approval" default:"finished,failed,approval"`
	Quiet       *QuietHours       `yaml:"quiet_hours" doc:"Hours during which announcements are held back. Replies to people are not."`
	Templates   map[string]string `yaml:"templates" doc:"Templates of announcements in mrkdwn, by the events of on; see docs/notifications.md. The default is a built-in layout." runtime:"*"`
	APIURL      string            `yaml:"api_url" doc:"Base URL of the Web API, for a proxy or a test server." format:"url" secret:"url"`
	Allow       SlackAccess       `yaml:"allow" doc:"Who can ask questions and give feedback in the threads of announcements."`
	Approve     []string          `yaml:"approve" doc:"IDs of users who can approve and reject tool calls; an empty list means nobody. User groups are not supported." format:"slack_user"`
	Submit      SlackSubmit       `yaml:"submit" doc:"Who can submit an alert by mentioning the bot, and its alert type."`
}

// SlackSubmit is system.slack.submit.
type SlackSubmit struct {
	Channels  []string `yaml:"channels" doc:"IDs of channels, including their threads; '*' means any channel, an empty list none." format:"slack_channels"`
	Users     []string `yaml:"users" doc:"IDs of users; '*' means everybody in the channel, an empty list nobody." format:"slack_users"`
	AlertType string   `yaml:"alert_type" doc:"Alert type of the submitted alerts; if empty, the default alert type." ref:"alert_types"`
}

// SlackAccess allows a listed person in a listed channel. An empty list allows no one.
type SlackAccess struct {
	Channels []string `yaml:"channels" doc:"IDs of channels, including their threads; '*' means any channel, an empty list none." format:"slack_channels"`
	Users    []string `yaml:"users" doc:"IDs of users; '*' means everybody in the channel, an empty list nobody." format:"slack_users"`
}

// The formats of Slack's channel and user IDs.
var (
	slackChannelID = regexp.MustCompile(`^[CGD][A-Z0-9]{1,20}$`)
	slackUserID    = regexp.MustCompile(`^[UW][A-Z0-9]{1,20}$`)
)

// UnsetSlackVariables finds the environment variables of Slack that are not set.
func (c *Config) UnsetSlackVariables(env func(string) (string, bool)) []Problem {
	var problems []Problem
	if !c.System.Slack.Enabled {
		return nil
	}
	for _, v := range []struct{ key, variable, hint string }{
		{"token_env", c.System.Slack.TokenEnv, "this server does not connect to Slack; announcements are kept for a day"},
		{"app_token_env", c.System.Slack.AppTokenEnv, "messages are sent to Slack, but questions and decisions from there are not received"},
	} {
		if value, _ := env(v.variable); value == "" {
			problems = append(problems, c.problem("system.slack."+v.key, "environment variable "+v.variable+" is not set", v.hint))
		}
	}
	return problems
}

// checkSlack requires a channel for announcements, and valid quiet hours and templates.
func (c *Config) checkSlack() []Problem {
	var problems []Problem
	slack := c.System.Slack
	if slack.Enabled && slack.Channel == "" {
		problems = append(problems, c.problem("system.slack.channel", "is required", "the ID of the channel to post in, such as C0123456789"))
	}
	problems = append(problems, c.checkQuietHours("system.slack.quiet_hours", slack.Quiet)...)
	return append(problems, c.checkTemplates("system.slack.templates", slack.Templates)...)
}
