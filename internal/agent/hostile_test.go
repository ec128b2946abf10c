package agent

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
)

func chunks(c ...llm.Chunk) script.Reply { return script.Reply{Chunks: c} }

// hostileText draws strings that a database rejects: NUL, also as a JSON escape, invalid UTF-8, half surrogates.
func hostileText(t *rapid.T) string {
	parts := rapid.SliceOfN(rapid.SampledFrom([]string{
		"\x00", `\u0000`, `\\u0000`, "\xff\xfe", `\ud800`, "a", `"`, "é", "{", "}", "__", ".", "\u2028",
	}), 0, 6).Draw(t, "text")

	return strings.Join(parts, "")
}

func TestHostileStringsAreStoredWithoutNUL(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		b := newBench(t)
		b.spec.CustomInstructions, b.spec.ServerInstructions = hostileText(t), []ServerInstructions{{Server: "box", Text: hostileText(t)}}
		b.tools.list = []Tool{{Server: "box", Name: hostileText(t), Description: hostileText(t)}}
		b.tools.unavailable = map[string]string{"gone": hostileText(t)}
		b.ledger.state.Session.AlertData = hostileText(t)

		b.tools.during = func(context.Context, Call) (Result, error) {
			if rapid.Bool().Draw(t, "broken") {
				return Result{}, errors.New(hostileText(t))
			}

			return Result{Content: hostileText(t), IsError: rapid.Bool().Draw(t, "error")}, nil
		}

		arguments := rapid.SampledFrom([]string{
			hostileText(t), `{"a":"` + hostileText(t) + `"}`, `{"k\u0000":["v\u0000",{"x":"\u0000"}]}`, `{"n":1e400}`, `"\u0000"`, `["\ud800\u0000"]`,
			strings.Repeat("[", 9990) + strings.Repeat("]", 9990),
		})
		call := llm.ToolCall{ID: hostileText(t), Name: hostileText(t), Arguments: arguments.Draw(t, "arguments")}
		b.model.Add(
			chunks(llm.ThinkingChunk{Text: hostileText(t)}, llm.TextChunk{Text: hostileText(t)},
				llm.CodeExecutionChunk{Code: hostileText(t), Result: hostileText(t)},
				llm.GroundingChunk{Kind: hostileText(t), Queries: []string{hostileText(t)}, Sources: []llm.Source{{Title: hostileText(t), URL: hostileText(t)}}},
				llm.ToolCallChunk{Call: call}, llm.ToolCallChunk{Call: call}),
			chunks(llm.TextChunk{Text: hostileText(t)}, llm.ErrorChunk{Message: hostileText(t), Code: hostileText(t)}),
		)

		b.finish() // checks every row of every step
	})
}

func TestHostileStringsAreCleanedInEveryStrategy(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		b := newBench(t)
		b.spec.Strategy = rapid.SampledFrom([]Strategy{FunctionCalling, React, Synthesis}).Draw(t, "strategy")
		b.spec.Digests = map[string]Digest{"box": {Threshold: 1}, "": {Threshold: 1}, "__": {Threshold: 1}}
		b.tools.list = []Tool{{Server: "box", Name: "look", Description: hostileText(t), Schema: json.RawMessage(`{"properties":{"` + hostileText(t) + `":{}}}`)}}
		b.ledger.state.Session.AlertData, b.ledger.state.Session.AlertType = hostileText(t), hostileText(t)
		b.task.Runbook, b.task.Earlier = hostileText(t), []StageResult{{StageName: hostileText(t), FinalAnalysis: hostileText(t)}}

		event := timelineEvent(tarsy.EventToolCall, hostileText(t), called(hostileText(t), hostileText(t), hostileText(t)))
		execution := tarsy.Execution{AgentName: hostileText(t), ErrorMessage: hostileText(t)}
		b.task.Investigations = []Investigation{{Execution: execution, Timeline: []tarsy.TimelineEvent{event}}}

		if rapid.Bool().Draw(t, "question") {
			b.task.Question = &Question{Content: hostileText(t), Executions: []tarsy.Execution{execution}, Timeline: []tarsy.TimelineEvent{event}}
		}

		b.tools.during = func(context.Context, Call) (Result, error) {
			return Result{Content: "long enough " + hostileText(t)}, nil
		}
		b.summary = rapid.SampledFrom([]script.Reply{
			chunks(llm.ThinkingChunk{Text: hostileText(t)}, llm.TextChunk{Text: hostileText(t)}),
			chunks(llm.TextChunk{Text: hostileText(t)}, llm.ErrorChunk{Message: hostileText(t)}),
		}).Draw(t, "summary")
		b.answers(
			script.Reply{Text: "Action: box.look" + hostileText(t) + "\nAction Input: " + hostileText(t), ToolCalls: []llm.ToolCall{toolCall(hostileText(t), "look", hostileText(t))}},
			script.Reply{Text: hostileText(t) + "\nFinal Answer: " + hostileText(t)},
		)
		b.finish() // checks every row of every step

		for _, m := range b.ledger.state.Messages {
			require.True(t, utf8.ValidString(m.Content))
		}
	})
}

