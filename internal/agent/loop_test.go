package agent

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
)

func TestToolCallLoopEndsInAnalysis(t *testing.T) {
	t.Parallel()

	b := newBench(t)
	b.model.Add(
		script.Reply{
			Thinking: "let me see", Text: "I look.",
			ToolCalls: []llm.ToolCall{toolCall("a", "look", `{"pod":"x"}`), toolCall("b", "change", `not json`)},
			Usage:     &llm.UsageChunk{InputTokens: 10, OutputTokens: 4, ThinkingTokens: 3, CachedTokens: 2},
		},
		script.Reply{Text: "the root cause"},
	)

	execution := b.finish()
	require.Equal(t, tarsy.StatusCompleted, execution.Status)
	require.Equal(t, "the root cause", b.analysis())

	var roles []string

	for i, m := range b.ledger.state.Messages {
		require.Equal(t, i+1, m.SequenceNumber)

		roles = append(roles, string(m.Role))
	}

	require.Equal(t, []string{"system", "user", "assistant", "tool", "tool", "assistant"}, roles)
	require.Equal(t, firstCall+`box__look says {"pod":"x"}`, b.ledger.state.Messages[3].Content)
	require.Equal(t, "a", b.ledger.state.Messages[3].ToolCallID)
	require.Equal(t, "box__look", b.ledger.state.Messages[3].ToolName)

	calls := b.model.Calls()
	require.Len(t, calls, 2)
	require.Equal(t, "iteration", calls[0].Request.Purpose)
	require.Len(t, calls[0].Request.Tools, 3)
	require.Equal(t, "box__look", calls[0].Request.Tools[0].Name)
	require.Len(t, calls[1].Request.Messages, 5)

	interaction := b.ledger.state.LLMInteractions[0]
	require.Equal(t, tarsy.Usage{InputTokens: 10, OutputTokens: 4, ThinkingTokens: 3, CachedTokens: 2, TotalTokens: 17}, interaction.Usage)
	require.Equal(t, 2, interaction.MessageCount)
	require.Equal(t, "let me see", interaction.ThinkingContent)

	looked, changed := b.ledger.state.MCPInteractions[0], b.ledger.state.MCPInteractions[1]
	require.True(t, looked.ReadOnly)
	require.False(t, changed.ReadOnly)
	require.Equal(t, tarsy.CallCompleted, looked.Status)
	require.JSONEq(t, `{"pod":"x"}`, string(looked.ToolArguments))
	require.JSONEq(t, `"not json"`, string(changed.ToolArguments))
	require.Equal(t, []string{"box__look", "box__change", "box__broken"}, looked.AvailableTools)
	require.Equal(t, []string{looked.ID, changed.ID}, []string{b.tools.calls[0].ID, b.tools.calls[1].ID}, "the call travels under its id")

	require.JSONEq(t, `{
		"server_name": "box", "tool_name": "look", "arguments": {"pod": "x"},
		"is_error": false, "call": "1.2.1", "result_tokens": 7, "attempt": 1, "duration_ms": 0
	}`, string(b.events(tarsy.EventToolCall)[0].Metadata))
	require.Equal(t, 5, b.ledger.checks, "open tools, two LLM calls, two tool calls")
}

// The list changes during a call: a call that the model has already requested is checked and made with the old list.
func TestChangedToolListIsUsedInNextIteration(t *testing.T) {
	t.Parallel()

	b := newBench(t)
	b.spec.Approvals = Approvals{Rules: []ApprovalRule{{Server: "box", Tool: "erase", Policy: PolicyNever}}}
	look := Tool{Server: "box", Name: "look", ReadOnly: true, Schema: json.RawMessage(`{}`)}
	b.tools.list = []Tool{look, {Server: "box", Name: "change", ReadOnly: true, Schema: json.RawMessage(`{}`)}}
	b.tools.during = func(_ context.Context, call Call) (Result, error) {
		if call.Name == "box__look" {
			b.tools.list = []Tool{look, {Server: "box", Name: "added", Schema: json.RawMessage(`{}`)}, {Server: "box", Name: "erase", Schema: json.RawMessage(`{}`)}}
		}

		return Result{Content: "done", Attempts: 1}, nil
	}
	b.model.Add(
		script.Reply{ToolCalls: []llm.ToolCall{toolCall("a", "look", `{}`), toolCall("b", "change", `{}`), toolCall("c", "added", `{}`)}},
		script.Reply{ToolCalls: []llm.ToolCall{toolCall("d", "added", `{}`), toolCall("e", "change", `{}`), toolCall("f", "erase", `{}`)}},
		script.Reply{Text: "the root cause"},
	)
	require.Equal(t, tarsy.StatusCompleted, b.finish().Status)

	offered := func(n int) []string {
		var names []string
		for _, tool := range b.model.Calls()[n].Request.Tools {
			names = append(names, tool.Name)
		}

		return names
	}
	before, after := []string{"box__look", "box__change"}, []string{"box__look", "box__added"}
	require.Equal(t, before, offered(0))
	require.Equal(t, after, offered(1), "what is never called is not shown")

	var called []string
	for _, call := range b.tools.calls {
		called = append(called, call.Tool)
	}
	require.Equal(t, []string{"look", "change", "", "added", ""}, called, "a name that means no tool calls none, and what is forbidden is not called")

	for i, interaction := range b.ledger.state.MCPInteractions {
		want := before
		if i > 2 {
			want = after
		}
		require.Equal(t, want, interaction.AvailableTools, "call %d", i)
	}
}

