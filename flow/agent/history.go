package agent

import (
	"context"
	"slices"

	"tarsy.dev/tarsy/flow"
	"tarsy.dev/tarsy/llm"
)

// conversation returns the messages for the model: the instructions, the latest turns and the prompt.
func (a *Agent) conversation(ctx context.Context, prompt Prompt) ([]llm.Message, error) {
	turns, err := a.turns(ctx, prompt.Conversation)
	if err != nil {
		return nil, err
	}

	var messages []llm.Message
	if a.config.Instructions != "" {
		messages = append(messages, llm.Message{Role: llm.RoleSystem, Content: a.config.Instructions})
	}

	for _, turn := range turns {
		messages = append(messages,
			llm.Message{Role: llm.RoleUser, Content: turn.Prompt},
			llm.Message{Role: llm.RoleAssistant, Content: turn.Text})
	}

	return append(messages, llm.Message{Role: llm.RoleUser, Content: prompt.Text}), nil
}

// turns returns the latest complete turns of a conversation, oldest first.
func (a *Agent) turns(ctx context.Context, conversation string) ([]StreamCompleted, error) {
	var turns []StreamCompleted

	for record, err := range a.Journal().Backward(ctx, 0) {
		if err != nil {
			return nil, err
		}

		if len(turns) >= a.config.History {
			break
		}

		if !flow.Is[StreamCompleted](record.Entry) {
			continue
		}

		turn, err := flow.As[StreamCompleted](record.Entry)
		if err != nil {
			return nil, err
		}

		if turn.Conversation == conversation && turn.Text != "" {
			turns = append(turns, turn)
		}
	}

	slices.Reverse(turns)

	return turns, nil
}
