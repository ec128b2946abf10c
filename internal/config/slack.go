package config

import (
	"maps"
	"regexp"
	"slices"

	"tarsy.dev/tarsy/internal/writeback/message"
)

// SlackApproval is the event of system.slack.on that a tool call waits for an approval. The others are those of write-back.
const SlackApproval = "approval"

// Slack is system.slack.
type Slack struct {
	Enabled     bool              `yaml:"enabled" doc:"Connect to Slack."`
	TokenEnv    string            `yaml:"token_env" doc:"Environment variable that holds the bot token (xoxb-…)." format:"env" secret:"env" default:"SLACK_BOT_TOKEN"`
	AppTokenEnv string            `yaml:"app_token_env" doc:"Environment variable that holds the app-level token (xapp-…) for Socket Mode. If it is not set, messages are sent and nothing is received." format:"env" secret:"env" default:"SLACK_APP_TOKEN"`
	Channel     string            `yaml:"channel" doc:"ID of the channel to post in; required if enabled." format:"slack_channel"`
	Teams       map[string]string `yaml:"teams" doc:"IDs of other channels, by the team of the alert." format:"slack_channel"`
	On          []string          `yaml:"on" doc:"What is announced: that an investigation started, finished or failed, and tool calls that wait for an approval. The default is all but started." enum:"started,finished,failed,approval"`
	Templates   map[string]string `yaml:"templates" doc:"Templates of messages in mrkdwn, by the names of on; they see the data of docs/write-back.md. By default messages have a built-in layout." runtime:"*"`
	APIURL      string            `yaml:"api_url" doc:"Base URL of the Web API, for a proxy or a test server." format:"url" secret:"url"`
	Allow       SlackAccess       `yaml:"allow" doc:"Who can ask questions in the threads of announcements."`
	Approve     []string          `yaml:"approve" doc:"IDs of users who can approve and reject tool calls; an empty list means nobody. User groups are not supported." format:"slack_user"`
}

// SlackAccess allows a person who is listed, in a channel that is listed. An empty list allows nobody.
type SlackAccess struct {
	Channels []string `yaml:"channels" doc:"IDs of channels, including their threads; '*' means any channel, an empty list none." format:"slack_channels"`
	Users    []string `yaml:"users" doc:"IDs of users; '*' means everybody in the channel, an empty list nobody." format:"slack_users"`
}

// Events is what is announced.
func (s Slack) Events() []string {
	if len(s.On) == 0 {
		return []string{string(message.Finished), string(message.Failed), SlackApproval}
	}
	return s.On
}

// ParsedTemplates are the templates, by event.
func (s Slack) ParsedTemplates() (map[string]*message.Template, error) {
	parsed := map[string]*message.Template{}
	for name, text := range s.Templates {
		template, err := message.Parse(text, false)
		if err != nil {
			return nil, err
		}
		parsed[name] = template
	}
	return parsed, nil
}

// How Slack writes the IDs of channels and users.
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

// checkSlack requires a channel for the announcements, names for those who decide about tool calls, and templates that work.
func (c *Config) checkSlack() []Problem {
	var problems []Problem
	slack := c.System.Slack
	if slack.Enabled && slack.Channel == "" {
		problems = append(problems, c.problem("system.slack.channel", "is required", "the ID of the channel to post in, such as C0123456789"))
	}
	events := []string{string(message.Started), string(message.Finished), string(message.Failed), SlackApproval}
	for _, name := range slices.Sorted(maps.Keys(slack.Templates)) {
		path := joinPath("system.slack.templates", name)
		if !slices.Contains(events, name) {
			problems = append(problems, c.problem(path, "unknown event", "there are started, finished, failed and approval"))
		} else if _, err := message.Parse(slack.Templates[name], false); err != nil {
			problems = append(problems, c.problem(path, err.Error(), "see docs/slack.md"))
		}
	}
	return problems
}
