package runbook

import (
	"container/list"
	"sync"
	"time"

	"github.com/jonboulle/clockwork"
)

const (
	cacheEntries = 256
	cacheBytes   = 16 << 20
	// failureTTL is long enough that a burst of alerts does not query a broken server repeatedly, and short enough to go
	// unnoticed.
	failureTTL = 5 * time.Second
)

// result is the result of a fetch.
type result struct {
	text string
	err  error
}

// cache keeps the most recently used results for a while. It is safe for concurrent use.
type cache struct {
	clock clockwork.Clock
	ttl   time.Duration

	mu    sync.Mutex
	byKey map[string]*list.Element
	order *list.List // of *entry, most recently used first
	bytes int
}

type entry struct {
	key   string
	until time.Time
	result
}

func (e *entry) size() int { return len(e.key) + len(e.text) }

func newCache(clock clockwork.Clock, ttl time.Duration) *cache {
	return &cache{clock: clock, ttl: ttl, byKey: map[string]*list.Element{}, order: list.New()}
}

func (c *cache) get(key string) (result, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()

	element, ok := c.byKey[key]
	if !ok {
		return result{}, false
	}
	e := c.entry(element)
	if !c.clock.Now().Before(e.until) {
		c.remove(element)

		return result{}, false
	}
	c.order.MoveToFront(element)

	return e.result, true
}

func (c *cache) put(key string, got result) {
	ttl := c.ttl
	if got.err != nil {
		ttl = min(ttl, failureTTL)
	}
	e := &entry{key: key, until: c.clock.Now().Add(ttl), result: got}
	if ttl <= 0 || e.size() > cacheBytes {
		return
	}

	c.mu.Lock()
	defer c.mu.Unlock()

	if old, ok := c.byKey[key]; ok {
		c.remove(old)
	}
	c.byKey[key] = c.order.PushFront(e)
	c.bytes += e.size()
	for len(c.byKey) > cacheEntries || c.bytes > cacheBytes {
		c.remove(c.order.Back())
	}
}

func (c *cache) remove(element *list.Element) {
	e := c.entry(element)
	c.order.Remove(element)
	delete(c.byKey, e.key)
	c.bytes -= e.size()
}

func (c *cache) entry(element *list.Element) *entry {
	return element.Value.(*entry) //nolint:forcetypeassert // the list holds nothing else
}
