package e2e

import (
	"encoding/json"
	"testing"

	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/agent"
	"tarsy.dev/tarsy/llm/script"
	"tarsy.dev/tarsy/tarsytest"
)

// verdict checks a session whose verdict has a value in every field, and one whose verdict failed.
func (c *contracts) verdict(t *testing.T) {
	raw, err := json.Marshal(agent.VerdictAnswer{
		Outcome: tarsy.OutcomeProbableCause, Cause: "web leaks memory [call 1.1.1]", Confidence: tarsy.ConfidenceLow, ConfidenceReason: "One look [call 1.1.1].",
		Impact: "Checkout fails.", NextSteps: []agent.StepAnswer{{
			Title: "Restart it", Why: "It leaks [call 1.1.1].", Command: "kubectl rollout restart deploy/web", URL: "https://runbooks.example/web",
			Risk: tarsy.RiskMedium, Reversible: true,
		}},
		NotChecked: []string{"The database."},
	})
	require.NoError(t, err)

	options := everything()
	options.Clock = clockwork.NewFakeClockAt(beginning())
	app := tarsytest.New(t, options)
	app.Script.Route("Investigator", calls("kubernetes__get_pods"), says("It leaks [call 1.1.1]."), says("It leaks."))
	app.Script.Route("ExecSummaryAgent", says("In short."), says("In short."))
	app.Script.Route("VerdictAgent", script.Reply{Text: string(raw)}, says("It leaks."))

	judged := app.Run("test", "an alert").ID
	detail := get(t, app, "/api/v1/sessions/"+judged)
	call := eventOf(t, app, judged, "llm_tool_call")["id"]
	cited := func(text string) is {
		return equal(map[string]any{"text": text, "citations": []any{map[string]any{"call": "1.1.1", "event_id": call}}})
	}
	plain := func(text string) map[string]any { return map[string]any{"text": text, "citations": []any{}} }
	claimed := map[string]is{"outcome": equal("probable_cause"), "cause": equal("web leaks memory")}

	c.requireSome(t, "SessionDetail", detail, claimed)
	c.requireSome(t, "SessionDetail", detail, map[string]is{"verdict": isObject, "verdict_error": equal("")})
	c.requireSome(t, "SessionItem", within(t, get(t, app, "/api/v1/sessions"), "sessions", 0), claimed)
	c.requireSome(t, "SessionSummary", get(t, app, "/api/v1/sessions/"+judged+"/summary"), claimed)

	verdict := within(t, detail, "verdict")
	c.require(t, "Verdict", verdict, map[string]is{
		"id": isID, "session_id": equal(judged), "outcome": equal("probable_cause"), "cause": cited("web leaks memory [call 1.1.1]"),
		"confidence": equal("low"), "confidence_reason": cited("One look [call 1.1.1]."), "impact": equal(plain("Checkout fails.")),
		"next_steps": list(1), "not_checked": equal([]any{plain("The database.")}), "created_at": equal(detail["completed_at"]),
	})
	c.require(t, "NextStep", within(t, verdict, "next_steps", 0), map[string]is{
		"title": equal("Restart it"), "why": cited("It leaks [call 1.1.1]."), "command": equal("kubectl rollout restart deploy/web"),
		"url": equal("https://runbooks.example/web"), "risk": equal("medium"), "reversible": equal(true),
	})

	journal := app.Journal(judged)
	event := decode[map[string]any](journal[len(journal)-2].Payload)
	require.Equal(t, map[string]any{
		"type": "session.verdict", "session_id": judged, "outcome": "probable_cause", "cause": "web leaks memory [call 1.1.1]", "confidence": "low",
		"timestamp": detail["completed_at"],
	}, event)

	failed := get(t, app, "/api/v1/sessions/"+app.Run("test", "no verdict").ID)
	c.requireSome(t, "SessionDetail", failed, map[string]is{
		"status": equal("completed"), "outcome": equal(""), "cause": equal(""), "verdict": isNull,
		"verdict_error": that(func(v any) bool { text, _ := v.(string); return text != "" }),
	})
}
