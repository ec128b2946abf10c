package discord

import (
	"context"
	"log/slog"
	"math"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/disgoorg/disgo/rest"
)

// maxBuckets is the number of buckets at which those that no longer limit anything are dropped.
const maxBuckets = 1000

// rateLimiter waits for Discord's rate limits, for as long as the context of a request allows. It replaces disgo's, which does
// not wait when the global limit is exceeded, waits whole seconds only, and runs a goroutine that is never stopped.
type rateLimiter struct {
	logger *slog.Logger

	mu      sync.Mutex
	global  time.Time // no requests before this time
	buckets map[string]*bucket
}

// bucket is the rate limit of one route for one channel or guild. Its requests are made one at a time.
type bucket struct {
	turn chan struct{} // holds a value while the bucket is free

	// The fields below are guarded by rateLimiter.mu.
	remaining int
	reset     time.Time
}

var _ rest.RateLimiter = (*rateLimiter)(nil)

func newRateLimiter(logger *slog.Logger) *rateLimiter {
	return &rateLimiter{logger: logger, buckets: map[string]*bucket{}}
}

// MaxRetries implements rest.RateLimiter: only the context limits the number of retries.
func (*rateLimiter) MaxRetries() int { return math.MaxInt }

// Close implements rest.RateLimiter.
func (*rateLimiter) Close(context.Context) {}

// Reset implements rest.RateLimiter.
func (l *rateLimiter) Reset() {
	l.mu.Lock()
	defer l.mu.Unlock()

	l.global = time.Time{}
	clear(l.buckets)
}

// Wait implements rest.RateLimiter. It holds the bucket until Unlock, unless it returns an error.
func (l *rateLimiter) Wait(ctx context.Context, endpoint *rest.CompiledEndpoint) error {
	b := l.bucket(endpoint)

	select {
	case <-b.turn:
	case <-ctx.Done():
		return context.Cause(ctx)
	}

	for {
		until := l.until(b)

		wait := time.Until(until)
		if wait <= 0 {
			return nil
		}

		timer := time.NewTimer(wait)

		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			b.turn <- struct{}{}

			return context.Cause(ctx)
		}
	}
}

// until returns the time before which the holder of a bucket must not send a request.
func (l *rateLimiter) until(b *bucket) time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()

	if b.remaining > 0 || b.reset.Before(l.global) {
		return l.global
	}

	return b.reset
}

func (l *rateLimiter) bucket(endpoint *rest.CompiledEndpoint) *bucket {
	l.mu.Lock()
	defer l.mu.Unlock()

	key := endpoint.Endpoint.Method + " " + endpoint.Endpoint.Route + " " + endpoint.MajorParams

	b := l.buckets[key]
	if b == nil {
		if len(l.buckets) >= maxBuckets {
			l.dropUnused()
		}

		b = &bucket{turn: make(chan struct{}, 1), remaining: 1}
		b.turn <- struct{}{}
		l.buckets[key] = b
	}

	return b
}

// dropUnused drops the buckets that are free and no longer limit anything. The caller holds the lock.
func (l *rateLimiter) dropUnused() {
	now := time.Now()

	for key, b := range l.buckets {
		select {
		case <-b.turn:
			if b.reset.Before(now) {
				delete(l.buckets, key)
			}

			b.turn <- struct{}{}
		default:
		}
	}
}

// Unlock implements rest.RateLimiter: it records the limit that the response reports, and releases the bucket.
func (l *rateLimiter) Unlock(endpoint *rest.CompiledEndpoint, answer *http.Response) error {
	b := l.bucket(endpoint)

	defer func() {
		select {
		case b.turn <- struct{}{}:
		default: // Reset has replaced the bucket
		}
	}()

	if answer == nil {
		return nil
	}

	l.mu.Lock()
	defer l.mu.Unlock()

	after, known := secondsOf(answer.Header, "X-Ratelimit-Reset-After")

	if answer.StatusCode == http.StatusTooManyRequests {
		l.refused(b, endpoint, answer.Header, after)

		return nil
	}

	// A route without these headers has no limit besides the global one.
	b.remaining, b.reset = 1, time.Time{}

	if left, err := strconv.Atoi(answer.Header.Get("X-Ratelimit-Remaining")); err == nil && known {
		b.remaining, b.reset = left, time.Now().Add(after)
	}

	return nil
}

// refused records when a rejected request can be retried. The caller holds the lock.
func (l *rateLimiter) refused(b *bucket, endpoint *rest.CompiledEndpoint, header http.Header, after time.Duration) {
	global := header.Get("X-Ratelimit-Global") != "" || header.Get("Via") == ""

	// Retry-After is in whole seconds; the bucket's header is exact. A response with neither comes from a proxy.
	if retry, ok := secondsOf(header, "Retry-After"); ok && (global || after == 0) {
		after = retry
	}

	after = max(after, 50*time.Millisecond)

	if global {
		l.global = time.Now().Add(after)
	} else {
		b.remaining, b.reset = 0, time.Now().Add(after)
	}

	l.logger.Warn("discord rate limit reached; waiting", "route", endpoint.Endpoint.Route, "wait", after, "global", global)
}

func secondsOf(header http.Header, name string) (time.Duration, bool) {
	value, err := strconv.ParseFloat(header.Get(name), 64)
	if err != nil || value < 0 || value > 1e6 {
		return 0, false
	}

	return time.Duration(value * float64(time.Second)), true
}
