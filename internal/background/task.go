// Package background runs work beside a server: a task has an owner that starts it, ends it and waits for it. It knows
// nothing of what the work is.
package background

import (
	"context"
	"sync"
	"time"
)

// Task is one goroutine. The zero value is ready to be started; stopping one that was not started does nothing.
type Task struct {
	cancel  context.CancelFunc
	running sync.WaitGroup
}

// Start runs the work until it returns. Its context ends with Stop. A task is started once.
func (t *Task) Start(work func(context.Context)) {
	ctx, cancel := context.WithCancel(context.Background())
	t.cancel = cancel

	t.running.Go(func() { work(ctx) })
}

// Stop ends the context of the work and waits until it has returned.
func (t *Task) Stop() {
	if t.cancel != nil {
		t.cancel()
	}

	t.running.Wait()
}

// Every calls work at each interval of real time until ctx ends, the first time after one interval. Each call has its own
// time limit.
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
