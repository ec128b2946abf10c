package main

import (
	"fmt"
	"io"
	"time"
)

// On a pipe, progress is a line after half a minute and then each time the run has taken twice as long, but at least one in
// five minutes: a log stays short, and CI sees that something happens.
const (
	firstLine  = 30 * time.Second
	longestGap = 5 * time.Minute
)

// screen is where results and progress are printed. On a terminal the progress is the last line, which is rewritten; what
// is printed meanwhile goes above it. It is used by one goroutine.
type screen struct {
	out      io.Writer
	terminal bool

	shown bool          // whether the last line is progress
	next  time.Duration // on a pipe: when the next line is due
}

func newScreen(out io.Writer, terminal bool) *screen {
	return &screen{out: out, terminal: terminal, next: firstLine}
}

// Write prints above the progress.
func (s *screen) Write(data []byte) (int, error) {
	s.clear()

	return s.out.Write(data)
}

// progress shows how far the run is after this time.
func (s *screen) progress(text string, after time.Duration) {
	switch {
	case s.terminal:
		s.clear()
		fmt.Fprint(s.out, text)

		s.shown = true
	case after >= s.next:
		fmt.Fprintln(s.out, text)

		s.next = after + min(after, longestGap)
	}
}

// clear removes the progress from a terminal.
func (s *screen) clear() {
	if s.shown {
		fmt.Fprint(s.out, "\r\x1b[K")

		s.shown = false
	}
}
