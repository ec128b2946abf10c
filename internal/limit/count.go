package limit

import "sync"

// Exceeded says which limit a Count has reached.
type Exceeded int

const (
	// None means that the caller was counted.
	None Exceeded = iota
	// PerOwner means that this owner holds as many as one may.
	PerOwner
	// Total means that all owners together hold as many as the server allows.
	Total
)

// Count bounds how many of something each owner and all of them together hold. Zero means no limit. The empty owner is
// nobody in particular and only bounded by the total.
type Count struct {
	perOwner, total int

	mu   sync.Mutex
	held map[string]int
	all  int
}

// NewCount returns a Count of nothing.
func NewCount(perOwner, total int) *Count {
	return &Count{perOwner: perOwner, total: total, held: map[string]int{}}
}

// Acquire counts n for an owner, unless that exceeds a limit.
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

// Release gives back n of what an owner acquired.
func (c *Count) Release(owner string, n int) {
	c.mu.Lock()
	defer c.mu.Unlock()

	c.all -= n

	c.held[owner] -= n
	if c.held[owner] <= 0 {
		delete(c.held, owner)
	}
}

// Held is how many all owners hold together.
func (c *Count) Held() int {
	c.mu.Lock()
	defer c.mu.Unlock()

	return c.all
}
