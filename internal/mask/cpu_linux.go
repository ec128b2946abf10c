package mask

import (
	"time"

	"golang.org/x/sys/unix"
)

// cpuTime returns the processor time of the calling thread; other work on the machine does not count.
func cpuTime() time.Duration {
	var used unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &used); err != nil {
		return 0
	}

	return time.Duration(used.Nano())
}