func TestTooDeeplyNestedArgumentsAreStoredAsText(t *testing.T) {
	t.Parallel()

	deep := strings.Repeat(`{"a":[`, maxDepth) + strings.Repeat("]}", maxDepth)
	require.Equal(t, deep, argumentsOf(tarsy.ToolCall{Arguments: deep}))
	require.Equal(t, []any{map[string]any{"a": "b"}}, argumentsOf(tarsy.ToolCall{Arguments: `[{"a":"b\u0000"}]`}))
}

func TestToolNamesAreSplitForDisplay(t *testing.T) {
	t.Parallel()

	for name, want := range map[string][2]string{
		"box__look": {"box", "look"}, "box.look": {"box", "look"}, "my.box__look": {"my.box", "look"},
		"box__look__deep": {"box", "look__deep"}, "look": {"", "look"}, "": {"", ""}, "__": {"", ""},
	} {
		server, tool := splitName(name)
		require.Equal(t, want, [2]string{server, tool}, name)
	}
}

// Some gateways put whole signatures into the ids of calls, too long for an index.
func TestCallIDTooLongToStoreIsReplaced(t *testing.T) {
	t.Parallel()

	b := newBench(t)
	b.answers(
		script.Reply{ToolCalls: []llm.ToolCall{
			toolCall(strings.Repeat("a", maxCallID), "look", "{}"), toolCall(strings.Repeat("b", maxCallID+1), "look", "{}"),
		}},
		script.Reply{Text: "done"},
	)
	require.Equal(t, tarsy.StatusCompleted, b.finish().Status)

	calls := b.ledger.state.MCPInteractions
	require.Len(t, calls, 2)
	require.Equal(t, strings.Repeat("a", maxCallID), calls[0].ToolCallID)
	require.True(t, strings.HasPrefix(calls[1].ToolCallID, "call_"), calls[1].ToolCallID)
	require.Equal(t, calls[1].ToolCallID, b.ledger.state.Messages[4].ToolCallID, "the result names the call as it is stored")
}

// The events' schema requires non-negative durations.
func TestDurationsAreNeverNegativeWhenClockMovesBack(t *testing.T) {
	t.Parallel()

	b := newBench(t)
	back := func() { b.clock.Advance(-time.Hour) }
	b.tools.during = func(context.Context, Call) (Result, error) {
		back()

		return Result{Content: "a pod"}, nil
	}
	b.model.RouteFunc(func(*llm.Request) bool { return true }, func(req *llm.Request, _ int) script.Reply {
		back()

		if req.Purpose == string(tarsy.InteractionIteration) && len(req.Messages) == 2 {
			return script.Reply{ToolCalls: []llm.ToolCall{toolCall("a", "look", "{}")}}
		}

		return script.Reply{Text: "done"}
	})
	require.Equal(t, tarsy.StatusCompleted, b.finish().Status)
	require.Zero(t, b.ledger.state.MCPInteractions[0].DurationMs)
	require.Zero(t, b.called(0).DurationMs)

	for _, c := range b.ledger.state.LLMInteractions {
		require.Zero(t, c.DurationMs)
	}

	summary := Summarise(t.Context(), b.config(), summaryInput())
	require.NoError(t, summary.Err)
	require.Zero(t, summary.Interactions[0].DurationMs)
}

// An endless answer is stopped long before memory is full, whatever it consists of.
func TestEndlessAnswerIsCutOff(t *testing.T) {
	t.Parallel()

	piece := strings.Repeat("on and on ", 1<<16)

	for name, chunk := range map[string]llm.Chunk{
		"text": llm.TextChunk{Text: piece}, "thinking": llm.ThinkingChunk{Text: piece},
		"calls": llm.ToolCallChunk{Call: toolCall("", "look", piece)}, "code": llm.CodeExecutionChunk{Result: piece},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			b := newBench(t)
			taken := 0
			cfg := b.config()
			cfg.LLM = client(func(_ context.Context, _ *llm.Request, yield func(llm.Chunk, error) bool) {
				for yield(chunk, nil) {
					taken++
				}
			})

			require.NoError(t, Run(t.Context(), cfg, b.input()))
			require.Equal(t, tarsy.StatusFailed, b.ledger.state.Executions[0].Status)
			require.Equal(t, CodeLLMError, b.ledger.state.Executions[0].ErrorCode)
			require.Equal(t, maxAnswer/len(piece), taken)

			require.ErrorIs(t, Summarise(t.Context(), cfg, summaryInput()).Err, errAnswerTooLong)
		})
	}
}
