package agent

import (
	"context"
	"fmt"
	"strings"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/progress"
)

// keptAnalyses is shown instead of a synthesis.
const keptAnalyses = "The investigations are too long for the model, so there is no synthesis. The agents' analyses follow unchanged."

// analyses returns the final analyses that a synthesis combines, each under its agent's name.
func analyses(investigations []Investigation) string {
	var parts []string

	for _, i := range investigations {
		for _, e := range i.Timeline {
			if e.EventType == tarsy.EventFinalAnalysis {
				parts = append(parts, fmt.Sprintf("## %s\n\n%s", i.Execution.AgentName, e.Content))
			}
		}
	}

	return strings.Join(parts, "\n\n")
}

func hasAnalysis(investigations []Investigation) bool { return analyses(investigations) != "" }

// keepAnalyses ends a failed synthesis with the analyses of its agents. The agents succeeded, so their work must not be lost.
func (x *execution) keepAnalyses(ctx context.Context, step progress.Step, code, note string) error {
	event := x.newEvent(tarsy.EventError, tarsy.EventCompleted, note)
	event.Metadata = tarsy.NewMetadata(tarsy.ErrorMetadata{Code: code})
	create(&step, event)

	return x.complete(ctx, step, answer{}, analyses(x.Investigations))
}
