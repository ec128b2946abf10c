package api

import (
	"context"
	"fmt"
	"net/http"
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"tarsy.dev/tarsy"
)

func (s *Server) addRerun() {
	add(s, tarsy.ScopeWrite, huma.Operation{
		OperationID: "rerun-session", Method: http.MethodPost, Path: "/api/v1/sessions/{id}/rerun", DefaultStatus: http.StatusAccepted,
		Summary: "Investigate a session's alert again",
		Description: "Stores a new pending session with the same alert, as it was stored, and the caller as its author. " +
			"It is durable when 202 is answered; the old session stays as it is.",
	}, s.bodyOf(reflect.TypeFor[nothing](), false), s.rerunSession)
}

type rerunInput struct {
	ID  string         `doc:"The id of a session." path:"id"`
	Key idempotencyKey `doc:"A name of your choice for this request. Repeating it within 24 hours returns the session that the first one created." header:"Idempotency-Key" maxLength:"255"`
}

func (s *Server) rerunSession(ctx context.Context, in *rerunInput) (*acceptedOutput, error) {
	who := callerOf(ctx)

	err := (&sessionInput{ID: in.ID}).checkAction(who)
	if err != nil {
		return nil, err
	}

	detail, err := s.store.SessionDetail(ctx, in.ID)
	if err != nil {
		return nil, fmt.Errorf("read the session to run again: %w", err)
	}

	alert := detail.Rerun(who.author)

	alert.Idempotency, err = in.Key.identify(who, "rerun "+in.ID)
	if err != nil {
		return nil, err
	}

	session, err := s.intake.Submit(ctx, alert)
	if err != nil {
		return nil, fmt.Errorf("run session again: %w", err)
	}

	return s.accepted(session), nil
}
