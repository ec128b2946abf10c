// Package engine runs a session from its alert to its end: intake, claim, lease, and rounds of planning and executing.
//
// It has no separate path to start a session: it loads the state from the database, plans the next step that is not done, and executes it.
// A new session has nothing done and one whose server was killed has something done; the code is the same. What to do, and the steps that
// record it, are pure functions in internal/engine/plan.
//
// Ownership: a sessionRun belongs to one goroutine, the only one that plans; executions of a stage run in goroutines that it waits for.
// State shared with these and with the engine's loops is in the run's memory, which does its own locking. Everyone else uses request rows.
// The package knows nothing about HTTP, configuration files or how tools are reached.
package engine
