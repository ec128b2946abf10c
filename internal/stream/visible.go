package stream

import (
	"context"

	"tarsy.dev/tarsy"
)

// maxKnownTeams is how many sessions a reader remembers the visibility of.
const maxKnownTeams = 10_000

// TeamOf returns the team of a session. Its error for an unknown session is a *tarsy.Error.
type TeamOf func(ctx context.Context, sessionID string) (string, error)

// sight is which sessions a reader sees. Its memory belongs to the goroutine that follows the feed.
type sight struct {
	visible tarsy.Visibility
	teamOf  TeamOf
	// known are sessions of the feed: the team of a session never changes.
	known map[string]bool
}

// check refuses a session that the reader may not see: to them it does not exist.
func (s *sight) check(ctx context.Context, sessionID string) error {
	if !s.visible.Limited || sessionID == "" {
		return nil
	}

	team, err := s.teamOf(ctx, sessionID)
	if err != nil {
		return err
	}

	if !s.visible.Includes(team) {
		return tarsy.Errorf(tarsy.CodeSessionNotFound, "there is no session %q", sessionID)
	}

	return nil
}

// follows reports whether the reader is told of changes of a session.
func (s *sight) follows(ctx context.Context, sessionID string) (bool, error) {
	if !s.visible.Limited {
		return true, nil
	}

	if seen, ok := s.known[sessionID]; ok {
		return seen, nil
	}

	err := s.check(ctx, sessionID)
	if err != nil && tarsy.CodeOf(err) != tarsy.CodeSessionNotFound {
		return false, err
	}

	if len(s.known) == maxKnownTeams {
		clear(s.known)
	}

	s.known[sessionID] = err == nil

	return err == nil, nil
}