func TestCallIsRecordedBeforeItRuns(t *testing.T) {
	t.Parallel()

	b := newBench(t)
	b.answers(script.Reply{ToolCalls: []llm.ToolCall{toolCall("a", "look", "{}"), toolCall("b", "change", "{}")}}, script.Reply{Text: "done"})

	b.tools.during = func(_ context.Context, call Call) (Result, error) {
		for _, i := range b.ledger.state.MCPInteractions {
			if i.ID == call.ID {
				require.Equal(t, tarsy.CallStarted, i.Status)

				return Result{Content: "ok"}, nil
			}
		}

		require.FailNow(t, "a call was made that nobody wrote down")

		return Result{}, nil
	}

	b.finish()
	require.Len(t, b.tools.calls, 2)
}

func TestRepeatedToolCallIDsAreMadeUnique(t *testing.T) {
	t.Parallel()

	b := newBench(t)
	b.answers(
		script.Reply{ToolCalls: []llm.ToolCall{toolCall("same", "look", "1"), toolCall("same", "look", "2"), toolCall("\x00", "look", "3")}},
		script.Reply{ToolCalls: []llm.ToolCall{toolCall("same", "look", "4")}},
		script.Reply{Text: "done"},
	)
	require.Equal(t, tarsy.StatusCompleted, b.finish().Status)

	ids, results := map[string]bool{}, map[string]string{}

	for _, m := range b.ledger.state.Messages {
		for _, c := range m.ToolCalls {
			require.NotEmpty(t, c.ID)

			ids[c.ID], results[c.ID] = true, c.Arguments
		}
	}

	require.Len(t, ids, 4)
	require.True(t, ids["same"], "the first keeps its id")

	for _, m := range b.ledger.state.Messages {
		if m.Role == tarsy.RoleTool {
			require.True(t, strings.HasSuffix(m.Content, "]\nbox__look says "+results[m.ToolCallID]), "a result went to another call")
		}
	}
}

func TestIterationLimitForcesConclusionWithoutTools(t *testing.T) {
	t.Parallel()

	b := newBench(t)
	b.spec.MaxIterations = 2
	more := script.Reply{ToolCalls: []llm.ToolCall{toolCall("", "look", "{}")}}
	// A model that still requests tools does not get any.
	b.answers(more, more, script.Reply{Text: "as far as I can tell", ToolCalls: []llm.ToolCall{toolCall("x", "change", "{}")}})
	require.Equal(t, tarsy.StatusCompleted, b.finish().Status)
	require.Equal(t, "as far as I can tell", b.analysis())
	require.JSONEq(t, `{"forced_conclusion": true, "reason": "iterations", "max_iterations": 2}`, string(b.events(tarsy.EventFinalAnalysis)[0].Metadata))

	last := b.model.Calls()[2].Request
	require.Equal(t, "forced_conclusion", last.Purpose)
	require.Empty(t, last.Tools)
	require.Equal(t, llm.RoleUser, last.Messages[len(last.Messages)-1].Role)
	require.Contains(t, last.Messages[len(last.Messages)-1].Content, "all 2 iterations")
	require.Len(t, b.tools.calls, 2)
}

