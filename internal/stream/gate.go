package stream

import (
	"encoding/json"
	"slices"
	"sync/atomic"

	"tarsy.dev/tarsy"
)

// heldLimit is how many chunks a subscription holds for events that it has not sent yet.
const heldLimit = 256

// gate orders the chunks of one subscription relative to its records: a chunk is not sent before the record that creates its event, nor
// after the one that completes it. It belongs to the writing goroutine.
type gate struct {
	known   map[string]eventState // the events that the reader knows
	held    []*Encoded
	dropped *atomic.Int64
}

// eventState is what a gate knows about an event.
type eventState struct {
	done  bool
	fence int64 // of the newest chunk; chunks of earlier holders are dropped
}

func newGate(dropped *atomic.Int64) *gate {
	return &gate{known: map[string]eventState{}, dropped: dropped}
}

// admit reports whether the chunk can be sent now. Otherwise it holds or drops the chunk.
func (g *gate) admit(chunk *Encoded) bool {
	event, ok := g.known[chunk.EventID]
	if !ok {
		// Drop the oldest first: its event may never have been committed.
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

// sent records that a record was sent, and returns the chunks that were waiting for it.
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

// learn adds the events that the reader had before the subscription began, and returns the chunks that were waiting for them. State from
// records that the subscription itself has sent is newer and is kept.
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

// release removes the held chunks of a known event and returns those that can be sent.
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

// timelineEvent returns the ID of the timeline event that a record is about and whether its content is final.
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
