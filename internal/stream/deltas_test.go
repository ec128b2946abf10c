package stream_test

import (
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf16"

	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/internal/stream"
)

// relay connects servers in memory. It loses messages only while it is disconnected.
type relay struct {
	mu        sync.Mutex
	receivers map[string][]chan string
	sent      []string // payloads of chunks
}

func (r *relay) Broadcast(topic, payload string) {
	r.mu.Lock()
	defer r.mu.Unlock()

	if strings.HasPrefix(topic, "delta:") {
		r.sent = append(r.sent, payload)
	}

	for _, receiver := range r.receivers[topic] {
		receiver <- payload
	}
}

func (r *relay) Receive(topic string, f func(string)) func() {
	r.mu.Lock()
	defer r.mu.Unlock()

	queue, quit, done := make(chan string, 1000), make(chan struct{}), make(chan struct{})

	go func() { // ended and waited for by stop
		defer close(done)

		for {
			select {
			case payload := <-queue:
				f(payload)
			case <-quit:
				return
			}
		}
	}()

	r.receivers[topic] = append(r.receivers[topic], queue)

	return func() {
		close(quit)
		<-done
	}
}

// OnListen implements stream.Relay. It uses a topic to signal that the relay starts to receive.
func (r *relay) OnListen(f func()) func() { return r.Receive("listen", func(string) { f() }) }

// disconnect drops messages until reconnect is called.
func (r *relay) disconnect() (reconnect func()) {
	r.mu.Lock()
	defer r.mu.Unlock()

	lost := r.receivers
	r.receivers = map[string][]chan string{}

	return func() {
		r.mu.Lock()
		r.receivers = lost
		r.mu.Unlock()

		r.Broadcast("listen", "")
	}
}

// count returns how many chunks were sent between servers.
func (r *relay) count() int {
	synctest.Wait()

	r.mu.Lock()
	defer r.mu.Unlock()

	return len(r.sent)
}

func newDeltas(t *testing.T, change ...func(*stream.DeltasConfig)) *stream.Deltas {
	t.Helper()

	cfg := stream.DeltasConfig{ServerID: "one", Clock: clockwork.NewRealClock()}
	for _, f := range change {
		f(&cfg)
	}

	d := stream.NewDeltas(cfg)
	t.Cleanup(d.Close)

	return d
}

// pass advances the time of the bubble.
func pass(d time.Duration) {
	<-time.After(d) //nolint:forbidigo // the time of a synctest bubble
	synctest.Wait()
}

// piece is the part of a chunk that these tests check.
type piece struct {
	Offset int
	Delta  string
}

// received returns the chunks that are waiting for the reader.
func received(reader *stream.DeltaReader) []piece {
	synctest.Wait()

	var pieces []piece

	for {
		select {
		case chunk := <-reader.Chunks():
			pieces = append(pieces, piece{chunk.Offset, chunk.Delta})
		default:
			return pieces
		}
	}
}

func TestFirstChunkIsImmediateAndLaterOnesAreCoalesced(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDeltas(t)
		reader := d.Subscribe("s")
		execution := "x"
		delta := d.Open("s", stream.Chunk{ExecutionID: &execution, EventID: "e", EventType: tarsy.EventThinking, Fence: 7})

		delta.Append("a")

		chunk := <-reader.Chunks()
		require.Equal(t, tarsy.StreamChunkPayload{
			Type: tarsy.TypeStreamChunk, SessionID: "s", ExecutionID: &execution, EventID: "e",
			EventType: tarsy.EventThinking, Delta: "a", Offset: 0, Fence: 7, Timestamp: time.Now(),
		}, chunk.StreamChunkPayload)

		delta.Append("b")
		pass(10 * time.Millisecond)
		delta.Append("c")
		pass(19 * time.Millisecond)
		require.Empty(t, received(reader))
		pass(time.Millisecond)
		require.Equal(t, []piece{{1, "bc"}}, received(reader))

		pass(time.Second)
		delta.Append("d")
		require.Equal(t, []piece{{3, "d"}}, received(reader), "after a pause it goes at once again")

		delta.Append("e")
		delta.Close()
		require.Equal(t, []piece{{4, "e"}}, received(reader), "closing sends the rest")

		delta.Append("f")
		delta.Close()
		pass(time.Second)
		require.Empty(t, received(reader))
	})
}

