//go:build bench

package bench

import (
	"context"
	"fmt"
	"iter"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/app"
	"tarsy.dev/tarsy/llm"
)

const (
	paceRounds   = 3
	paceSessions = 1200
)

// streaming answers the first call with a few words every 10 ms until end is closed, and all other calls immediately.
type streaming struct {
	llm.Client

	begun atomic.Bool
	end   chan struct{}
}

func (s *streaming) Generate(ctx context.Context, req *llm.Request) iter.Seq2[llm.Chunk, error] {
	if s.begun.Swap(true) {
		return s.Client.Generate(ctx, req)
	}

	return func(yield func(llm.Chunk, error) bool) {
		ticker := time.NewTicker(10 * time.Millisecond)
		defer ticker.Stop()

		for {
			select {
			case <-ctx.Done():
				yield(nil, ctx.Err())

				return
			case <-s.end:
				yield(llm.UsageChunk{InputTokens: 900, OutputTokens: 600}, nil)

				return
			case <-ticker.C:
				if !yield(llm.TextChunk{Text: "a few words more, "}, nil) {
					return
				}
			}
		}
	}
}

// pace is the result of one round.
type pace struct {
	sessions float64 // per second
	own      float64 // CPU seconds per session: the server, the load generator and the readers
	frames   float64 // per second, to all readers
}

// TestPaceWithReaders measures what 1,000 readers of streaming text cost the engine while it runs other sessions. Rounds
// with and without readers alternate. The readers run in this process, so their CPU time is included.
func TestPaceWithReaders(t *testing.T) {
	url := fresh(t, durableServer(t), "pace")
	model := &streaming{Client: instant(), end: make(chan struct{})}
	a := start(t, url, workers+1, model)
	client := &http.Client{}
	watched := submit(t, client, a)

	client.CloseIdleConnections()
	drive(t, a, url, 480)

	var (
		with, without []pace
		before        uint64
		during, after uint64
	)

	for range paceRounds {
		without = append(without, measurePace(t, a, url, func() int64 { return 0 }))

		before = heap()
		frames, leave := readWatched(t, a, watched)
		with = append(with, measurePace(t, a, url, frames))
		during = heap()

		leave()
		after = heapDown(before + (during-before)/10)
	}

	close(model.end)

	sessions := func(p pace) float64 { return p.sessions }
	own := func(p pace) float64 { return 1000 * p.own }

	fmt.Printf("\n%-62s %10.0f   %s\n", "sessions per second without readers", medianOf(without, sessions), fmt.Sprintf("%.2f ms of CPU a session", medianOf(without, own)))
	fmt.Printf("%-62s %10.0f   %.2f of that; goal 0.8; %.2f ms of CPU a session, readers included\n", "sessions per second with 1,000 readers of streaming text",
		medianOf(with, sessions), medianOf(with, sessions)/medianOf(without, sessions), medianOf(with, own))
	fmt.Printf("%-62s %10.0f   %s\n", "frames per second to those readers", medianOf(with, func(p pace) float64 { return p.frames }), "text is batched for 250 ms when 1,000 read")
	fmt.Printf("%-62s %10s   %.0f MB while they read, %.0f MB before\n", "heap and stacks after 1,000 readers left", fmt.Sprintf("%.0f MB", mb(after)), mb(during), mb(before))
	require.Less(t, after, before+(during-before)/4, "what readers held is given back when they leave")
}

func mb(bytes uint64) float64 { return float64(bytes) / (1 << 20) }

func measurePace(t *testing.T, a *app.App, url string, frames func() int64) pace {
	t.Helper()

	sent := frames()
	own, _ := cpu(t)
	took := drive(t, a, url, paceSessions)
	own2, _ := cpu(t)

	return pace{
		sessions: paceSessions / took.Seconds(), own: (own2 - own) / paceSessions,
		frames: float64(frames()-sent) / took.Seconds(),
	}
}

// readWatched connects the readers and returns once all of them receive text, with a function that counts the frames they
// received and one that disconnects them.
func readWatched(t *testing.T, a *app.App, session string) (frames func() int64, leave func()) {
	t.Helper()

	var (
		received atomic.Int64
		begun    sync.WaitGroup
		readers  sync.WaitGroup
	)

	ctx, cancel := context.WithCancel(context.Background())
	begun.Add(fanOutReaders)

	for range fanOutReaders {
		conn, _, err := websocket.Dial(ctx, "ws://"+a.Addr()+"/api/v1/ws", nil)
		require.NoError(t, err)
		conn.SetReadLimit(-1)
		require.NoError(t, conn.Write(ctx, websocket.MessageText, []byte(`{"action":"subscribe","channel":"session:`+session+`"}`)))

		readers.Go(func() {
			defer conn.CloseNow()

			started := sync.OnceFunc(begun.Done)
			defer started()

			// The first few frames catch up: the connection, the subscription, the journal and the text so far.
			for i := 0; ; i++ {
				if _, _, err := conn.Read(ctx); err != nil {
					return
				}

				if received.Add(1); i == 10 {
					started()
				}
			}
		})
	}

	begun.Wait()

	return received.Load, func() {
		cancel()
		readers.Wait()
	}
}

// heapDown waits until the heap is no larger than wanted, at most as long as the server may take to close the connections.
func heapDown(wanted uint64) uint64 {
	deadline := time.Now().Add(10 * time.Second)

	for {
		now := heap()
		if now <= wanted || time.Now().After(deadline) {
			return now
		}

		<-time.After(100 * time.Millisecond)
	}
}
