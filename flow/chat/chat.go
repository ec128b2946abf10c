// Package chat defines what all channels between people and a program have in common. A flow declared on a [Channel] runs on
// any of them: console.Console and discord.Discord each provide one. The package does not know any of them.
package chat

import "tarsy.dev/tarsy/flow"

// Message is a message written by a person.
type Message struct {
	// Conversation is where the message was written and where answers are sent; empty on a channel that has only one.
	Conversation string `json:"conversation,omitempty"`
	// ID is the id for replies; empty on a channel without replies.
	ID     string `json:"id,omitempty"`
	Sender string `json:"sender"`
	Text   string `json:"text"`
}

// Draft is a text to show to people, or a part of one.
type Draft struct {
	// Conversation is the conversation of the message that the draft answers.
	Conversation string `json:"conversation,omitempty"`
	// ReplyTo is the id of the message that the draft replies to, if the channel has replies.
	ReplyTo string `json:"reply_to,omitempty"`
	// Sender is shown with the text, unless the channel has its own name for the program, as Discord does.
	Sender string `json:"sender,omitempty"`
	Text   string `json:"text"`
	// StreamID joins the parts of one text on a channel whose messages can grow; other channels show each part separately. Last
	// marks the last part, which can be empty.
	StreamID string `json:"stream_id,omitempty"`
	Last     bool   `json:"last,omitempty"`
	// Error marks an error report, for channels that show errors separately.
	Error bool `json:"error,omitempty"`
}

// Channel is the branch of a channel with ports of the types above. The journal of the branch keeps the channel's own types.
type Channel struct {
	*flow.Branch

	Messages flow.Out[Message]
	Drafts   flow.In[Draft]
}