func TestEmptyAnswerFailsExecution(t *testing.T) {
	t.Parallel()

	for name, reply := range map[string]script.Reply{
		"nothing":       {},
		"only thinking": {Thinking: "hm"},
		"only NUL":      {Text: "\x00"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			b := newBench(t)
			b.model.Add(reply)

			execution := b.finish()
			require.Equal(t, tarsy.StatusFailed, execution.Status)
			require.Equal(t, CodeEmptyAnswer, execution.ErrorCode)
			require.Equal(t, execution.ErrorMessage, b.events(tarsy.EventError)[0].Content)
		})
	}
}

func TestLLMErrorFailsExecutionAndKeepsPartialText(t *testing.T) {
	t.Parallel()

	b := newBench(t)
	b.model.Add(script.Reply{Text: "half of it", Err: errors.New("over\x00loaded"), AfterChunks: 1})

	execution := b.finish()
	require.Equal(t, tarsy.StatusFailed, execution.Status)
	require.Equal(t, CodeLLMError, execution.ErrorCode)
	require.Equal(t, "overloaded", execution.ErrorMessage)
	require.Equal(t, "half ", b.events(tarsy.EventResponse)[0].Content)
	require.Equal(t, tarsy.EventFailed, b.events(tarsy.EventResponse)[0].Status)
	require.Equal(t, CodeLLMError, b.ledger.state.LLMInteractions[0].ErrorCode)
	require.Len(t, b.ledger.state.Messages, 2, "half an answer is no message")
}

func TestToolFailuresAreReportedToModel(t *testing.T) {
	t.Parallel()

	b := newBench(t)
	b.answers(
		script.Reply{ToolCalls: []llm.ToolCall{toolCall("a", "look", "{}"), toolCall("b", "broken", "{}")}},
		script.Reply{Text: "done"},
	)

	b.tools.during = func(_ context.Context, call Call) (Result, error) {
		if strings.HasSuffix(call.Name, "broken") {
			return Result{}, errors.New("connection refused")
		}

		return Result{Content: "no such pod", IsError: true, Attempts: 2}, nil
	}
	require.Equal(t, tarsy.StatusCompleted, b.finish().Status)

	failed, broken := b.ledger.state.MCPInteractions[0], b.ledger.state.MCPInteractions[1]
	require.Equal(t, tarsy.CallFailed, failed.Status)
	require.Equal(t, 2, failed.Attempt, "the retry on a fresh MCP session counts")
	require.Equal(t, firstCall+"no such pod", b.ledger.state.Messages[3].Content)
	require.Equal(t, tarsy.CallUnknown, broken.Status, "a call that writes may have taken effect before the connection broke")
	require.Equal(t, "[call 1.2.2]\nThe tool could not be called: connection refused", b.ledger.state.Messages[4].Content)
	require.Equal(t, tarsy.OutcomeUnknown, b.called(1).Outcome)
}

func TestToolCallWithoutToolsIsExplained(t *testing.T) {
	t.Parallel()

	b := newBench(t)
	b.tools = nil
	b.answers(script.Reply{ToolCalls: []llm.ToolCall{toolCall("a", "look", "{}")}}, script.Reply{Text: "done"})
	require.Equal(t, tarsy.StatusCompleted, b.finish().Status)
	require.Equal(t, firstCall+"This agent has no tools.", b.ledger.state.Messages[3].Content)
}

func TestUnreachableToolsEndRunWithReason(t *testing.T) {
	t.Parallel()

	b := newBench(t)
	b.tools.openErr = errors.New("no such file")
	require.ErrorContains(t, b.run(t.Context()), "open tools: no such file")

	b.tools.openErr, b.tools.listErr = nil, errors.New("no answer")
	require.ErrorContains(t, b.run(t.Context()), "list tools: no answer")
	require.Equal(t, 1, b.tools.closed)
	require.Empty(t, b.ledger.steps)
}

