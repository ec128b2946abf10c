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

// memory is what a server knows about a session that it holds. The session's goroutine, the executions of a stage and the engine's loops
// share it. Every method locks, so functions passed to one must not call another.
type memory struct {
	mu   sync.Mutex
	held held
}

// held is the data that a memory guards. Only methods of memory use it, with the lock held; it does no locking itself.
type held struct {
	// queue queues a step to be committed under the session's lease, in call order.
	queue func(step progress.Step) *postgres.Pending
	// announce returns the announcements of a session that starts or ends; nil means none.
	announce Announce
	// state is the state of the database once all submitted steps are committed.
	state   *progress.State
	applier progress.Applier
	// sequence is the last sequence number of the timeline.
	sequence int64
	// until is when the lease ends, and resolved whether the alert was resolved at the last renewal.
	until    time.Time
	resolved bool
	// last is the last submitted step; earlier ones are committed before it.
	last *postgres.Pending
	// stopRound interrupts the current round; interrupted is why no other may begin.
	stopRound   context.CancelCauseFunc
	interrupted error
	// decided is closed at the next decision on a tool call; nil if no one is waiting for one.
	decided chan struct{}
}

// submit queues a step to be committed and applies it to the state. All steps come through here, so this is where the steps that start or
// end a session get their announcements.
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

// setAnnounce sets the function that returns announcements. It must be called before the first step.
func (m *memory) setAnnounce(announce Announce) {
	m.mu.Lock()
	defer m.mu.Unlock()

	m.held.announce = announce
}

// load replaces the session's state with what was loaded from the database. Later steps are submitted to queue.
func (m *memory) load(state *progress.State, queue func(progress.Step) *postgres.Pending) {
	m.mu.Lock()
	defer m.mu.Unlock()

	m.held.state, m.held.queue, m.held.last = state, queue, nil
	m.held.sequence = 0

	for _, e := range state.Timeline {
		m.held.sequence = max(m.held.sequence, e.SequenceNumber)
	}
}

// read passes the state to f, which must neither modify nor retain it.
func (m *memory) read(f func(state *progress.State)) {
	m.mu.Lock()
	defer m.mu.Unlock()

	f(m.held.state)
}

// submit builds a step from the state and submits it atomically, so that no other step comes in between. sequence returns the next sequence
// number of the timeline.
func (m *memory) submit(build func(state *progress.State, sequence func() int64) progress.Step) *postgres.Pending {
	m.mu.Lock()
	defer m.mu.Unlock()

	return m.held.submit(build(m.held.state, m.held.nextSequence))
}

// setRequests replaces the open requests. A cancel request takes effect immediately: people see "cancelling" and the current round is
// stopped, so that the next plan cancels. A decision on a tool call takes effect immediately too: its execution can continue while others
// are still working.
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

// nextDecision returns a channel that is closed at the next decision on a tool call.
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

// beginRound sets stop as the function that interrupts the session's work, and passes the state to f, as read does. It fails if no round
// may begin any more.
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

// interrupt stops the current round. After a lost lease or on a stopping server no other round begins.
func (m *memory) interrupt(cause error) {
	m.mu.Lock()
	defer m.mu.Unlock()

	if errors.Is(cause, postgres.ErrFenceLost) || errors.Is(cause, errHandOver) {
		m.held.interrupted = cause
	}

	m.held.stop(cause)
}

// extendLease records when the lease ends, and whether the alert is resolved. Renewals can complete out of order, so the one with the
// latest end wins.
func (m *memory) extendLease(until time.Time, resolved bool) {
	m.mu.Lock()
	defer m.mu.Unlock()

	if !until.Before(m.held.until) {
		m.held.until, m.held.resolved = until, resolved
	}
}

// isResolved reports whether the alert was resolved at the last renewal of the lease.
func (m *memory) isResolved() bool {
	m.mu.Lock()
	defer m.mu.Unlock()

	return m.held.resolved
}

// leaseEnd returns when the lease ends.
func (m *memory) leaseEnd() time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()

	return m.held.until
}
