package e2e

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
)

// hold is a place where the first to come waits until it is opened; later ones pass.
type hold struct {
	// everybody makes later ones wait too.
	everybody bool

	reached, open chan struct{}
	taken         atomic.Bool
	once          sync.Once
}

func newHold(t testing.TB) *hold {
	t.Helper()

	h := &hold{reached: make(chan struct{}), open: make(chan struct{})}
	t.Cleanup(h.Open)

	return h
}

// Open lets those who wait go on.
func (h *hold) Open() { h.once.Do(func() { close(h.open) }) }

// pass waits if it is this caller's turn to wait; a nil hold lets everybody pass. It reports whether the way was free in
// the end.
func (h *hold) pass(ctx context.Context) bool {
	if h == nil {
		return true
	}

	if first := !h.taken.Swap(true); first {
		close(h.reached)
	} else if !h.everybody {
		return true
	}

	select {
	case <-h.open:
		return true
	case <-ctx.Done():
		return false
	}
}
