package engine

import "sync"

// crew tracks the concurrent executions of a stage. Those that wait for people rest; once all rest or have left, the crew is idle for good.
type crew struct {
	// idle is closed when no execution is working any more.
	idle chan struct{}

	mu      sync.Mutex
	working int
	over    bool
}

func newCrew(size int) *crew { return &crew{idle: make(chan struct{}), working: size} }

// rest is called by an execution that has nothing to do at the moment.
func (c *crew) rest() {
	c.mu.Lock()
	defer c.mu.Unlock()

	c.working--
	c.checkIdle()
}

// work is called by an execution that rested. It returns false if the crew is already idle; the execution must then end.
func (c *crew) work() bool {
	c.mu.Lock()
	defer c.mu.Unlock()

	if c.over {
		return false
	}

	c.working++

	return true
}

// leave is called once by each execution when it ends, and not while it rests.
func (c *crew) leave() {
	c.mu.Lock()
	defer c.mu.Unlock()

	if !c.over {
		c.working--
		c.checkIdle()
	}
}

func (c *crew) checkIdle() {
	if c.working <= 0 && !c.over {
		c.over = true
		close(c.idle)
	}
}
