// Package people takes what people decide: about tool calls that wait for an approval, about what becomes of a session, whether its conclusion
// is right, who may read it, and what is paused. It checks, cleans and masks what they write, and knows nothing of how they send it: the API,
// the terminal, MCP clients, Slack and Discord all use one Desk. Who may decide what is for them to say. The row of the audit log is part of
// the transaction of a change (internal/audit). Questions and cancellations are taken by the intake of internal/engine.
package people

import (
	"github.com/jonboulle/clockwork"

	"tarsy.dev/tarsy/internal/postgres"
)

// Config is what a Desk needs. Everything is required.
type Config struct {
	DB *postgres.DB
	// Mask hides secrets in what people write.
	Mask  func(string) string
	Clock clockwork.Clock
}

// Desk takes decisions. Any number of servers may have one on the same database.
type Desk struct{ cfg Config }

// New returns a desk.
func New(cfg Config) *Desk { return &Desk{cfg: cfg} }
