package discord

import (
	"tarsy.dev/tarsy/flow"
	"tarsy.dev/tarsy/flow/chat"
)

// Chat returns Discord as a chat channel. Each of its channels and threads is a conversation.
func (d *Discord) Chat() chat.Channel {
	return chat.Channel{
		Branch: d.Branch, Messages: flow.ViewOut(d.Messages, messageOf), Drafts: flow.ViewIn(d.Drafts, draftOf),
	}
}

func messageOf(m Message) (chat.Message, error) {
	return chat.Message{Conversation: m.ChannelID, ID: m.MessageID, Sender: m.Author, Text: m.Content}, nil
}

func draftOf(draft chat.Draft) (Draft, error) {
	return Draft{
		ChannelID: draft.Conversation, ReplyTo: draft.ReplyTo, Text: draft.Text, StreamID: draft.StreamID, Last: draft.Last,
	}, nil
}
