package engine

import (
	"context"
	"errors"
	"sync"
	"time"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/engine/plan"
	"tarsy.dev/tarsy/internal/postgres"
	"tarsy.dev/tarsy/internal/progress"
)

// memory is what a server knows of a session that it holds. The session's goroutine, the executions of a stage and the
// engine's loops share it; every method locks, and functions that are passed to one must not call another.
type memory struct {
	mu   sync.Mutex
	held held
}

// held is what a memory guards. Only methods of memory use it, with the lock; it knows nothing of locks.
type held struct {
	// queue queues a step for its commit under the session's lease, in the order of its calls.
	queue func(step progress.Step) *postgres.Pending
	// announce returns what to announce of a session that begins or ends; nil means nothing.
	announce Announce
	// state is what the database holds once all submitted steps are committed.
	state   *progress.State
	applier progress.Applier
	// sequence is the last sequence number of the timeline.
	sequence int64
	// until is when the lease ends, and resolved whether the alert was resolved when it was renewed last.
	until    time.Time
	resolved bool
	// last is the step submitted last; earlier ones are committed before it.
	last *postgres.Pending
	// stopRound interrupts the current round; interrupted is why no other must begin.
	stopRound   context.CancelCauseFunc
	interrupted error
	// decided is closed with the next decision about a tool call; nil if nobody waits for one.
	decided chan struct{}
}

// submit queues a step for its commit and keeps the state in line with it. All steps come through here, so this is where the beginning
// and the end of a session get their announcements, whichever steps they are.
func (h *held) submit(step progress.Step) *postgres.Pending {
	if step.Session != nil && h.announce != nil {
		switch before, after := h.state.Session.Status, step.Session.Status; {
		case after.Terminal() && !before.Terminal():
			step.Announcements = h.announce(*step.Session, tarsy.SubjectEnd)
		case after == tarsy.SessionInProgress && before == tarsy.SessionPending:
			step.Announcements = h.announce(*step.Session, tarsy.SubjectStart)
		}
	}

	h.applier.Apply(h.state, step)
	h.last = h.queue(step)

	return h.last
}

func (h *held) nextSequence() int64 {
	h.sequence++

	return h.sequence
}

func (h *held) stop(cause error) {
	if h.stopRound != nil {
		h.stopRound(cause)
	}
}

// setAnnounce tells what to announce of the session. It is called before the first step.
func (m *memory) setAnnounce(announce Announce) {
	m.mu.Lock()
	defer m.mu.Unlock()

	m.held.announce = announce
}

// load replaces everything that is known of the session by what the database holds. Steps go to queue from now on.
func (m *memory) load(state *progress.State, queue func(progress.Step) *postgres.Pending) {
	m.mu.Lock()
	defer m.mu.Unlock()

	m.held.state, m.held.queue, m.held.last = state, queue, nil
	m.held.sequence = 0

	for _, e := range state.Timeline {
		m.held.sequence = max(m.held.sequence, e.SequenceNumber)
	}
}

// read gives access to the state, which f must neither change nor keep.
func (m *memory) read(f func(state *progress.State)) {
	m.mu.Lock()
	defer m.mu.Unlock()

	f(m.held.state)
}

// submit builds a step from the state and submits it as one operation, so that no other step comes in between. sequence
// returns the next sequence number of the timeline.
func (m *memory) submit(build func(state *progress.State, sequence func() int64) progress.Step) *postgres.Pending {
	m.mu.Lock()
	defer m.mu.Unlock()

	return m.held.submit(build(m.held.state, m.held.nextSequence))
}

// setRequests replaces the open requests. A request to cancel takes effect at once: people see "cancelling" and the
// current round is stopped, so that the next plan cancels. So does a decision about a tool call: its execution may go on while others
// still work.
func (m *memory) setRequests(requests []tarsy.Request, now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()

	m.held.state.Requests = requests

	if decisions := plan.Decide(m.held.state, now); decisions != nil {
		m.held.submit(*decisions)

		if m.held.decided != nil {
			close(m.held.decided)
			m.held.decided = nil
		}
	}

	step, stop := plan.Cancelling(m.held.state, now)
	if step != nil {
		m.held.submit(*step)
	}

	if stop {
		m.held.stop(errCancelRequested)
	}
}

// nextDecision is closed with the next decision about a tool call.
func (m *memory) nextDecision() <-chan struct{} {
	m.mu.Lock()
	defer m.mu.Unlock()

	if m.held.decided == nil {
		m.held.decided = make(chan struct{})
	}

	return m.held.decided
}

// nextSequence returns the next sequence number of the timeline.
func (m *memory) nextSequence() int64 {
	m.mu.Lock()
	defer m.mu.Unlock()

	return m.held.nextSequence()
}

// waitCommitted waits until every submitted step is committed or has failed. The error, if any, is returned to the caller that waits for
// a later step.
func (m *memory) waitCommitted(ctx context.Context) {
	m.mu.Lock()
	last := m.held.last
	m.mu.Unlock()

	if last != nil {
		_, _ = last.Wait(ctx)
	}
}

// beginRound makes stop the way to interrupt the session's work, and passes the state to f, as read does. It fails if no
// round may begin any more.
func (m *memory) beginRound(stop context.CancelCauseFunc, f func(state *progress.State)) error {
	m.mu.Lock()
	defer m.mu.Unlock()

	if m.held.interrupted != nil {
		return m.held.interrupted
	}

	m.held.stopRound = stop
	f(m.held.state)

	return nil
}

// interrupt stops the current round. A lost lease and a stopping server end the work for good.
func (m *memory) interrupt(cause error) {
	m.mu.Lock()
	defer m.mu.Unlock()

	if errors.Is(cause, postgres.ErrFenceLost) || errors.Is(cause, errHandOver) {
		m.held.interrupted = cause
	}

	m.held.stop(cause)
}

// extendLease notes until when the lease lasts, and whether the alert is resolved. Renewals overtake each other, so the one with the
// latest end counts.
func (m *memory) extendLease(until time.Time, resolved bool) {
	m.mu.Lock()
	defer m.mu.Unlock()

	if !until.Before(m.held.until) {
		m.held.until, m.held.resolved = until, resolved
	}
}

// isResolved reports whether the alert was resolved when the lease was renewed last.
func (m *memory) isResolved() bool {
	m.mu.Lock()
	defer m.mu.Unlock()

	return m.held.resolved
}

// leaseEnd is until when the lease lasts.
func (m *memory) leaseEnd() time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()

	return m.held.until
}
