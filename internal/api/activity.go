package api

import (
	"context"
	"fmt"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"tarsy.dev/tarsy"
)

type activeOutput struct{ Body tarsy.ActiveSessions }

type filterOptionsOutput struct{ Body tarsy.FilterOptions }

type progressOutput struct{ Body tarsy.SessionProgress }

type summaryOutput struct{ Body tarsy.SessionSummary }

func (s *Server) addActivity() {
	add(s, tarsy.ScopeRead, huma.Operation{
		OperationID: "list-active-sessions", Method: http.MethodGet, Path: "/api/v1/sessions/active", Summary: "List sessions that are not over",
		Description: fmt.Sprintf("Up to %d that are being investigated, newest first, and as many that wait for it, next one first, with how many there are.", maxLimit),
	}, nil, s.listActive)

	add(s, tarsy.ScopeRead, huma.Operation{
		OperationID: "list-filter-options", Method: http.MethodGet, Path: "/api/v1/sessions/filter-options",
		Summary: "List what sessions can be filtered by",
	}, nil, s.listFilterOptions)

	add(s, tarsy.ScopeRead, huma.Operation{
		OperationID: "get-session-status", Method: http.MethodGet, Path: "/api/v1/sessions/{id}/status", Summary: "Show how far a session is",
	}, nil, s.getProgress)

	add(s, tarsy.ScopeRead, huma.Operation{
		OperationID: "get-session-summary", Method: http.MethodGet, Path: "/api/v1/sessions/{id}/summary", Summary: "Show the result of a session",
	}, nil, s.getSummary)
}

func (s *Server) listActive(ctx context.Context, _ *struct{}) (*activeOutput, error) {
	found, err := s.store.ActiveSessions(ctx, callerOf(ctx).visible, maxLimit)
	if err != nil {
		return nil, fmt.Errorf("list active sessions: %w", err)
	}

	found.Active = append([]tarsy.SessionItem{}, found.Active...)
	found.Queued = append([]tarsy.SessionItem{}, found.Queued...)

	return &activeOutput{Body: found}, nil
}

func (s *Server) listFilterOptions(ctx context.Context, _ *struct{}) (*filterOptionsOutput, error) {
	options, err := s.store.FilterOptions(ctx, callerOf(ctx).visible)
	if err != nil {
		return nil, fmt.Errorf("list filter options: %w", err)
	}

	return &filterOptionsOutput{Body: options}, nil
}

func (s *Server) getProgress(ctx context.Context, in *sessionInput) (*progressOutput, error) {
	err := in.check()
	if err != nil {
		return nil, err
	}

	progress, err := s.store.SessionProgress(ctx, in.ID)
	if err != nil {
		return nil, fmt.Errorf("show session progress: %w", err)
	}

	return &progressOutput{Body: *progress}, nil
}

func (s *Server) getSummary(ctx context.Context, in *sessionInput) (*summaryOutput, error) {
	err := in.check()
	if err != nil {
		return nil, err
	}

	summary, err := s.store.SessionSummary(ctx, in.ID)
	if err != nil {
		return nil, fmt.Errorf("show session summary: %w", err)
	}

	return &summaryOutput{Body: *summary}, nil
}
