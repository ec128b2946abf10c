//go:build !linux

package mask

import "time"

// cpuTime is real time where there is no processor time of a thread to read. Only differences of it mean anything.
func cpuTime() time.Duration { return time.Since(processStart) }

var processStart = time.Now()
