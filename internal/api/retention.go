package api

import (
	"context"
	"fmt"
)

// noContent is an empty response.
type noContent struct{}

func (s *sessions) deleteSession(ctx context.Context, in *sessionInput) (*noContent, error) {
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
