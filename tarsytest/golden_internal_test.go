package tarsytest

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// chunkedEvents reads a short form of events: b begins the text of an event, c is a chunk, e ends it, and x is something else.
func chunkedEvents(short ...string) []Event {
	types := map[byte]string{'b': "timeline_event.created", 'c': "stream.chunk", 'e': "timeline_event.completed", 'x': "session.status"}
	events := make([]Event, len(short))

	for i, s := range short {
		events[i] = Event{Type: types[s[0]], Fields: map[string]any{"short": s}}
		if s[0] != 'x' {
			events[i].Fields["event_id"] = s[1:]
		}
	}

	return events
}

func TestGoldenEventsShowOneChunkOfEachText(t *testing.T) {
	t.Parallel()

	for want, came := range map[string][][]string{
		"[b1 c1 b2 c2 x e1 e2]": {
			{"b1", "c1", "b2", "c2", "x", "e1", "e2"},
			{"b1", "b2", "x", "c2", "c1", "e1", "e2"},
			{"b1", "c1", "c1", "b2", "c1", "c2", "x", "c1", "c2", "e1", "c2", "e2"},
		},
		"[b1 b2 c2 e1 e2]": {{"b1", "b2", "c2", "e1", "e2"}},
		"[c1 b1 c1 e1]":    {{"c1", "b1", "c1", "e1"}},
		"[b1 c1 e1 c1]":    {{"b1", "c1", "e1", "c1"}},
		"[b1 e1 c1 x]":     {{"b1", "e1", "c1", "x"}},
	} {
		for _, short := range came {
			var kept []string
			for _, e := range oneChunkEach(chunkedEvents(short...)) {
				kept = append(kept, fmt.Sprint(e.Fields["short"]))
			}

			require.Equal(t, want, fmt.Sprint(kept), "of %v", short)
		}
	}
}
