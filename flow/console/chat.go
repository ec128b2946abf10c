package console

import (
	"tarsy.dev/tarsy/flow"
	"tarsy.dev/tarsy/flow/chat"
)

// Chat returns the console as a chat channel. It is one conversation.
func (c *Console) Chat() chat.Channel {
	return chat.Channel{
		Branch: c.Branch, Messages: flow.ViewOut(c.Lines, messageOf), Drafts: flow.ViewIn(c.Messages, printable),
	}
}

func messageOf(line Line) (chat.Message, error) {
	return chat.Message{Sender: line.Sender, Text: line.Text}, nil
}

// printable converts a draft to a message to print. It skips drafts without text, such as the last part of a stream.
func printable(draft chat.Draft) (Message, error) {
	if draft.Text == "" {
		return Message{}, flow.ErrSkip
	}

	return Message{Sender: draft.Sender, Text: draft.Text, Error: draft.Error}, nil
}
