package e2e

import (
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/tarsytest"
)

// upgradeLLMCalls and upgradeToolCalls are the calls of a session of the upgrade test: two agents that make two LLM calls
// and a tool call each, a synthesis, a summary, and an answer with two LLM calls and a tool call.
const upgradeLLMCalls, upgradeToolCalls = 8, 3

// requireAllDone checks every alert that any server acknowledged, as the last server shows it.
func (u *upgrade) requireAllDone(last *member) {
	u.t.Helper()
	u.Finish()

	if u.t.Failed() {
		return // a client has reported why
	}

	for _, s := range u.sessions {
		for _, r := range s.readers {
			r.Close()
		}
	}

	stored := tarsytest.Rows[struct{ N int }](last.app, "SELECT count(*) AS n FROM sessions")[0].N
	require.Equal(u.t, len(u.sessions), stored, "each acknowledged alert has one session")
	u.t.Logf("%d sessions on %d servers", len(u.sessions), len(u.finished))

	asked, cut := u.asked()
	made := map[string][]deskCall{}

	for _, call := range u.tools.Seen() {
		marker := upgradeMarker.FindString(call.By)
		made[marker] = append(made[marker], call)
	}

	for _, s := range u.sessions {
		journal := requireJournal(u.t, last.app, s.id)
		for _, r := range s.readers {
			requireSeen(u.t, r, journal)
		}

		if s.cancelled {
			session := last.app.Session(s.id)
			require.Equal(u.t, tarsy.SessionCancelled, session.Status, session.ErrorMessage)

			continue
		}

		calls := u.requireCompleted(last.app, s, made[s.marker])
		require.GreaterOrEqual(u.t, asked[s.marker], calls)
		require.LessOrEqual(u.t, asked[s.marker], calls+cut[s.marker], "only a call that a stopping server cut off is made again")
	}

	requireReleased(u.t, last.app)
}

// requireCompleted checks a session and returns how many LLM calls it has: one more if it has a verdict, which only this version writes.
func (u *upgrade) requireCompleted(app *tarsytest.App, s *upgradeSession, made []deskCall) int {
	u.t.Helper()

	session := app.Session(s.id)
	require.Equal(u.t, tarsy.SessionCompleted, session.Status, session.ErrorMessage)
	require.Contains(u.t, session.FinalAnalysis, s.marker+",")
	require.Contains(u.t, session.ExecutiveSummary, s.marker+",")
	require.Len(u.t, session.Stages, 3, "the agents, their synthesis and the answer")

	for _, stage := range session.Stages {
		require.Equal(u.t, tarsy.StatusCompleted, stage.Status, stage.StageName)
	}

	calls := upgradeLLMCalls

	require.Empty(u.t, session.VerdictError)

	if session.Outcome != tarsy.OutcomeNone {
		calls++

		require.Equal(u.t, s.marker+" leaks memory", session.Verdict.Cause.Text)
	}

	require.Len(u.t, app.LLMInteractions(s.id), calls, "each LLM call is kept once")

	var ids, seen []string

	for _, interaction := range app.MCPInteractions(s.id) {
		require.Equal(u.t, tarsy.CallCompleted, interaction.Status)

		ids = append(ids, interaction.ID)
	}

	for _, call := range made {
		seen = append(seen, call.ID)
	}

	require.Len(u.t, ids, upgradeToolCalls)
	require.ElementsMatch(u.t, ids, seen, "each tool call is made once, under the id that it was written down with")

	return calls
}

// asked counts the LLM calls about each marker, and those of them that were in flight while a server stopped.
func (u *upgrade) asked() (all, cut map[string]int) {
	// A call is finished once its result is committed, which on a busy machine is a while after the model has written it.
	const commit = 5 * time.Second

	all, cut = map[string]int{}, map[string]int{}

	for _, r := range u.model.Requests() {
		marker := upgradeMarker.FindString(string(r.Body))
		all[marker]++

		for _, stop := range u.stops {
			if r.Start.Before(stop.end) && r.Start.Add(r.Duration+commit).After(stop.begin) {
				cut[marker]++

				break
			}
		}
	}

	return all, cut
}
