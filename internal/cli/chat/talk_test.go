package chat

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
)

func TestAnswerIsProducedAsItIsWritten(t *testing.T) {
	t.Parallel()

	k := newTalk(t)
	k.ask("why?")
	k.status(tarsy.StatusActive)
	k.begin("thought", tarsy.EventThinking, tarsy.EventCompleted, "Hm.", nil)
	k.begin("first", tarsy.EventResponse, tarsy.EventStreaming, "", nil)
	k.chunk("first", "I look.\n\nAt the", 0, 1)
	k.expect("1: I look.\n\n")
	k.complete("first", "I look.\n\nAt the pods.")
	k.expect("1: At the pods.")

	k.begin("call", tarsy.EventToolCall, tarsy.EventStreaming, "", tarsy.NewMetadata(tarsy.ToolCallMetadata{ServerName: "k8s", ToolName: "pods"}))
	k.expect("→ k8s.pods ")
	k.complete("call", "two pods")
	k.expect("→ k8s.pods ok")

	k.begin("fallback", tarsy.EventProviderFallback, tarsy.EventCompleted, "Another\nmodel answers.", nil)
	k.expect("! Another model answers.")

	// The response becomes the analysis and is not produced again.
	k.begin("second", tarsy.EventResponse, tarsy.EventStreaming, "", nil)
	k.chunk("second", "It leaks", 0, 1)
	k.complete("second", "It leaks.")
	k.expect("4: It leaks.")
	k.begin("analysis", tarsy.EventFinalAnalysis, tarsy.EventCompleted, "It leaks.", tarsy.NewMetadata(tarsy.FinalAnalysisMetadata{
		ForcedConclusion: true, Reason: tarsy.ForcedDeadline,
	}))
	k.expect("! forced to conclude: almost out of time")

	other := "earlier"
	k.keep(tarsy.TimelineEvent{ID: "other", StageID: &other, EventType: tarsy.EventFinalAnalysis, Status: tarsy.EventCompleted, Content: "Another answer."})
	k.status(tarsy.StatusCompleted)
	k.expect("completed: It leaks.")
}

// Models without function calling write a thought, an action or an answer as one text; only the answer is produced.
func TestTextProtocolIsProducedWithoutItsThoughts(t *testing.T) {
	t.Parallel()

	k := newTalk(t)
	k.ask("why?")
	k.status(tarsy.StatusActive)

	k.begin("first", tarsy.EventResponse, tarsy.EventStreaming, "", nil)
	k.chunk("first", "Thought: I need the pods, and then some more of them.\n\nAction: k8s", 0, 1)
	k.complete("first", "Thought: I need the pods, and then some more of them.\n\nAction: k8s.pods\nAction Input: {}")
	k.begin("call", tarsy.EventToolCall, tarsy.EventCompleted, "two", tarsy.NewMetadata(tarsy.ToolCallMetadata{ServerName: "k8s", ToolName: "pods"}))
	k.expect("→ k8s.pods ok")

	k.begin("second", tarsy.EventResponse, tarsy.EventStreaming, "", nil)
	k.chunk("second", "Thought: Now I know.\n\nFinal Answer: It leaks.\n\nRe", 0, 1)
	k.complete("second", "Thought: Now I know.\n\nFinal Answer: It leaks.\n\nRestart it.")
	k.begin("analysis", tarsy.EventFinalAnalysis, tarsy.EventCompleted, "It leaks.\n\nRestart it.", nil)
	k.expect("4: It leaks.\n\n", "4: Restart it.")
	k.status(tarsy.StatusCompleted)
	k.expect("completed: It leaks.\n\nRestart it.")
}

// An answer that only looks like the text protocol is shown as it is.
func TestAnswerThatBeginsLikeTextProtocolIsProducedWhole(t *testing.T) {
	t.Parallel()

	k := newTalk(t)
	k.ask("why?")
	k.status(tarsy.StatusActive)
	k.begin("first", tarsy.EventResponse, tarsy.EventStreaming, "", nil)
	k.chunk("first", "Act", 0, 1)
	k.chunk("first", "ion: restart it.\n\nThen", 3, 1)
	k.complete("first", "Action: restart it.\n\nThen wait.")
	k.begin("analysis", tarsy.EventFinalAnalysis, tarsy.EventCompleted, "Action: restart it.\n\nThen wait.", nil)
	k.expect("1: Action: restart it.\n\n", "1: Then wait.")
	k.status(tarsy.StatusCompleted)
	k.expect("completed: Action: restart it.\n\nThen wait.")
}

// A reader that was disconnected for a long time gets the session instead of the events, and continues where it was.
func TestAnswerContinuesWhenJournalWasTrimmedInItsMiddle(t *testing.T) {
	t.Parallel()

	k := newTalk(t)
	k.ask("why?")
	k.status(tarsy.StatusActive)
	k.begin("first", tarsy.EventResponse, tarsy.EventStreaming, "", nil)
	k.chunk("first", "One.\n\nTw", 0, 1)
	k.expect("1: One.\n\n")

	// The text so far is stored; the rest arrives with the completed event.
	k.mu.Lock()
	k.timeline[0].Content = "One.\n\nTwo"
	k.mu.Unlock()
	k.overflow()
	k.chunk("first", "hree", 20, 1)
	k.complete("first", "One.\n\nTwo.\n\nThree.")
	k.expect("1: Two.\n\n", "1: Three.")

	// Everything else happens while the client is disconnected.
	k.keep(tarsy.TimelineEvent{
		ID: "analysis", SessionID: sessionID, StageID: k.timeline[0].StageID, ExecutionID: k.timeline[0].ExecutionID, EventType: tarsy.EventFinalAnalysis,
		Status: tarsy.EventCompleted, Content: "One.\n\nTwo.\n\nThree.", CreatedAt: time.Now(), CompletedAt: k.timeline[0].CompletedAt,
	})
	k.mu.Lock()
	k.stage.Status = tarsy.StatusCompleted
	k.mu.Unlock()
	k.overflow()
	k.expect("completed: One.\n\nTwo.\n\nThree.")
}

