package engine

import (
	"context"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/agent"
	"tarsy.dev/tarsy/internal/progress"
)

// pastSimilar is how many similar sessions a prompt shows.
const pastSimilar = 5

// pastSessions reads the similar sessions to show to an agent. If they cannot be read, the investigation continues without them.
func (r *sessionRun) pastSessions(ctx context.Context, in agent.Input) []tarsy.SimilarSession {
	if in.Question != nil || in.Spec.Strategy == agent.Synthesis {
		return nil
	}

	past, err := r.engine.DB.Similar(ctx, r.lease.SessionID, r.pastVisible(), pastSimilar)
	if err != nil {
		r.engine.Logger.Warn("could not read similar sessions", "session_id", r.lease.SessionID, "error", err)

		return nil
	}

	return past
}

// pastVisible returns the past sessions that agents may read. It is limited because everyone who sees the session reads their output.
func (r *sessionRun) pastVisible() tarsy.Visibility {
	visible := tarsy.Visibility{Limited: r.settings.ByTeam}

	r.memory.read(func(state *progress.State) {
		if team := state.Session.Team; team != "" {
			visible.Teams = []string{team}
		}
	})

	return visible
}
