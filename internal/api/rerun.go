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

func (s *Server) rerunSession(ctx context.Context, in *sessionInput) (*acceptedOutput, error) {
	who := callerOf(ctx)

	err := in.checkAction(who)
	if err != nil {
		return nil, err
	}

	detail, err := s.store.SessionDetail(ctx, in.ID)
	if err != nil {
		return nil, fmt.Errorf("read the session to run again: %w", err)
	}

	session, err := s.intake.Submit(ctx, detail.Rerun(who.author))
	if err != nil {
		return nil, fmt.Errorf("run session again: %w", err)
	}

	return s.accepted(session), nil
}
