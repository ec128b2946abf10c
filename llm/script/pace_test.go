package script_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
)

// arrivals plays one call and returns when each chunk arrived, relative to the start.
func arrivals(t *testing.T, client llm.Client) []time.Duration {
	t.Helper()

	var times []time.Duration

	start := time.Now()
	_, err := llm.Collect(client.Generate(t.Context(), request("A")), func(llm.Chunk) error {
		times = append(times, time.Since(start))

		return nil
	})
	require.NoError(t, err)

	return times
}

func TestPaceSetsFirstTokenDelayAndRate(t *testing.T) {
	t.Parallel()

	tests := map[string]struct {
		pace script.Pace
		want []time.Duration // Two words of a token each, then the usage.
	}{
		"no pace waits for nothing": {script.Pace{}, []time.Duration{0, 0, 0}},
		"silence, then words at a rate": {
			script.Pace{FirstToken: time.Second, TokensPerSecond: 10},
			[]time.Duration{1100 * time.Millisecond, 1200 * time.Millisecond, 1200 * time.Millisecond},
		},
		"four times as fast": {
			script.Pace{FirstToken: time.Second, TokensPerSecond: 10, Speed: 4},
			[]time.Duration{275 * time.Millisecond, 300 * time.Millisecond, 300 * time.Millisecond},
		},
	}

	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := script.New(script.Options{Pace: test.pace})
				s.Add(script.Reply{Text: "one two"})
				require.Equal(t, test.want, arrivals(t, s))
			})
		})
	}
}

func TestJitterIsStablePerSeedAndWithinItsRange(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		play := func(seed uint64) []time.Duration {
			s := script.New(script.Options{Pace: script.Pace{TokensPerSecond: 10, Jitter: 0.5, Seed: seed}})
			s.Add(script.Reply{Text: strings.Repeat("one ", 50)})

			return arrivals(t, s)
		}

		first := play(1)
		require.Equal(t, first, play(1))
		require.NotEqual(t, first, play(2))

		last := time.Duration(0)
		for _, at := range first[:50] {
			require.InDelta(t, 100*time.Millisecond, at-last, float64(50*time.Millisecond))
			last = at
		}
	})
}

func TestSlowConsumerDoesNotDelaySchedule(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := script.New(script.Options{Pace: script.Pace{TokensPerSecond: 1}})
		s.Add(script.Reply{Text: "one two six"})

		start := time.Now()

		for chunk, err := range s.Generate(t.Context(), request("A")) {
			require.NoError(t, err)

			if chunk == (llm.TextChunk{Text: "one "}) {
				<-time.After(1500 * time.Millisecond) //nolint:forbidigo // the time of a synctest bubble
			}
		}

		require.Equal(t, 3*time.Second, time.Since(start))
	})
}

func TestPaceFollowsGivenClock(t *testing.T) {
	t.Parallel()

	clock := clockwork.NewFakeClock()
	s := script.New(script.Options{Clock: clock, Pace: script.Pace{FirstToken: time.Hour}})
	s.Add(script.Reply{Text: "one"})

	began := clock.Now()
	done := make(chan error)

	go func() {
		_, err := llm.Collect(s.Generate(t.Context(), request("A")), nil)
		done <- err
	}()

	require.NoError(t, clock.BlockUntilContext(t.Context(), 1))
	clock.Advance(time.Hour)
	require.NoError(t, <-done)
	require.Equal(t, began, s.Calls()[0].Start)
	require.Equal(t, began.Add(time.Hour), s.Calls()[0].End)
}

func TestGateBlocksStreamUntilOpened(t *testing.T) {
	t.Parallel()

	for name, test := range map[string]struct{ after, chunks int }{
		"before the first chunk": {0, 0},
		"in mid-stream":          {2, 2},
		"after the last":         {99, 4},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				gate := script.NewGate()
				s := script.New(script.Options{Pace: script.Pace{TokensPerSecond: 1}})
				s.Add(script.Reply{Text: "one two six", Gate: gate, GateAfter: test.after})

				done := make(chan llm.Response)

				go func() {
					response, err := llm.Collect(s.Generate(t.Context(), request("A")), nil)
					if err != nil {
						t.Error(err)
					}
					done <- response
				}()

				<-gate.Reached()
				<-time.After(time.Hour) //nolint:forbidigo // the time of a synctest bubble
				require.Equal(t, test.chunks, s.Calls()[0].Chunks)

				start := time.Now()

				gate.Open()
				gate.Open()
				require.Equal(t, "one two six", (<-done).Text)
				require.Equal(t, time.Duration(max(3-test.chunks, 0))*time.Second, time.Since(start), "the pace goes on where it was")
			})
		})
	}
}

func TestCancelEndsCallWithCauseAtAnyWait(t *testing.T) {
	t.Parallel()

	tests := map[string]struct {
		pace   script.Pace
		reply  script.Reply
		chunks int
	}{
		"at a gate":         {reply: script.Reply{Text: "one two", Gate: script.NewGate()}},
		"at a later gate":   {reply: script.Reply{Text: "one two", Gate: script.NewGate(), GateAfter: 1}, chunks: 1},
		"for the pace":      {pace: script.Pace{FirstToken: time.Hour}, reply: script.Reply{Text: "one two"}},
		"while it hangs":    {reply: script.Reply{Hang: true}},
		"hanging later":     {reply: script.Reply{Text: "one two", Hang: true, AfterChunks: 1}, chunks: 1},
		"between the words": {pace: script.Pace{TokensPerSecond: 0.5}, reply: script.Reply{Text: "one two"}, chunks: 1},
	}

	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			// A gate's channels belong to the bubble that makes them.
			gated := test.reply.Gate != nil

			synctest.Test(t, func(t *testing.T) {
				if gated {
					test.reply.Gate = script.NewGate()
				}

				why := errors.New("cancelled by a person")
				ctx, cancel := context.WithCancelCause(t.Context())
				s := script.New(script.Options{Pace: test.pace})
				s.Add(test.reply)

				done := make(chan error)

				go func() {
					_, err := llm.Collect(s.Generate(ctx, request("A")), nil)
					done <- err
				}()

				<-time.After(3 * time.Second) //nolint:forbidigo // the time of a synctest bubble
				synctest.Wait()

				start := time.Now()

				cancel(why)
				require.ErrorIs(t, <-done, why)
				require.Zero(t, time.Since(start), "promptly")

				call := s.Calls()[0]
				require.True(t, call.Cancelled)
				require.ErrorIs(t, call.Err, why)
				require.Equal(t, test.chunks, call.Chunks)
			})
		})
	}
}

func TestCancelBetweenChunksStopsStream(t *testing.T) {
	t.Parallel()

	why := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	s := script.New(script.Options{})
	s.Add(script.Reply{Text: "one two three"})

	response, err := llm.Collect(s.Generate(ctx, request("A")), func(llm.Chunk) error {
		cancel(why)

		return nil
	})
	require.ErrorIs(t, err, why)
	require.Equal(t, "one ", response.Text)
}
