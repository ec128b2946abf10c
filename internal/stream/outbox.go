package stream

import (
	"context"
	"sync"
)

// outbox is the work queue of the goroutine that writes to a connection.
//
// Tasks are unbuffered: a goroutine with something to write waits for the writer, which propagates the pace of the socket to the journal's
// tail. Text does not wait: a subscription is listed while it has chunks, and the writer takes them from there, so that a chunk costs one
// handover between goroutines instead of two.
type outbox struct {
	tasks chan func() error
	// wake receives a value when a subscription was listed.
	wake chan struct{}

	mu    sync.Mutex
	ready []*subscription // subscriptions with chunks, each once
	spare []*subscription // a processed list, for reuse
}

func newOutbox() *outbox {
	return &outbox{tasks: make(chan func() error), wake: make(chan struct{}, 1)}
}

// put waits until the writer has taken the task. It returns false if the context ended first.
func (o *outbox) put(ctx context.Context, task func() error) bool {
	select {
	case o.tasks <- task:
		return true
	case <-ctx.Done():
		return false
	}
}

// list records that the subscription has chunks, and wakes the writer without waiting for it.
func (o *outbox) list(s *subscription) {
	o.mu.Lock()
	o.ready = append(o.ready, s)
	o.mu.Unlock()

	select {
	case o.wake <- struct{}{}:
	default:
	}
}

// drain writes the waiting chunks. It is called by the writer, after wake.
func (o *outbox) drain() error {
	o.mu.Lock()
	ready := o.ready
	o.ready, o.spare = o.spare, nil
	o.mu.Unlock()

	for _, s := range ready {
		err := s.drain()
		if err != nil {
			return err
		}
	}

	clear(ready)

	o.mu.Lock()
	o.spare = ready[:0]
	o.mu.Unlock()

	return nil
}
