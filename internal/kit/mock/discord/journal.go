package discord

import (
	"fmt"
	"strings"
	"time"
)

// The kinds of actions.
const (
	KindMessage  = "message"
	KindEdit     = "edit"
	KindDelete   = "delete"
	KindTyping   = "typing"
	KindThread   = "thread"
	KindReaction = "reaction"
	KindPin      = "pin"
)

// Action is one thing that the bot did through REST.
type Action struct {
	Number    int       `json:"number"`
	Kind      string    `json:"kind"`
	Channel   string    `json:"channel"`
	ChannelID string    `json:"channel_id"`
	At        time.Time `json:"at"`
	// Message is the message right after the action, nil for typing and threads.
	Message *Message `json:"message,omitempty"`
	// Thread is the thread that was created or deleted.
	Thread *Thread `json:"thread,omitempty"`
	// Emoji is the emoji of a reaction. Removed means that a reaction was removed, or a message unpinned.
	Emoji   string `json:"emoji,omitempty"`
	Removed bool   `json:"removed,omitempty"`
	// RepliedAuthor is the author of the message that the message replies to.
	RepliedAuthor string `json:"replied_author,omitempty"`
}

// Thread is a thread that was created.
type Thread struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	// Parent is the name of the channel, Message the ID of the message that it was started from, if any.
	Parent  string `json:"parent"`
	Message string `json:"message,omitempty"`
}

// text returns what a condition on the content applies to.
func (a Action) text() string {
	switch {
	case a.Kind == KindReaction:
		return a.Emoji
	case a.Thread != nil:
		return a.Thread.Name
	case a.Message != nil:
		return a.Message.Content
	default:
		return ""
	}
}

// String describes the action on one line.
func (a Action) String() string {
	line := fmt.Sprintf("%d. %s in %s", a.Number, a.Kind, a.Channel)
	if a.Kind != KindTyping {
		line += ": " + quote(a.text())
	}

	return line
}

// describe lists actions, one per line.
func describe(actions []Action) string {
	if len(actions) == 0 {
		return "the bot did nothing"
	}

	const most = 50

	var text strings.Builder

	text.WriteString("the bot did:")

	if n := len(actions) - most; n > 0 {
		fmt.Fprintf(&text, "\n  … %d actions before", n)
		actions = actions[n:]
	}

	for _, a := range actions {
		text.WriteString("\n  " + a.String())
	}

	return text.String()
}
