package agent

import (
	"context"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
)

func throttled(after time.Duration) error {
	return &llm.Error{Class: llm.ClassQuota, Status: 429, Message: "slow down", Retryable: true, RetryAfter: after}
}

// Error messages of providers are shown and stored in many places, none of which must get a secret, or megabytes.
func TestProviderErrorTextIsMaskedAndBounded(t *testing.T) {
	t.Parallel()

	const secret = "hunter2-hunter2"

	hostile := func() script.Reply {
		return script.Reply{Err: &llm.Error{
			Class: llm.ClassTransient, Retryable: true, Message: "you sent " + secret + "\x00" + strings.Repeat("é", 4<<20) + secret,
		}}
	}

	b := newBench(t)
	b.spec.Fallbacks = []Fallback{{Provider: "second"}}
	b.spec.Digests = map[string]Digest{"box": {Threshold: 1, Provider: "test"}}
	b.model.Add(
		script.Reply{ToolCalls: []llm.ToolCall{toolCall("a", "look", `{}`)}},
		hostile(), hostile(), // the summary of the result
		hostile(), hostile(), // the first provider
		hostile(), hostile(), // the second
	)

	cfg := b.config()
	cfg.Retry = llm.Retry{Attempts: 2, Clock: b.clock}
	cfg.Mask = func(text string) string { return strings.ReplaceAll(text, secret, "***") }

	require.NoError(t, Run(t.Context(), cfg, b.input()))
	requireNoNUL(t, b.ledger.steps)

	execution := b.ledger.state.Executions[0]
	require.Equal(t, "llm_transient", execution.ErrorCode, "what is masked is still understood")
	require.Contains(t, execution.ErrorMessage, "you sent ***")

	texts := []string{execution.ErrorMessage}
	for _, e := range b.ledger.state.Timeline {
		texts = append(texts, e.Content)
	}

	for _, c := range b.ledger.state.LLMInteractions {
		texts = append(texts, c.ErrorMessage)
	}

	b.model.Add(hostile(), hostile(), hostile(), hostile())

	in := summaryInput()
	in.Models = append(in.Models, Fallback{Provider: "second"})
	summary := Summarise(t.Context(), cfg, in)
	texts = append(texts, summary.Err.Error(), summary.Fallbacks[0].Content, summary.Interactions[0].ErrorMessage)

	for _, text := range texts {
		require.NotContains(t, text, secret)
		require.Less(t, len(text), 2*maxFailure)
	}
}

// A wait that exceeds the iteration is not a slow model: the next provider is asked immediately, and the first provider's error is
// shown.
func TestRetryWaitLongerThanIterationReturnsProviderError(t *testing.T) {
	t.Parallel()

	b := newBench(t)
	b.spec.Fallbacks = []Fallback{{Provider: "second"}}
	b.model.Add(script.Reply{Err: throttled(59 * time.Second)}, script.Reply{Err: throttled(59 * time.Second)}, script.Reply{Text: "done"})

	cfg := b.config()
	cfg.Retry = llm.Retry{Attempts: 3, MaxRetryAfter: time.Minute, Clock: b.clock}

	done := make(chan error, 1)
	go func() { done <- Run(t.Context(), cfg, b.input()) }()

	// The iteration's limit of a minute and the wait of 59 seconds, then what is left of the limit.
	require.NoError(t, b.clock.BlockUntilContext(t.Context(), 2))
	b.clock.Advance(59 * time.Second)
	require.NoError(t, b.clock.BlockUntilContext(t.Context(), 2))
	b.clock.Advance(time.Second)

	require.NoError(t, wait(t, done))
	require.Equal(t, []string{"test m-1", "test m-1", "second "}, b.calledProviders())
	require.Equal(t, "llm_quota", b.fallback().Code)
	require.Contains(t, b.events(tarsy.EventProviderFallback)[0].Content, "slow down")

	failed := b.ledger.state.LLMInteractions[0]
	require.Equal(t, "llm_quota", failed.ErrorCode)
	require.Equal(t, 2, failed.Attempts, "the attempt that was waited for was not made")
}