func TestReaderJoiningMidStreamGetsWholeTextImmediately(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDeltas(t)
		delta := d.Open("s", stream.Chunk{EventID: "e"})
		silent := d.Open("s", stream.Chunk{EventID: "silent"})
		other := d.Subscribe("another session")

		delta.Append("one ")
		delta.Append("two ")

		first := d.Subscribe("s")
		require.Equal(t, []piece{{0, "one two "}}, received(first))

		delta.Append("three ")
		delta.Append("four ")

		second := d.Subscribe("s")
		require.Equal(t, []piece{{0, "one two "}}, received(second), "all readers are at the same offset")
		require.Empty(t, received(first), "a reader that joins causes no frames to others")

		pass(30 * time.Millisecond)
		require.Equal(t, []piece{{8, "three four "}}, received(first))
		require.Equal(t, []piece{{8, "three four "}}, received(second))

		first.Close()
		first.Close()
		delta.Close()
		silent.Close()
		require.Empty(t, received(first))
		require.Empty(t, received(other))
		require.Empty(t, received(d.Subscribe("s")), "the text is over")
	})
}

func TestFullReaderLosesChunksWithoutBlockingWriter(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDeltas(t, func(cfg *stream.DeltasConfig) { cfg.Buffer = 2 })
		reader := d.Subscribe("s")
		delta := d.Open("s", stream.Chunk{EventID: "e"})

		for range 5 {
			delta.Append("x")
			pass(time.Second)
		}

		require.EqualValues(t, 3, d.Dropped())
		require.Equal(t, []piece{{0, "x"}, {1, "x"}}, received(reader))
		delta.Append("y")
		require.Equal(t, []piece{{5, "y"}}, received(reader), "the offset shows what is missing")
	})
}

func TestHigherFenceRestartsText(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDeltas(t)
		reader := d.Subscribe("s")
		old := d.Open("s", stream.Chunk{EventID: "e", Fence: 1})
		old.Append("abc")

		fresh := d.Open("s", stream.Chunk{EventID: "e", Fence: 2})
		old.Append("late")
		d.Open("s", stream.Chunk{EventID: "e", Fence: 1}).Append("later")
		fresh.Append("x")
		require.Equal(t, []piece{{0, "abc"}, {0, "x"}}, received(reader))
		require.Equal(t, []piece{{0, "x"}}, received(d.Subscribe("s")))

		d.Close()
		fresh.Append("y")
		d.Open("s", stream.Chunk{EventID: "f"}).Append("z")
		pass(time.Second)
		require.Empty(t, received(reader))
	})
}

// inBubble hides the test's deadline from rapid, because a bubble has its own time.
type inBubble struct{ *testing.T }

// text draws texts that are hard to count: astral characters, combining marks, joiners, escapes, and invalid UTF-8.
func text() *rapid.Generator[string] {
	piece := rapid.SampledFrom([]string{
		"a", "é", "e\u0301", "漢", "😀", "👩‍👩‍👧", "🏳️‍🌈", "\u2028", "<b>&", "\"\\\n\x00", "\xff", "\xf0\x9f", "\ufffd", "𝒳",
	})

	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(piece, 0, 40).Draw(t, "pieces"), "")
	})
}

// units returns the text as a browser decodes it from JSON.
func units(text string) []uint16 { return utf16.Encode([]rune(text)) }

// assemble builds the text like a browser.
func assemble(t require.TestingT, have []uint16, pieces []piece) []uint16 {
	for _, p := range pieces {
		require.LessOrEqual(t, p.Offset, len(have), "a gap")
		have = append(have[:p.Offset:p.Offset], units(p.Delta)...)
	}

	return have
}

func TestOffsetsAreInUTF16Units(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDeltas(t)

		rapid.Check(inBubble{t}, func(rt *rapid.T) {
			whole := text().Draw(rt, "text")
			early := d.Subscribe("s")
			delta := d.Open("s", stream.Chunk{EventID: "e"})

			var late *stream.DeltaReader

			for rest := whole; rest != ""; {
				n := rapid.IntRange(1, min(len(rest), 9)).Draw(rt, "bytes")
				delta.Append(rest[:n])
				rest = rest[n:]

				switch rapid.IntRange(0, 5).Draw(rt, "then") {
				case 0:
					pass(time.Second)
				case 1:
					if late == nil {
						late = d.Subscribe("s")
					}
				}
			}

			delta.Close()
			require.Equal(rt, units(whole), assemble(rt, []uint16{}, received(early)))

			if late != nil {
				require.Equal(rt, units(whole), assemble(rt, []uint16{}, received(late)))
				late.Close()
			}

			early.Close()
		})
	})
}

