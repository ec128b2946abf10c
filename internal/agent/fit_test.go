package agent

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/agent/quote"
	"tarsy.dev/tarsy/llm/script"
)

// longInvestigation is the work of an agent that made the given number of calls with long results.
func longInvestigation(name string, calls, bytes int) Investigation {
	i := Investigation{Execution: tarsy.Execution{AgentName: name, AgentIndex: 1, Status: tarsy.StatusCompleted}}

	for n := range calls {
		result := fmt.Sprintf("%s head %d ", name, n) + strings.Repeat("x", bytes) + fmt.Sprintf(" %s tail %d", name, n)
		i.Timeline = append(i.Timeline, timelineEvent(tarsy.EventThinking, name+" thinks", nil),
			timelineEvent(tarsy.EventToolCall, result, called("k8s", "logs", map[string]any{"n": n})))
	}

	i.Timeline = append(i.Timeline, timelineEvent(tarsy.EventResponse, name+" concludes", nil), timelineEvent(tarsy.EventFinalAnalysis, name+" concludes", nil))

	return i
}

func TestShortContextIsUnchanged(t *testing.T) {
	t.Parallel()

	text, shortened := SynthesisContext("triage", []Investigation{longInvestigation("A", 2, 100), longInvestigation("B", 2, 100)}, 1_000)
	require.Zero(t, shortened)
	require.NotContains(t, text, "[cut")
	require.Equal(t, 1, strings.Count(text, "A concludes"))
}

func TestContextIsShortenedOldestFirstAndKeepsAnalyses(t *testing.T) {
	t.Parallel()

	investigations := []Investigation{longInvestigation("A", 15, 32_000), longInvestigation("B", 15, 32_000)}
	whole, _ := SynthesisContext("triage", investigations, 1_000_000)
	require.Greater(t, quote.Tokens(whole), 240_000, "what two agents with 15 calls each send without a limit")

	text, shortened := SynthesisContext("triage", investigations, 150_000)
	require.LessOrEqual(t, quote.Tokens(text), 150_000)
	require.Equal(t, 1, shortened)
	requireInOrder(t, text, "### Agent 1: A", "A head 0", "tokens left out]", "A tail 0", "A concludes", "### Agent 1: B", "B head 0 xxx")
	require.NotContains(t, text, "A thinks", "the oldest loses its thinking")
	require.Contains(t, text, "B thinks")
	require.Contains(t, text, strings.Repeat("x", 32_000)+" B tail 14", "the newest stays whole")

	text, shortened = SynthesisContext("triage", investigations, 3_000)
	require.LessOrEqual(t, quote.Tokens(text), 3_000)
	require.Equal(t, 2, shortened)
	requireInOrder(t, text, "A concludes", "[cut: 30 of 31 events left out]", "B concludes")
}

func TestLongSessionKeepsNewestQuestionsAndAnswers(t *testing.T) {
	t.Parallel()

	var q Question

	for n := range 50 {
		id := fmt.Sprintf("execution-%d", n)
		q.Executions = append(q.Executions, tarsy.Execution{ID: id, AgentName: "ChatAgent", AgentIndex: 1})

		for _, e := range []tarsy.TimelineEvent{
			timelineEvent(tarsy.EventUserQuestion, fmt.Sprintf("question %d?", n), nil), timelineEvent(tarsy.EventFinalAnalysis, fmt.Sprintf("answer %d", n), nil),
		} {
			e.ExecutionID, e.SequenceNumber = &id, int64(len(q.Timeline)+1)
			q.Timeline = append(q.Timeline, e)
		}
	}

	text, shortened := SessionContext(q, 500)
	require.LessOrEqual(t, quote.Tokens(text), 500)
	require.Positive(t, shortened)
	require.NotContains(t, text, "answer 0\n")
	require.Contains(t, text, "answer 49")
}

func TestContextNeverExceedsItsLimitAndIsDeterministic(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var investigations []Investigation

		for i := range rapid.IntRange(1, 6).Draw(t, "agents") {
			size := rapid.IntRange(0, 20_000).Draw(t, "size")
			one := longInvestigation(fmt.Sprintf("Agent%d", i), rapid.IntRange(0, 10).Draw(t, "calls"), size)
			one.Timeline = append(one.Timeline, timelineEvent(tarsy.EventError, strings.Repeat("<!-- é", rapid.IntRange(0, 2_000).Draw(t, "error")), nil))
			investigations = append(investigations, one)
		}

		tokens := rapid.IntRange(1_000, 60_000).Draw(t, "tokens")
		text, shortened := SynthesisContext("s", investigations, tokens)
		again, _ := SynthesisContext("s", investigations, tokens)
		require.Equal(t, text, again)
		require.LessOrEqual(t, quote.Tokens(text), tokens)
		require.Equal(t, strings.Count(text, "<!-- INVESTIGATION_START -->"), strings.Count(text, "<!-- INVESTIGATION_END -->"))

		more, fewer := SynthesisContext("s", investigations, 2*tokens)
		require.GreaterOrEqual(t, len(more), len(text), "more room never shows less")
		require.LessOrEqual(t, fewer, shortened)
	})
}

