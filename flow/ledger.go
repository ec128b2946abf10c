package flow

import (
	"context"
	"sync"

	"tarsy.dev/tarsy/flow/journal"
)

// ledger tracks whether work is outstanding: every entry that the flow appended must have passed every pump of its branch. A
// pump advances its position only after it has appended what follows from an entry, so the ledger never misses outstanding
// work.
type ledger struct {
	mu        sync.Mutex
	appending int
	appended  map[*Branch]journal.Position
	pumps     []*pump
	passed    map[*pump]journal.Position
	changed   chan struct{} // closed on the next change; nil if nothing waits
}

func newLedger(pumps []*pump) *ledger {
	return &ledger{appended: map[*Branch]journal.Position{}, pumps: pumps, passed: map[*pump]journal.Position{}}
}

func (l *ledger) beginAppend() {
	l.mu.Lock()
	defer l.mu.Unlock()

	l.appending++
}

// endAppend ends what beginAppend began. The position is zero for a failed append and for [Branch.Pending].
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

// waitIdle waits until no work is outstanding.
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
