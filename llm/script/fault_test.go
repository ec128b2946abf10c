package script_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
)

func TestFaultInterruptsAnswerAfterItsChunks(t *testing.T) {
	t.Parallel()

	for _, kind := range []script.FaultKind{script.FaultDrop, script.FaultMalformed, script.FaultTruncate} {
		s := script.New(script.Options{})
		s.Add(script.Reply{Text: "one two three", Fault: &script.Fault{Kind: kind, AfterChunks: 2}})

		response, err := ask(t, s, request("A"))
		fault, ok := errors.AsType[*script.Fault](err)
		require.True(t, ok)
		require.Equal(t, kind, fault.Kind)
		require.Equal(t, "one two ", response.Text)
		require.True(t, llm.AsError(err).Retryable, "it broke in flight")
		require.Empty(t, s.Unexpected())
	}
}

func TestAnswerFaultIsProviderError(t *testing.T) {
	t.Parallel()

	s := script.New(script.Options{})
	s.Add(script.Reply{Fault: &script.Fault{Kind: script.FaultRateLimit}}, script.Reply{Fault: &script.Fault{Kind: script.FaultServerError}})

	_, err := ask(t, s, request("A"))
	limit := llm.AsError(err)
	require.Equal(t, 429, limit.Status)
	require.Equal(t, llm.ClassQuota, limit.Class)
	require.Positive(t, limit.RetryAfter)

	_, err = ask(t, s, request("A"))
	require.Equal(t, 500, llm.AsError(err).Status)
	require.True(t, llm.AsError(err).Retryable)
}

func TestBurstRepeatsError(t *testing.T) {
	t.Parallel()

	s := script.New(script.Options{})
	s.Route("A", script.Reply{Err: llm.ErrorOfStatus(429, nil, "", "slow down"), Times: 3}, script.Reply{Text: "at last"})

	for n := range 3 {
		_, err := ask(t, s, request("A"))
		require.Equal(t, 429, llm.AsError(err).Status)

		if n < 2 {
			require.Contains(t, s.Unused()[0], fmt.Sprintf("used %d of 3 times", n+1))
		}
	}

	require.Equal(t, "at last", answer(t, s, "A"))
	require.Empty(t, s.Unused())
}

// outcome makes a call and describes the result.
func outcome(s *script.Script, req *llm.Request) string {
	response, err := llm.Collect(s.Generate(context.Background(), req), nil)

	return fmt.Sprintf("%q %v", response.Text, err)
}

func TestRandomFaultsAreStablePerConversationAndSeed(t *testing.T) {
	t.Parallel()

	rapid.Check(t, func(t *rapid.T) {
		faults := script.Faults{Seed: rapid.Uint64().Draw(t, "seed"), Rate: rapid.Float64Range(0, 0.9).Draw(t, "rate")}
		conversations := rapid.SliceOfNDistinct(rapid.String(), 1, 8, rapid.ID[string]).Draw(t, "conversations")

		// lives returns the outcomes of each conversation from its first call to its answer, whatever other calls are in between.
		lives := func(order []string) map[string][]string {
			s := script.New(script.Options{Faults: faults})
			s.Add(script.Reply{Text: "one two three four", Times: -1})

			all := map[string][]string{}
			open := append([]string(nil), order...)

			for len(open) > 0 {
				var failed []string

				for _, text := range open {
					went := outcome(s, request("A", llm.Message{Role: llm.RoleUser, Content: text}))
					all[text] = append(all[text], went)

					if went != `"one two three four" <nil>` {
						failed = append(failed, text)
					}
				}

				open = failed
			}

			return all
		}

		first := lives(conversations)

		var backward []string
		for _, text := range conversations {
			backward = append([]string{text}, backward...)
		}

		again := lives(backward)
		for text, life := range first {
			if strings.Join(life, "\n") != strings.Join(again[text], "\n") {
				t.Fatalf("%q got\n%s\nand then\n%s", text, strings.Join(life, "\n"), strings.Join(again[text], "\n"))
			}
		}
	})
}

func TestRandomFaultsHitTheirRateAndConsumeNoReply(t *testing.T) {
	t.Parallel()

	const calls = 2000

	s := script.New(script.Options{Forget: true, Faults: script.Faults{Seed: 1, Rate: 0.3}})
	s.Add(script.Reply{Text: "one two three four", Times: calls})

	met := map[string]int{}
	faults := 0

	for i := range calls {
		req := request("A", llm.Message{Role: llm.RoleUser, Content: fmt.Sprint(i)})

		for {
			_, err := ask(t, s, req)
			if err == nil {
				break
			}

			require.NotErrorIs(t, err, script.ErrNoReply)
			require.True(t, llm.AsError(err).Retryable)

			met[err.Error()]++
			faults++
		}
	}

	require.Len(t, met, 5)
	require.InDelta(t, 0.3, float64(faults)/float64(faults+calls), 0.03)
	require.Empty(t, s.Unused())
}

func TestFailingModelDoesNotAffectNextOne(t *testing.T) {
	t.Parallel()

	s := script.New(script.Options{Faults: script.Faults{Seed: 3, Rate: 0.5, Kinds: []script.FaultKind{script.FaultServerError}}})
	s.Add(script.Reply{Text: "fine", Times: -1})

	outcomes := map[string]bool{}

	for _, model := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} {
		req := request("A")
		req.Model = model
		outcomes[outcome(s, req)] = true
	}

	require.Len(t, outcomes, 2)
	require.Contains(t, s.Calls()[0].Route+s.Calls()[1].Route+s.Calls()[2].Route, "fault 500")
}
