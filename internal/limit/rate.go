package limit

import (
	"net/netip"
	"sync"
	"time"
)

// mostBuckets is how many names a Rate remembers. Beyond it, names that it does not know share one bucket.
const mostBuckets = 10_000

// Rate allows each name a number of attempts per minute, all of which may come at once.
type Rate struct {
	perMinute float64

	mu      sync.Mutex
	buckets map[string]bucket
}

// bucket holds what is left at a moment; it fills up with time.
type bucket struct {
	left float64
	at   time.Time
}

// NewRate returns a Rate. Zero attempts per minute mean no limit.
func NewRate(perMinute int) *Rate {
	return &Rate{perMinute: float64(perMinute), buckets: map[string]bucket{}}
}

// Allow takes one attempt of a name. If there is none left it returns false and how long to wait for the next.
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

// filled is a name's bucket with what came in since it was used.
func (r *Rate) filled(name string, now time.Time) bucket {
	b, ok := r.buckets[name]
	if !ok {
		return bucket{left: r.perMinute, at: now}
	}

	since := max(now.Sub(b.at), 0)

	return bucket{left: min(b.left+since.Minutes()*r.perMinute, r.perMinute), at: now}
}

// forgetFull forgets the names that have all their attempts again.
func (r *Rate) forgetFull(now time.Time) {
	for name := range r.buckets {
		if r.filled(name, now).left >= r.perMinute {
			delete(r.buckets, name)
		}
	}
}

// Network names the network that an address is limited with: the address itself, or for IPv6 the /64 that one
// subscriber has.
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
