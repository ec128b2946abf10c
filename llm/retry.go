package llm

import (
	"context"
	"iter"
	"math/rand/v2"
	"time"

	"github.com/jonboulle/clockwork"
)

// Retry defines how often a call is attempted, and how long to wait in between. The zero value makes one attempt.
type Retry struct {
	// Attempts is the maximum number of attempts, including the first.
	Attempts int
	// FirstWait bounds the wait before the second attempt; the bound doubles with each attempt, up to MaxWait. The wait itself
	// is random between zero and the bound, so that many callers do not retry at the same time.
	FirstWait time.Duration
	MaxWait   time.Duration
	// MaxRetryAfter is the longest wait that a provider can request; if it requests a longer one, the call fails immediately.
	MaxRetryAfter time.Duration
	// Clock times the waits; nil is the real clock.
	Clock clockwork.Clock
	// Random returns numbers from 0 to 1; nil means rand.Float64.
	Random func() float64
}

// Generate calls client until an answer begins, an error is not retryable, or all attempts are used up. Once a chunk was passed
// on, the call is not retried. If failed is not nil, it is called for each failed attempt that is followed by another.
func (r Retry) Generate(ctx context.Context, client Client, req *Request, failed func(attempt int, err error)) iter.Seq2[Chunk, error] {
	return func(yield func(Chunk, error) bool) {
		for attempt := 1; ; attempt++ {
			begun, stopped, err := once(ctx, client, req, yield)
			if stopped || err == nil {
				return
			}

			wait, again := r.wait(attempt, err)
			if begun || !again || ctx.Err() != nil {
				yield(nil, err)

				return
			}

			if failed != nil {
				failed(attempt, err)
			}

			if !r.sleep(ctx, wait) {
				yield(nil, context.Cause(ctx))

				return
			}
		}
	}
}

// once makes the call and passes on everything but its error. An ErrorChunk in the stream counts as an error too.
func once(ctx context.Context, client Client, req *Request, yield func(Chunk, error) bool) (begun, stopped bool, failure error) {
	for chunk, err := range client.Generate(ctx, req) {
		if reported, ok := chunk.(ErrorChunk); ok && err == nil {
			err = reported
		}

		if err != nil {
			return begun, false, err
		}

		begun = true

		if !yield(chunk, nil) {
			return begun, true, nil
		}
	}

	return begun, false, nil
}

// wait returns how long to wait after a failed attempt, and whether there is another attempt.
func (r Retry) wait(attempt int, err error) (time.Duration, bool) {
	e := AsError(err)
	if attempt >= r.Attempts || !e.Retryable || e.RetryAfter > r.MaxRetryAfter {
		return 0, false
	}

	const doublings = 62 // more would reduce any bound to zero

	random := r.Random
	if random == nil {
		random = rand.Float64
	}

	bound, shift := r.MaxWait, min(attempt-1, doublings)
	if r.FirstWait <= r.MaxWait>>shift {
		bound = r.FirstWait << shift
	}

	// Retry no earlier than the provider asked, and spread the retries of many callers.
	return max(e.RetryAfter, 0) + time.Duration(random()*float64(bound)), true
}

func (r Retry) sleep(ctx context.Context, wait time.Duration) bool {
	clock := r.Clock
	if clock == nil {
		clock = clockwork.NewRealClock()
	}

	timer := clock.NewTimer(wait)
	defer timer.Stop()

	select {
	case <-timer.Chan():
		return true
	case <-ctx.Done():
		return false
	}
}
