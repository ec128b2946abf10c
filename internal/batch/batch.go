// Package batch collects items that come one by one and handles them in groups: whatever waits when a worker is free
// becomes its next group, so an item that comes alone waits for nobody, and a crowd of items costs few groups.
//
// The package knows nothing of what an item is or what handling one means.
package batch

import (
	"slices"
	"sync"
)

// Config says how items are grouped. Workers, MaxItems and Handle are required.
type Config[T comparable] struct {
	// Workers is how many groups are handled at once.
	Workers int
	// MaxItems bounds the items of one group.
	MaxItems int
	// Weight is what an item weighs, and MaxWeight bounds the weight of one group; an item that is heavier than that is a
	// group of its own. Nil means that only MaxItems bounds a group.
	Weight    func(T) int
	MaxWeight int
	// Key names what an item is about. Items with the same key are handled in the order in which they were added, and never
	// by two workers at once. Nil means that items may be handled in any order.
	Key func(T) string
	// Handle handles a group, in the order in which its items were added. It is called by several workers at once, but never
	// with the same key.
	Handle func(group []T)
}

// Batcher is a queue of items with its workers. It owns the goroutines that call Handle.
type Batcher[T comparable] struct {
	cfg     Config[T]
	running sync.WaitGroup

	mu      sync.Mutex
	changed *sync.Cond
	queue   []T
	// busy are the keys of the groups in flight.
	busy     map[string]bool
	stopping bool
}

// New returns a Batcher. Items may be added at once; they are handled after Start.
func New[T comparable](cfg Config[T]) *Batcher[T] {
	b := &Batcher[T]{cfg: cfg, busy: map[string]bool{}}
	b.changed = sync.NewCond(&b.mu)

	return b
}

// Start begins to handle items.
func (b *Batcher[T]) Start() {
	for range b.cfg.Workers {
		b.running.Go(b.work)
	}
}

// Stop refuses new items, waits until those that were added are handled, and ends the workers. It is idempotent.
func (b *Batcher[T]) Stop() {
	b.mu.Lock()
	b.stopping = true
	b.changed.Broadcast()
	b.mu.Unlock()

	b.running.Wait()
}

// Add queues an item. It reports false after Stop: the item will not be handled.
func (b *Batcher[T]) Add(item T) bool {
	b.mu.Lock()
	defer b.mu.Unlock()

	if b.stopping {
		return false
	}

	b.queue = append(b.queue, item)
	b.changed.Signal()

	return true
}

// Withdraw removes an item that is still queued. It reports false if the item is being handled or was handled.
func (b *Batcher[T]) Withdraw(item T) bool {
	b.mu.Lock()
	defer b.mu.Unlock()

	at := slices.Index(b.queue, item)
	if at < 0 {
		return false
	}

	b.queue = slices.Delete(b.queue, at, at+1)

	return true
}

func (b *Batcher[T]) work() {
	for {
		group := b.take()
		if group == nil {
			return
		}

		b.cfg.Handle(group)
		b.release(group)
	}
}

// take waits for a group. It returns nil when there is nothing more to come.
func (b *Batcher[T]) take() []T {
	b.mu.Lock()
	defer b.mu.Unlock()

	for {
		if group := b.takeNow(); group != nil {
			return group
		}

		// What is still queued belongs to keys in flight: the worker that has them takes it next.
		if b.stopping && len(b.queue) == 0 {
			return nil
		}

		b.changed.Wait()
	}
}

// takeNow moves the first items whose keys are not in flight from the queue into a group, as far as its bounds allow.
func (b *Batcher[T]) takeNow() []T {
	var (
		group  []T
		weight int
		kept   = b.queue[:0]
	)

	for i, item := range b.queue {
		if b.cfg.Key != nil && b.busy[b.cfg.Key(item)] {
			kept = append(kept, item)

			continue
		}

		if b.cfg.Weight != nil {
			weight += b.cfg.Weight(item)
		}

		if len(group) == b.cfg.MaxItems || len(group) > 0 && b.cfg.Weight != nil && weight > b.cfg.MaxWeight {
			kept = append(kept, b.queue[i:]...)

			break
		}

		group = append(group, item)
	}

	// The rest of the array must not keep items alive.
	clear(b.queue[len(kept):])
	b.queue = kept

	if b.cfg.Key != nil {
		for _, item := range group {
			b.busy[b.cfg.Key(item)] = true
		}
	}

	return group
}

// release lets the keys of a group be taken again.
func (b *Batcher[T]) release(group []T) {
	if b.cfg.Key == nil {
		return
	}

	b.mu.Lock()
	defer b.mu.Unlock()

	for _, item := range group {
		delete(b.busy, b.cfg.Key(item))
	}

	b.changed.Broadcast()
}
