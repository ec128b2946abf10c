package agent

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/agent/quote"
	"tarsy.dev/tarsy/internal/agent/react"
	"tarsy.dev/tarsy/internal/progress"
	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
)

// citations returns the marks in an analysis's metadata: calls that exist, then, with a question mark, others. Every citation must name
// the event of its call.
func (b *bench) citations(analysis tarsy.TimelineEvent) []string {
	var marks []string

	metadata := tarsy.MetadataAs[tarsy.FinalAnalysisMetadata](analysis.Metadata)
	for _, citation := range metadata.Citations {
		events := b.task.EarlierCalls
		for _, e := range b.events(tarsy.EventToolCall) {
			events = append(events, tarsy.Citation{Call: CallOf(e), EventID: e.ID})
		}

		require.Contains(b.t, events, citation)

		marks = append(marks, citation.Call)
	}

	for _, call := range metadata.UnknownCitations {
		marks = append(marks, "?"+call)
	}

	return marks
}

func TestCallsAreNumberedInRecordingOrder(t *testing.T) {
	t.Parallel()

	for _, strategy := range []Strategy{FunctionCalling, React} {
		t.Run(string(strategy), func(t *testing.T) {
			t.Parallel()

			b := newBench(t)
			b.spec.Strategy = strategy
			b.ledger.state.Stages[0].StageIndex, b.ledger.state.Executions[0].AgentIndex = 3, 2

			if strategy == React {
				b.answers(script.Reply{Text: "Action: box.look\nAction Input: {}"}, script.Reply{Text: "Action: box.broken\nAction Input: {}"},
					script.Reply{Text: "Final Answer: done"})
			} else {
				b.answers(script.Reply{ToolCalls: []llm.ToolCall{toolCall("a", "look", "{}"), toolCall("b", "broken", "{}")}}, script.Reply{Text: "done"})
			}

			// A number is there from the beginning and does not change.
			var created []string

			b.ledger.after = func(step progress.Step) {
				for _, e := range step.Timeline {
					if e.EventType == tarsy.EventToolCall {
						created = append(created, string(e.Status)+" "+CallOf(e))
					}
				}
			}
			b.finish()

			require.ElementsMatch(t, []string{"streaming 3.2.1", "completed 3.2.1", "streaming 3.2.2", "completed 3.2.2"}, created)

			var said []string

			for _, m := range b.model.Calls()[len(b.model.Calls())-1].Request.Messages {
				if line, _, ok := strings.Cut(m.Content, "]\n"); ok && m.Role != llm.RoleSystem {
					said = append(said, strings.TrimPrefix(line, react.Observation))
				}
			}

			require.Equal(t, []string{"[call 3.2.1", "[call 3.2.2"}, said, "each result begins with its number")
		})
	}
}

func TestResultKeepsItsNumberWhenShortened(t *testing.T) {
	t.Parallel()

	long := strings.Repeat("word ", 10_000)

	for name, change := range map[string]func(b *bench){
		"as it is":       func(b *bench) { b.spec.MaxResultTokens = 50_000 },
		"cut":            func(b *bench) { b.spec.MaxResultTokens = 100 },
		"cut to nothing": func(b *bench) { b.spec.MaxResultTokens = 1 },
		"summarised":     func(b *bench) { b.spec.Digests = map[string]Digest{"box": {Threshold: 10, MaxTokens: 10}} },
		"not summarised": func(b *bench) {
			b.spec.Digests, b.summary = map[string]Digest{"box": {Threshold: 10, MaxTokens: 10}}, script.Reply{}
		},
		"summary is cut": func(b *bench) {
			b.spec.Digests, b.spec.MaxResultTokens = map[string]Digest{"box": {Threshold: 10, MaxTokens: 10}}, 1
		},
		"kept, then given": func(b *bench) { b.spec.Digests = map[string]Digest{"box": {Threshold: 1_000_000}} },
	} {
		for _, strategy := range []Strategy{FunctionCalling, React} {
			t.Run(name+" "+string(strategy), func(t *testing.T) {
				t.Parallel()

				b := newBench(t)
				b.spec.Strategy, b.summary = strategy, script.Reply{Text: "in short"}
				change(b)

				b.tools.during = func(context.Context, Call) (Result, error) { return Result{Content: long}, nil }
				if strategy == React {
					b.answers(script.Reply{Text: "Action: box.look\nAction Input: {}"}, script.Reply{Text: "Final Answer: done"})
				} else {
					b.answers(script.Reply{ToolCalls: []llm.ToolCall{toolCall("a", "look", "{}")}}, script.Reply{Text: "done"})
				}

				b.finish()

				calls := b.model.Calls()
				given := calls[len(calls)-1].Request.Messages[3].Content
				require.True(t, strings.HasPrefix(strings.TrimPrefix(given, react.Observation), firstCall), "%.60q", given)
				require.Equal(t, 1, strings.Count(given, "[call 1.2.1]"))
				require.Equal(t, quote.Tokens(long), b.called(0).ResultTokens, "of the result as the tool gave it")

				for _, s := range b.summarising() {
					require.NotContains(t, s.Messages[1].Content, "[call 1.2.1]", "a summary is made of what the tool said")
				}

				require.NotContains(t, b.ledger.state.MCPInteractions[0].ToolResult, "[call", "the trace keeps what the tool said")
				require.NotContains(t, b.events(tarsy.EventToolCall)[0].Content, "[call")
			})
		}
	}
}

