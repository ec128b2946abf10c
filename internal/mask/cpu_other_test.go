//go:build !linux

package mask

import "time"

var started = time.Now()

// cpuTime stands in for the processor time, which other systems do not tell for a thread.
func cpuTime() time.Duration { return time.Since(started) }
