package watch

import (
	"strings"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/cli/terminal"
	"tarsy.dev/tarsy/internal/client/live"
)

// stageTitle returns the display name of a stage.
func stageTitle(i *live.Item) string {
	name := terminal.Line(i.Stage)

	switch i.StageType {
	case tarsy.StageSynthesis:
		return "synthesis of " + strings.TrimSuffix(name, " - Synthesis")
	case tarsy.StageChat:
		return "answer"
	case tarsy.StageInvestigation:
	}

	return name
}

// forced returns why an agent was forced to conclude; empty if it was not.
func forced(i *live.Item) string {
	analysis := tarsy.MetadataAs[tarsy.FinalAnalysisMetadata](i.Metadata)
	if !analysis.ForcedConclusion {
		return ""
	}

	switch analysis.Reason {
	case tarsy.ForcedIterations:
		return "forced to conclude after " + count(analysis.MaxIterations, "iteration")
	case tarsy.ForcedDeadline:
		return "forced to conclude: almost out of time"
	case tarsy.ForcedBudget:
		return "forced to conclude: the budget was used up"
	case tarsy.ForcedResolved:
		return "forced to conclude: the alert was resolved"
	case tarsy.ForcedRepeatedCalls:
		return "forced to conclude: it repeated the same tool calls"
	case tarsy.NotForced:
	}

	return "forced to conclude"
}

// unknownCitations lists the nonexistent calls that an analysis cites; empty if there are none.
func unknownCitations(i *live.Item) string {
	unknown := tarsy.MetadataAs[tarsy.FinalAnalysisMetadata](i.Metadata).UnknownCitations
	if len(unknown) == 0 {
		return ""
	}

	return "cites unknown calls: " + terminal.Line(strings.Join(unknown, ", "))
}

// isWarning reports whether an error ended nothing, because the work continued in another way.
func isWarning(i *live.Item) bool { return errorCode(i) == tarsy.ErrorRunbookUnavailable }

// errorCode returns the code of an error event.
func errorCode(i *live.Item) string {
	return terminal.Line(tarsy.MetadataAs[tarsy.ErrorMetadata](i.Metadata).Code)
}
