package retention

import "tarsy.dev/tarsy/internal/postgres"

// Soon is when the first jobs are planned.
const Soon = soon

// RescueAfter is when a job of a dead server is done by another.
const RescueAfter = rescueAfter

// Small makes batches of so many sessions.
func (c Config) Small(sessions int) Config {
	c.batch = postgres.Batch{Sessions: sessions, Events: 1_000_000}

	return c
}

// Hasty makes the queue begin at once.
func (c Config) Hasty() Config {
	c.hasty = true

	return c
}

// Started reports whether the queue runs.
func (r *Retention) Started() bool {
	r.queue.mu.Lock()
	defer r.queue.mu.Unlock()

	return r.queue.started
}
