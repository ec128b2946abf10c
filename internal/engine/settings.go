package engine

import (
	"encoding/json"
	"time"

	"tarsy.dev/tarsy/internal/agent"
	"tarsy.dev/tarsy/internal/chain"
)

// Settings is the part of the configuration that concerns sessions. Settings never change: a reload of the configuration creates new ones;
// see Engine.Apply.
type Settings struct {
	// Chain returns the configured chain with this ID, for sessions that have no recipe.
	Chain func(chainID string) (chain.Chain, bool)
	// Server returns the configuration of an MCP server, for those sessions.
	Server func(id string) (chain.Server, bool)
	// Decode reads a stored recipe.
	Decode func(body json.RawMessage) (chain.Recipe, error)
	// Has lists what this server's configuration provides, named like the needs of a recipe. Only sessions that the server can run are
	// claimed.
	Has []string
	// UnrunnableTimeout is how long a session waits for something that no server has configured before it fails; zero means five minutes.
	UnrunnableTimeout time.Duration
	// DefaultRunbook is used when the runbook of an alert cannot be fetched.
	DefaultRunbook string
	// Agent is the configuration that all executions share.
	Agent agent.Config

	// Workers is how many sessions this server runs concurrently, MaxSessions how many all servers together.
	Workers     int
	MaxSessions int
	// MaxPerTeam is how many sessions of one team all servers together run concurrently, and TeamLimits the same for individual teams by
	// name. Zero and nil mean no limit.
	MaxPerTeam int
	TeamLimits map[string]int
	// ByTeam shows agents only past sessions that everyone who can see the session can see too.
	ByTeam bool
	// SessionTimeout limits a session from its start, across all servers that work on it.
	SessionTimeout time.Duration
	// WrapUp is how long before that the agents are asked to conclude; zero means three minutes, or a tenth of a short session.
	WrapUp time.Duration
	// ConcludeResolved asks the agents of a running session to conclude when its alert is resolved.
	ConcludeResolved bool
	// Budgets are caps on the usage of sessions.
	Budgets Budgets
}

// Apply replaces the settings. Sessions claimed from now on use them; a running session keeps those that it was claimed with, except for
// budgets, which apply immediately.
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

// wrapUp returns how long before the end of a session its agents are asked to conclude: three minutes of the usual forty.
func wrapUp(timeout time.Duration) time.Duration {
	const usual, share = 3 * time.Minute, 10

	return min(usual, timeout/share)
}
