// Package plan decides what a session does next and builds the steps that do it. Everything in it is a function of
// progress.State, the chain as configured now and the time: it knows no database, no goroutines, no locks and no clock.
// That is what makes going on after a crash the same as starting. internal/engine runs what is planned here.
package plan
