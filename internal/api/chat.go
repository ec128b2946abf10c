package api

import (
	"context"
	"fmt"
	"net/http"
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"tarsy.dev/tarsy"
)

// questionRequest is the body of a question.
type questionRequest struct {
	Content string `doc:"What to ask about the session." json:"content"`
}

type questionOutput struct{ Body questionAccepted }

type questionAccepted struct {
	ChatID    string `doc:"The session's chat."            json:"chat_id"`
	MessageID string `doc:"The question."                  json:"message_id"`
	StageID   string `doc:"The stage that answers it."     json:"stage_id"`
}

func (s *Server) addChat() {
	add(s, tarsy.ScopeWrite, huma.Operation{
		OperationID: "ask", Method: http.MethodPost, Path: "/api/v1/sessions/{id}/chat/messages", DefaultStatus: http.StatusAccepted,
		Summary: "Ask about a session that is over",
		Description: "The question is durable when 202 is answered; its answer comes in the session's journal and timeline. " +
			"A session answers one question at a time, and only if its chain has a chat. Cancelling the session cancels the answer.",
	}, s.bodyOf(reflect.TypeFor[questionRequest](), true), s.ask)
}

func (s *Server) ask(ctx context.Context, in *sessionInput) (*questionOutput, error) {
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

	question, err := s.intake.Ask(ctx, in.ID, who.author, request.Content)
	if err != nil {
		return nil, fmt.Errorf("ask about session: %w", err)
	}

	return &questionOutput{
		Body: questionAccepted{ChatID: question.ChatID, MessageID: question.MessageID, StageID: question.StageID},
	}, nil
}
