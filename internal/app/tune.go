package app

import "runtime/debug"

// gcPercent is how much a server's heap may grow before it is collected. What lives in it is a few megabytes, so the
// default of doubling has the collector run all the time under load, at a fifth of the server's CPU.
const gcPercent = 400

// Tune sets the process up to be a server, unless the operator has an opinion (GOGC).
func Tune(lookup func(name string) (string, bool)) {
	if _, set := lookup("GOGC"); !set {
		debug.SetGCPercent(gcPercent)
	}
}
