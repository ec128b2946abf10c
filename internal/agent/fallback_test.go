package agent

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/calendar"
	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
)

func refused() error {
	return &llm.Error{Class: llm.ClassAuth, Status: http.StatusUnauthorized, Message: "invalid x-api-key"}
}

// calledProviders returns the providers of the calls that were made, in order.
func (b *bench) calledProviders() []string {
	var providers []string
	for _, c := range b.model.Calls() {
		providers = append(providers, c.Request.Provider+" "+c.Request.Model)
	}

	return providers
}

func TestNextProviderTakesOverOnFailure(t *testing.T) {
	t.Parallel()

	b := newBench(t)
	b.spec.Fallbacks = []Fallback{{Provider: "second", Model: "m-2", Backend: "langchain"}, {Provider: "third", Model: "m-3"}}
	b.spec.Digests = map[string]Digest{"box": {Threshold: 10_000, Provider: "test"}, "other": {Provider: "small", Model: "s"}}
	b.model.Add(
		script.Reply{ToolCalls: []llm.ToolCall{toolCall("a", "look", `{}`)}},
		script.Reply{Text: "half an ans", Err: refused(), AfterChunks: 2},
		script.Reply{Text: "the root cause"},
	)

	execution := b.finish()
	require.Equal(t, tarsy.StatusCompleted, execution.Status)
	require.Equal(t, "second", execution.LLMProvider)
	require.Equal(t, "the root cause", b.analysis())
	require.Equal(t, []string{"test m-1", "test m-1", "second m-2"}, b.calledProviders())

	events := b.events(tarsy.EventProviderFallback)
	require.Len(t, events, 1)
	require.Equal(t, "test failed; second takes over. invalid x-api-key (HTTP 401): check the provider's API key, and that it may use this model", events[0].Content)
	require.JSONEq(t, `{"from": "test", "to": "second", "code": "llm_auth"}`, string(events[0].Metadata))

	failed := b.ledger.state.LLMInteractions[1]
	require.Equal(t, "test", failed.Provider)
	require.Equal(t, "llm_auth", failed.ErrorCode)
	require.Equal(t, "second", b.ledger.state.LLMInteractions[2].Provider)

	// The visible part of the broken answer is kept, as failed.
	responses := b.events(tarsy.EventResponse)
	require.Equal(t, tarsy.EventFailed, responses[0].Status)
	require.Equal(t, "half an ", responses[0].Content)
}

func TestExecutionFailsWhenEveryProviderFailed(t *testing.T) {
	t.Parallel()

	b := newBench(t)
	b.spec.Fallbacks = []Fallback{{Provider: "second"}}
	b.model.Add(script.Reply{Err: refused()}, script.Reply{Err: &llm.Error{Class: llm.ClassSafety, Message: "blocked"}})

	execution := b.finish()
	require.Equal(t, tarsy.StatusFailed, execution.Status)
	require.Equal(t, "llm_safety", execution.ErrorCode)
	require.Contains(t, execution.ErrorMessage, "blocked: the provider withheld the answer")
}

func TestSilentProviderIsAbandoned(t *testing.T) {
	t.Parallel()

	b := newBench(t)
	b.spec.MaxIterations = 1
	b.spec.Fallbacks = []Fallback{{Provider: "second"}}
	b.model.Add(script.Reply{Thinking: "Hm."}, script.Reply{Text: "done"})

	execution := b.finish()
	require.Equal(t, tarsy.StatusCompleted, execution.Status)
	require.Equal(t, tarsy.NotForced, execution.ForcedConclusion, "what failed is no iteration")
	require.Equal(t, "second", execution.LLMProvider)
	require.Equal(t, "empty_answer", b.fallback().Code)
	require.Equal(t, "empty_answer", b.ledger.state.LLMInteractions[0].ErrorCode)
}

// A server that takes over uses the last provider that was asked; earlier ones are not tried again.
func TestResumedExecutionKeepsItsProvider(t *testing.T) {
	t.Parallel()

	b := newBench(t)
	b.spec.Fallbacks = []Fallback{{Provider: "second"}, {Provider: "third"}}
	b.ledger.state.Executions[0].LLMProvider = "second"
	b.model.Add(script.Reply{Err: refused()}, script.Reply{Text: "done"})

	require.Equal(t, "third", b.finish().LLMProvider)
	require.Equal(t, []string{"second ", "third "}, b.calledProviders())
}

