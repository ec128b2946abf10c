// Package background runs work alongside a server: each task has an owner that starts it, stops it and waits for it. It knows
// nothing about the work.
package background

import (
	"context"
	"sync"
	"time"
)

// Task is one goroutine. The zero value is ready to use; stopping a task that was not started does nothing.
type Task struct {
	cancel  context.CancelFunc
	running sync.WaitGroup
}

// Start runs work in a goroutine. Stop cancels its context. A task can be started only once.
func (t *Task) Start(work func(context.Context)) {
	ctx, cancel := context.WithCancel(context.Background())
	t.cancel = cancel

	t.running.Go(func() { work(ctx) })
}

// Stop cancels the context of the work and waits until it returns.
func (t *Task) Stop() {
	if t.cancel != nil {
		t.cancel()
	}

	t.running.Wait()
}

// Every calls work at each interval of real time until ctx is done, first after one interval. Each call has its own time limit.
func Every(ctx context.Context, interval, limit time.Duration, work func(context.Context)) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()

	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}

		limited, cancel := context.WithTimeout(ctx, limit)
		work(limited)
		cancel()
	}
}
