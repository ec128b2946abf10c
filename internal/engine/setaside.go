package engine

import (
	"context"
	"sync"
	"time"

	"tarsy.dev/tarsy/internal/postgres"
)

const (
	// A session that cannot be loaded is retried after asideFirst, then after twice that, and so on up to asideLongest.
	asideFirst, asideLongest = 30 * time.Second, 10 * time.Minute
	// maxAside limits how many such sessions are remembered.
	maxAside = 1000
)

// setAside remembers the sessions that this server could not load, and how often it tried.
type setAside struct {
	mu       sync.Mutex
	attempts map[string]int
}

// add counts an attempt and returns how long to wait before the next one.
func (s *setAside) add(sessionID string) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()

	if s.attempts == nil || len(s.attempts) >= maxAside {
		s.attempts = map[string]int{}
	}

	const doublings = 5

	pause := min(asideFirst<<min(s.attempts[sessionID], doublings), asideLongest)
	s.attempts[sessionID]++

	return pause
}

// remove forgets a session and reports whether it was set aside.
func (s *setAside) remove(sessionID string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()

	_, found := s.attempts[sessionID]
	delete(s.attempts, sessionID)

	return found
}

// deferUnloadable releases a session that cannot be loaded. It is not claimed for a while, and it blocks neither a worker nor the sessions
// that were claimed with it. It is not failed, because a newer release may be able to read it, or an operator may repair it.
func (e *Engine) deferUnloadable(lease postgres.Lease, cause error) {
	ctx, cancel := context.WithTimeout(context.Background(), databasePatience)
	defer cancel()

	pause := e.aside.add(lease.SessionID)
	e.Logger.Error("could not load a session; deferring it", "session_id", lease.SessionID, "retry_after", pause, "error", cause)

	if e.SetAside != nil {
		e.SetAside(lease.SessionID, true)
	}

	if err := e.DB.Defer(ctx, lease, e.now().Add(pause)); err != nil {
		e.Logger.Warn("could not defer a session; its lease will expire", "session_id", lease.SessionID, "error", err)
	}
}

// loaded records that a session was loaded.
func (e *Engine) loaded(sessionID string) {
	if e.aside.remove(sessionID) && e.SetAside != nil {
		e.SetAside(sessionID, false)
	}
}
