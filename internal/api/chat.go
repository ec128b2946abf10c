package api

import (
	"context"
	"fmt"
)

// questionRequest is the body of a question.
type questionRequest struct {
	Content string `doc:"The question." json:"content"`
}

type questionOutput struct{ Body questionAccepted }

type questionAccepted struct {
	ChatID    string `doc:"The id of the session's chat."  json:"chat_id"`
	MessageID string `doc:"The id of the question."        json:"message_id"`
	StageID   string `doc:"The id of the stage that answers it." json:"stage_id"`
}

func (d *desk) ask(ctx context.Context, in *sessionInput) (*questionOutput, error) {
	who := callerOf(ctx)

	request, err := readRequest[questionRequest](who.body)
	if err != nil {
		return nil, err
	}

	if request.Content == "" {
		return nil, missing("content", "the question")
	}

	err = in.check()
	if err != nil {
		return nil, err
	}

	question, err := d.intake.Ask(ctx, in.ID, who.author, request.Content)
	if err != nil {
		return nil, fmt.Errorf("ask about session: %w", err)
	}

	return &questionOutput{
		Body: questionAccepted{ChatID: question.ChatID, MessageID: question.MessageID, StageID: question.StageID},
	}, nil
}
