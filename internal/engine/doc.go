// Package engine carries a session from its alert to its end: intake, claim, lease, and rounds of planning and doing.
//
// It never starts a session: it loads what the database holds, plans the next undone step and does it. A fresh
// session has nothing done, one whose server was killed has more done; the code is the same. What to do and the steps
// that do it are pure functions in internal/engine/plan.
//
// Ownership: a sessionRun belongs to one goroutine, which alone plans; executions of a stage run in goroutines that
// it waits for. What they and the engine's loops share is in the run's memory, which locks itself. Everybody else
// asks, through request rows. The package knows nothing of HTTP, of configuration files or of how tools are reached.
package engine
