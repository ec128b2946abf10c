package virtual

import (
	"context"
	"slices"
	"sync"
)

// Changes wakes all goroutines that wait for a change. The zero value is ready to use.
type Changes struct {
	mu   sync.Mutex
	next chan struct{}
}

// Notify must be called after every change.
func (c *Changes) Notify() {
	c.mu.Lock()
	defer c.mu.Unlock()

	if c.next != nil {
		close(c.next)
		c.next = nil
	}
}

// Wait waits until a condition holds, checking it after every change. Its error is the cause of the context.
func (c *Changes) Wait(ctx context.Context, holds func() bool) error {
	for {
		c.mu.Lock()
		if c.next == nil {
			c.next = make(chan struct{})
		}

		changed := c.next
		c.mu.Unlock()

		if holds() {
			return nil
		}

		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// Journal is a list of events, in order. The zero value is empty.
type Journal[T any] struct {
	changes Changes

	mu      sync.Mutex
	entries []T
}

// Add adds an entry.
func (j *Journal[T]) Add(entry T) { j.AddNumbered(func(int) T { return entry }) }

// AddNumbered adds an entry that contains its number; the first one is 1.
func (j *Journal[T]) AddNumbered(entry func(number int) T) {
	j.mu.Lock()
	j.entries = append(j.entries, entry(len(j.entries)+1))
	j.mu.Unlock()

	j.changes.Notify()
}

// List returns all entries so far.
func (j *Journal[T]) List() []T { return j.after(0) }

func (j *Journal[T]) after(number int) []T {
	j.mu.Lock()
	defer j.mu.Unlock()

	return slices.Clone(j.entries[min(number, len(j.entries)):])
}

// Wait waits for the first matching entry after a number, and returns it. Its error is the cause of the context.
func (j *Journal[T]) Wait(ctx context.Context, number int, fits func(T) bool) (found T, err error) {
	err = j.changes.Wait(ctx, func() bool {
		for _, entry := range j.after(number) {
			number++

			if fits(entry) {
				found = entry

				return true
			}
		}

		return false
	})

	return found, err
}
