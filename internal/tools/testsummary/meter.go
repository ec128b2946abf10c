package main

import (
	"fmt"
	"io"
	"os"
	"time"
)

// meter measures a run, if there is a /proc.
type meter struct {
	sampler *sampler
	begin   time.Time
}

func startMeter(root string) *meter {
	m := &meter{begin: time.Now()}

	if s, err := newSampler("/proc", os.Getpid(), root); err == nil {
		m.sampler = s
		s.start()
	}

	return m
}

// print stops measuring and prints the table. The command must have ended.
func (m *meter) print(out io.Writer, title string, command *os.ProcessState) {
	if m.sampler == nil {
		fmt.Fprintf(out, "\n%s: %.1f s; CPU times need /proc, which only Linux has\n", title, time.Since(m.begin).Seconds())

		return
	}

	u := m.sampler.stop()
	u.addCommand(command.UserTime() + command.SystemTime())
	u.print(out, title)
}
