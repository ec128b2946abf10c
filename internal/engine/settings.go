package engine

import (
	"encoding/json"
	"time"

	"tarsy.dev/tarsy/internal/agent"
	"tarsy.dev/tarsy/internal/chain"
)

// Settings are what a configuration says about sessions. They never change: a reload of the configuration makes others, see
// Engine.Apply.
type Settings struct {
	// Chain returns the chain with this id, as configured now, for sessions that have no recipe of their own.
	Chain func(chainID string) (chain.Chain, bool)
	// Server returns what is configured of an MCP server, for those sessions.
	Server func(id string) (chain.Server, bool)
	// Decode reads a stored recipe.
	Decode func(body json.RawMessage) (chain.Recipe, error)
	// Has is what this server's configuration has, in the words of a recipe's needs: it claims sessions that it can run.
	Has []string
	// UnrunnableTimeout is how long a session waits that needs what no server has configured, before it fails; zero
	// means five minutes.
	UnrunnableTimeout time.Duration
	// DefaultRunbook is used when the runbook of an alert cannot be fetched.
	DefaultRunbook string
	// Agent is what all executions share.
	Agent agent.Config

	// Workers is how many sessions this server runs at once, MaxSessions how many all servers together.
	Workers     int
	MaxSessions int
	// MaxPerTeam is how many sessions of one team all servers together run at once, and TeamLimits the same for single teams by name.
	// Zero and nil mean no limit.
	MaxPerTeam int
	TeamLimits map[string]int
	// ByTeam shows agents only those past sessions that everybody sees who sees the session.
	ByTeam bool
	// SessionTimeout bounds a session from its start, over all servers that worked on it.
	SessionTimeout time.Duration
	// WrapUp is how long before that the agents are told to conclude; zero means three minutes, or a tenth of a short
	// session.
	WrapUp time.Duration
	// ConcludeResolved asks the agents of a running session to conclude when its alert is resolved.
	ConcludeResolved bool
	// Budgets are caps on what sessions use.
	Budgets Budgets
}

// Apply replaces the settings. Sessions that are claimed from now on follow them; a session that runs keeps those that it was claimed
// with, except for budgets, which hold at once.
func (e *Engine) Apply(settings Settings) {
	if settings.WrapUp == 0 {
		settings.WrapUp = wrapUp(settings.SessionTimeout)
	}

	if settings.UnrunnableTimeout == 0 {
		settings.UnrunnableTimeout = unrunnableTimeout
	}

	e.settings.Store(&settings)
	e.Wake()
}

// wrapUp is how long before the end of a session its agents are told to conclude: three minutes of the usual forty.
func wrapUp(timeout time.Duration) time.Duration {
	const usual, share = 3 * time.Minute, 10

	return min(usual, timeout/share)
}