func TestAnalysisReportsWhichCitationsNameCalls(t *testing.T) {
	t.Parallel()

	earlier := []tarsy.Citation{{Call: "1.1.1", EventID: "earlier-1"}, {Call: "1.1.2", EventID: "earlier-2"}}

	for name, c := range map[string]struct {
		analysis string
		want     []string
	}{
		"its own":                {"full [call 2.1.1]", []string{"2.1.1"}},
		"an earlier stage's":     {"full [calls 1.1.2 and 2.1.2]", []string{"1.1.2", "2.1.2"}},
		"none":                   {"full", nil},
		"one that is not there":  {"full [call 2.1.3] [call 2.1.1]", []string{"2.1.1", "?2.1.3"}},
		"another agent's":        {"full [call 2.2.1]", []string{"?2.2.1"}},
		"a later stage's":        {"full [call 3.1.1]", []string{"?3.1.1"}},
		"quoted":                 {"```\n[call 2.1.1]\n```", nil},
		"a number of no meaning": {"full [call 99999.99999.99999]", []string{"?99999.99999.99999"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			b := newBench(t)
			b.task.EarlierCalls = earlier
			b.ledger.state.Stages[0].StageIndex, b.ledger.state.Executions[0].AgentIndex = 2, 1
			b.answers(script.Reply{ToolCalls: []llm.ToolCall{toolCall("a", "look", "{}"), toolCall("b", "look", "{}")}}, script.Reply{Text: c.analysis})
			b.finish()

			analysis := b.events(tarsy.EventFinalAnalysis)[0]
			require.Equal(t, c.want, b.citations(analysis))

			if c.want == nil {
				require.Empty(t, analysis.Metadata, "nothing is said of marks where there are none")
			}
		})
	}
}

func TestCallWithoutNumberIsNotCited(t *testing.T) {
	t.Parallel()

	b := newBench(t)
	b.answers(script.Reply{ToolCalls: []llm.ToolCall{toolCall("a", "look", "{}")}}, script.Reply{Text: "done [call 1.2.1]"})

	// The server that recorded the call did not use numbers.
	b.ledger.after = func(step progress.Step) {
		for _, e := range step.Timeline {
			if e.EventType == tarsy.EventToolCall {
				b.ledger.left = 0
			}
		}
	}
	require.ErrorIs(t, b.run(t.Context()), errKilled)

	b.ledger.left, b.ledger.after = -1, nil
	for i, e := range b.ledger.state.Timeline {
		if e.EventType == tarsy.EventToolCall {
			b.ledger.state.Timeline[i].Metadata = tarsy.Metadata(`{"server_name":"box","tool_name":"look","arguments":{},"newer":[1]}`)
		}
	}

	b.finish()
	require.Equal(t, `box__look says {}`, b.ledger.state.Messages[3].Content)
	require.Equal(t, []string{"?1.2.1"}, b.citations(b.events(tarsy.EventFinalAnalysis)[0]))
	require.JSONEq(t, `{
		"server_name": "box", "tool_name": "look", "arguments": {}, "newer": [1],
		"is_error": false, "attempt": 2, "duration_ms": 0, "result_tokens": 5
	}`, string(b.events(tarsy.EventToolCall)[0].Metadata), "no number is made up, and what another release wrote stays")
}

func TestEveryAgentIsAskedToCiteExceptSummary(t *testing.T) {
	t.Parallel()

	question := sessionOf()

	for name, change := range map[string]func(b *bench){
		"investigation": func(*bench) {},
		"react":         func(b *bench) { b.spec.Strategy = React },
		"synthesis":     func(b *bench) { b.spec.Strategy = Synthesis },
		"chat":          func(b *bench) { b.task.Question = &question },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			b := newBench(t)
			b.answers(script.Reply{Text: "Final Answer: done"})
			change(b)
			b.finish()
			require.Contains(t, b.model.Calls()[0].Request.Messages[0].Content, citeInstructions)
		})
	}

	b := newBench(t)
	b.answers(script.Reply{Text: "in short"})
	Summarise(t.Context(), b.config(), ClosingInput{Analysis: "full [call 1.1.1]", Models: []Fallback{{Provider: "test"}}, Limit: b.spec.IterationTimeout})
	require.Contains(t, b.model.Calls()[0].Request.Messages[0].Content, "Leave out marks")
}

func TestEarlierCallsAreListedByNumber(t *testing.T) {
	t.Parallel()

	stage, execution := "stage", "execution"
	call := tarsy.TimelineEvent{
		ID: "call", StageID: &stage, ExecutionID: &execution, SequenceNumber: 1, EventType: tarsy.EventToolCall, Status: tarsy.EventCompleted, Content: "three pods",
		Metadata: tarsy.Metadata(`{"call": "1.2.3", "server_name": "box", "tool_name": "look", "arguments": {"a": 1}}`),
	}
	want := "**Tool call:** [call 1.2.3] box.look {\"a\":1}\n\nResult:\n\nthree pods"

	synthesis, _ := SynthesisContext("s", []Investigation{{Timeline: []tarsy.TimelineEvent{call}}}, resultTokens)
	require.Contains(t, synthesis, want)
	session, _ := SessionContext(Question{Timeline: []tarsy.TimelineEvent{call}}, resultTokens)
	require.Contains(t, session, want)
}