func TestProviderThatIsSlowTwiceIsAbandoned(t *testing.T) {
	t.Parallel()

	b := newBench(t)
	b.spec.Fallbacks = []Fallback{{Provider: "second"}}

	slow := script.NewGate()
	slower := script.NewGate()
	b.model.Add(script.Reply{Gate: slow}, script.Reply{Gate: slower}, script.Reply{Text: "done"})

	done := make(chan error, 1)
	go func() { done <- b.run(t.Context()) }()

	for _, gate := range []*script.Gate{slow, slower} {
		wait(t, gate.Reached())
		b.clock.Advance(b.spec.IterationTimeout)
	}

	require.NoError(t, wait(t, done))
	require.Equal(t, "done", b.analysis())
	require.Equal(t, "iteration_timeout", b.fallback().Code)
}

func TestCallIsRetriedBeforeFallback(t *testing.T) {
	t.Parallel()

	overloaded := &llm.Error{Class: llm.ClassTransient, Status: 529, Message: "overloaded", Retryable: true}

	for name, test := range map[string]struct {
		replies  []script.Reply
		asked    []string
		attempts []int
	}{
		"an answer at the third attempt": {
			[]script.Reply{{Err: overloaded}, {Err: overloaded}, {Text: "done"}}, []string{"test m-1", "test m-1", "test m-1"}, []int{3},
		},
		"none at all": {
			[]script.Reply{{Err: overloaded}, {Err: overloaded}, {Err: overloaded}, {Text: "done"}},
			[]string{"test m-1", "test m-1", "test m-1", "second "}, []int{3, 1},
		},
		"an error that stays": {[]script.Reply{{Err: refused()}, {Text: "done"}}, []string{"test m-1", "second "}, []int{1, 1}},
		"an answer that broke off": {
			[]script.Reply{{Text: "a b", Err: overloaded, AfterChunks: 1}, {Text: "done"}}, []string{"test m-1", "second "}, []int{1, 1},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			b := newBench(t)
			b.spec.Fallbacks = []Fallback{{Provider: "second"}}
			b.model.Add(test.replies...)

			cfg := b.config()
			cfg.Retry = llm.Retry{Attempts: 3, Clock: b.clock}

			require.NoError(t, Run(t.Context(), cfg, b.input()))
			require.Equal(t, "done", b.analysis())
			require.Equal(t, test.asked, b.calledProviders())

			var attempts []int
			for _, c := range b.ledger.state.LLMInteractions {
				attempts = append(attempts, c.Attempts)
			}

			require.Equal(t, test.attempts, attempts)
		})
	}
}

func TestSummaryFallsBackToNextProvider(t *testing.T) {
	t.Parallel()

	b := newBench(t)
	b.model.Add(script.Reply{Err: refused()}, script.Reply{Text: "in short"})

	in := summaryInput()
	in.Models = append(in.Models, Fallback{Provider: "second", Model: "m-2"}, Fallback{Provider: "third"})

	summary := Summarise(t.Context(), b.config(), in)
	require.NoError(t, summary.Err)
	require.Equal(t, "in short", summary.Text)
	require.Len(t, summary.Interactions, 2)
	require.Equal(t, "llm_auth", summary.Interactions[0].ErrorCode)
	require.Equal(t, "second", summary.Interactions[1].Provider)
	require.Len(t, summary.Fallbacks, 1)
	require.Equal(t, "second", tarsy.MetadataAs[tarsy.ProviderFallbackMetadata](summary.Fallbacks[0].Metadata).To)
}

func TestResultSummariesFollowExecutionProvider(t *testing.T) {
	t.Parallel()

	spec := Spec{
		Provider: "first", Fallbacks: []Fallback{{Provider: "second", Model: "m-2"}},
		Digests: map[string]Digest{"own": {Provider: "first"}, "special": {Provider: "small"}},
	}

	now := spec.using("second")
	require.Equal(t, map[string]Digest{"own": {Provider: "second", Model: "m-2"}, "special": {Provider: "small"}}, now.Digests)
	require.Equal(t, "first", spec.Digests["own"].Provider, "the recipe is shared and stays as it is")
	require.Empty(t, now.Fallbacks)
	require.Equal(t, spec, spec.using("gone"), "a provider that is no longer configured")
}

