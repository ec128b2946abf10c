package e2e

import (
	"encoding/json"
	"errors"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/agent"
	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
	"tarsy.dev/tarsy/tarsytest"
)

// concludes returns the reply to a verdict call.
func concludes(t testing.TB, outcome tarsy.Outcome, cause string) script.Reply {
	t.Helper()

	raw, err := json.Marshal(agent.VerdictAnswer{
		Outcome: outcome, Cause: cause, Confidence: tarsy.ConfidenceMedium, ConfidenceReason: "One log line.", Impact: "Checkout fails.",
		NextSteps:  []agent.StepAnswer{{Title: "Restart it", Why: "It leaks.", Command: "kubectl rollout restart deploy/web", Risk: tarsy.RiskLow, Reversible: true}},
		NotChecked: []string{"The database."},
	})
	require.NoError(t, err)

	return script.Reply{Text: string(raw)}
}

func TestInvestigationEndsWithVerdictOfEachOutcome(t *testing.T) {
	t.Parallel()

	for _, outcome := range tarsy.Outcomes() {
		t.Run(string(outcome), func(t *testing.T) {
			t.Parallel()

			app := tarsytest.New(t, tarsytest.Options{Config: loneAgent})
			app.Script.Route("Investigator", says("It leaks."))
			app.Script.Route("ExecSummaryAgent", says("In short."))
			app.Script.Route("VerdictAgent", concludes(t, outcome, "web leaks memory"))

			session := app.Run("test", "web is slow")
			require.Equal(t, outcome, session.Outcome)
			require.Equal(t, "web leaks memory", session.Cause)
			require.Empty(t, session.VerdictError)
			require.Equal(t, "In short.", session.ExecutiveSummary)
			require.Equal(t, "web leaks memory", session.Verdict.Cause.Text)
			require.Equal(t, tarsy.ConfidenceMedium, session.Verdict.Confidence)
			require.Equal(t, "kubectl rollout restart deploy/web", session.Verdict.NextSteps[0].Command)
			require.Equal(t, "The database.", session.Verdict.NotChecked[0].Text)

			listed := decode[struct{ Sessions []tarsy.SessionItem }](app.Do(http.MethodGet, "/api/v1/sessions", nil).Body).Sessions
			require.Equal(t, outcome, listed[0].Outcome)
		})
	}
}

func TestSessionCompletesWithoutVerdictThatFails(t *testing.T) {
	t.Parallel()

	for name, reply := range map[string]script.Reply{
		"schema": says("It is the disk."),
		"error":  {Err: &llm.Error{Class: llm.ClassAuth, Message: "no key", Err: errors.New("401")}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			app := tarsytest.New(t, tarsytest.Options{Config: loneAgent})
			app.Script.Route("Investigator", says("It leaks."))
			app.Script.Route("ExecSummaryAgent", says("In short."))
			app.Script.Route("VerdictAgent", reply)

			session := app.Run("test", "web is slow")
			require.Equal(t, tarsy.SessionCompleted, session.Status)
			require.NotEmpty(t, session.VerdictError)
			require.Empty(t, session.Outcome)
			require.Nil(t, session.Verdict)
			require.Equal(t, "In short.", session.ExecutiveSummary)
		})
	}
}
