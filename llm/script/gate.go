package script

import (
	"context"
	"sync"
)

// Gate blocks calls until it is opened. Several calls can wait at one gate; once open, it stays open.
type Gate struct {
	reached, open         chan struct{}
	reachedOnce, openOnce sync.Once
}

// NewGate returns a closed gate.
func NewGate() *Gate {
	return &Gate{reached: make(chan struct{}), open: make(chan struct{})}
}

// Reached returns a channel that is closed when the first call has reached the gate.
func (g *Gate) Reached() <-chan struct{} { return g.reached }

// Open releases all waiting and later calls. Opening twice has no further effect.
func (g *Gate) Open() { g.openOnce.Do(func() { close(g.open) }) }

// pass waits until the gate is open. Before it waits, and before it closes Reached, it calls beforeWait.
func (g *Gate) pass(ctx context.Context, beforeWait notice) error {
	select {
	case <-g.open:
		g.reach()

		return nil
	default:
	}

	beforeWait.call()
	g.reach()

	select {
	case <-g.open:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (g *Gate) reach() { g.reachedOnce.Do(func() { close(g.reached) }) }
