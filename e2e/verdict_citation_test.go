package e2e

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/agent"
	"tarsy.dev/tarsy/llm/script"
	"tarsy.dev/tarsy/tarsytest"
)

// Every claim of a verdict has the calls that it cites, in any stage. A citation of a call that was never made remains text.
func TestVerdictCitesOnlyCallsThatExist(t *testing.T) {
	t.Parallel()

	raw, err := json.Marshal(agent.VerdictAnswer{
		Outcome: tarsy.OutcomeCauseFound, Cause: "app leaks memory [call 1.1.1].", Confidence: tarsy.ConfidenceHigh,
		ConfidenceReason: "Metrics and events agree [call 2.1.1, 2.2.1].", Impact: "Checkout fails [call 9.9.9].",
		NextSteps:  []agent.StepAnswer{{Title: "Restart it", Why: "It was killed [call 2.2.1] and [call 1.1.2].", Risk: tarsy.RiskLow, Reversible: true}},
		NotChecked: []string{"The database [call 3.1.1]."},
	})
	require.NoError(t, err)

	app := tarsytest.New(t, tarsytest.Options{Config: oomChain, MCP: []*tarsytest.MCPServer{oomTools()}})
	app.Script.Route("DataCollector", tool("get_pod_logs", "{}"), says("Out of memory [call 1.1.1]."))
	app.Script.Route("MetricsAgent", tool("get_metrics", "{}"), says("It grows [call 2.1.1]."))
	app.Script.Route("EventsAgent", tool("get_events", "{}"), says("Killed [call 2.2.1]."))
	app.Script.Route("SynthesisAgent", says("A leak [call 2.1.1]."))
	app.Script.Route("Diagnostician", says("The cause is a leak [call 1.1.1]."))
	app.Script.Route("ExecSummaryAgent", says("A leak."))
	app.Script.Route("VerdictAgent", script.Reply{Text: string(raw)})

	session := app.Run("kubernetes-oom", "app-1 was OOM-killed")
	require.NotNil(t, session.Verdict, session.VerdictError)

	events := map[string]string{}

	for _, e := range app.Timeline(session.ID) {
		if e.EventType == tarsy.EventToolCall {
			events[tarsy.MetadataAs[tarsy.ToolCallMetadata](e.Metadata).Call] = e.ID
		}
	}

	cited := func(calls ...string) []tarsy.Citation {
		found := []tarsy.Citation{}
		for _, call := range calls {
			require.Contains(t, events, call)
			found = append(found, tarsy.Citation{Call: call, EventID: events[call]})
		}

		return found
	}

	v := session.Verdict
	require.Equal(t, cited("1.1.1"), v.Cause.Citations)
	require.Equal(t, cited("2.1.1", "2.2.1"), v.ConfidenceReason.Citations)
	require.Equal(t, "Checkout fails [call 9.9.9].", v.Impact.Text)
	require.Empty(t, v.Impact.Citations)
	require.Equal(t, cited("2.2.1"), v.NextSteps[0].Why.Citations)
	require.Empty(t, v.NotChecked[0].Citations)
}
