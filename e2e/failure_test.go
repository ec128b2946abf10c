package e2e

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
	"tarsy.dev/tarsy/tarsytest"
)

func TestFirstStageFailureSkipsSecondStage(t *testing.T) {
	t.Parallel()

	app := tarsytest.New(t, tarsytest.Options{HoldStreams: true, Config: twoStages})
	app.Script.Route("Collector", script.Reply{Text: "I begin to", Err: errors.New("quota exceeded"), AfterChunks: 1})

	sessionID := app.Submit("test", "fail")
	socket := app.Watch(sessionID)
	socket.WaitStatus("failed")

	session := app.Session(sessionID)
	require.Equal(t, tarsy.SessionFailed, session.Status)
	require.Equal(t, "llm_error", session.ErrorCode)
	require.Equal(t, `stage "collect": quota exceeded`, session.ErrorMessage)
	require.Len(t, session.Stages, 1)
	require.Equal(t, tarsy.StatusFailed, session.Stages[0].Status)
	require.Equal(t, "quota exceeded", session.Stages[0].ErrorMessage)
	require.Equal(t, "quota exceeded", session.Stages[0].Executions[0].ErrorMessage)
	require.Empty(t, session.FinalAnalysis)
	require.Len(t, app.Script.Calls(), 1, "neither the second agent nor a summary")
	requireReleased(t, app)

	n := app.Normalizer(sessionID)
	tarsytest.GoldenEvents(t, n, "fail_fast/ws_events.golden", socket.Events())
	tarsytest.GoldenJSON(t, n, "fail_fast/session.golden", session)
	tarsytest.GoldenJSON(t, n, "fail_fast/timeline.golden", app.Timeline(sessionID))
}

func TestSecondStageSeesFirstStageResults(t *testing.T) {
	t.Parallel()

	app := tarsytest.New(t, tarsytest.Options{Config: twoStages})
	app.Script.Route("Collector", says("There are three pods."))
	app.Script.Route("Analyst", says("Three are too few."))
	app.Script.Route("ExecSummaryAgent", says("Too few pods."))

	session := app.Run("test", "two stages")
	require.Equal(t, tarsy.SessionCompleted, session.Status)
	require.Equal(t, "Three are too few.", session.FinalAnalysis)
	require.Equal(t, 2, session.CurrentStageIndex)

	asked := app.Script.Calls()[1].Request.Messages[1].Content
	require.Contains(t, asked, "### Stage collect\n\nThere are three pods.")

	summary := app.Script.Calls()[2].Request.Messages[1].Content
	require.Contains(t, summary, "Three are too few.")
	require.NotContains(t, summary, "There are three pods.")
}

// Both agents finish before the policy decides.
func TestSuccessPolicyOfStageWithTwoAgents(t *testing.T) {
	t.Parallel()

	const (
		optimist  = "Optimist (failed): overloaded (529)"
		pessimist = "Pessimist (failed): overloaded (529)"
	)

	good, bad := says("All is well."), script.Reply{Err: llm.ErrorChunk{Message: "overloaded", Code: "529"}}

	tests := []struct {
		policy              string
		optimist, pessimist script.Reply
		want                tarsy.SessionStatus
		message, analysis   string
	}{
		{"any", good, bad, tarsy.SessionCompleted, "", "One analysis."},
		{"any", bad, bad, tarsy.SessionFailed, "stage \"look\": " + optimist + "\n" + pessimist, ""},
		{"all", good, bad, tarsy.SessionFailed, "stage \"look\": " + pessimist, ""},
		{"all", good, good, tarsy.SessionCompleted, "", "One analysis."},
	}

	for i, test := range tests {
		t.Run(fmt.Sprintf("%s %d", test.policy, i), func(t *testing.T) {
			t.Parallel()

			app := tarsytest.New(t, tarsytest.Options{Config: fmt.Sprintf(twoAgents, test.policy)})
			app.Script.Route("Optimist", test.optimist)
			app.Script.Route("Pessimist", test.pessimist)

			if test.want == tarsy.SessionCompleted {
				app.Script.Route("SynthesisAgent", says("One analysis."))
				app.Script.Route("ExecSummaryAgent", says("Summed up."))
			}

			session := app.Run("test", "two agents")
			require.Equal(t, test.want, session.Status)
			require.Equal(t, test.message, session.ErrorMessage)
			require.Equal(t, test.analysis, session.FinalAnalysis)

			stage := session.Stages[0]
			require.Equal(t, 2, stage.ExpectedAgentCount)
			require.Equal(t, tarsy.ParallelMultiAgent, *stage.ParallelType)
			require.Equal(t, test.policy, string(*stage.SuccessPolicy))
			require.Len(t, stage.Executions, 2)

			for i, execution := range stage.Executions {
				require.Equal(t, i+1, execution.AgentIndex)
				require.True(t, execution.Status.Terminal())
			}

			requireReleased(t, app)
		})
	}
}

func TestEmptyModelAnswerFailsSession(t *testing.T) {
	t.Parallel()

	app := tarsytest.New(t, tarsytest.Options{})
	app.Script.Add(script.Reply{Thinking: "I think and say nothing."})

	session := app.Run("test", "silence")
	require.Equal(t, tarsy.SessionFailed, session.Status)
	require.Equal(t, "empty_answer", session.ErrorCode)
}

// The investigation is done: a summary that fails does not undo it.
func TestExecutiveSummaryFails(t *testing.T) {
	t.Parallel()

	tests := map[string]struct {
		reply script.Reply
		want  string
	}{
		"error":  {script.Reply{Err: errors.New("no tokens left")}, "no tokens left"},
		"silent": {script.Reply{}, "the model gave no summary"},
	}

	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			app := tarsytest.New(t, tarsytest.Options{})
			app.Script.Add(says("The analysis."), test.reply)

			session := app.Run("test", "no summary")
			require.Equal(t, tarsy.SessionCompleted, session.Status)
			require.Equal(t, "The analysis.", session.FinalAnalysis)
			require.Empty(t, session.ExecutiveSummary)
			require.Empty(t, session.ErrorMessage)
			require.Equal(t, test.want, session.ExecutiveSummaryError)

			require.NotNil(t, session.Verdict, session.VerdictError)

			interactions := scriptedCalls(app, session.ID)
			require.Equal(t, tarsy.InteractionExecutiveSummary, interactions[1].InteractionType)
			require.Equal(t, test.want, interactions[1].ErrorMessage)
			require.NotContains(t, eventTypes(app.Timeline(session.ID)), tarsy.EventExecutiveSummary)
		})
	}
}
