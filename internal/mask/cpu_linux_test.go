package mask

import (
	"syscall"
	"time"
)

// cpuTime is the processor time that the calling thread has used; other work on the machine does not count.
func cpuTime() time.Duration {
	const thread = 1

	var usage syscall.Rusage
	if err := syscall.Getrusage(thread, &usage); err != nil {
		panic(err)
	}

	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
