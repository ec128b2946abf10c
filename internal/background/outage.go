package background

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

const (
	// outageFirst is how long after the first report an ongoing outage is reported again; each interval is twice as long as the
	// previous one, up to outageMost.
	outageFirst = 10 * time.Second
	outageMost  = 5 * time.Minute
)

// Outage logs failures of work that is retried while a dependency is unavailable: the first failure immediately, further ones
// at growing intervals, and the first success after them. It uses real time. Safe for concurrent use.
type Outage struct {
	// Failing and Over are the log messages; both are constants.
	Failing, Over string
	Level         slog.Level
	Logger        *slog.Logger

	mu       sync.Mutex
	began    time.Time
	next     time.Time
	pause    time.Duration
	failures int
}

// Note records the result of one attempt.
func (o *Outage) Note(ctx context.Context, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()

	now := time.Now()

	if err == nil {
		if o.failures > 0 {
			o.Logger.InfoContext(ctx, o.Over, "failures", o.failures, "duration", now.Sub(o.began).Round(time.Millisecond))
			o.failures = 0
		}

		return
	}

	o.failures++

	switch {
	case o.failures == 1:
		o.began, o.pause = now, outageFirst
	case now.Before(o.next):
		return
	default:
		o.pause = min(2*o.pause, outageMost)
	}

	o.next = now.Add(o.pause)
	o.Logger.Log(ctx, o.Level, o.Failing, "error", err, "failures", o.failures)
}
