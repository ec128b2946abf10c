package api

import (
	"context"
	"fmt"

	"tarsy.dev/tarsy"
)

type activeOutput struct{ Body tarsy.ActiveSessions }

type filterOptionsOutput struct{ Body tarsy.FilterOptions }

type progressOutput struct{ Body tarsy.SessionProgress }

type summaryOutput struct{ Body tarsy.SessionSummary }

func (s *sessions) listActive(ctx context.Context, _ *struct{}) (*activeOutput, error) {
	found, err := s.store.ActiveSessions(ctx, callerOf(ctx).visible, maxLimit)
	if err != nil {
		return nil, fmt.Errorf("list active sessions: %w", err)
	}

	found.Active = append([]tarsy.SessionItem{}, found.Active...)
	found.Queued = append([]tarsy.SessionItem{}, found.Queued...)

	return &activeOutput{Body: found}, nil
}

func (s *sessions) listFilterOptions(ctx context.Context, _ *struct{}) (*filterOptionsOutput, error) {
	options, err := s.store.FilterOptions(ctx, callerOf(ctx).visible)
	if err != nil {
		return nil, fmt.Errorf("list filter options: %w", err)
	}

	return &filterOptionsOutput{Body: options}, nil
}

func (s *sessions) getProgress(ctx context.Context, in *sessionInput) (*progressOutput, error) {
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

func (s *sessions) getSummary(ctx context.Context, in *sessionInput) (*summaryOutput, error) {
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
