package api

import (
	"context"
	"fmt"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"tarsy.dev/tarsy"
)

// noContent is the answer that has nothing to say.
type noContent struct{}

func (s *Server) addRetention() {
	add(s, tarsy.ScopeWrite, huma.Operation{
		OperationID: "delete-session", Method: http.MethodDelete, Path: "/api/v1/sessions/{id}", DefaultStatus: http.StatusNoContent,
		Summary: "Delete a session that is over", Description: "It is gone from everywhere at once, as sessions are that have become too old.",
	}, nil, s.deleteSession)
}

func (s *Server) deleteSession(ctx context.Context, in *sessionInput) (*noContent, error) {
	err := in.check()
	if err != nil {
		return nil, err
	}

	err = s.store.DeleteSession(ctx, in.ID)
	if err != nil {
		return nil, fmt.Errorf("delete session: %w", err)
	}

	s.logger.InfoContext(ctx, "session deleted", "session_id", in.ID, "author", callerOf(ctx).author)

	return &noContent{}, nil
}
