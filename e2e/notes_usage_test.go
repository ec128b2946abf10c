package e2e

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/tarsytest"
)

func TestNoteCallsAreInUsageSummary(t *testing.T) {
	t.Parallel()

	app := tarsytest.New(t, tarsytest.Options{
		Config: loneAgent + "system: {cost_estimation: {model_rates: {test-model: {input_per_million: 1000000, output_per_million: 0}}}}\n",
	})
	app.Project("Machines")

	extracts, organizes := tarsytest.Extracts(tarsytest.ExtractedEntity{Title: "Fix it"}), tarsytest.Organizes(tarsytest.Place{})
	extracts.Usage, organizes.Usage = &llm.UsageChunk{InputTokens: 3, OutputTokens: 2}, &llm.UsageChunk{InputTokens: 4, OutputTokens: 1}
	app.Script.Route(tarsytest.NoteExtractor, extracts)
	app.Script.Route(tarsytest.NoteOrganizer, organizes)
	app.CaptureAndProcess("Fix it")

	var summary tarsy.UsageSummary

	app.Do(http.MethodGet, "/api/v1/usage/summary", nil).Decode(t, &summary)

	used := tarsy.UsageShare{LLMCalls: 2, Usage: tarsy.Usage{InputTokens: 7, OutputTokens: 3, TotalTokens: 10, CostUSD: 7}}
	require.Equal(t, tarsy.SpendShare{UsageShare: used}, summary.Total)

	used.Name = tarsy.UsageNotes
	require.Equal(t, []tarsy.SpendShare{{UsageShare: used}}, summary.ByKind)
	require.Empty(t, summary.ByAlertType)
}
