package llm_test

import (
	"context"
	"errors"
	"iter"
	"slices"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
)

var errBusy = &llm.Error{Class: llm.ClassTransient, Status: 503, Message: "busy", Retryable: true}

// patient is a clock on which every wait ends immediately; it records how long each wait would have taken.
type patient struct {
	*clockwork.FakeClock
	waits []time.Duration
}

func newPatient() *patient { return &patient{FakeClock: clockwork.NewFakeClock()} }

func (p *patient) NewTimer(d time.Duration) clockwork.Timer {
	p.waits = append(p.waits, d)
	timer := p.FakeClock.NewTimer(d)
	p.Advance(d)

	return timer
}

// replies returns a script with one sequence of replies.
func replies(list ...script.Reply) *script.Script {
	s := script.New(script.Options{})
	s.Add(list...)

	return s
}

func fail(err error) script.Reply { return script.Reply{Err: err} }

// try makes one call with retry, and returns the attempts that were reported as failed.
func try(ctx context.Context, retry llm.Retry, client llm.Client) (llm.Response, []int, error) {
	var failed []int

	response, err := llm.Collect(retry.Generate(ctx, client, &llm.Request{}, func(attempt int, _ error) {
		failed = append(failed, attempt)
	}), nil)

	return response, failed, err
}

func TestCallIsRetriedUntilAnswerStarts(t *testing.T) {
	t.Parallel()

	clock := newPatient()
	retry := llm.Retry{Attempts: 3, FirstWait: time.Second, MaxWait: 8 * time.Second, Clock: clock, Random: func() float64 { return 1 }}
	s := replies(fail(errBusy), fail(errBusy), script.Reply{Text: "at last"})

	response, failed, err := try(t.Context(), retry, s)
	require.NoError(t, err)
	require.Equal(t, "at last", response.Text)
	require.Equal(t, []int{1, 2}, failed)
	require.Equal(t, []time.Duration{time.Second, 2 * time.Second}, clock.waits)
}

func TestAttemptsAreCounted(t *testing.T) {
	t.Parallel()

	for _, test := range []struct{ attempts, calls int }{{0, 1}, {1, 1}, {2, 2}, {5, 5}} {
		s := replies(slices.Repeat([]script.Reply{fail(errBusy)}, 6)...)

		_, failed, err := try(t.Context(), llm.Retry{Attempts: test.attempts, Clock: newPatient()}, s)
		require.ErrorIs(t, err, errBusy)
		require.Equal(t, test.calls, s.CallCount())
		require.Len(t, failed, test.calls-1, "the last attempt is told by its error")
	}
}

func TestPermanentErrorIsNotRetried(t *testing.T) {
	t.Parallel()

	for _, stays := range []error{
		&llm.Error{Class: llm.ClassAuth}, &llm.Error{Class: llm.ClassQuota}, errors.New("odd"), llm.ErrorChunk{Message: "no"},
	} {
		s := replies(fail(stays), script.Reply{Text: "never"})

		_, failed, err := try(t.Context(), llm.Retry{Attempts: 3, Clock: newPatient()}, s)
		require.ErrorIs(t, err, stays)
		require.Empty(t, failed)
		require.Equal(t, 1, s.CallCount())
	}
}

func TestCallIsNotRetriedAfterFirstChunk(t *testing.T) {
	t.Parallel()

	for name, first := range map[string]llm.Chunk{
		"text": llm.TextChunk{Text: "half"}, "thinking": llm.ThinkingChunk{Text: "hm"}, "usage": llm.UsageChunk{InputTokens: 1},
	} {
		for end, reply := range map[string]script.Reply{
			"an error":    {Chunks: []llm.Chunk{first}, Err: errBusy, AfterChunks: 1},
			"error chunk": {Chunks: []llm.Chunk{first, llm.ErrorChunk{Message: "busy", Retryable: true}}},
		} {
			t.Run(name+", then "+end, func(t *testing.T) {
				t.Parallel()

				s := replies(reply, script.Reply{Text: "never"})

				_, failed, err := try(t.Context(), llm.Retry{Attempts: 3, Clock: newPatient()}, s)
				require.Error(t, err)
				require.True(t, llm.AsError(err).Retryable)
				require.Empty(t, failed)
				require.Equal(t, 1, s.CallCount())
			})
		}
	}
}

func TestErrorChunkCountsAsError(t *testing.T) {
	t.Parallel()

	busy := llm.ErrorChunk{Message: "busy", Code: "529", Retryable: true}
	s := replies(script.Reply{Chunks: []llm.Chunk{busy}}, script.Reply{Chunks: []llm.Chunk{busy}}, script.Reply{Text: "at last"})

	response, failed, err := try(t.Context(), llm.Retry{Attempts: 3, Clock: newPatient()}, s)
	require.NoError(t, err)
	require.Equal(t, "at last", response.Text)
	require.Equal(t, []int{1, 2}, failed)

	_, _, err = try(t.Context(), llm.Retry{Attempts: 1}, replies(script.Reply{Chunks: []llm.Chunk{busy}}))
	require.ErrorIs(t, err, busy)
}

