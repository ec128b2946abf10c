// Package batch collects items that arrive one by one and handles them in groups: whatever is queued when a worker becomes free
// is its next group. So a single item does not wait for others, and a burst of items is handled in few groups.
//
// The package knows nothing about the items or how they are handled.
package batch

import (
	"slices"
	"sync"
)

// Config configures the grouping of items. Workers, MaxItems and Handle are required.
type Config[T comparable] struct {
	// Workers is the number of groups handled concurrently.
	Workers int
	// MaxItems limits the items of one group.
	MaxItems int
	// Weight is the weight of an item, and MaxWeight limits the weight of one group; a heavier item is a group by itself. Nil
	// means that only MaxItems limits a group.
	Weight    func(T) int
	MaxWeight int
	// Key identifies the subject of an item. Items with the same key are handled in the order in which they were added, and
	// never by two workers concurrently. Nil means that items can be handled in any order.
	Key func(T) string
	// Handle handles a group, in the order in which its items were added. It is called by several workers concurrently, but
	// never with the same key.
	Handle func(group []T)
}

// Batcher is a queue of items with its workers. It owns the goroutines that call Handle.
type Batcher[T comparable] struct {
	cfg     Config[T]
	running sync.WaitGroup

	mu      sync.Mutex
	changed *sync.Cond
	queue   []T
	// busy has the keys of the groups in flight.
	busy     map[string]bool
	stopping bool
}

// New returns a Batcher. Items can be added immediately; they are handled after Start.
func New[T comparable](cfg Config[T]) *Batcher[T] {
	b := &Batcher[T]{cfg: cfg, busy: map[string]bool{}}
	b.changed = sync.NewCond(&b.mu)

	return b
}

// Start starts the workers.
func (b *Batcher[T]) Start() {
	for range b.cfg.Workers {
		b.running.Go(b.work)
	}
}

// Stop rejects new items, waits until all queued items are handled, and ends the workers. It is idempotent.
func (b *Batcher[T]) Stop() {
	b.mu.Lock()
	b.stopping = true
	b.changed.Broadcast()
	b.mu.Unlock()

	b.running.Wait()
}

// Add queues an item. It returns false after Stop: the item will not be handled.
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

// Withdraw removes an item that is still queued. It returns false if the item is being handled or was handled.
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

// take waits for a group. It returns nil when the batcher is stopped and the queue is empty.
func (b *Batcher[T]) take() []T {
	b.mu.Lock()
	defer b.mu.Unlock()

	for {
		if group := b.takeNow(); group != nil {
			return group
		}

		// Items that remain queued have keys in flight: the workers that hold these keys take them next.
		if b.stopping && len(b.queue) == 0 {
			return nil
		}

		b.changed.Wait()
	}
}

// takeNow moves the first items whose keys are not in flight from the queue into a group, within its limits.
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

	// Clear the rest of the array so that it does not keep items alive.
	clear(b.queue[len(kept):])
	b.queue = kept

	if b.cfg.Key != nil {
		for _, item := range group {
			b.busy[b.cfg.Key(item)] = true
		}
	}

	return group
}

// release makes the keys of a group available again.
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