func twoServers(t *testing.T) (*relay, *stream.Deltas, *stream.Deltas) {
	t.Helper()

	between := &relay{receivers: map[string][]chan string{}}
	server := func(id string) *stream.Deltas {
		return newDeltas(t, func(cfg *stream.DeltasConfig) { cfg.ServerID, cfg.Relay = id, between })
	}

	return between, server("one"), server("two")
}

func TestTextIsRelayedOnlyWhileRemoteReaderExists(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		between, running, reading := twoServers(t)
		local := running.Subscribe("s")
		delta := running.Open("s", stream.Chunk{EventID: "e"})

		delta.Append("nobody ")
		pass(time.Second)
		require.Zero(t, between.count())

		reader := reading.Subscribe("s")
		require.Equal(t, []piece{{0, "nobody "}}, received(reader), "the text so far crosses too")

		for range 10 { // the interest is renewed
			pass(4 * time.Second)
			delta.Append("x")
		}

		require.Len(t, received(reader), 10)

		second := reading.Subscribe("s")
		require.Equal(t, []piece{{0, "nobody xxxxxxxxxx"}}, received(second))
		second.Close()
		received(reader)

		reader.Close()
		pass(20 * time.Second)

		before := between.count()

		delta.Append("gone")
		pass(time.Second)
		require.Equal(t, before, between.count())
		require.NotEmpty(t, received(local))

		again := reading.Subscribe("s")
		require.Equal(t, []piece{{0, "nobody xxxxxxxxxxgone"}}, received(again))
	})
}

// Both ends recover what was lost: the reader requests the text that it missed, the writer asks who is reading.
func TestLostRelayMessagesAreRecovered(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		between, running, reading := twoServers(t)
		reconnect := between.disconnect()
		reader := reading.Subscribe("s")
		delta := running.Open("s", stream.Chunk{EventID: "e"})
		delta.Append("said to nobody")
		pass(time.Second)
		require.Empty(t, received(reader))

		reconnect()
		require.Equal(t, []piece{{0, "said to nobody"}}, received(reader)[:1])

		delta.Append(", and on")
		pass(time.Second)
		require.NotEmpty(t, received(reader))
	})
}

func TestReaderWaitingForRemoteSessionGetsItsText(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		_, running, reading := twoServers(t)

		sessions := []*stream.DeltaReader{}
		for range 250 { // more than one message of interest
			sessions = append(sessions, reading.Subscribe(ident.New()))
		}

		reader := reading.Subscribe("s")

		pass(time.Minute)

		delta := running.Open("s", stream.Chunk{EventID: "e"})
		delta.Append("hello")
		require.Equal(t, []piece{{0, "hello"}}, received(reader))
		require.Empty(t, received(sessions[0]))
	})
}

func TestRelayedChunksFitNotification(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		between, running, reading := twoServers(t)

		rapid.Check(inBubble{t}, func(rt *rapid.T) {
			whole := strings.Repeat(text().Draw(rt, "text"), rapid.IntRange(1, 300).Draw(rt, "times"))
			reader := reading.Subscribe("s")

			synctest.Wait()

			delta := running.Open("s", stream.Chunk{EventID: ident.New()})
			delta.Append(whole)
			delta.Close()

			got := received(reader)
			require.Equal(rt, units(whole), assemble(rt, []uint16{}, got))
			reader.Close()
		})

		// Long texts of characters that JSON expands the most.
		for _, unit := range []string{"\\", "\"", "\n", "\x00", "\x7f", "<", "\u2028", "\xff", "\ufffd", "é", "漢", "😀", "a"} {
			whole := strings.Repeat(unit, 20_000)
			reader := reading.Subscribe("s")

			synctest.Wait()

			delta := running.Open("s", stream.Chunk{EventID: ident.New()})
			delta.Append(whole)
			delta.Close()
			require.Equal(t, units(whole), assemble(t, []uint16{}, received(reader)))
			reader.Close()
		}

		for _, payload := range between.sent {
			require.Less(t, len(payload), 7900)
			require.True(t, json.Valid([]byte(payload)))
		}
	})
}

func TestForeignMessagesAreIgnored(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		between, running, reading := twoServers(t)
		reader := reading.Subscribe("s")

		for _, topic := range []string{"delta.want", "delta:two"} {
			for _, payload := range []string{"", "x", "[]", "{}", `{"server":""}`, `{"session_id":"other"}`} {
				between.Broadcast(topic, payload)
			}
		}

		running.Open("s", stream.Chunk{EventID: "e"}).Append("hello")
		require.Equal(t, []piece{{0, "hello"}}, received(reader))
	})
}
