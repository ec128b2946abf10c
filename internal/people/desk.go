// Package people processes people's decisions: about tool calls that wait for an approval, the handling of a session, whether
// its conclusion is right, who may read it, and what is paused. It validates, cleans and masks what they write, and does not
// know how they send it: the API, the terminal, MCP clients, Slack and Discord all use one Desk, and decide themselves who is
// allowed to do what. The row of the audit log is part of the transaction of a change (internal/audit). Questions and
// cancellations are handled by the intake of internal/engine.
package people

import (
	"github.com/jonboulle/clockwork"

	"tarsy.dev/tarsy/internal/postgres"
	"tarsy.dev/tarsy/internal/postgres/account"
)

// Config configures a Desk. Everything is required.
type Config struct {
	DB       *postgres.DB
	Accounts *account.Store
	// Mask hides secrets in what people write.
	Mask  func(string) string
	Clock clockwork.Clock
}

// Desk processes decisions. Any number of servers can use the same database.
type Desk struct{ cfg Config }

// New returns a desk.
func New(cfg Config) *Desk { return &Desk{cfg: cfg} }
