package mcp

import (
	"context"
	"fmt"
	"slices"

	"tarsy.dev/tarsy/internal/agent"
)

// refresh reads the tool list again if it may have changed: the server announced it, or it announces changes and was called since.
// Announcements alone are not enough: they may arrive after the result of the call that changed the list, and over HTTP they need their
// own stream. If the list cannot be read, the tools stay unchanged.
func (s *server) refresh(ctx context.Context) {
	select {
	case s.turn <- struct{}{}:
	case <-ctx.Done():
		return
	}
	defer func() { <-s.turn }()
	current := s.session
	if s.closed || current == nil || current.isOver() {
		return
	}
	called := s.called.Swap(false)
	if !current.changed.Swap(false) && (!called || !current.announces()) {
		return
	}

	limited, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	timer := s.factory.clock.AfterFunc(s.limits.Reinit, func() { cancel(fmt.Errorf("no answer within %s: %w", s.limits.Reinit, errTimeLimit)) })
	defer timer.Stop()
	list, err := s.factory.listTools(limited, s.id, current.client)
	if err != nil {
		if ctx.Err() == nil {
			s.factory.logger.WarnContext(ctx, "could not read the changed tool list of an mcp server",
				"mcp_server", s.id, "error", s.factory.received(s.id, current.link.explain(err.Error())))
		}

		return
	}
	before, _ := s.kept()
	s.keep(list)
	if after, _ := s.kept(); !slices.EqualFunc(before, after, func(a, b agent.Tool) bool { return a.Name == b.Name }) {
		s.factory.logger.InfoContext(ctx, "the tool list of an mcp server has changed", "mcp_server", s.id, "tools", len(after), "before", len(before))
	}
}