// An execution that is stopped while a call waits for its next attempt stops immediately, and leaves no trace of the call.
func TestRetryWaitEndsWithExecution(t *testing.T) {
	t.Parallel()

	for name, digest := range map[string]bool{"of an iteration": false, "of a summary": true} {
		for name2, soft := range map[string]bool{"yields": true, "is cancelled": false} {
			t.Run(name+" that "+name2, func(t *testing.T) {
				t.Parallel()

				b := newBench(t)
				b.spec.Fallbacks = []Fallback{{Provider: "second"}}
				finished := 0

				if digest {
					b.spec.Digests = map[string]Digest{"box": {Threshold: 1, Provider: "test"}}
					b.model.Add(script.Reply{ToolCalls: []llm.ToolCall{toolCall("a", "look", `{}`)}})
					finished = 1
				}

				b.model.Add(script.Reply{Err: throttled(time.Minute)})

				cfg := b.config()
				cfg.Retry = llm.Retry{Attempts: 3, MaxRetryAfter: time.Hour, Clock: b.clock}

				hard, stop := context.WithCancelCause(t.Context())
				if soft {
					b.yield, stop = context.WithCancelCause(t.Context())
					hard = t.Context()
				}

				done := make(chan error, 1)
				go func() { done <- Run(hard, cfg, b.input()) }()

				require.NoError(t, b.clock.BlockUntilContext(t.Context(), 2))
				stop(errKilled)
				require.ErrorIs(t, wait(t, done), errKilled)
				require.Len(t, b.ledger.state.LLMInteractions, finished)
				require.Empty(t, b.events(tarsy.EventProviderFallback))
			})
		}
	}
}

func TestTokenCountsAreClamped(t *testing.T) {
	t.Parallel()

	require.Equal(t, tarsy.Usage{}, UsageOf(llm.UsageChunk{InputTokens: -5, OutputTokens: math.MinInt, ThinkingTokens: -1, CachedTokens: -1}))

	huge := UsageOf(llm.UsageChunk{InputTokens: math.MaxInt, OutputTokens: math.MaxInt, ThinkingTokens: math.MaxInt})
	require.Equal(t, 3*maxTokens, huge.TotalTokens)
}

func TestThinkingOnlyAnswerSaysWhatToDo(t *testing.T) {
	t.Parallel()

	b := newBench(t)
	b.model.Add(script.Reply{Thinking: "hm", Stop: llm.StopMaxTokens})

	execution := b.finish()
	require.Equal(t, CodeEmptyAnswer, execution.ErrorCode)
	require.Contains(t, execution.ErrorMessage, "raise max_output_tokens")
}

// A run that opened no tools concludes, even if another day with another budget has begun in the meantime.
func TestRunWithoutToolsConcludesEvenIfBudgetReturns(t *testing.T) {
	t.Parallel()

	b := newBench(t)
	b.model.Add(script.Reply{Text: "what I know"})

	asked := 0
	in := b.input()
	in.ConcludeReason = func(context.Context) (tarsy.ForcedConclusion, string) {
		asked++
		if asked > 1 {
			return tarsy.NotForced, ""
		}

		return tarsy.ForcedBudget, "daily tokens: 5 of 5"
	}

	require.NoError(t, Run(t.Context(), b.config(), in))
	require.Equal(t, tarsy.ForcedBudget, b.ledger.state.Executions[0].ForcedConclusion)
	require.Len(t, b.model.Calls(), 1)
	require.Zero(t, b.tools.opened)
}

// The native tools of the first provider are not those of the next.
func TestNativeToolsBelongToProvider(t *testing.T) {
	t.Parallel()

	b := newBench(t)
	b.tools = nil
	b.spec.NativeTools = llm.NativeTools{GoogleSearch: true}
	b.spec.Fallbacks = []Fallback{{Provider: "second", NativeTools: llm.NativeTools{CodeExecution: true}}}
	b.model.Add(script.Reply{Err: refused()}, script.Reply{Text: "done"})
	b.finish()

	require.Equal(t, llm.NativeTools{GoogleSearch: true}, b.model.Calls()[0].Request.NativeTools)
	require.Equal(t, llm.NativeTools{CodeExecution: true}, b.model.Calls()[1].Request.NativeTools)
}
