package retention

import "tarsy.dev/tarsy/internal/postgres"

// Soon is when the first jobs are scheduled.
const Soon = soon

// Small limits batches to a number of sessions.
func (c Config) Small(sessions int) Config {
	c.batch = postgres.Batch{Sessions: sessions, Events: 1_000_000}

	return c
}