func TestNoCallWhenLeaseIsTooShort(t *testing.T) {
	t.Parallel()

	// CheckLease is called before: opening tools, the first LLM call, the first tool call, the second, the second LLM call.
	for n, want := range []struct{ opened, llm, tool int }{{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {1, 1, 1}, {1, 1, 2}} {
		b := newBench(t)
		b.ledger.refuse = n + 1
		b.answers(script.Reply{ToolCalls: []llm.ToolCall{toolCall("a", "look", "{}"), toolCall("b", "change", "{}")}}, script.Reply{Text: "done"})
		require.ErrorIs(t, b.run(t.Context()), errKilled)
		require.Equal(t, want.opened, b.tools.opened)
		require.Len(t, b.model.Calls(), want.llm)
		require.Len(t, b.tools.calls, want.tool)
	}
}

func TestTimedOutIterationIsRetriedOnce(t *testing.T) {
	t.Parallel()

	hang := func() script.Reply { return script.Reply{Text: "half of it", Gate: script.NewGate(), GateAfter: 1} }

	for name, test := range map[string]struct {
		replies []script.Reply
		status  tarsy.Status
	}{
		"one, then an answer": {[]script.Reply{hang(), {Text: "done"}}, tarsy.StatusCompleted},
		"two in a row":        {[]script.Reply{hang(), hang()}, tarsy.StatusTimedOut},
		"two with one between": {
			[]script.Reply{hang(), {ToolCalls: []llm.ToolCall{toolCall("a", "look", "{}")}}, hang(), {Text: "done"}}, tarsy.StatusCompleted,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			b := newBench(t)
			b.model.Add(test.replies...)

			done := make(chan error, 1)

			go func() { done <- b.run(t.Context()) }()

			late := 0

			for _, reply := range test.replies {
				if reply.Gate != nil {
					wait(t, reply.Gate.Reached())
					b.clock.Advance(b.spec.IterationTimeout)

					late++
				}
			}

			require.NoError(t, wait(t, done))
			require.Empty(t, b.model.Unused())

			execution := b.ledger.state.Executions[0]
			require.Equal(t, test.status, execution.Status)

			if test.status == tarsy.StatusTimedOut {
				require.Equal(t, CodeIterationTimeout, execution.ErrorCode)
				require.Equal(t, "2 LLM calls in a row took longer than 1m0s", execution.ErrorMessage)
			}

			codes := 0

			for _, i := range b.ledger.state.LLMInteractions {
				if i.ErrorCode == CodeIterationTimeout {
					codes++
				}
			}

			require.Equal(t, late, codes)
			require.Equal(t, tarsy.EventTimedOut, b.events(tarsy.EventResponse)[0].Status)
			require.Equal(t, "half ", b.events(tarsy.EventResponse)[0].Content)
		})
	}
}

func TestYieldInterruptsLLMCallAndKeepsItsText(t *testing.T) {
	t.Parallel()

	why := errors.New("this server is stopping")

	for name, byYield := range map[string]bool{"by yield": true, "by cancellation": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			b := newBench(t)
			ctx, cancel := context.WithCancelCause(t.Context())
			gate := script.NewGate()
			b.model.Add(script.Reply{Thinking: "hm", Text: "half of it", Gate: gate, GateAfter: 2})

			if byYield {
				b.yield = ctx
				ctx = t.Context()
			}

			done := make(chan error, 1)

			go func() { done <- b.run(ctx) }()

			wait(t, gate.Reached())
			cancel(why)
			require.ErrorIs(t, wait(t, done), why)
			require.Equal(t, "half ", b.events(tarsy.EventResponse)[0].Content)
			require.Equal(t, "hm", b.events(tarsy.EventThinking)[0].Content)
			require.Equal(t, tarsy.EventStreaming, b.events(tarsy.EventResponse)[0].Status, "whoever goes on ends it")
			require.Empty(t, b.ledger.state.LLMInteractions, "a call that was cut off never finished")
			require.Equal(t, tarsy.StatusActive, b.ledger.state.Executions[0].Status)
			require.Equal(t, b.tools.opened, b.tools.closed)
			require.Equal(t, len(b.shown.opened), b.shown.ended)
		})
	}
}

func TestYieldLetsToolCallFinishAndStartsNoOther(t *testing.T) {
	t.Parallel()

	b := newBench(t)
	why := errors.New("this server is stopping")
	yield, stop := context.WithCancelCause(t.Context())
	b.yield = yield
	b.answers(
		script.Reply{ToolCalls: []llm.ToolCall{toolCall("a", "change", "1"), toolCall("b", "change", "2"), toolCall("c", "look", "3")}},
		script.Reply{Text: "done"},
	)

	b.tools.during = func(ctx context.Context, _ Call) (Result, error) {
		stop(why)

		return Result{Content: "changed"}, ctx.Err()
	}

	require.ErrorIs(t, b.run(t.Context()), why)
	require.Len(t, b.tools.calls, 1)
	require.Len(t, b.ledger.state.MCPInteractions, 1, "the next call was written down and not made")
	require.Equal(t, tarsy.CallCompleted, b.ledger.state.MCPInteractions[0].Status)

	b.yield, b.tools.during = t.Context(), nil
	require.Equal(t, tarsy.StatusCompleted, b.finish().Status)
	require.Len(t, b.tools.calls, 3, "each call was made once")
	require.Len(t, b.model.Calls(), 2)
}

