//go:build !linux

package mask

import "time"

// cpuTime returns real time where the processor time of a thread is not available. Only differences are meaningful.
func cpuTime() time.Duration { return time.Since(processStart) }

var processStart = time.Now()
