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

// maxBuckets is how many buckets are kept before those are dropped that limit nothing any more.
const maxBuckets = 1000

// rateLimiter waits for Discord's rate limits, for as long as the context of a request allows. It takes the place of disgo's,
// which does not wait when the global limit is exceeded, waits whole seconds only, and runs a goroutine that nothing ends.
type rateLimiter struct {
	logger *slog.Logger

	mu      sync.Mutex
	global  time.Time // no request before
	buckets map[string]*bucket
}

// bucket is one route for one channel or guild. Its requests are made one after the other.
type bucket struct {
	turn chan struct{} // holds a value while nobody uses the bucket

	// The fields below belong to whoever has the turn.
	remaining int
	reset     time.Time
}

var _ rest.RateLimiter = (*rateLimiter)(nil)

func newRateLimiter(logger *slog.Logger) *rateLimiter {
	return &rateLimiter{logger: logger, buckets: map[string]*bucket{}}
}

// MaxRetries implements rest.RateLimiter: only the context bounds how often a request is made again.
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

// Wait implements rest.RateLimiter. The bucket is taken until Unlock, unless an error is returned.
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

// until is the time before which the holder of a bucket makes no request.
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

// dropUnused forgets the buckets that nobody uses and that limit nothing. The lock is held.
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

// Unlock implements rest.RateLimiter: it notes what the answer tells of the limit, and releases the bucket.
func (l *rateLimiter) Unlock(endpoint *rest.CompiledEndpoint, answer *http.Response) error {
	b := l.bucket(endpoint)

	defer func() {
		select {
		case b.turn <- struct{}{}:
		default: // Reset came between
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

	// A route without these headers has no limit of its own.
	b.remaining, b.reset = 1, time.Time{}

	if left, err := strconv.Atoi(answer.Header.Get("X-Ratelimit-Remaining")); err == nil && known {
		b.remaining, b.reset = left, time.Now().Add(after)
	}

	return nil
}

// refused notes when a request that was refused may be made again. The lock is held.
func (l *rateLimiter) refused(b *bucket, endpoint *rest.CompiledEndpoint, header http.Header, after time.Duration) {
	global := header.Get("X-Ratelimit-Global") != "" || header.Get("Via") == ""

	// Retry-After is in whole seconds; the bucket's header is exact. An answer without either comes from a proxy.
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
