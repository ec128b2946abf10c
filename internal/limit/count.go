package limit

import "sync"

// Exceeded is the limit that a Count has reached.
type Exceeded int

const (
	// None means that the request was counted.
	None Exceeded = iota
	// PerOwner means that the owner's limit is reached.
	PerOwner
	// Total means that the limit of all owners together is reached.
	Total
)

// Count limits how many of something each owner holds, and all owners together. Zero means no limit. The empty owner is
// anonymous and only subject to the total limit.
type Count struct {
	perOwner, total int

	mu   sync.Mutex
	held map[string]int
	all  int
}

// NewCount returns an empty Count.
func NewCount(perOwner, total int) *Count {
	return &Count{perOwner: perOwner, total: total, held: map[string]int{}}
}

// Acquire counts n for an owner, unless that would exceed a limit.
func (c *Count) Acquire(owner string, n int) Exceeded {
	c.mu.Lock()
	defer c.mu.Unlock()

	if c.total > 0 && c.all+n > c.total {
		return Total
	}

	if c.perOwner > 0 && owner != "" && c.held[owner]+n > c.perOwner {
		return PerOwner
	}

	c.held[owner] += n
	c.all += n

	return None
}

// Release returns n of what an owner acquired.
func (c *Count) Release(owner string, n int) {
	c.mu.Lock()
	defer c.mu.Unlock()

	c.all -= n

	c.held[owner] -= n
	if c.held[owner] <= 0 {
		delete(c.held, owner)
	}
}

// Held returns how many all owners hold together.
func (c *Count) Held() int {
	c.mu.Lock()
	defer c.mu.Unlock()

	return c.all
}