func TestYieldDuringAnswerDoesNotRecordItsCalls(t *testing.T) {
	t.Parallel()

	b := newBench(t)
	why := errors.New("this server is stopping")
	yield, stop := context.WithCancelCause(t.Context())
	b.yield = yield
	// The answer is complete although the yield came while it streamed.
	config := b.config()
	config.LLM = client(func(_ context.Context, _ *llm.Request, send func(llm.Chunk, error) bool) {
		stop(why)
		send(llm.ToolCallChunk{Call: toolCall("a", "change", "1")}, nil)
	})
	require.ErrorIs(t, Run(t.Context(), config, b.input()), why)
	require.Len(t, b.ledger.state.LLMInteractions, 1)
	require.Empty(t, b.ledger.state.MCPInteractions)

	b.yield = t.Context()
	b.answers(script.Reply{}, script.Reply{Text: "done"})
	require.Equal(t, tarsy.StatusCompleted, b.finish().Status)
	require.Len(t, b.tools.calls, 1, "the call that was never made is made now")
	require.Len(t, b.model.Calls(), 1)
}

func TestCancelledToolCallEndsRunWithCause(t *testing.T) {
	t.Parallel()

	b := newBench(t)
	why := errors.New("somebody asked")
	ctx, cancel := context.WithCancelCause(t.Context())
	b.answers(script.Reply{ToolCalls: []llm.ToolCall{toolCall("a", "change", "1"), toolCall("b", "look", "2")}})

	b.tools.during = func(ctx context.Context, _ Call) (Result, error) {
		cancel(why)

		return Result{}, ctx.Err()
	}

	require.ErrorIs(t, b.run(ctx), why)
	require.Len(t, b.tools.calls, 1)
	require.Equal(t, tarsy.CallStarted, b.ledger.state.MCPInteractions[0].Status)
}

func TestArrivedResultIsRecordedOnCancel(t *testing.T) {
	t.Parallel()

	b := newBench(t)
	why := errors.New("somebody asked")
	ctx, cancel := context.WithCancelCause(t.Context())
	b.answers(script.Reply{ToolCalls: []llm.ToolCall{toolCall("a", "change", "1")}})

	b.tools.during = func(context.Context, Call) (Result, error) {
		cancel(why)

		return Result{Content: "changed"}, nil
	}

	require.ErrorIs(t, b.run(ctx), why)
	require.Equal(t, tarsy.CallCompleted, b.ledger.state.MCPInteractions[0].Status)
	require.Equal(t, firstCall+"changed", b.ledger.state.Messages[3].Content)
}

func TestNativeToolUseIsShown(t *testing.T) {
	t.Parallel()

	b := newBench(t)
	b.model.Add(script.Reply{Chunks: []llm.Chunk{
		llm.CodeExecutionChunk{Code: "1+1", Result: "2"},
		llm.GroundingChunk{Kind: "google_search", Queries: []string{"oom"}, Sources: []llm.Source{{Title: "a", URL: "b"}}},
		llm.GroundingChunk{Kind: "url_context", Sources: []llm.Source{{Title: "c", URL: "d"}}},
		llm.TextChunk{Text: "done"},
	}})
	b.finish()
	require.Equal(t, "2", b.events(tarsy.EventCodeExecution)[0].Content)
	require.Equal(t, "a b", b.events(tarsy.EventGoogleSearch)[0].Content)
	require.Equal(t, "c d", b.events(tarsy.EventURLContext)[0].Content)
	require.JSONEq(t, `{"code": "1+1"}`, string(b.events(tarsy.EventCodeExecution)[0].Metadata))
	require.JSONEq(t, `{"queries": ["oom"], "sources": [{"title": "a", "url": "b"}]}`, string(b.events(tarsy.EventGoogleSearch)[0].Metadata))
	require.JSONEq(t, `{"queries": [], "sources": [{"title": "c", "url": "d"}]}`, string(b.events(tarsy.EventURLContext)[0].Metadata))
}
