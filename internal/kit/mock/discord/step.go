package discord

import (
	"fmt"
	"strings"
	"time"

	"tarsy.dev/tarsy/internal/kit/mock/match"
	"tarsy.dev/tarsy/internal/kit/mock/virtual"
)

// Step is one thing that happens in a conversation: exactly one of its fields is set.
type Step struct {
	Say            *Say            `yaml:"say" doc:"A user sends a message."`
	Edit           *Edit           `yaml:"edit" doc:"A user edits a message."`
	React          *React          `yaml:"react" doc:"A user adds a reaction to a message."`
	Command        *UseCommand     `yaml:"command" doc:"A user runs a command of the bot."`
	Click          *Click          `yaml:"click" doc:"A user clicks a button in a message."`
	Expect         *Expect         `yaml:"expect" doc:"Waits for an action of the bot."`
	Drop           *Drop           `yaml:"drop" doc:"Closes the connections to the gateway."`
	Reconnect      bool            `yaml:"reconnect" doc:"Asks clients to reconnect (op 7)."`
	InvalidSession *InvalidSession `yaml:"invalid_session" doc:"Tells clients that their session is invalid (op 9)."`
	StopAcks       *bool           `yaml:"stop_acks" doc:"Stops acknowledging heartbeats; false resumes it."`
	RateLimit      *Force429       `yaml:"rate_limit" doc:"Answers the next requests with 429."`
	WaitReady      bool            `yaml:"wait_ready" doc:"Waits until a client is connected and identified or resumed."`
}

// Say is a message from a user. In its content, <@NAME>, <@&ROLE> and <#CHANNEL> can use names instead of IDs.
type Say struct {
	Channel string `yaml:"channel" doc:"The name or ID of a channel or thread, or @NAME for a direct message to the bot." required:"true"`
	Author  string `yaml:"author" doc:"The name or ID of the user." required:"true"`
	Content string `yaml:"content" doc:"The text. <@NAME>, <@&ROLE> and <#CHANNEL> mention by name." required:"true"`
	ReplyTo string `yaml:"reply_to" doc:"The message to reply to: its ID, or last for the last message in the channel."`
	Thread  string `yaml:"thread" doc:"The name of a thread of the channel; it is created if it does not exist."`
}

// Edit is an edit of a message by its author.
type Edit struct {
	Message string `yaml:"message" doc:"The ID of the message." required:"true"`
	Content string `yaml:"content" doc:"The new content." required:"true"`
}

// React is a reaction of a user.
type React struct {
	Message string `yaml:"message" doc:"The ID of the message." required:"true"`
	User    string `yaml:"user" doc:"The name or ID of the user." required:"true"`
	Emoji   string `yaml:"emoji" doc:"The emoji: a character, or NAME:ID." required:"true"`
}

// UseCommand is a user running a command.
type UseCommand struct {
	Channel string            `yaml:"channel" doc:"The name or ID of a channel or thread, or @NAME for direct messages." required:"true"`
	User    string            `yaml:"user" doc:"The name or ID of the user." required:"true"`
	Name    string            `yaml:"name" doc:"The command, followed by its subcommands if it has any." required:"true"`
	Options map[string]string `yaml:"options" doc:"The options by name, as text; users, channels and roles by name or ID."`
}

// Click is a click on a component.
type Click struct {
	Message   string `yaml:"message" doc:"The ID of the message." required:"true"`
	User      string `yaml:"user" doc:"The name or ID of the user." required:"true"`
	Component string `yaml:"component" doc:"The custom_id of the component." required:"true"`
}

// Expect waits for an action of the bot: the first match after the action that the previous expectation found.
type Expect struct {
	Kind    string        `yaml:"kind" doc:"What the bot does; by default it sends or edits a message." enum:"message,edit,delete,typing,thread,reaction,pin"`
	Channel string        `yaml:"channel" doc:"The name or ID of a channel or thread, or @NAME for a direct message."`
	Content *match.Text   `yaml:"content" doc:"The content of the message, the name of the thread, or the emoji."`
	ReplyTo string        `yaml:"reply_to" doc:"The ID of the message that the bot replies to, or the user whose message it replies to."`
	Within  time.Duration `yaml:"within" doc:"How long to wait." default:"30s" min:"1ms"`
}

// Drop is a way to close connections.
type Drop struct {
	Code   int  `yaml:"code" doc:"The close code, such as 4000; by default the connection breaks without one." min:"0" max:"4999"`
	Forget bool `yaml:"forget" doc:"Also forgets the sessions, so that they cannot be resumed."`
}

// InvalidSession is op 9.
type InvalidSession struct {
	Resumable bool `yaml:"resumable" doc:"Whether the session can be resumed."`
}

// Force429 answers the next requests with 429.
type Force429 struct {
	Route      string        `yaml:"route" doc:"The affected route, such as POST /channels/{channel}/messages; by default any."`
	RetryAfter time.Duration `yaml:"retry_after" doc:"How long clients must wait before they retry." default:"1s" min:"1ms"`
	Global     bool          `yaml:"global" doc:"The global limit is exceeded, not the limit of the route."`
	Times      int           `yaml:"times" doc:"The number of affected requests." default:"1" min:"1"`
}

// String describes the step on one line.
func (s Step) String() string {
	switch {
	case s.Say != nil:
		return fmt.Sprintf("say in %s as %s: %s", s.Say.Channel, s.Say.Author, quote(s.Say.Content))
	case s.Expect != nil:
		return "expect " + s.Expect.String()
	default:
		return strings.Join(virtual.Given(s), ", ")
	}
}

// String describes the expectation.
func (e Expect) String() string {
	kind := e.Kind
	if kind == "" {
		kind = "message or edit"
	}

	if e.Channel != "" {
		kind += " in " + e.Channel
	}

	if e.ReplyTo != "" {
		kind += " in reply to " + e.ReplyTo
	}

	if e.Content != nil && *e.Content != (match.Text{}) {
		kind += " that " + e.Content.String()
	}

	return kind
}

// quote returns the beginning of a text, quoted on one line.
func quote(text string) string {
	const most = 200

	if runes := []rune(text); len(runes) > most {
		text = string(runes[:most]) + "…"
	}

	return fmt.Sprintf("%q", text)
}
