package flow

import (
	"context"
	"sync"

	"tarsy.dev/tarsy/flow/journal"
)

// ledger knows whether anything is left to do: every entry that the flow appended must have passed every pump of its
// branch. A pump raises its position after it has appended what follows from an entry, so there is no moment at which
// work exists and the ledger does not know it.
type ledger struct {
	mu        sync.Mutex
	appending int
	appended  map[*Branch]journal.Position
	pumps     []*pump
	passed    map[*pump]journal.Position
	changed   chan struct{} // closed by the next change, while somebody waits
}

func newLedger(pumps []*pump) *ledger {
	return &ledger{appended: map[*Branch]journal.Position{}, pumps: pumps, passed: map[*pump]journal.Position{}}
}

func (l *ledger) beginAppend() {
	l.mu.Lock()
	defer l.mu.Unlock()

	l.appending++
}

// endAppend is called with position zero for an append that failed, and for what was pending.
func (l *ledger) endAppend(b *Branch, position journal.Position) {
	l.update(func() {
		l.appending--
		l.appended[b] = max(l.appended[b], position)
	})
}

func (l *ledger) pass(p *pump, position journal.Position) {
	l.update(func() { l.passed[p] = position })
}

func (l *ledger) update(apply func()) {
	l.mu.Lock()
	defer l.mu.Unlock()

	apply()

	if l.changed != nil {
		close(l.changed)
		l.changed = nil
	}
}

// waitIdle returns when nothing is left to do.
func (l *ledger) waitIdle(ctx context.Context) error {
	for {
		changed, idle := l.idle()
		if idle {
			return nil
		}

		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (l *ledger) idle() (<-chan struct{}, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()

	if l.changed == nil {
		l.changed = make(chan struct{})
	}

	if l.appending > 0 {
		return l.changed, false
	}

	for _, pump := range l.pumps {
		if l.passed[pump] < l.appended[pump.branch] {
			return l.changed, false
		}
	}

	return l.changed, true
}
