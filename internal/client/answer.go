package client

import (
	"context"

	"tarsy.dev/tarsy"
)

// Question is the body that asks a question about a finished session. The answer arrives in the session's journal.
type Question struct {
	Content string `json:"content"`
}

// Asked is the response to a question: it identifies where the answer will appear.
type Asked struct {
	ChatID    string `json:"chat_id"`
	MessageID string `json:"message_id"`
	StageID   string `json:"stage_id"`
}

// Answer is the result of a question.
type Answer struct {
	Asked

	Stage  tarsy.StageDetail `json:"stage"`
	Answer string            `json:"answer"`
}

// Answer loads the answer to a question.
func (c *Client) Answer(ctx context.Context, id string, asked Asked) (Answer, error) {
	a := Answer{Asked: asked}

	detail, err := c.Session(ctx, id)
	if err != nil {
		return a, err
	}

	for _, stage := range detail.Stages {
		if stage.ID == asked.StageID {
			a.Stage = stage
		}
	}

	timeline, err := c.Timeline(ctx, id)
	if err != nil {
		return a, err
	}

	for _, event := range timeline.Events {
		if event.EventType == tarsy.EventFinalAnalysis && event.StageID != nil && *event.StageID == asked.StageID {
			a.Answer = event.Content
		}
	}

	return a, nil
}

// Exchange is an earlier question with its answer.
type Exchange struct {
	Question string
	Author   string
	Answer   string // empty if there is none
}

// Exchanges lists the questions about a session, in order.
func Exchanges(detail tarsy.SessionDetail, timeline []tarsy.TimelineEvent) []Exchange {
	var all []Exchange

	for _, stage := range detail.Stages {
		if stage.StageType != tarsy.StageChat {
			continue
		}

		var exchange Exchange

		for _, event := range timeline {
			switch {
			case event.StageID == nil || *event.StageID != stage.ID:
			case event.EventType == tarsy.EventUserQuestion:
				exchange.Question = event.Content
				exchange.Author = tarsy.MetadataAs[tarsy.QuestionMetadata](event.Metadata).Author
			case event.EventType == tarsy.EventFinalAnalysis:
				exchange.Answer = event.Content
			}
		}

		all = append(all, exchange)
	}

	return all
}
