// Package stream delivers journals and feeds to readers over WebSocket and SSE, along with the text that a model is currently writing, as
// transient deltas.
//
// A channel is a session's journal, the journal of notes or the feed of all sessions. Both kinds of journals are served by the same code;
// only sessions have text in flight and an end.
//
// There are two classes of delivery. Journal events are always delivered: each subscription tails the journal at the pace of its socket, so
// a slow reader catches up later, and no one waits for it. Deltas and feed items are lossy: every queue of them is bounded, and overflow is
// dropped and counted, or reported as "behind".
//
// The package does not know how events are created, how readers authenticate, or the database.
package stream

import (
	"context"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/flow/journal"
)

// Journals provides the journals of sessions. Head of a session that does not exist returns a *tarsy.Error with tarsy.CodeSessionNotFound.
// Old events may be gone, but never those of a session that has not ended.
type Journals interface {
	Journal(sessionID string) journal.Reader[tarsy.Event]
	// Status returns a session's status. It is called if the events with the status are gone.
	Status(ctx context.Context, sessionID string) (tarsy.SessionStatus, error)
}

// Feed reports which sessions changed.
type Feed interface {
	// Changes subscribes. A change that does not fit into the buffer is dropped; behind then returns true once, and the reader calls it
	// after each change it receives. A change without a session ID only makes the reader call behind. The channel is closed when the feed
	// ends; stop ends the subscription and may be called more than once.
	Changes(buffer int) (changes <-chan Change, behind func() bool, stop func())
}

// Change is an item of the feed: the session is now at this version.
type Change struct {
	SessionID string
	Version   int64
}

// Relay carries lossy messages between servers.
type Relay interface {
	// Broadcast sends the payload, of less than RelayLimit bytes, to all servers. It neither blocks nor calls a receiver in the caller's
	// goroutine; what it cannot send it drops.
	Broadcast(topic, payload string)
	// Receive calls f with each payload of the topic, one at a time and in the order they were sent. It may or may not deliver this
	// server's own broadcasts. After stop has returned, f is not called again.
	Receive(topic string, f func(payload string)) (stop func())
	// OnListen calls f whenever the relay starts to receive: initially, and again after every lost connection. After stop has returned, f
	// is not called again.
	OnListen(f func()) (stop func())
}

// RelayLimit is the size that payloads passed to a Relay must stay below: what a NOTIFY can carry, minus space for the topic.
const RelayLimit = 7900
