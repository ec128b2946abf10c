package flowtest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
)

// Console is a virtual terminal: a test types lines and reads what the program prints.
type Console struct {
	host *Host
	in   *keyboard
	out  *screen
	err  *screen
}

func newConsole(h *Host) *Console {
	return &Console{host: h, in: newKeyboard(), out: newScreen(h.now), err: newScreen(h.now)}
}

// Send types a line.
func (c *Console) Send(line string) {
	c.host.t.Helper()

	if !c.in.send(line) {
		c.host.t.Fatalf("the console input has ended: cannot send more lines")
	}
}

// End ends the input, as Ctrl-D does.
func (c *Console) End() { c.in.end() }

// WaitLine waits for the next line of output.
func (c *Console) WaitLine(options ...WaitOption) string {
	c.host.t.Helper()

	return c.collect(c.out, "a line of output", 1, anyLine, options)[0]
}

// WaitMatch waits for a line of output that matches and drops those before it. The reason describes the wait in failures.
func (c *Console) WaitMatch(reason string, match func(line string) bool, options ...WaitOption) string {
	c.host.t.Helper()

	return c.collect(c.out, reason, 1, match, options)[0]
}

// WaitError waits for the next line of the error stream.
func (c *Console) WaitError(options ...WaitOption) string {
	c.host.t.Helper()

	return c.collect(c.err, "a line on the error stream", 1, anyLine, options)[0]
}

// Collect waits for n lines of output. The time limit covers all of them.
func (c *Console) Collect(n int, options ...WaitOption) []string {
	c.host.t.Helper()

	return c.collect(c.out, fmt.Sprintf("%d lines of output", n), n, anyLine, options)
}

// CollectUntilQuiet waits until the program has read and handled all input, and returns its output. An unterminated line comes
// last.
func (c *Console) CollectUntilQuiet(options ...WaitOption) []string {
	c.host.t.Helper()
	c.host.WaitQuiet(options...)

	return c.out.drain()
}

// AssertQuiet fails the test if there is unread output, now or after all input was handled. It does not wait for time to pass.
func (c *Console) AssertQuiet(options ...WaitOption) {
	c.host.t.Helper()

	if lines := c.CollectUntilQuiet(options...); len(lines) > 0 {
		c.host.t.Fatalf("expected no output, got:\n%s", strings.Join(lines, "\n"))
	}
}

// Drain returns the unread output, including an unterminated line.
func (c *Console) Drain() []string { return c.out.drain() }

// DrainErrors is Drain for the error stream.
func (c *Console) DrainErrors() []string { return c.err.drain() }

// Times returns when the lines of output so far were printed, including those already read.
func (c *Console) Times() []time.Time { return c.out.printed() }

func anyLine(string) bool { return true }

// collect waits for n lines that match and drops the others.
func (c *Console) collect(s *screen, reason string, n int, match func(string) bool, options []WaitOption) []string {
	c.host.t.Helper()

	ctx, cancel := c.host.assertion(options)
	defer cancel()

	var found, seen []string

	for len(found) < n {
		line, err := s.next(ctx)
		if err != nil {
			c.host.t.Fatalf("waited for %s: %v; pending input: %d line(s); output until then: %q%s",
				reason, err, c.in.pending(), append(seen, s.drain()...), c.host.problems())
		}

		seen = append(seen, line)

		if match(line) {
			found = append(found, line)
		}
	}

	return found
}

// keyboard is a reader of the lines that a test sends.
type keyboard struct {
	mu      sync.Mutex
	changed *sync.Cond
	lines   []string
	rest    []byte // of the line that is being read
	ended   bool
	waiting bool // the program waits for the next line
}

var _ io.Reader = (*keyboard)(nil)

func newKeyboard() *keyboard {
	k := &keyboard{}
	k.changed = sync.NewCond(&k.mu)

	return k
}

func (k *keyboard) send(line string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()

	if k.ended {
		return false
	}

	k.lines = append(k.lines, line)
	k.waiting = false
	k.changed.Broadcast()

	return true
}

func (k *keyboard) end() {
	k.mu.Lock()
	defer k.mu.Unlock()

	k.ended = true
	k.changed.Broadcast()
}

func (k *keyboard) pending() int {
	k.mu.Lock()
	defer k.mu.Unlock()

	return len(k.lines)
}

// Read implements io.Reader.
func (k *keyboard) Read(p []byte) (int, error) {
	k.mu.Lock()
	defer k.mu.Unlock()

	for len(k.rest) == 0 && len(k.lines) == 0 && !k.ended {
		k.waiting = true
		k.changed.Broadcast()
		k.changed.Wait()
	}

	if len(k.rest) == 0 && len(k.lines) > 0 {
		k.rest = []byte(k.lines[0] + "\n")
		k.lines = k.lines[1:]
	}

	if len(k.rest) == 0 {
		k.waiting = true // at the end: everything typed has been read
		k.changed.Broadcast()

		return 0, io.EOF
	}

	n := copy(p, k.rest)
	k.rest = k.rest[n:]

	return n, nil
}

// waitRead waits until the program has read everything and waits for more.
func (k *keyboard) waitRead(ctx context.Context) error {
	stop := context.AfterFunc(ctx, func() {
		k.mu.Lock()
		defer k.mu.Unlock()

		k.changed.Broadcast()
	})
	defer stop()

	k.mu.Lock()
	defer k.mu.Unlock()

	for !k.waiting {
		if ctx.Err() != nil {
			return fmt.Errorf("the program has not read its input: %d line(s) pending", len(k.lines))
		}

		k.changed.Wait()
	}

	return nil
}

// screen collects the lines that a program prints.
type screen struct {
	now func() time.Time

	mu      sync.Mutex
	partial []byte
	lines   []string
	times   []time.Time
	changed chan struct{}
}

func newScreen(now func() time.Time) *screen { return &screen{now: now, changed: make(chan struct{})} }

// Write implements io.Writer.
func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()

	s.partial = append(s.partial, p...)

	for {
		line, rest, found := bytes.Cut(s.partial, []byte("\n"))
		if !found {
			break
		}

		s.add(line)
		s.partial = rest
	}

	close(s.changed)
	s.changed = make(chan struct{})

	return len(p), nil
}

// add adds a line. The caller holds the lock.
func (s *screen) add(line []byte) {
	s.lines = append(s.lines, strings.TrimSuffix(string(line), "\r"))
	s.times = append(s.times, s.now())
}

func (s *screen) next(ctx context.Context) (string, error) {
	for {
		s.mu.Lock()

		if len(s.lines) > 0 {
			line := s.lines[0]
			s.lines = s.lines[1:]
			s.mu.Unlock()

			return line, nil
		}

		changed := s.changed
		s.mu.Unlock()

		select {
		case <-changed:
		case <-ctx.Done():
			return "", context.Cause(ctx)
		}
	}
}

// drain returns the unread lines. It terminates an unterminated line.
func (s *screen) drain() []string {
	s.mu.Lock()
	defer s.mu.Unlock()

	if len(s.partial) > 0 {
		s.add(s.partial)
		s.partial = nil
	}

	lines := s.lines
	s.lines = nil

	return lines
}

func (s *screen) printed() []time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()

	return append([]time.Time(nil), s.times...)
}