func TestCallRecordsItsCost(t *testing.T) {
	t.Parallel()

	b := newBench(t)
	b.model.Add(script.Reply{Text: "done", Usage: &llm.UsageChunk{InputTokens: 10}, Stop: llm.StopMaxTokens})

	cfg := b.config()
	cfg.Price = func(model string, at time.Time, used tarsy.Usage) tarsy.Usage {
		require.Equal(t, calendar.Time(b.clock.Now()), at)
		require.Equal(t, "m-1", model)

		used.CostUSD = 0.5 * float64(used.TotalTokens)

		return used
	}

	require.NoError(t, Run(t.Context(), cfg, b.input()))
	require.InDelta(t, 5.0, b.ledger.state.LLMInteractions[0].Usage.CostUSD, 1e-9)
	require.Equal(t, "max_tokens", b.ledger.state.LLMInteractions[0].StopReason)
	require.JSONEq(t, `{"cut_off": true}`, string(b.events(tarsy.EventFinalAnalysis)[0].Metadata))
}

func TestExhaustedBudgetEndsInvestigation(t *testing.T) {
	t.Parallel()

	b := newBench(t)
	b.model.Add(
		script.Reply{ToolCalls: []llm.ToolCall{toolCall("a", "look", `{}`), toolCall("b", "look", `{"n":2}`)}},
		script.Reply{Text: "what I know"},
	)

	in := b.input()
	in.ConcludeReason = func(context.Context) (tarsy.ForcedConclusion, string) {
		if len(b.tools.calls) == 0 {
			return tarsy.NotForced, ""
		}

		return tarsy.ForcedBudget, "session tool calls: 1 of 1"
	}

	require.NoError(t, Run(t.Context(), b.config(), in))

	execution := b.ledger.state.Executions[0]
	require.Equal(t, tarsy.StatusCompleted, execution.Status)
	require.Equal(t, tarsy.ForcedBudget, execution.ForcedConclusion)
	require.Len(t, b.tools.calls, 1)
	require.Equal(t, tarsy.ForcedBudget, tarsy.MetadataAs[tarsy.FinalAnalysisMetadata](b.events(tarsy.EventFinalAnalysis)[0].Metadata).Reason)

	last := b.model.Calls()[1].Request
	require.Empty(t, last.Tools)
	require.Equal(t, notMade, last.Messages[len(last.Messages)-2].Content)
	require.Contains(t, last.Messages[len(last.Messages)-1].Content, "The budget is spent (session tool calls: 1 of 1), and tools are no longer available")
}

// A signature is returned byte for byte, whatever it contains: NUL, half a surrogate, numbers that no database accepts.
func TestSignatureIsReturnedWithItsMessage(t *testing.T) {
	t.Parallel()

	for data, kept := range map[string]bool{
		`"c2ln"`: true, `"a\u0000b"`: true, `{"z":"\ud800","a":1e400000, "a":[ ]}`: true, "no JSON": false, "\"\xff\"": false, "": false,
	} {
		t.Run(data, func(t *testing.T) {
			t.Parallel()

			b := newBench(t)
			signature := &llm.Signature{By: "script", Data: json.RawMessage(data)}
			b.model.Add(
				chunks(llm.ToolCallChunk{Call: toolCall("a", "look", `{}`)}, llm.EndChunk{Reason: llm.StopToolCalls, Signature: signature}),
				script.Reply{Text: "done"},
			)
			b.finish()

			message := b.model.Calls()[1].Request.Messages[2]
			if kept {
				require.Equal(t, data, string(message.SignatureBy("script")))
				require.Nil(t, message.SignatureBy("another"))
			} else {
				require.Nil(t, message.Signature)
			}
		})
	}
}

func TestTextProtocolStopsBeforeObservation(t *testing.T) {
	t.Parallel()

	b := newBench(t)
	b.spec.Strategy = React
	b.model.Add(script.Reply{Text: "Thought: fine\nFinal Answer: done"})
	b.finish()
	require.Equal(t, []string{"\nObservation:"}, b.model.Calls()[0].Request.Stop)
}

func TestErrorCodes(t *testing.T) {
	t.Parallel()

	require.Equal(t, "llm_error", codeOf(errors.New("boom")))
	require.Equal(t, "llm_context_too_long", codeOf(&llm.Error{Class: llm.ClassContextTooLong}))
	require.Equal(t, "llm_transient", codeOf(llm.ErrorChunk{Message: "m", Retryable: true}))
	require.Equal(t, "iteration_timeout", codeOf(errIterationTimeout))
}
