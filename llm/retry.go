package llm

import (
	"context"
	"iter"
	"math/rand/v2"
	"time"

	"github.com/jonboulle/clockwork"
)

// Retry says how often a call is made, and how long is waited in between. The zero value makes it once.
type Retry struct {
	// Attempts is how often a call is made at most, the first time included.
	Attempts int
	// FirstWait bounds the wait before the second attempt; the bound doubles with each, up to MaxWait. The wait itself is
	// anything between nothing and the bound, so that many callers do not come back at once.
	FirstWait time.Duration
	MaxWait   time.Duration
	// MaxRetryAfter is how long a provider may ask to wait; a call that should wait longer fails at once.
	MaxRetryAfter time.Duration
	// Clock times the waits; nil is the real one.
	Clock clockwork.Clock
	// Random returns numbers from 0 to 1; nil means random ones.
	Random func() float64
}

// Generate calls client until an answer begins, the error is one that stays, or all attempts are used up. Once a chunk
// was passed on the call is never made again. Failed, where it is not nil, is told of each attempt that is followed by
// another.
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

// once makes the call and passes everything on but its error. An error within the stream is its error too.
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

// wait is how long to wait after a failed attempt, if there is to be another.
func (r Retry) wait(attempt int, err error) (time.Duration, bool) {
	e := AsError(err)
	if attempt >= r.Attempts || !e.Retryable || e.RetryAfter > r.MaxRetryAfter {
		return 0, false
	}

	const doublings = 62 // more would leave nothing of any bound

	random := r.Random
	if random == nil {
		random = rand.Float64
	}

	bound, shift := r.MaxWait, min(attempt-1, doublings)
	if r.FirstWait <= r.MaxWait>>shift {
		bound = r.FirstWait << shift
	}

	// Whoever was told when to come back does not come earlier, nor all at that very moment.
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
