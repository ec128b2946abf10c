package app

import (
	"sync"
	"sync/atomic"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/agent"
	"tarsy.dev/tarsy/internal/config"
	"tarsy.dev/tarsy/internal/postgres"
	"tarsy.dev/tarsy/internal/stream"
)

// openStream returns how agents publish their text as deltas.
func openStream(deltas *stream.Deltas) agent.OpenStream {
	return func(event tarsy.TimelineEvent, fence int64) (add func(string), end func()) {
		delta := deltas.Open(event.SessionID, stream.Chunk{
			ExecutionID: event.ExecutionID, EventID: event.ID, EventType: event.EventType, Fence: fence,
		})

		return delta.Append, delta.Close
	}
}

func streamLimits(cfg config.Streams) stream.Limits {
	return stream.Limits{
		Connections: cfg.MaxConnections, ConnectionsPerOwner: cfg.MaxConnectionsPerKey,
		Subscriptions: cfg.MaxSubscriptions, SubscriptionsPerOwner: cfg.MaxSubscriptionsPerKey,
	}
}

// feed adapts the signals of all sessions to the hub.
type feed struct {
	signals *postgres.Signals
	// dropped counts how often changes were dropped because a reader was behind.
	dropped atomic.Int64
}

// Changes implements stream.Feed.
func (f *feed) Changes(buffer int) (changes <-chan stream.Change, behind func() bool, stop func()) {
	watch := f.signals.WatchSessions(buffer)
	out := make(chan stream.Change, buffer)
	done := make(chan struct{})

	var (
		mu     sync.Mutex
		missed bool
		moving sync.WaitGroup
		once   sync.Once
	)

	miss := func() {
		f.dropped.Add(1)

		mu.Lock()
		defer mu.Unlock()

		missed = true
	}

	moving.Go(func() {
		defer close(out)

		for {
			select {
			case <-done:
				return
			case <-watch.C:
			}

			taken, dropped := watch.Take()
			if dropped {
				miss()
				// The empty change only wakes the reader.
				taken = append(taken, postgres.Change{})
			}

			for _, c := range taken {
				select {
				case out <- stream.Change(c):
				default:
					miss()
				}
			}
		}
	})

	behind = func() bool {
		mu.Lock()
		defer mu.Unlock()

		was := missed
		missed = false

		return was
	}

	stop = func() {
		once.Do(func() {
			close(done)
			watch.Close()
		})
		moving.Wait()
	}

	return out, behind, stop
}
