package limit

import (
	"net/netip"
	"sync"
	"time"
)

// mostBuckets is the maximum number of names that a Rate tracks. Beyond it, unknown names share one bucket.
const mostBuckets = 10_000

// Rate limits the attempts per minute of each name. All of them can be used in one burst.
type Rate struct {
	perMinute float64

	mu      sync.Mutex
	buckets map[string]bucket
}

// bucket is how many attempts were left at a time; it refills continuously.
type bucket struct {
	left float64
	at   time.Time
}

// NewRate returns a Rate. Zero means no limit.
func NewRate(perMinute int) *Rate {
	return &Rate{perMinute: float64(perMinute), buckets: map[string]bucket{}}
}

// Allow uses one attempt of a name. If none is left, it returns false and the time until the next one.
func (r *Rate) Allow(name string, now time.Time) (wait time.Duration, ok bool) {
	if r.perMinute == 0 {
		return 0, true
	}

	r.mu.Lock()
	defer r.mu.Unlock()

	if _, known := r.buckets[name]; !known && len(r.buckets) >= mostBuckets {
		r.forgetFull(now)

		if len(r.buckets) >= mostBuckets {
			name = ""
		}
	}

	b := r.filled(name, now)
	if b.left < 1 {
		return time.Duration((1 - b.left) / r.perMinute * float64(time.Minute)), false
	}

	b.left--
	r.buckets[name] = b

	return 0, true
}

// filled returns a name's bucket, refilled for the time since its last use.
func (r *Rate) filled(name string, now time.Time) bucket {
	b, ok := r.buckets[name]
	if !ok {
		return bucket{left: r.perMinute, at: now}
	}

	since := max(now.Sub(b.at), 0)

	return bucket{left: min(b.left+since.Minutes()*r.perMinute, r.perMinute), at: now}
}

// forgetFull removes the names whose buckets are full again.
func (r *Rate) forgetFull(now time.Time) {
	for name := range r.buckets {
		if r.filled(name, now).left >= r.perMinute {
			delete(r.buckets, name)
		}
	}
}

// Network returns the network that limits apply to: the address itself, or for IPv6 the /64 of a subscriber.
func Network(address netip.Addr) string {
	const subscriber = 64

	address = address.Unmap().WithZone("")
	if address.Is6() {
		if prefix, err := address.Prefix(subscriber); err == nil {
			return prefix.String()
		}
	}

	return address.String()
}
