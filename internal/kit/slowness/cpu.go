package slowness

import (
	"os"
	"strconv"
	"strings"
)

// CPU is the CPU time of a machine's cores as counted by Linux, in ticks.
type CPU struct {
	// Ran is the time the cores ran, and Stolen the time they had work while the host ran other machines.
	Ran    uint64
	Stolen uint64
}

// ReadCPU returns the count since the machine started, or zero where the system does not count.
func ReadCPU() CPU { return readCPU("/proc/stat") }

func readCPU(file string) CPU {
	// The fields of the first line are user, nice, system, idle, iowait, irq, softirq and steal.
	const (
		idle   = 3
		iowait = 4
		stolen = 7
	)

	raw, err := os.ReadFile(file)
	if err != nil {
		return CPU{}
	}

	line, _, _ := strings.Cut(string(raw), "\n")

	fields := strings.Fields(strings.TrimPrefix(line, "cpu "))
	if len(fields) <= stolen {
		return CPU{}
	}

	var c CPU

	for i, field := range fields[:stolen+1] {
		ticks, err := strconv.ParseUint(field, 10, 64)
		if err != nil {
			return CPU{}
		}

		switch i {
		case idle, iowait:
		case stolen:
			c.Stolen = ticks
		default:
			c.Ran += ticks
		}
	}

	return c
}

// Since returns what was counted since an earlier count.
func (c CPU) Since(earlier CPU) CPU {
	return CPU{Ran: c.Ran - min(c.Ran, earlier.Ran), Stolen: c.Stolen - min(c.Stolen, earlier.Stolen)}
}

// StolenShare returns the share of busy time in which the host ran other machines, from 0 to 1.
func (c CPU) StolenShare() float64 {
	if c.Stolen == 0 {
		return 0
	}

	return float64(c.Stolen) / float64(c.Ran+c.Stolen)
}
