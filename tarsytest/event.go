package tarsytest

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/eventschema"
)

// Event is a message from the server, over WebSocket or SSE.
type Event struct {
	Type   string
	Fields map[string]any
	Raw    json.RawMessage
}

// Seq returns the event's number in its journal, or zero for an event that is in no journal.
func (e Event) Seq() int64 {
	n, _ := e.Fields["db_event_id"].(float64)

	return int64(n)
}

// messages validates messages of the server; it is compiled once, for the first message.
var messages = sync.OnceValue(eventschema.NewValidator)

// log collects events as they arrive, checks each against the schema and lets tests wait for them.
type log struct {
	t        testing.TB
	patience time.Duration

	mu      sync.Mutex
	events  []Event
	ended   error
	changed chan struct{} // closed by the next change
	// onChange is called after each change; nil unless a model waits for this reader.
	onChange func()
}

func newLog(a *App) *log { return &log{t: a.t, patience: a.patience, changed: make(chan struct{})} }

func (l *log) add(raw []byte) {
	e := Event{Raw: raw}
	if err := json.Unmarshal(raw, &e.Fields); err != nil {
		l.end(fmt.Errorf("decode %q: %w", raw, err))

		return
	}

	e.Type, _ = e.Fields["type"].(string)

	// The reader's owner waits for it before the test ends, so failing the test here is safe.
	if err := messages().Validate(e.Fields); err != nil {
		l.t.Errorf("the server sent what docs/events.schema.json does not allow: %v\n%s", err, raw)
	}

	l.change(func() { l.events = append(l.events, e) })
}

func (l *log) end(err error) {
	l.change(func() { l.ended = err })
}

// change changes the log and wakes all waiters.
func (l *log) change(apply func()) {
	l.mu.Lock()
	apply()
	close(l.changed)
	l.changed = make(chan struct{})
	changed := l.onChange
	l.mu.Unlock()

	if changed != nil {
		changed()
	}
}

func (l *log) hasEnded() bool {
	l.mu.Lock()
	defer l.mu.Unlock()

	return l.ended != nil
}

// Events returns all events so far.
func (l *log) Events() []Event {
	l.mu.Lock()
	defer l.mu.Unlock()

	return append([]Event(nil), l.events...)
}

// OfType returns the events of a type so far.
func (l *log) OfType(eventType string) []Event {
	var some []Event

	for _, e := range l.Events() {
		if e.Type == eventType {
			some = append(some, e)
		}
	}

	return some
}

// Wait waits for an event that matches, including those already received, and returns the first one.
func (l *log) Wait(what string, fits func(Event) bool) Event {
	l.t.Helper()

	found, err := l.WaitOrEnd(what, fits)
	if err != nil {
		require.FailNow(l.t, "the connection ended while waiting for "+what, "%v\n%s", err, l.describe())
	}

	return found
}

// WaitOrEnd is Wait for readers that reconnect: if the connection ends before such an event, it returns the reason.
func (l *log) WaitOrEnd(what string, fits func(Event) bool) (Event, error) {
	l.t.Helper()

	var (
		found Event
		next  int
		end   error
	)

	l.await(what, func(events []Event, ended error) bool {
		for ; next < len(events); next++ {
			if fits(events[next]) {
				found = events[next]

				return true
			}
		}

		end = ended

		return ended != nil
	})

	return found, end
}

// WaitType waits for an event of a type.
func (l *log) WaitType(eventType string) Event {
	l.t.Helper()

	return l.Wait(eventType, func(e Event) bool { return e.Type == eventType })
}

// WaitStatus waits for the event that reports a status of the session.
func (l *log) WaitStatus(status string) Event {
	l.t.Helper()

	return l.Wait(tarsy.TypeSessionStatus+" "+status, func(e Event) bool {
		return e.Type == tarsy.TypeSessionStatus && e.Fields["status"] == status
	})
}

// WaitEnd waits until the server has ended the connection, and returns the error that the reader got.
func (l *log) WaitEnd() error {
	l.t.Helper()

	var end error

	l.await("the connection to end", func(_ []Event, ended error) bool {
		end = ended

		return ended != nil
	})

	return end
}

// await calls seen after every change until it returns true, and fails the test when the log's patience ends.
func (l *log) await(what string, seen func(events []Event, ended error) bool) {
	l.t.Helper()

	timeout := time.NewTimer(l.patience)
	defer timeout.Stop()

	for {
		l.mu.Lock()
		events, ended, changed := l.events, l.ended, l.changed
		l.mu.Unlock()

		if seen(events, ended) {
			return
		}

		select {
		case <-changed:
		case <-timeout.C:
			require.FailNow(l.t, "timed out waiting for "+what, l.describe())
		}
	}
}

// describe lists the events received, with long ones truncated.
func (l *log) describe() string {
	const longest = 500

	var b strings.Builder

	b.WriteString("Events received:\n")

	for _, e := range l.Events() {
		fmt.Fprintf(&b, "  %.*s\n", longest, e.Raw)
	}

	return b.String()
}
