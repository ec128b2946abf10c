package story_test

import (
	"log/slog"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/agent"
	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/internal/kit/demo/story"
	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
)

// judge asks the demo's model for the verdict of an analysis, as the engine does.
func judge(t *testing.T, client llm.Client, analysis string, calls map[string]string) *tarsy.Verdict {
	t.Helper()

	var known []tarsy.Citation
	for call := range maps.Keys(calls) {
		known = append(known, tarsy.Citation{Call: call, EventID: ident.New()})
	}

	judged := agent.Judge(t.Context(), agent.Config{LLM: client, Clock: clockwork.NewRealClock(), Logger: slog.New(slog.DiscardHandler)}, agent.VerdictInput{
		ClosingInput: agent.ClosingInput{
			SessionID: ident.New(), Analysis: analysis, Models: []agent.Fallback{{Provider: "demo", Model: "demo-script"}}, Limit: time.Minute,
		},
		Calls: known,
	})
	require.NoError(t, judged.Err)

	return judged.Verdict
}

func TestEveryDemoVerdictIsValidAndCitesSupportingCalls(t *testing.T) {
	t.Parallel()

	outcomes := map[string]tarsy.Outcome{"node-down": tarsy.OutcomeProbableCause, "false-alarm": tarsy.OutcomeFalseAlarm}

	for _, about := range investigated(t) {
		t.Run(about.Name, func(t *testing.T) {
			t.Parallel()

			client, session := story.Client(script.Pace{}), connect(t)
			agents, user := stories()[about.Name].agents, prompt(about, "")
			calls, analysis := map[string]string{}, ""

			if about.Name == team {
				whole := playTeam(t, client, session, user, agents)
				calls, analysis = whole.calls, whole.result
			} else {
				for i, name := range agents {
					stage := playAs(t, client, session, name, user, i+1, 1)
					maps.Copy(calls, stage.calls)
					analysis = stage.result
					user += "\n\n" + stage.result
				}
			}

			verdict := judge(t, client, analysis, calls)
			require.Equal(t, expected(outcomes, about.Name), verdict.Outcome)
			require.NotEmpty(t, verdict.NextSteps)
			require.NotEmpty(t, verdict.NotChecked)
			require.Less(t, len(verdict.Cause.Text), 160, "it is one line")

			claims := append([]tarsy.Claim{verdict.Cause, verdict.ConfidenceReason, verdict.Impact}, verdict.NotChecked...)
			for _, s := range verdict.NextSteps {
				claims = append(claims, s.Why)
			}

			cited := 0

			for _, claim := range claims {
				require.Len(t, claim.Citations, len(tarsy.CitedCalls(claim.Text)), "a call does not exist: %s", claim.Text)

				if len(claim.Citations) > 0 {
					cited++
					requireRightMarks(t, strings.ReplaceAll(claim.Text, "\n", " "), user, calls)
				}
			}

			require.GreaterOrEqual(t, cited, 3)
		})
	}
}

func expected(outcomes map[string]tarsy.Outcome, name string) tarsy.Outcome {
	if outcome, ok := outcomes[name]; ok {
		return outcome
	}

	return tarsy.OutcomeCauseFound
}

func TestVerdictOfUnknownOrUnfinishedAnalysisClaimsNoCause(t *testing.T) {
	t.Parallel()

	client := story.Client(script.Pace{})

	unknown := judge(t, client, "# An alert the demo does not know\n\nNothing was investigated.", nil)
	require.Equal(t, tarsy.OutcomeNeedsHuman, unknown.Outcome)
	require.Empty(t, unknown.Cause.Text)

	said := generate(t, client, &llm.Request{
		Agent: "Investigator", Purpose: string(tarsy.InteractionForcedConclusion),
		Messages: []llm.Message{{Role: llm.RoleUser, Content: prompt(exampleOf(t, "oom-kill"), "")}},
	})

	unfinished := judge(t, client, said.Text, nil)
	require.Equal(t, tarsy.OutcomeInconclusive, unfinished.Outcome)
	require.Empty(t, unfinished.Cause.Text)
}
