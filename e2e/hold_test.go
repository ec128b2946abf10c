package e2e

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
)

// hold is a place where the first caller waits until it is opened; later ones pass.
type hold struct {
	// everybody makes later callers wait too.
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

// Open releases the callers that wait.
func (h *hold) Open() { h.once.Do(func() { close(h.open) }) }

// pass waits if this caller has to; a nil hold lets every caller pass. It reports false if the context ended first.
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
