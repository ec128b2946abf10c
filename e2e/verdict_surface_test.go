package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/agent"
	"tarsy.dev/tarsy/tarsytest"
)

// One investigation is followed to each place where people can read about it.
func TestVerdictReachesListSearchReportDiscordAndWebhook(t *testing.T) {
	t.Parallel()

	w, hook := newDiscord(t), newTarget(t, nil)
	app := tarsytest.New(t, tarsytest.Options{
		Config: w.Config(oncallAllowed) + fmt.Sprintf("alerts: {write_back: {chat: {url: '%s', on: [started, finished]}}}\n", hook.URL) + loneAgent, Env: w.Env(),
	})

	raw, err := json.Marshal(agent.VerdictAnswer{
		Outcome: tarsy.OutcomeProbableCause, Cause: "web *leaks* memory @everyone", Confidence: tarsy.ConfidenceMedium, ConfidenceReason: "One log line.",
		Impact: "Checkout fails.", NextSteps: []agent.StepAnswer{
			{Title: "Restart it", Why: "It leaks.", Command: "kubectl rollout restart deploy/web", Risk: tarsy.RiskLow, Reversible: true},
			{Title: "Find the leak", Risk: tarsy.RiskNone, Reversible: true},
		}, NotChecked: []string{"The database."},
	})
	require.NoError(t, err)

	app.Script.Route("Investigator", says("It leaks."))
	app.Script.Route("ExecSummaryAgent", says("In short."))
	app.Script.Route("VerdictAgent", says(string(raw)))

	sessionID := app.Run("test", "web is slow").ID

	for query, found := range map[string]int{
		"outcome=probable_cause": 1, "outcome=needs_human,probable_cause&order=attention": 1, "outcome=false_alarm": 0,
		"search=leaks": 1, "search=leaks&outcome=probable_cause": 1, "search=leaks&outcome=inconclusive": 0,
	} {
		items, _ := get(t, app, "/api/v1/sessions?"+query)["sessions"].([]any)
		require.Len(t, items, found, query)
	}

	match := within(t, get(t, app, "/api/v1/sessions?search=memory"), "sessions", 0, "match")
	require.Equal(t, "cause", match["field"])
	require.Equal(t, http.StatusBadRequest, app.Do(http.MethodGet, "/api/v1/sessions?outcome=none", nil).Status)

	announced := w.Await("alerts", "In short.")
	require.Equal(t, "**Probable cause:** web is slow\nCause: web \\*leaks\\* memory @\u200beveryone (medium confidence)\n"+
		"Next step: Restart it (low risk, reversible)\n\nIn short.\n<https://tarsy.example.org/sessions/"+sessionID+">", announced.Content)
	require.False(t, announced.NotifiedEveryone)

	bodies := map[any]map[string]any{}

	for range 2 {
		body := decodeBody(t, hook.next())
		bodies[body["event"]] = body
	}

	require.Empty(t, bodies["started"]["outcome"])
	require.Equal(t, []any{}, bodies["started"]["next_steps"])
	require.Equal(t, []any{"probable_cause", "Probable cause", "web *leaks* memory @everyone", "medium", "Checkout fails."}, []any{
		bodies["finished"]["outcome"], bodies["finished"]["outcome_text"], bodies["finished"]["cause"], bodies["finished"]["confidence"], bodies["finished"]["impact"],
	})
	require.Equal(t, "kubectl rollout restart deploy/web", within(t, bodies["finished"], "next_steps", 0)["command"])
	require.Equal(t, []any{"The database."}, bodies["finished"]["not_checked"])

	report := app.Do(http.MethodGet, "/api/v1/sessions/"+sessionID+"/export?format=markdown", nil)
	for _, part := range []string{
		"# web is slow: Probable cause\n\n## Verdict\n\n**Probable cause**: web \\*leaks\\* memory @everyone\n", "1. Restart it (low risk, reversible)\n",
		"```sh\nkubectl rollout restart deploy/web\n```\n", "### Not checked\n\n- The database.\n",
	} {
		require.Contains(t, string(report.Body), part)
	}

	exported := get(t, app, "/api/v1/sessions/"+sessionID+"/export")
	require.Equal(t, "probable_cause", within(t, exported, "session", "verdict")["outcome"])
}
