// Package slowness measures how slow this machine is now, so that tests wait longer on a slow or busy one. It is for tests:
// limits of the product are configuration and do not depend on the machine.
package slowness

import (
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

const (
	// reference is how long the work takes on an idle core of an ordinary server of 2024.
	reference = 500 * time.Microsecond
	// maxMeasureTime limits how long measuring takes, and maxFactor how much longer a limit gets.
	maxMeasureTime = 4 * time.Millisecond
	maxFactor      = 20
)

// measured is the factor of this process in fixed point; 0 before it is measured.
var measured atomic.Uint64

const fixedPoint = 1000

// Scale returns a time limit for this machine: never less than d, and at most 20 times as long. The machine is measured once
// per process, which takes less than 5 ms.
func Scale(d time.Duration) time.Duration {
	factor := measured.Load()
	if factor == 0 {
		m := measure()
		factor = uint64(m.factor() * fixedPoint)

		// In a testing/synctest bubble, no time passes during the work.
		if m.work > 0 {
			measured.Store(factor)
		}
	}

	return scale(d, float64(factor)/fixedPoint)
}

func scale(d time.Duration, factor float64) time.Duration {
	return max(d, time.Duration(float64(d)*factor))
}

// measurement is what was measured about the machine.
type measurement struct {
	// work is how long the fixed amount of work took.
	work time.Duration
	// load is the number of processes that want to run, averaged over the last minute.
	load  float64
	cores int
	// cpu is counted since the machine started, because the host steals time in slices longer than the work.
	cpu CPU
}

// factor returns how many times slower than the reference this machine is. A process that often waits for a core may have
// measured at a moment when it had one, so load and stolen time count too.
func (m measurement) factor() float64 {
	slower := max(1, float64(m.work)/float64(reference))
	busier := max(1, m.load/float64(max(1, m.cores)))

	kept := 1 - m.cpu.StolenShare()

	return min(slower*busier/max(kept, 1.0/maxFactor), maxFactor)
}

func measure() measurement {
	return measurement{work: timeWork(time.Now), load: readLoad("/proc/loadavg"), cores: runtime.NumCPU(), cpu: ReadCPU()}
}

// timeWork returns how long the work takes. If it takes too long, it stops and estimates the rest.
func timeWork(now func() time.Time) time.Duration {
	const parts = 20

	begin := now()
	table := make([]uint32, 1<<10) // in memory, so that the race detector's slowdown of memory access counts

	for done := 1; ; done++ {
		work(table)

		if spent := now().Sub(begin); done == parts || spent >= maxMeasureTime {
			return spent * parts / time.Duration(done)
		}
	}
}

// work does a twentieth of the work.
func work(table []uint32) {
	const steps = 10_000

	x := uint32(1)
	for range steps {
		x = x*1664525 + 1013904223
		table[x>>22] += x
	}
}

// readLoad returns the load of the last minute, or 0 where the system does not have that file.
func readLoad(file string) float64 {
	raw, err := os.ReadFile(file)
	if err != nil {
		return 0
	}

	first, _, _ := strings.Cut(string(raw), " ")

	load, err := strconv.ParseFloat(first, 64)
	if err != nil {
		return 0
	}

	return load
}