func TestUnfinishedTextIsProducedWhenAnswerEnds(t *testing.T) {
	t.Parallel()

	k := newTalk(t)
	k.ask("why?")
	k.status(tarsy.StatusActive)
	k.begin("first", tarsy.EventResponse, tarsy.EventStreaming, "", nil)
	k.chunk("first", "One.\n\nTw", 0, 1)
	k.expect("1: One.\n\n")
	k.status(tarsy.StatusFailed)
	k.expect("1: Tw", "failed: ")
}

func TestTextWithGapIsProducedUpToGapUntilItIsComplete(t *testing.T) {
	t.Parallel()

	k := newTalk(t)
	k.ask("why?")
	k.status(tarsy.StatusActive)
	k.begin("first", tarsy.EventResponse, tarsy.EventStreaming, "", nil)
	k.chunk("first", "One.\n\nTw", 0, 1)
	k.chunk("first", "ee.\n\nFour.\n\n", 20, 1)
	k.complete("first", "One.\n\nTwo. Three.\n\nFour.\n\n")
	k.expect("1: One.\n\n", "1: Two. Three.\n\nFour.\n\n")
	k.status(tarsy.StatusCompleted)
	k.expect("completed: ")
}

func TestLostConnectionIsReportedAndAnswerContinues(t *testing.T) {
	t.Parallel()

	k := newTalk(t)
	k.ask("why?")
	k.status(tarsy.StatusActive)
	k.begin("first", tarsy.EventResponse, tarsy.EventCompleted, "One.", nil)
	k.expect("1: One.")

	k.drop()
	k.expect("! Connection lost; reconnecting…", "! Reconnected.")
	k.status(tarsy.StatusCompleted)
	k.expect("completed: ")
}

// A connection that fails at first is retried, even after the question was accepted.
func TestFailedFirstConnectionIsRetried(t *testing.T) {
	t.Parallel()

	k := newTalk(t)
	k.aborted.Store(2)
	k.ask("why?")
	k.status(tarsy.StatusActive)
	k.status(tarsy.StatusCompleted)
	k.expect("completed: ")
}

func TestRefusedQuestionsAreReportedAndNextIsAnswered(t *testing.T) {
	t.Parallel()

	k := newTalk(t)
	k.busy.Store(http.StatusConflict)
	k.ask("why?")
	k.expect("refused: explained: another question is being answered")
	k.busy.Store(0)

	// The server accepts the question and refuses it later.
	k.ask("why?")
	k.begin("refusal", tarsy.EventError, tarsy.EventCompleted, "It cannot be stored.", tarsy.NewMetadata(tarsy.ErrorMetadata{
		Code: tarsy.ErrorQuestionRefused, MessageID: "of another",
	}))
	k.begin("own", tarsy.EventError, tarsy.EventCompleted, "It cannot be stored either.", tarsy.NewMetadata(tarsy.ErrorMetadata{
		Code: tarsy.ErrorQuestionRefused, MessageID: messageID,
	}))
	k.expect("refused: It cannot be stored either.")

	k.ask("why?")
	k.status(tarsy.StatusActive)
	k.status(tarsy.StatusCompleted)
	k.expect("completed: ")
}

func TestCancelConcernsOnlyQuestionWithItsNumber(t *testing.T) {
	t.Parallel()

	k := newTalk(t)

	// The question is cancelled as soon as it is accepted.
	k.send("first")
	k.chat.Cancel(t.Context(), 1)
	require.Empty(t, k.cancelled)
	k.accept <- struct{}{}
	receive(k, k.cancelled)
	k.status(tarsy.StatusActive)
	k.status(tarsy.StatusCancelled)
	k.expect("cancelled: ")

	// The first question has ended, so there is nothing to cancel, and the second is not affected.
	k.chat.Cancel(t.Context(), 1)
	require.Empty(t, k.cancelled)
	k.ask("second")
	k.status(tarsy.StatusActive)
	k.begin("text", tarsy.EventResponse, tarsy.EventCompleted, "One.", nil)
	k.expect("1: One.")
	k.chat.Cancel(t.Context(), 1)
	require.Empty(t, k.cancelled)
	k.chat.Cancel(t.Context(), 2)
	receive(k, k.cancelled)
	k.status(tarsy.StatusCancelled)
	k.expect("cancelled: ")
	k.chat.Cancel(t.Context(), 2)
	require.Empty(t, k.cancelled)
}

func TestFailedCancelIsReportedUnlessAnswerHasEnded(t *testing.T) {
	t.Parallel()

	k := newTalk(t)
	k.ask("why?")
	k.status(tarsy.StatusActive)
	k.begin("text", tarsy.EventResponse, tarsy.EventCompleted, "One.", nil)
	k.expect("1: One.")

	k.refused.Store(http.StatusConflict)
	k.chat.Cancel(t.Context(), 1)
	k.refused.Store(http.StatusForbidden)
	k.chat.Cancel(t.Context(), 1)
	k.expect("! The answer was not cancelled: explained: it is impossible")
	k.status(tarsy.StatusCompleted)
	k.expect("completed: ")
}
