package discord

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"math"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/jonboulle/clockwork"

	"tarsy.dev/tarsy/internal/kit/mock/virtual"
)

const (
	defaultLimit  = 1000
	defaultWindow = time.Second
)

// limiter counts requests by route and by the channel, guild or webhook in the path, and rejects requests on demand.
type limiter struct {
	clock  clockwork.Clock
	limits map[string]RateLimit

	forced virtual.Faults[Force429]

	mu      sync.Mutex
	buckets map[string]*bucket
}

type bucket struct {
	used  int
	reset time.Time
}

func newLimiter(clock clockwork.Clock, limits []RateLimit) *limiter {
	l := &limiter{clock: clock, limits: map[string]RateLimit{}, buckets: map[string]*bucket{}}
	for _, limit := range limits {
		if limit.Window == 0 {
			limit.Window = defaultWindow
		}

		l.limits[limit.Route] = limit
	}

	return l
}

// force rejects the next requests.
func (l *limiter) force(f Force429) {
	f.RetryAfter = cmp.Or(f.RetryAfter, time.Second)
	l.forced.Add(f, f.Times)
}

// pending returns how many requests are still to be rejected.
func (l *limiter) pending() int {
	n := 0
	for _, f := range l.forced.Pending() {
		n += f.Times
	}

	return n
}

// tooMany is the body of a 429.
type tooMany struct {
	Message    string  `json:"message"`
	RetryAfter float64 `json:"retry_after"`
	Global     bool    `json:"global"`
	Code       int     `json:"code"`
}

// take counts a request and sets the headers of its response. It returns the body of a 429, or nil.
func (l *limiter) take(h http.Header, route, major string) *tooMany {
	l.mu.Lock()
	defer l.mu.Unlock()

	if f := l.forced.Take(func(f Force429) bool { return f.Route == "" || f.Route == route }); f != nil {
		return refuse(h, route, f.RetryAfter, f.Global, l.clock.Now())
	}

	limit, ok := l.limits[route]
	if !ok {
		limit = RateLimit{Limit: defaultLimit, Window: defaultWindow}
	}

	now := l.clock.Now()

	b := l.buckets[route+" "+major]
	if b == nil || !now.Before(b.reset) {
		b = &bucket{reset: now.Add(limit.Window)}
		l.buckets[route+" "+major] = b
	}

	if b.used == limit.Limit {
		refused := refuse(h, route, b.reset.Sub(now), false, now)
		h.Set("X-Ratelimit-Limit", strconv.Itoa(limit.Limit))

		return refused
	}

	b.used++
	setLimit(h, route, limit.Limit, limit.Limit-b.used, b.reset, now)

	return nil
}

// setLimit writes the headers that every response of a limited route has.
func setLimit(h http.Header, route string, limit, remaining int, reset, now time.Time) {
	sum := sha256.Sum256([]byte(route))

	h.Set("X-Ratelimit-Bucket", hex.EncodeToString(sum[:16]))
	h.Set("X-Ratelimit-Limit", strconv.Itoa(limit))
	h.Set("X-Ratelimit-Remaining", strconv.Itoa(remaining))
	h.Set("X-Ratelimit-Reset", seconds(time.Duration(reset.UnixNano())))
	h.Set("X-Ratelimit-Reset-After", seconds(reset.Sub(now)))
}

// refuse writes the headers of a 429. The global limit belongs to no route, so it has no bucket.
func refuse(h http.Header, route string, after time.Duration, global bool, now time.Time) *tooMany {
	h.Set("Retry-After", strconv.Itoa(int(math.Ceil(after.Seconds()))))

	if global {
		h.Set("X-Ratelimit-Global", "true")
		h.Set("X-Ratelimit-Scope", "global")
	} else {
		setLimit(h, route, 1, 0, now.Add(after), now)
		h.Set("X-Ratelimit-Scope", "user")
	}

	return &tooMany{Message: "You are being rate limited.", RetryAfter: after.Seconds(), Global: global}
}

func seconds(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'f', 3, 64) }
