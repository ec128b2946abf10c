package script

import (
	"context"
	"sync"
)

// Gate holds calls until it is opened. Several calls may wait at one gate; once open it stays so.
type Gate struct {
	reached, open         chan struct{}
	reachedOnce, openOnce sync.Once
}

// NewGate returns a closed gate.
func NewGate() *Gate {
	return &Gate{reached: make(chan struct{}), open: make(chan struct{})}
}

// Reached is closed when the first call has come to the gate.
func (g *Gate) Reached() <-chan struct{} { return g.reached }

// Open lets through whoever waits and whoever comes later. Opening twice does nothing more.
func (g *Gate) Open() { g.openOnce.Do(func() { close(g.open) }) }

// pass returns when the gate is open. Before it waits, and before whoever watches Reached hears of it, it tells beforeWait.
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
