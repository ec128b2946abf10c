//go:build bench

package bench

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/flow/journal"
	"tarsy.dev/tarsy/internal/stream"
)

const (
	fanOutReaders = 1000
	fanOutLasts   = 3 * time.Second
)

// TestFanOut compares the hub with a loop that writes the same bytes to the same number of WebSockets. Both send a frame
// when every reader has the previous one, so neither can drop or gather any.
func TestFanOut(t *testing.T) {
	bare, hub := bareLoop(t), hubLoop(t)

	fmt.Printf("\n%-62s %10.0f   %s\n", "frames per second to 1,000 readers: bare coder/websocket", bare, "one goroutine and one channel for each")
	fmt.Printf("%-62s %10.0f   %.2f of the bare loop; goal 0.8\n", "frames per second to 1,000 readers: the hub", hub, hub/bare)
}

// rate sends frames for a while, each when all readers have received the one before it.
func rate(t *testing.T, url, subscribe string, ready int64, send func(i int)) float64 {
	t.Helper()

	var (
		received atomic.Int64
		readers  sync.WaitGroup
		all      = make(chan struct{}, 1)
		expected atomic.Int64
	)

	ctx, cancel := context.WithCancel(t.Context())
	defer readers.Wait()
	defer cancel()

	expected.Store(ready * fanOutReaders)

	for range fanOutReaders {
		conn, _, err := websocket.Dial(ctx, url, nil)
		require.NoError(t, err)

		if subscribe != "" {
			require.NoError(t, conn.Write(ctx, websocket.MessageText, []byte(subscribe)))
		}

		readers.Go(func() {
			defer conn.CloseNow()

			for {
				if _, _, err := conn.Read(ctx); err != nil {
					return
				}

				if received.Add(1) == expected.Load() {
					all <- struct{}{}
				}
			}
		})
	}

	wait := func() {
		select {
		case <-all:
		case <-time.After(time.Minute):
			t.Fatalf("%d of %d frames arrived", received.Load(), expected.Load())
		}
	}

	if ready > 0 {
		wait()
	}

	began, frames := time.Now(), 0

	for ; time.Since(began) < fanOutLasts; frames++ {
		expected.Add(fanOutReaders)
		send(frames)
		wait()
	}

	return float64(frames*fanOutReaders) / time.Since(began).Seconds()
}

func bareLoop(t *testing.T) float64 {
	t.Helper()

	var (
		mu     sync.Mutex
		queues []chan []byte
	)

	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, err := websocket.Accept(w, r, nil)
		if err != nil {
			return
		}
		defer conn.CloseNow()

		queue := make(chan []byte, 1)
		mu.Lock()
		queues = append(queues, queue)
		mu.Unlock()

		ctx := conn.CloseRead(context.Background())
		if conn.Write(ctx, websocket.MessageText, []byte("{}")) != nil {
			return
		}

		for {
			select {
			case <-ctx.Done():
				return
			case message := <-queue:
				if conn.Write(ctx, websocket.MessageText, message) != nil {
					return
				}
			}
		}
	}))
	defer server.Close()

	message := make([]byte, 350) // a chunk's frame
	for i := range message {
		message[i] = 'x'
	}

	return rate(t, server.URL, "", 1, func(int) {
		mu.Lock()
		defer mu.Unlock()

		for _, queue := range queues {
			queue <- message
		}
	})
}

// oneJournal is the journal of the only session.
type oneJournal struct{ events journal.Reader[tarsy.Event] }

func (j oneJournal) Journal(string) journal.Reader[tarsy.Event] { return j.events }

func (j oneJournal) Status(context.Context, string) (tarsy.SessionStatus, error) {
	return tarsy.SessionInProgress, nil
}

func hubLoop(t *testing.T) float64 {
	t.Helper()

	session, event := tarsy.NewID(), tarsy.NewID()
	events := journal.NewMemory[tarsy.Event](clockwork.NewRealClock())
	_, err := events.Append(t.Context(), tarsy.NewEvent(session, tarsy.TypeTimelineCreated, tarsy.TimelineCreatedPayload{
		Type: tarsy.TypeTimelineCreated, SessionID: session, EventID: event, Status: tarsy.EventStreaming,
	}, time.Now()))
	require.NoError(t, err)

	// The texts are closed one by one, which sends them at once: gathering would be the better part of the result.
	deltas := stream.NewDeltas(stream.DeltasConfig{ServerID: "bench", Clock: clockwork.NewRealClock()})
	defer deltas.Close()

	hub := stream.New(stream.Config{Journals: oneJournal{events}, Deltas: deltas, Logger: slog.New(slog.DiscardHandler)})

	defer func() { require.NoError(t, hub.Close(context.Background())) }()

	server := httptest.NewServer(hub.WebSocket())
	defer server.Close()

	// Each reader is sent connection.established, subscription.confirmed and the event's creation first.
	return rate(t, server.URL, `{"action":"subscribe","channel":"session:`+session+`"}`, 3, func(i int) {
		delta := deltas.Open(session, stream.Chunk{EventID: event, EventType: tarsy.EventThinking, Fence: int64(i)})
		delta.Append("The pod ran out of memory because its cache has no bound. ")
		delta.Close()
	})
}
