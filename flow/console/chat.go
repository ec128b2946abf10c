package console

import (
	"tarsy.dev/tarsy/flow"
	"tarsy.dev/tarsy/flow/chat"
)

// Chat is the console as a channel like others. It is one conversation.
func (c *Console) Chat() chat.Channel {
	return chat.Channel{
		Branch: c.Branch, Messages: flow.ViewOut(c.Lines, messageOf), Drafts: flow.ViewIn(c.Messages, printable),
	}
}

func messageOf(line Line) (chat.Message, error) {
	return chat.Message{Sender: line.Sender, Text: line.Text}, nil
}

// printable is what is printed of a draft. The last part of a stream may have nothing to print.
func printable(draft chat.Draft) (Message, error) {
	if draft.Text == "" {
		return Message{}, flow.ErrSkip
	}

	return Message{Sender: draft.Sender, Text: draft.Text, Error: draft.Error}, nil
}
