package e2e

import (
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
	"tarsy.dev/tarsy/tarsytest"
)

// judged returns a recipe with one agent whose investigation ends with a verdict.
func judged(t testing.TB) recipe {
	t.Helper()

	return recipe{
		agents:   "  Reader: {custom_instructions: Read the log.}\n",
		chain:    "stages: [{name: read, agents: [{name: Reader}]}]",
		verdicts: true,
		reply: func(_ *investigation, call string, _ *llm.Request) (script.Reply, bool) {
			return concludes(t, tarsy.OutcomeCauseFound, "web leaks memory [call 1.1.1]"), call == callVerdict
		},
	}
}

// A server is killed while a model writes the verdict: before the first word, in the middle, and after the last word. The
// next server requests summary and verdict again, and the session completes with one verdict.
func TestKillDuringVerdict(t *testing.T) {
	t.Parallel()

	undisturbed, silent := newInvestigation(t, "undisturbed", judged(t)), newInvestigation(t, "silent", judged(t))
	amid, over := newInvestigation(t, "amid", judged(t)), newInvestigation(t, "over", judged(t))
	killed := []*investigation{silent, amid, over}
	gates := []*script.Gate{silent.HoldCall(callVerdict, 0), amid.HoldCall(callVerdict, 4), over.HoldCall(callVerdict, 999)}

	// The summary is held too, so that it is certain that it was requested.
	for _, i := range killed {
		gates = append(gates, i.HoldCall(callSummary, 0))
	}

	w := newWorld(t, worldOptions{}, undisturbed, silent, amid, over)
	first := w.Start()

	for _, i := range []*investigation{undisturbed, silent, amid, over} {
		w.SubmitAndWatch(i)
	}

	w.Await(undisturbed)

	for _, gate := range gates {
		await(t, gate.Reached(), "the conclusions")
	}

	first.Kill()
	require.Empty(t, verdictsOf(w, killed), "nothing is stored of a verdict that is not whole")

	w.Start()
	w.requireJudged(t, undisturbed, nil)

	for _, i := range killed {
		w.Await(i)
		w.requireJudged(t, i, []string{callSummary, callVerdict})
		require.Equal(t, w.record(undisturbed), w.record(i))
	}
}

// verdictsOf returns the sessions that have a verdict, once for each verdict.
func verdictsOf(w *world, all []*investigation) []string {
	var found []string

	for _, i := range all {
		for _, row := range tarsytest.Rows[struct{ SessionID string }](w.App, `SELECT session_id::text FROM verdicts WHERE session_id = $1`, i.SessionID) {
			found = append(found, row.SessionID)
		}
	}

	return found
}

// requireJudged checks that the session has one verdict, which the journal reports once, before the end.
func (w *world) requireJudged(t *testing.T, i *investigation, again []string) {
	t.Helper()
	w.requireInvestigation(t, i, map[string]int{"Reader 1": 1, "Reader 2": 1, callSummary: 1, callVerdict: 1}, again, nil)
	require.Equal(t, []string{i.SessionID}, verdictsOf(w, []*investigation{i}))

	session := w.Session(i.SessionID)
	require.Equal(t, tarsy.OutcomeCauseFound, session.Outcome)
	require.Empty(t, session.VerdictError)
	require.Len(t, session.Verdict.Cause.Citations, 1)

	journal := w.Journal(i.SessionID)
	require.Equal(t, tarsy.TypeSessionVerdict, journal[len(journal)-2].Type)
	require.Equal(t, tarsy.TypeSessionStatus, journal[len(journal)-1].Type)

	reported := 0

	for _, e := range journal {
		if e.Type == tarsy.TypeSessionVerdict {
			reported++
		}
	}

	require.Equal(t, 1, reported)
}
