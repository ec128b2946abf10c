package tarsytest_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/kit/testfailure"
	"tarsy.dev/tarsy/llm/script"
	"tarsy.dev/tarsy/tarsytest"
)

const falseAlarm = `{"outcome":"false_alarm","cause":"","confidence":"high","confidence_reason":"","impact":"","next_steps":[],"not_checked":[]}`

// investigation returns the replies for one session with the default configuration: the analysis and the summary.
func investigation() []script.Reply {
	return []script.Reply{{Text: "It was the cache."}, {Text: "The cache."}}
}

func TestSessionEndsWithVerdictOfTheKit(t *testing.T) {
	t.Parallel()

	app := tarsytest.New(t, tarsytest.Options{})
	app.Script.Add(investigation()...)

	session := app.Run("test", "an alert")
	require.Equal(t, tarsy.OutcomeInconclusive, session.Outcome, session.VerdictError)
	require.Equal(t, "The cache.", session.ExecutiveSummary, "the verdict takes no reply of the sequence")
	require.Equal(t, 2, app.Script.CallCount(), "and is no call of the script")
	require.Len(t, app.LLMInteractions(session.ID), 3, "but one of the session")
}

func TestScriptedVerdictReplacesVerdictOfTheKit(t *testing.T) {
	t.Parallel()

	for name, add := range map[string]func(s *script.Script) error{
		"by agent": func(s *script.Script) error {
			s.Route("VerdictAgent", script.Reply{Text: falseAlarm})

			return nil
		},
		"by purpose": func(s *script.Script) error {
			return s.On(script.Match{Purpose: string(tarsy.InteractionVerdict)}, script.Reply{Text: falseAlarm})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			app := tarsytest.New(t, tarsytest.Options{})
			app.Script.Add(investigation()...)
			require.NoError(t, add(app.Script))
			require.Equal(t, tarsy.OutcomeFalseAlarm, app.Run("test", "an alert").Outcome)
			require.Equal(t, 3, app.Script.CallCount())
		})
	}
}

// A test that scripts verdicts must script all of them.
func TestVerdictAfterLastScriptedOneFailsTest(t *testing.T) {
	t.Parallel()

	complaint := testfailure.Of(t, func(t testing.TB) {
		app := tarsytest.New(t, tarsytest.Options{})
		app.Script.Route("Investigator", script.Reply{Text: "The cache.", Times: 2})
		app.Script.Route("ExecSummaryAgent", script.Reply{Text: "The cache.", Times: 2})
		app.Script.Route("VerdictAgent", script.Reply{Text: falseAlarm})
		app.Run("test", "an alert")
		app.Run("test", "another")
	})
	require.Contains(t, complaint, `no reply to agent "VerdictAgent"`)
}

func TestNoVerdictsSwitchesThemOff(t *testing.T) {
	t.Parallel()

	app := tarsytest.New(t, tarsytest.Options{NoVerdicts: true})
	app.Script.Add(investigation()...)

	session := app.Run("test", "an alert")
	require.Nil(t, session.Verdict)
	require.Empty(t, session.VerdictError)
	require.Len(t, app.LLMInteractions(session.ID), 2)
}

func TestVirtualServerWritesVerdictsOfTheKit(t *testing.T) {
	t.Parallel()

	server := tarsytest.NewLLMServer(t, scriptOf(investigation()...))
	app := tarsytest.New(t, tarsytest.Options{
		Config: `
defaults: {llm_provider: wire}
llm_providers: {wire: {type: openai, model: gpt-5, api: chat, base_url: '` + server.OpenAI() + `', api_key_env: KEY}}
agents: {Investigator: {}}
agent_chains: {test: {alert_types: [test], stages: [{name: analysis, agents: [{name: Investigator}]}]}}
`,
		Providers: true, Env: map[string]string{"KEY": "key-of-the-test"},
	})

	session := app.Run("test", "an alert")
	require.Equal(t, tarsy.OutcomeInconclusive, session.Outcome, session.VerdictError)
	require.Equal(t, "The cache.", session.ExecutiveSummary)
	require.Len(t, server.Requests(), 3)
}

func TestHeldStreamsReachEveryReader(t *testing.T) {
	t.Parallel()

	app := tarsytest.New(t, tarsytest.Options{HoldStreams: true})
	gate := script.NewGate()
	app.Script.Add(script.Reply{Thinking: "Hm.", Text: "It was the cache.", Gate: gate}, script.Reply{Text: "The cache."})

	sessionID := app.Submit("test", "an alert")
	socket, stream := app.Watch(sessionID), app.Events(sessionID, 0)
	gate.Open() // the model does not wait for later readers
	socket.WaitStatus("completed")
	stream.WaitStatus("completed")

	for _, events := range [][]tarsytest.Event{socket.OfType(tarsy.TypeStreamChunk), stream.OfType(tarsy.TypeStreamChunk)} {
		kinds := map[any]bool{}
		for _, e := range events {
			kinds[e.Fields["event_type"]] = true
		}

		require.Equal(t, map[any]bool{"llm_thinking": true, "llm_response": true}, kinds)
	}

	tarsytest.GoldenEvents(t, app.Normalizer(sessionID), "streams.golden", socket.Events())
}

func TestHeldStreamOfFailedCallReachesReader(t *testing.T) {
	t.Parallel()

	app := tarsytest.New(t, tarsytest.Options{HoldStreams: true})
	app.Script.Add(script.Reply{Text: "It was", Err: errors.New("no quota"), AfterChunks: 1})

	socket := app.Watch(app.Submit("test", "an alert"))
	socket.WaitStatus("failed")
	require.NotEmpty(t, socket.OfType(tarsy.TypeStreamChunk))
}

func TestGoldenEventsWithStreamNeedHeldStreams(t *testing.T) {
	t.Parallel()

	complaint := testfailure.Of(t, func(t testing.TB) {
		app := tarsytest.New(t, tarsytest.Options{})
		app.Script.Add(investigation()...)

		sessionID := app.Submit("test", "an alert")
		socket := app.Watch(sessionID)
		socket.WaitStatus("completed")
		tarsytest.GoldenEvents(t, app.Normalizer(sessionID), "streams.golden", socket.Events())
	})
	require.Contains(t, complaint, "needs Options.HoldStreams")
}
