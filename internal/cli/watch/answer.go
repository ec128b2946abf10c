package watch

import (
	"strings"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/cli/terminal"
	"tarsy.dev/tarsy/internal/client/live"
)

// PieceKind is the kind of a piece of an answer.
type PieceKind int

// The kinds of pieces.
const (
	PieceText PieceKind = iota
	PieceTool
	PieceWarning
)

// Piece is one part of the answer to a question: text that a model writes, a tool call, or a warning. Text is not cleaned, since it may be
// Markdown that is still being written; the other fields are safe to print.
type Piece struct {
	// Key stays the same while the piece grows.
	Key  string
	Kind PieceKind
	Text string
	// Complete means that nothing follows.
	Complete bool
	Tool     ToolUse
}

// ToolUse is a tool call.
type ToolUse struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments,omitempty"`
	// Result is empty while the tool runs: ok, error, outcome unknown or another status.
	Result string `json:"result,omitempty"`
	// Took is empty if it was not measured.
	Took string `json:"took,omitempty"`
}

// Pieces returns the pieces of a stage's answer so far, in order. Text with a gap ends at the gap: the rest
// follows when the text is complete.
func Pieces(s *live.Session, stageID string) []Piece {
	stage := s.Find(stageID)
	if stage == nil {
		return nil
	}

	var pieces []Piece

	for _, item := range stage.Events {
		piece := Piece{Key: item.ID, Complete: !item.Ended.IsZero()}
		if item.Former != "" {
			piece.Key = item.Former
		}

		switch item.Type {
		case tarsy.EventToolCall:
			piece.Kind, piece.Tool = PieceTool, toolUseOf(item)
		case tarsy.EventResponse, tarsy.EventFinalAnalysis:
			text, ok := answerText(item)
			if !ok {
				continue
			}

			piece.Text = text

			for _, warning := range []string{forced(item), unknownCitations(item)} {
				if warning != "" {
					pieces = append(pieces, Piece{Key: piece.Key + warning, Kind: PieceWarning, Text: warning, Complete: true})
				}
			}
		case tarsy.EventProviderFallback, tarsy.EventContextShortened:
			piece.Kind, piece.Text = PieceWarning, terminal.Line(item.Content)
		case tarsy.EventError:
			if !isWarning(item) {
				continue // reported when the stage ends
			}

			piece.Kind, piece.Text = PieceWarning, terminal.Line(item.Content)
		default:
			continue
		}

		pieces = append(pieces, piece)
	}

	return pieces
}

// answerText returns the text of an answer for people. A response in the text protocol has none: its end becomes the analysis, which is a
// separate event. An analysis is shown unchanged, however it begins.
func answerText(i *live.Item) (text string, ok bool) {
	text = i.Content

	if i.Ended.IsZero() {
		text, _, _ = strings.Cut(text, live.Gap)
	}

	return text, i.Type == tarsy.EventFinalAnalysis || !live.SplitReply(text).Found
}

func toolUseOf(i *live.Item) ToolUse {
	call := toolCallOf(i)
	use := ToolUse{Name: call.name, Arguments: call.arguments}

	switch {
	case i.Ended.IsZero():
		return use
	case approvalOf(i).notMade():
		use.Result = "not made"
	case call.unknown:
		use.Result = "outcome unknown"
	case call.failed:
		use.Result = "error"
	case i.Status != string(tarsy.EventCompleted):
		use.Result = words(i.Status)
	default:
		use.Result = "ok"
	}

	if call.measured {
		use.Took = terminal.Duration(call.duration)
	}

	return use
}
