// Package stream brings journals and feeds to the people who watch: over WebSocket, over SSE, and the text that a
// model is just writing as transient deltas beside them.
//
// A channel is a session's journal, the journal of notes or the feed of all sessions. Journals of both kinds are served by
// the same code; what only sessions have is the text in flight and an end.
//
// There are two classes of delivery. Journal events must be delivered: each subscription tails the journal at the
// pace of its socket, so a slow reader waits and catches up, and nobody waits for it. Deltas and feed items are
// lossy: every queue of them is bounded, and what does not fit is dropped and counted, or told as "behind".
//
// The package knows nothing of how events come to be, of who may read them, nor of the database.
package stream

import (
	"context"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/flow/journal"
)

// Journals finds the journal of a session. Head of a session that does not exist is a *tarsy.Error with
// tarsy.CodeSessionNotFound. Old events may be gone, though never those of a session that is not over.
type Journals interface {
	Journal(sessionID string) journal.Reader[tarsy.Event]
	// Status is a session's status. It is asked when the events that tell it are gone.
	Status(ctx context.Context, sessionID string) (tarsy.SessionStatus, error)
}

// Feed tells which sessions changed.
type Feed interface {
	// Changes subscribes. A change that does not fit into the buffer is dropped; from then on behind reports true,
	// once, and the reader asks it after each change it receives. A change without a session id only asks the
	// reader to look at behind. The channel is closed when the feed ends; stop ends the subscription and may be
	// called more than once.
	Changes(buffer int) (changes <-chan Change, behind func() bool, stop func())
}

// Change is an item of the feed: the session is now at this version.
type Change struct {
	SessionID string
	Version   int64
}

// Relay carries lossy messages between servers.
type Relay interface {
	// Broadcast sends the payload, of less than RelayLimit bytes, to all servers. It neither blocks nor calls a
	// receiver in the caller's goroutine; what it cannot send it drops.
	Broadcast(topic, payload string)
	// Receive calls f with each payload of the topic, one at a time and in the order they were sent. It may or may
	// not deliver what this server broadcast itself. After stop has returned, f is not called again.
	Receive(topic string, f func(payload string)) (stop func())
	// OnListen calls f whenever the relay starts to receive: at first, and again after every lost connection. After stop has returned, f is not called again.
	OnListen(f func()) (stop func())
}

// RelayLimit is the size that payloads given to a Relay stay below: what a NOTIFY can carry, less some room for
// the topic.
const RelayLimit = 7900
