package watch

import (
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/client/live"
)

func TestEveryReasonToConcludeIsExplained(t *testing.T) {
	t.Parallel()

	for reason, want := range map[tarsy.ForcedConclusion]struct{ agent, session string }{
		tarsy.ForcedIterations: {"forced to conclude after 3 iterations", ""},
		tarsy.ForcedDeadline:   {"forced to conclude: almost out of time", "concluded early: almost out of time"},
		tarsy.ForcedBudget:     {"forced to conclude: the budget was used up", "concluded early: its budget was used up"},
		tarsy.ForcedResolved:   {"forced to conclude: the alert was resolved", "concluded early: its alert was resolved"},
		tarsy.ForcedRepeatedCalls: {
			"forced to conclude: it repeated the same tool calls", "concluded early: an agent repeated the same tool calls",
		},
	} {
		item := &live.Item{Metadata: tarsy.NewMetadata(tarsy.FinalAnalysisMetadata{ForcedConclusion: true, Reason: reason, MaxIterations: 3})}
		require.Equal(t, want.agent, forced(item))

		if reason.Early() {
			require.Equal(t, want.session, early(string(reason)))
		}
	}
}
