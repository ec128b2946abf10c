package flowtest

import (
	"context"
	"fmt"
	"time"
)

// WaitOption changes one wait.
type WaitOption func(*wait)

// wait holds the settings of one wait.
type wait struct{ limit time.Duration }

// Within sets the time limit of one wait, instead of Timeouts.Assertion.
func Within(limit time.Duration) WaitOption { return func(w *wait) { w.limit = limit } }

// assertion returns the context of one wait.
func (h *Host) assertion(options []WaitOption) (context.Context, context.CancelFunc) {
	w := wait{limit: h.timeouts.Assertion}
	for _, option := range options {
		option(&w)
	}

	return timeLimit(w.limit)
}

// timeLimit returns a context whose cause names the limit that was reached.
func timeLimit(limit time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(context.Background(), limit, fmt.Errorf("the time limit of %s was reached", limit))
}
