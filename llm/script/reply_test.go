package script_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
)

func chunksOf(t *testing.T, reply script.Reply) []llm.Chunk {
	t.Helper()

	s := script.New(script.Options{})
	s.Add(reply)

	var chunks []llm.Chunk

	for chunk, err := range s.Generate(t.Context(), request("A")) {
		require.NoError(t, err)

		chunks = append(chunks, chunk)
	}

	return chunks
}

func TestEndIsReportedOnlyWithContent(t *testing.T) {
	t.Parallel()

	usage := llm.UsageChunk{OutputTokens: 1}
	signature := &llm.Signature{By: "script", Data: []byte(`"pr\"oof"`)}

	for name, test := range map[string]struct {
		reply script.Reply
		want  []llm.Chunk
	}{
		"nothing to tell":  {script.Reply{Text: "a"}, []llm.Chunk{llm.TextChunk{Text: "a"}, usage}},
		"a reason to stop": {script.Reply{Text: "a", Stop: llm.StopMaxTokens}, []llm.Chunk{llm.TextChunk{Text: "a"}, usage, llm.EndChunk{Reason: llm.StopMaxTokens}}},
		"a signature":      {script.Reply{Text: "a", Signature: `pr"oof`}, []llm.Chunk{llm.TextChunk{Text: "a"}, usage, llm.EndChunk{Signature: signature}}},
		"exact chunks": {
			script.Reply{Chunks: []llm.Chunk{llm.TextChunk{Text: "a b"}}, Stop: llm.StopSequence},
			[]llm.Chunk{llm.TextChunk{Text: "a b"}, llm.EndChunk{Reason: llm.StopSequence}},
		},
		"a trickle": {
			script.Reply{Text: "é\xff", Thinking: "hm", Trickle: true},
			[]llm.Chunk{
				llm.ThinkingChunk{Text: "h"}, llm.ThinkingChunk{Text: "m"}, llm.TextChunk{Text: "é"}, llm.TextChunk{Text: "\xff"},
				llm.UsageChunk{OutputTokens: 1, ThinkingTokens: 1},
			},
		},
		"a trickle of exact chunks": {
			script.Reply{Chunks: []llm.Chunk{llm.TextChunk{Text: "ab"}, llm.ErrorChunk{Message: "x"}}, Trickle: true},
			[]llm.Chunk{llm.TextChunk{Text: "a"}, llm.TextChunk{Text: "b"}, llm.ErrorChunk{Message: "x"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Empty(t, cmp.Diff(test.want, chunksOf(t, test.reply)))
		})
	}
}

func TestCallerIsNotifiedBeforeEveryWait(t *testing.T) {
	t.Parallel()

	for name, test := range map[string]struct {
		pace  script.Pace
		reply script.Reply
		// want is how many chunks had been passed on each time.
		want []int
	}{
		"nothing to wait for": {script.Pace{}, script.Reply{Text: "one two"}, nil},
		"the pace":            {script.Pace{FirstToken: time.Second, TokensPerSecond: 1}, script.Reply{Text: "one two"}, []int{0, 1}},
		"a pace of its own":   {script.Pace{}, script.Reply{Text: "one two", Pace: &script.Pace{TokensPerSecond: 1}}, []int{0, 1}},
		"no pace of its own":  {script.Pace{FirstToken: time.Second}, script.Reply{Text: "one two", Pace: &script.Pace{}}, nil},
		"a gate":              {script.Pace{}, script.Reply{Text: "one two", Gate: script.NewGate(), GateAfter: 1}, []int{1}},
		"hanging":             {script.Pace{}, script.Reply{Text: "one two", Hang: true, AfterChunks: 2}, []int{2}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			gated := test.reply.Gate != nil

			synctest.Test(t, func(t *testing.T) {
				if gated {
					test.reply.Gate = script.NewGate()
					time.AfterFunc(time.Hour, test.reply.Gate.Open)
				}

				s := script.New(script.Options{Pace: test.pace})
				s.Add(test.reply)

				ctx, cancel := context.WithTimeout(t.Context(), 2*time.Hour)
				defer cancel()

				var (
					notified []int
					sent     int
				)

				_, _ = llm.Collect(s.Answer(ctx, script.Incoming{
					Request:    request("A"),
					BeforeWait: func() { notified = append(notified, sent) },
				}), func(llm.Chunk) error {
					sent++

					return nil
				})
				require.Equal(t, test.want, notified)
			})
		})
	}
}

func TestOpenGateDoesNotWait(t *testing.T) {
	t.Parallel()

	s := script.New(script.Options{})
	gate := s.Gate("go")
	require.Same(t, gate, s.Gate("go"))
	require.NotSame(t, gate, s.Gate("other"))
	gate.Open()
	s.Add(script.Reply{Text: "one", Gate: gate})

	_, err := llm.Collect(s.Answer(t.Context(), script.Incoming{
		Request: request("A"), BeforeWait: func() { t.Error("it does not wait") },
	}), nil)
	require.NoError(t, err)

	select {
	case <-gate.Reached():
	default:
		t.Error("the gate was passed, and so reached")
	}
}

func TestLatestCallsAreKept(t *testing.T) {
	t.Parallel()

	s := script.New(script.Options{Keep: 3})
	s.Add(script.Reply{Text: "fine", Times: 10})

	for i := range 14 {
		_, err := ask(t, s, request(fmt.Sprint(i)))
		require.Equal(t, i >= 10, err != nil)
	}

	var agents []string
	for _, call := range s.Calls() {
		agents = append(agents, call.Request.Agent)
	}

	require.Equal(t, []string{"11", "12", "13"}, agents)
	require.Equal(t, 14, s.CallCount())
	require.Len(t, s.Unexpected(), 3)
	require.Contains(t, s.Unexpected()[0], "call 12: ")
}

func TestRepliesAreUsedExactlyAsOftenAsGivenConcurrently(t *testing.T) {
	t.Parallel()

	rapid.Check(t, func(t *rapid.T) {
		s := script.New(script.Options{Keep: rapid.IntRange(0, 4).Draw(t, "keep"), Forget: rapid.Bool().Draw(t, "forget")})
		want := map[string]int{}
		total := 0

		for r := range rapid.IntRange(1, 5).Draw(t, "routes") {
			for i, times := range rapid.SliceOfN(rapid.IntRange(0, 3), 1, 4).Draw(t, "times") {
				text := fmt.Sprintf("%d/%d", r, i)
				want[text] = max(times, 1)
				total += max(times, 1)

				reply := script.Reply{Text: text, Times: times}
				if r == 0 {
					s.Add(reply)
				} else if err := s.On(script.Match{User: script.Text{Contains: "pod"}}, reply); err != nil {
					t.Fatal(err)
				}
			}
		}

		var (
			mu     sync.Mutex
			got    = map[string]int{}
			failed atomic.Int64
			wg     sync.WaitGroup
			start  = make(chan struct{})
		)

		for range total + 3 {
			wg.Go(func() {
				<-start

				response, err := llm.Collect(s.Generate(context.Background(), request("A", llm.Message{Role: llm.RoleUser, Content: "a pod"})), nil)
				if err != nil {
					failed.Add(1)

					return
				}

				mu.Lock()
				defer mu.Unlock()

				got[response.Text]++
			})
		}

		close(start)
		wg.Wait()

		if diff := cmp.Diff(want, got); diff != "" || failed.Load() != 3 || len(s.Unused()) > 0 {
			t.Fatalf("%d failed, unused %q\n%s", failed.Load(), s.Unused(), diff)
		}
	})
}
