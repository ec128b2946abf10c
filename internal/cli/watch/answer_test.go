package watch

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/client"
	"tarsy.dev/tarsy/internal/client/live"
)

// pieces returns the pieces of a story's only stage.
func pieces(events ...tarsy.TimelineEvent) []Piece {
	var s story

	session := live.NewSession(detail())
	for _, update := range s.begin() {
		session.Apply(update)
	}

	for _, event := range events {
		session.Apply(s.event(tarsy.TimelineCreated(event)))
	}

	return Pieces(session, "stage")
}

func TestToolCallReportsItsResult(t *testing.T) {
	t.Parallel()

	for want, change := range map[string]func(*tarsy.TimelineEvent, *tarsy.ToolCallMetadata){
		"":      func(e *tarsy.TimelineEvent, _ *tarsy.ToolCallMetadata) { e.Status = tarsy.EventStreaming },
		"ok":    func(*tarsy.TimelineEvent, *tarsy.ToolCallMetadata) {},
		"error": func(_ *tarsy.TimelineEvent, m *tarsy.ToolCallMetadata) { m.IsError = true },
		"outcome unknown": func(_ *tarsy.TimelineEvent, m *tarsy.ToolCallMetadata) {
			m.IsError, m.Outcome = true, tarsy.OutcomeUnknown
		},
		"cancelled": func(e *tarsy.TimelineEvent, _ *tarsy.ToolCallMetadata) { e.Status = tarsy.EventCancelled },
		"timed out": func(e *tarsy.TimelineEvent, _ *tarsy.ToolCallMetadata) { e.Status = tarsy.EventTimedOut },
	} {
		event := timeline("call", tarsy.EventToolCall, tarsy.EventCompleted, "", 2)
		metadata := tarsy.ToolCallMetadata{
			ServerName: "k8s", ToolName: "pods", Arguments: json.RawMessage(`{"namespace":"shop\u001b[2J"}`), ToolCallResult: &tarsy.ToolCallResult{DurationMs: 12},
		}
		change(&event, &metadata)
		event.Metadata = tarsy.NewMetadata(metadata)

		use := ToolUse{Name: "k8s.pods", Arguments: "namespace=shop", Result: want}
		if want != "" {
			use.Took = "12 ms"
		}

		require.Equal(t, []Piece{{Key: "call", Kind: PieceTool, Complete: want != "", Tool: use}}, pieces(event))
	}
}

func TestPiecesAreTextsToolCallsAndWarnings(t *testing.T) {
	t.Parallel()

	failure := timeline("error", tarsy.EventError, tarsy.EventCompleted, "The model is down.", 3)
	warning := timeline("runbook", tarsy.EventError, tarsy.EventCompleted, "The runbook\nis gone.", 3)
	warning.Metadata = tarsy.NewMetadata(tarsy.ErrorMetadata{Code: tarsy.ErrorRunbookUnavailable})

	analysis := timeline("analysis", tarsy.EventFinalAnalysis, tarsy.EventCompleted, "It leaks.", 4)
	analysis.Metadata = tarsy.NewMetadata(tarsy.FinalAnalysisMetadata{UnknownCitations: []string{"9.9.9"}})

	require.Equal(t, []Piece{
		{Key: "runbook", Kind: PieceWarning, Text: "The runbook is gone.", Complete: true},
		{Key: "short", Kind: PieceWarning, Text: "Shortened.", Complete: true},
		{Key: "responsecites unknown calls: 9.9.9", Kind: PieceWarning, Text: "cites unknown calls: 9.9.9", Complete: true},
		{Key: "response", Text: "It leaks.", Complete: true},
	}, pieces(
		timeline("thought", tarsy.EventThinking, tarsy.EventCompleted, "Hm.", 2), failure, warning,
		timeline("short", tarsy.EventContextShortened, tarsy.EventCompleted, "Shortened.", 3),
		timeline("response", tarsy.EventResponse, tarsy.EventCompleted, "It leaks.", 4), analysis,
	))

	require.Empty(t, Pieces(live.NewSession(detail()), "stage"), "a stage that has not begun")
}

// A text that another server rewrites starts from its beginning. After a reload, the text is known as far as it was stored.
func TestPieceFollowsTextThatIsWrittenAgainOrReloaded(t *testing.T) {
	t.Parallel()

	var s story

	session := live.NewSession(detail())
	text := func() string { return Pieces(session, "stage")[0].Text }
	response := timeline("response", tarsy.EventResponse, tarsy.EventStreaming, "", 2)

	for _, update := range append(s.begin(), s.event(tarsy.TimelineCreated(response)), chunk("response", "One two", 0, 1)) {
		session.Apply(update)
	}

	require.Equal(t, "One two", text())
	session.Apply(chunk("response", "Ein", 0, 2))
	require.Equal(t, "Ein", text())
	session.Apply(chunk("response", " late", 3, 1))
	require.Equal(t, "Ein", text(), "an earlier server is not heard any more")
	session.Apply(chunk("response", "vier", 20, 2))
	require.Equal(t, "Ein", text(), "it ends at the gap")
	session.Apply(chunk("response", "vier", 2, 3))
	require.Empty(t, text(), "the beginning belongs to another text")

	stage, run := "stage", "run"
	response.StageID, response.ExecutionID, response.Content = &stage, &run, "Ein zwei drei"
	done := at(3)
	call := timeline("call", tarsy.EventToolCall, tarsy.EventStreaming, "", 2)
	call.StageID, call.CompletedAt = &stage, &done

	reloaded := detail()
	reloaded.Stages = []tarsy.StageDetail{{Stage: tarsy.Stage{ID: "stage", StageType: tarsy.StageChat, Status: tarsy.StatusActive}}}
	session.Apply(client.Update{Reloaded: &client.Reloaded{Detail: reloaded, Timeline: []tarsy.TimelineEvent{response, call}}})
	require.Equal(t, "Ein zwei drei", text())
	require.False(t, Pieces(session, "stage")[0].Complete)
	require.True(t, Pieces(session, "stage")[1].Complete)
}