func TestWaitsAreSpreadOverWholeRange(t *testing.T) {
	t.Parallel()

	rapid.Check(t, func(t *rapid.T) {
		first := time.Duration(rapid.Int64Range(0, int64(1000*time.Hour)).Draw(t, "first"))
		longest := time.Duration(rapid.Int64Range(0, int64(1000*time.Hour)).Draw(t, "longest"))
		attempts := rapid.IntRange(2, 40).Draw(t, "attempts")
		numbers := rapid.SliceOfN(rapid.Float64Range(0, 1), attempts, attempts).Draw(t, "random")

		clock, next := newPatient(), 0
		retry := llm.Retry{Attempts: attempts, FirstWait: first, MaxWait: longest, Clock: clock, Random: func() float64 {
			next++

			return numbers[next-1]
		}}

		_, _, err := try(context.Background(), retry, replies(slices.Repeat([]script.Reply{fail(errBusy)}, attempts)...))
		if !errors.Is(err, errBusy) || len(clock.waits) != attempts-1 {
			t.Fatalf("%v after %d waits", err, len(clock.waits))
		}

		bound := first
		for i, wait := range clock.waits {
			if want := time.Duration(numbers[i] * float64(min(bound, longest))); wait != want {
				t.Fatalf("wait %d is %s instead of %s", i+1, wait, want)
			}

			if bound < longest {
				bound *= 2
			}
		}
	})
}

func TestWaitsDifferByDefault(t *testing.T) {
	t.Parallel()

	clock := newPatient()
	retry := llm.Retry{Attempts: 200, FirstWait: time.Second, MaxWait: time.Second, Clock: clock}

	_, _, err := try(t.Context(), retry, replies(slices.Repeat([]script.Reply{fail(errBusy)}, 200)...))
	require.ErrorIs(t, err, errBusy)
	require.Less(t, slices.Min(clock.waits), 200*time.Millisecond)
	require.Greater(t, slices.Max(clock.waits), 800*time.Millisecond)
	require.Less(t, slices.Max(clock.waits), time.Second)
}

func TestRetryAfterIsHonouredUpToLimit(t *testing.T) {
	t.Parallel()

	tests := map[string]struct {
		after  time.Duration
		random float64
		want   []time.Duration
	}{
		"not earlier":             {30 * time.Second, 0, []time.Duration{30 * time.Second}},
		"nor all at once":         {30 * time.Second, 0.5, []time.Duration{31 * time.Second}},
		"up to the limit":         {time.Minute, 0, []time.Duration{time.Minute}},
		"beyond it, not at all":   {time.Minute + 1, 0, nil},
		"nonsense means nothing":  {-time.Hour, 0.5, []time.Duration{time.Second}},
		"nothing said, as always": {0, 0.5, []time.Duration{time.Second}},
	}

	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			clock := newPatient()
			retry := llm.Retry{
				Attempts: 3, FirstWait: 2 * time.Second, MaxWait: 8 * time.Second, MaxRetryAfter: time.Minute,
				Clock: clock, Random: func() float64 { return test.random },
			}
			limited := &llm.Error{Class: llm.ClassQuota, Retryable: true, RetryAfter: test.after}

			response, _, err := try(t.Context(), retry, replies(fail(limited), script.Reply{Text: "at last"}))
			require.Equal(t, test.want, clock.waits)

			if test.want == nil {
				require.ErrorIs(t, err, limited)
			} else {
				require.NoError(t, err)
				require.Equal(t, "at last", response.Text)
			}
		})
	}
}

func TestCancelEndsWaitWithCause(t *testing.T) {
	t.Parallel()

	clock := clockwork.NewFakeClock()
	s := replies(fail(errBusy), script.Reply{Text: "never"})
	retry := llm.Retry{Attempts: 3, FirstWait: time.Hour, MaxWait: time.Hour, Clock: clock, Random: func() float64 { return 1 }}

	ctx, cancel := context.WithCancelCause(t.Context())
	done := make(chan error, 1)

	go func() {
		_, _, err := try(ctx, retry, s)
		done <- err
	}()

	require.NoError(t, clock.BlockUntilContext(t.Context(), 1))

	why := errors.New("shutting down")
	cancel(why)
	require.ErrorIs(t, <-done, why)
	require.Equal(t, 1, s.CallCount())
}

func TestCallIsNotRetriedAfterCancel(t *testing.T) {
	t.Parallel()

	ctx, cancel := context.WithCancel(t.Context())
	calls := 0
	client := generate(func(yield func(llm.Chunk, error) bool) {
		calls++

		cancel()
		yield(nil, errBusy)
	})

	_, failed, err := try(ctx, llm.Retry{Attempts: 3, Clock: newPatient()}, client)
	require.ErrorIs(t, err, errBusy)
	require.Empty(t, failed)
	require.Equal(t, 1, calls)
}

func TestStoppedConsumerEndsCallWithoutRetry(t *testing.T) {
	t.Parallel()

	s := replies(script.Reply{Text: "one two"})
	for chunk, err := range (llm.Retry{Attempts: 3}).Generate(t.Context(), s, &llm.Request{}, nil) {
		require.NoError(t, err)
		require.Equal(t, llm.TextChunk{Text: "one "}, chunk)

		break
	}

	require.Equal(t, 1, s.CallCount())
	require.True(t, s.Calls()[0].Cancelled)
}

func TestRetryNeedsNeitherClockNorCallback(t *testing.T) {
	t.Parallel()

	s := replies(fail(errBusy), script.Reply{Text: "at last"})
	response, err := llm.Collect(llm.Retry{Attempts: 2}.Generate(t.Context(), s, &llm.Request{}, nil), nil)
	require.NoError(t, err)
	require.Equal(t, "at last", response.Text)
}

// generate is a client that consists of one function.
type generate func(yield func(llm.Chunk, error) bool)

func (g generate) Generate(context.Context, *llm.Request) iter.Seq2[llm.Chunk, error] {
	return iter.Seq2[llm.Chunk, error](g)
}
