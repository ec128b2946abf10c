// Package chat is what all channels have in common in which people talk with a program. A flow that is declared on a [Channel] runs
// on any of them: console.Console and discord.Discord have one each. The package knows none of them.
package chat

import "tarsy.dev/tarsy/flow"

// Message is what a person wrote.
type Message struct {
	// Conversation is where the message was written, and where answers belong; empty on a channel that has only one.
	Conversation string `json:"conversation,omitempty"`
	// ID is what a reply refers to; empty on a channel without replies.
	ID     string `json:"id,omitempty"`
	Sender string `json:"sender"`
	Text   string `json:"text"`
}

// Draft is a text for people, or a part of one.
type Draft struct {
	// Conversation is that of the message that the draft answers.
	Conversation string `json:"conversation,omitempty"`
	// ReplyTo is the id of the message that the draft replies to, where the channel has replies.
	ReplyTo string `json:"reply_to,omitempty"`
	// Sender is shown with the text, unless the channel has a name for the program, as Discord has.
	Sender string `json:"sender,omitempty"`
	Text   string `json:"text"`
	// StreamID joins the parts of one text, on a channel whose messages can grow; others show each part by itself. Last is the
	// last part, which may have no text.
	StreamID string `json:"stream_id,omitempty"`
	Last     bool   `json:"last,omitempty"`
	// Error marks the report of an error, for channels that show those apart.
	Error bool `json:"error,omitempty"`
}

// Channel is the branch of a channel with ports of the types above. The journal of the branch keeps the channel's own types.
type Channel struct {
	*flow.Branch

	Messages flow.Out[Message]
	Drafts   flow.In[Draft]
}
