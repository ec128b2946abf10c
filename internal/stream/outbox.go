package stream

import (
	"context"
	"sync"
)

// outbox is what the goroutine that writes a connection does next.
//
// Tasks have no buffer: whoever has something to write waits for its turn, which is how the pace of the socket reaches the
// journal's tail. Text does not wait: a subscription is listed while chunks wait for it, and the writer takes them from
// there, so that a chunk costs one hand-over between goroutines and not two.
type outbox struct {
	tasks chan func() error
	// wake receives when a subscription was listed.
	wake chan struct{}

	mu    sync.Mutex
	ready []*subscription // those with chunks, each once
	spare []*subscription // the list that the writer has done
}

func newOutbox() *outbox {
	return &outbox{tasks: make(chan func() error), wake: make(chan struct{}, 1)}
}

// put waits until the writer has taken the task. It reports false when the context ended first.
func (o *outbox) put(ctx context.Context, task func() error) bool {
	select {
	case o.tasks <- task:
		return true
	case <-ctx.Done():
		return false
	}
}

// list notes that chunks wait for the subscription, and wakes the writer. It never waits for it.
func (o *outbox) list(s *subscription) {
	o.mu.Lock()
	o.ready = append(o.ready, s)
	o.mu.Unlock()

	select {
	case o.wake <- struct{}{}:
	default:
	}
}

// drain writes the chunks that wait. It is called by the writer, after wake.
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
