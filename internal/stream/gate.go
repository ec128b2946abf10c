package stream

import (
	"encoding/json"
	"slices"
	"sync/atomic"

	"tarsy.dev/tarsy"
)

// heldLimit is how many chunks a subscription keeps for events that it has not announced yet.
const heldLimit = 256

// gate keeps the chunks of one subscription in step with its records: a chunk does not go out before the record
// that creates its event, nor after the one that completes it. It belongs to the goroutine that writes.
type gate struct {
	known   map[string]eventState // the events that the reader was told of
	held    []*Encoded
	dropped *atomic.Int64
}

// eventState is what a gate knows of an event.
type eventState struct {
	done  bool
	fence int64 // of the newest chunk; an older holder's text is not for the reader any more
}

func newGate(dropped *atomic.Int64) *gate {
	return &gate{known: map[string]eventState{}, dropped: dropped}
}

// admit reports whether the chunk may go out now. One that may not is held back or dropped.
func (g *gate) admit(chunk *Encoded) bool {
	event, ok := g.known[chunk.EventID]
	if !ok {
		// The oldest goes first: its event may be one that was never committed.
		if len(g.held) == heldLimit {
			g.held = slices.Delete(g.held, 0, 1)
			g.dropped.Add(1)
		}

		g.held = append(g.held, chunk)

		return false
	}

	if event.done || chunk.Fence < event.fence {
		return false
	}

	event.fence = chunk.Fence
	g.known[chunk.EventID] = event

	return true
}

// sent notes that a record went out, and returns the chunks that were waiting for it.
func (g *gate) sent(event tarsy.Event) []*Encoded {
	id, done, ok := timelineEvent(event)
	if !ok {
		return nil
	}

	state := g.known[id]
	state.done = state.done || done
	g.known[id] = state

	return g.release(id)
}

// learn adds the events of the records that the reader had before the subscription began. What the subscription
// itself has sent is newer.
func (g *gate) learn(past map[string]bool) []*Encoded {
	for id, done := range past {
		if _, ok := g.known[id]; !ok {
			g.known[id] = eventState{done: done}
		}
	}

	var released []*Encoded
	for id := range past {
		released = append(released, g.release(id)...)
	}

	return released
}

// release takes the held chunks of a known event that may go out.
func (g *gate) release(id string) []*Encoded {
	var released []*Encoded

	g.held = slices.DeleteFunc(g.held, func(chunk *Encoded) bool {
		if chunk.EventID != id {
			return false
		}

		if g.admit(chunk) {
			released = append(released, chunk)
		}

		return true
	})

	return released
}

// timelineEvent returns which timeline event a record is about and whether its content is final.
func timelineEvent(event tarsy.Event) (string, bool, bool) {
	if event.Type != tarsy.TypeTimelineCreated && event.Type != tarsy.TypeTimelineCompleted {
		return "", false, false
	}

	var payload struct {
		EventID string            `json:"event_id"`
		Status  tarsy.EventStatus `json:"status"`
	}

	err := json.Unmarshal(event.Payload, &payload)
	if err != nil || payload.EventID == "" {
		return "", false, false
	}

	done := event.Type == tarsy.TypeTimelineCompleted || payload.Status != tarsy.EventStreaming

	return payload.EventID, done, true
}
