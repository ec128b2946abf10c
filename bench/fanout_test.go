//go:build bench

package bench

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/flow/journal"
	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/internal/stream"
)

const (
	fanOutReaders = 1000
	fanOutRounds  = 3
	fanOutLasts   = 1500 * time.Millisecond
)

// fanOut is how fast frames reached all readers, and the CPU time of one frame, its reader included.
type fanOut struct {
	perSecond   float64
	microsOfCPU float64
}

// TestFanOut compares the hub with a loop that writes the same bytes to the same number of WebSockets. Both send a frame
// only when every reader has the previous one, so neither can drop or batch frames. They alternate, and the medians are
// compared: on a shared machine one run says little, and CPU time says more than speed.
func TestFanOut(t *testing.T) {
	var bare, hub []fanOut

	for range fanOutRounds {
		bare, hub = append(bare, bareLoop(t)), append(hub, hubLoop(t))
	}

	speed := func(f fanOut) float64 { return f.perSecond }
	cost := func(f fanOut) float64 { return f.microsOfCPU }

	fmt.Printf("\n%-62s %10.0f   %s\n", "frames per second to 1,000 readers: bare coder/websocket", medianOf(bare, speed), "one goroutine and one channel for each")
	fmt.Printf("%-62s %10.0f   %.2f of the bare loop; goal 0.8\n", "frames per second to 1,000 readers: the hub", medianOf(hub, speed), medianOf(hub, speed)/medianOf(bare, speed))
	fmt.Printf("%-62s %7.1f µs   %s\n", "CPU of a frame and of its reader: bare coder/websocket", medianOf(bare, cost), "")
	fmt.Printf("%-62s %7.1f µs   %.2f of the bare loop's frames for the same CPU\n", "CPU of a frame and of its reader: the hub", medianOf(hub, cost), medianOf(bare, cost)/medianOf(hub, cost))
}

// medianOf returns the median of a value over all elements.
func medianOf[E any](all []E, value func(E) float64) float64 {
	values := make([]float64, len(all))
	for i, e := range all {
		values[i] = value(e)
	}

	slices.Sort(values)

	return values[len(values)/2]
}

// rate sends frames for a while, each after all readers have received the previous one.
func rate(t *testing.T, url, subscribe string, ready int64, send func(i int)) fanOut {
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

	before, _ := cpu(t)
	began, frames := time.Now(), 0

	for ; time.Since(began) < fanOutLasts; frames++ {
		expected.Add(fanOutReaders)
		send(frames)
		wait()
	}

	took := time.Since(began).Seconds()
	after, _ := cpu(t)
	sent := float64(frames * fanOutReaders)

	return fanOut{perSecond: sent / took, microsOfCPU: 1e6 * (after - before) / sent}
}

func bareLoop(t *testing.T) fanOut {
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

	message := make([]byte, 350) // as long as the frame of a chunk
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

// oneJournal serves the journal of the only session.
type oneJournal struct{ events journal.Reader[tarsy.Event] }

func (j oneJournal) Journal(string) journal.Reader[tarsy.Event] { return j.events }

func (j oneJournal) Status(context.Context, string) (tarsy.SessionStatus, error) {
	return tarsy.SessionInProgress, nil
}

func hubLoop(t *testing.T) fanOut {
	t.Helper()

	session, event := ident.New(), ident.New()
	events := journal.NewMemory[tarsy.Event](clockwork.NewRealClock())
	_, err := events.Append(t.Context(), tarsy.NewEvent(session, tarsy.TypeTimelineCreated, tarsy.TimelineCreatedPayload{
		Type: tarsy.TypeTimelineCreated, SessionID: session, EventID: event, Status: tarsy.EventStreaming,
	}, time.Now()))
	require.NoError(t, err)

	// Each text is closed right after its chunk, which sends the chunk immediately: otherwise the result would mostly measure batching.
	deltas := stream.NewDeltas(stream.DeltasConfig{ServerID: "bench", Clock: clockwork.NewRealClock()})
	defer deltas.Close()

	hub := stream.New(stream.Config{Journals: oneJournal{events}, Deltas: deltas, Logger: slog.New(slog.DiscardHandler)})

	defer func() { require.NoError(t, hub.Close(context.Background())) }()

	server := httptest.NewServer(hub.WebSocket())
	defer server.Close()

	// Each reader first receives connection.established, subscription.confirmed and the creation of the event.
	return rate(t, server.URL, `{"action":"subscribe","channel":"session:`+session+`"}`, 3, func(i int) {
		delta := deltas.Open(session, stream.Chunk{EventID: event, EventType: tarsy.EventThinking, Fence: int64(i)})
		delta.Append("The pod ran out of memory because its cache has no bound. ")
		delta.Close()
	})
}