func TestEarlierStagesAreBoundedOldestFirst(t *testing.T) {
	t.Parallel()

	earlier := []StageResult{
		{StageName: "one", FinalAnalysis: "first" + strings.Repeat("x", 100_000) + "end of one"},
		{StageName: "two", FinalAnalysis: "second" + strings.Repeat("x", 4_000) + "end of two"},
	}

	text, shortened := StageContext(earlier, 6_000)
	require.LessOrEqual(t, quote.Tokens(text), 6_100)
	require.Equal(t, 1, shortened)
	requireInOrder(t, text, "### Stage one", "first", "tokens left out]", "end of one", "### Stage two", earlier[1].FinalAnalysis)
}

func TestSynthesisTooLongForModelIsShortenedFurtherAndRetriedOnce(t *testing.T) {
	t.Parallel()

	b := newSynthesisBench(t)
	b.task.Investigations = []Investigation{longInvestigation("A", 15, 32_000), longInvestigation("B", 15, 32_000)}
	b.model.Add(script.Reply{Err: tooLong()}, script.Reply{Text: "one analysis"})
	require.Equal(t, tarsy.StatusCompleted, b.finish().Status)
	require.Equal(t, "one analysis", b.analysis())

	calls := b.model.Calls()
	require.Len(t, calls, 2)

	first, second := calls[0].Request.Messages[1].Content, calls[1].Request.Messages[1].Content
	require.LessOrEqual(t, quote.Tokens(first), resultTokens)
	require.LessOrEqual(t, quote.Tokens(second), resultTokens/tightShare)
	require.Equal(t, second, b.ledger.state.Messages[1].Content, "who goes on after a crash sends the same")
	require.Contains(t, string(b.ledger.state.LLMInteractions[0].LLMRequest), "B head 14", "the trace shows what the refused call saw")
	require.Len(t, b.events(tarsy.EventContextShortened), 2, "people see it each time")
}

func TestSynthesisTooLongForEveryModelKeepsAgentsAnalyses(t *testing.T) {
	t.Parallel()

	b := newSynthesisBench(t)
	b.model.Add(script.Reply{Err: tooLong()}, script.Reply{Err: tooLong()})
	require.Equal(t, tarsy.StatusCompleted, b.finish().Status)
	require.Equal(t, "## Kube\n\nmemory\n\n## Logs\n\ndisk", b.analysis())

	note := b.events(tarsy.EventError)[0]
	require.Equal(t, keptAnalyses, note.Content)
	require.Equal(t, CodeContextTooLong, tarsy.MetadataAs[tarsy.ErrorMetadata](note.Metadata).Code)
}

func TestQuestionAboutLongSessionIsShortenedAndRetried(t *testing.T) {
	t.Parallel()

	b := newChatBench(t)
	b.task.Question.Timeline = append(longInvestigation("A", 15, 32_000).Timeline, b.task.Question.Timeline...)
	b.model.Add(script.Reply{Err: tooLong()}, script.Reply{Text: "because"})
	require.Equal(t, tarsy.StatusCompleted, b.finish().Status)

	calls := b.model.Calls()
	require.Len(t, calls, 2)
	require.LessOrEqual(t, quote.Tokens(calls[0].Request.Messages[1].Content), resultTokens)
	require.LessOrEqual(t, quote.Tokens(calls[1].Request.Messages[1].Content), resultTokens/tightShare)
	require.Contains(t, calls[1].Request.Messages[1].Content, b.task.Question.Content)
}

func TestAnalysisTooLongForSummaryIsShortenedAndRetried(t *testing.T) {
	t.Parallel()

	b := newBench(t)
	b.model.Add(script.Reply{Err: tooLong()}, script.Reply{Text: "in short"})

	in := summaryInput()
	in.Analysis = "head" + strings.Repeat("x", 1_000_000) + "tail"
	summary := Summarise(t.Context(), b.config(), in)
	require.NoError(t, summary.Err)
	require.Equal(t, "in short", summary.Text)
	require.Len(t, summary.Interactions, 2)

	second := b.model.Calls()[1].Request.Messages[1].Content
	require.LessOrEqual(t, quote.Tokens(second), resultTokens/tightShare+100)
	requireInOrder(t, second, "head", "tokens left out]", "tail")
}

func TestSynthesisAgentInStageSeesEarlierResults(t *testing.T) {
	t.Parallel()

	b := newSynthesisBench(t)
	b.task.Investigations = nil
	b.task.Earlier = []StageResult{{StageName: "triage", FinalAnalysis: "it is memory"}}
	b.answers(script.Reply{Text: "memory"})
	require.Equal(t, tarsy.StatusCompleted, b.finish().Status)

	messages := b.model.Calls()[0].Request.Messages
	require.Contains(t, messages[0].Content, "Earlier stages have investigated an alert.")
	requireInOrder(t, messages[1].Content, "it hurts", "### Stage triage", "it is memory", "Combine the results of the earlier stages into one analysis.")
	require.NotContains(t, messages[1].Content, "0 agents")
}

func TestAgentWithoutToolsInFirstStageInvestigates(t *testing.T) {
	t.Parallel()

	b := newSynthesisBench(t)
	b.task.Investigations = nil
	b.answers(script.Reply{Text: "memory"})
	require.Equal(t, tarsy.StatusCompleted, b.finish().Status)

	messages := b.model.Calls()[0].Request.Messages
	require.Contains(t, messages[0].Content, "Investigate an alert for the person on call")
	require.Contains(t, messages[1].Content, "Investigate this alert")
}
