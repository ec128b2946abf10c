package app

import "runtime/debug"

// gcPercent is how much a server's heap may grow before a collection. The live heap is a few megabytes, so with the default of doubling the
// collector runs constantly under load and takes a fifth of the server's CPU.
const gcPercent = 400

// Tune configures the process for a server, unless the operator has set GOGC.
func Tune(lookup func(name string) (string, bool)) {
	if _, set := lookup("GOGC"); !set {
		debug.SetGCPercent(gcPercent)
	}
}
