package main

import (
	"fmt"
	"io"
	"time"
)

// On a pipe, a progress line is printed after half a minute, and then each time the duration has doubled, but at least every five minutes:
// the log stays short, and CI sees activity.
const (
	firstLine  = 30 * time.Second
	longestGap = 5 * time.Minute
)

// screen prints results and progress. On a terminal the progress is the last line, which is rewritten; other output
// goes above it. Only one goroutine may use it.
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

// progress shows the progress of the run after this time.
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
