// Package plan decides what a session does next and builds the steps that do it. Everything in it is a function of progress.State, the
// current chain configuration and the time: no database, goroutines, locks or clock. That makes continuing after a crash the same as
// starting. internal/engine executes the plans.
package plan
