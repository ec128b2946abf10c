package plan

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/agent"
	"tarsy.dev/tarsy/internal/chain"
)

func TestReplanningAnyRunPrefixLeadsToTheSameEnd(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := drawModel(t)
		pick := picker(t)
		p := m.begin()
		prefixes := []*play{m.again(p)}

		for !p.released {
			tasks := m.plan(p)
			require.Equal(t, tasks, m.plan(m.again(p)), "planning the same state twice differs")
			m.advance(p, tasks, pick)
			prefixes = append(prefixes, m.again(p))
		}

		requireClosed(t, p)
		require.Equal(t, m.expected(), p.state.Session.Status)
		m.requireResult(t, p)

		want := outcomeOf(p.state)

		for i, prefix := range prefixes {
			again := m.again(prefix)
			m.finishPlay(t, again, pick)
			require.Empty(t, cmp.Diff(want, outcomeOf(again.state)), "from prefix %d of %d", i, len(prefixes))
			requireClosed(t, again)

			m.checkCancelled(t, prefix, pick)
			m.checkCancelledAfterPlan(t, prefix, pick)
			m.checkTimedOut(t, prefix, pick)
			m.checkReconfigured(t, prefix, pick)
		}
	})
}

// checkReconfigured replaces or removes the chain at this prefix: the session must still end.
func (m *model) checkReconfigured(t *rapid.T, prefix *play, pick func(int) int) {
	if prefix.released {
		return
	}

	other := *m
	other.outcomes, other.forced = maps.Clone(m.outcomes), maps.Clone(m.forced)
	if rapid.IntRange(0, 3).Draw(t, "unknown") == 0 {
		other.missing = []string{"chain:chain"}
	}

	other.drawRecipe(t)

	p := other.again(prefix)
	other.finishPlay(t, p, pick)
	requireClosed(t, p)

	if other.missing != nil {
		require.Equal(t, "not_configured", p.state.Session.ErrorCode)
	}
}

// expected returns the final status of a session as implied by the outcomes alone.
func (m *model) expected() tarsy.SessionStatus {
	for _, stage := range m.recipe.Stages {
		count := map[tarsy.Status]int{}
		for _, a := range stage.Agents {
			count[m.outcomes[a.Spec.Name]]++
		}

		completed := count[tarsy.StatusCompleted]

		switch {
		case completed == len(stage.Agents) || (completed > 0 && stage.Policy == tarsy.PolicyAny):
		case count[tarsy.StatusFailed] == 0:
			return tarsy.SessionTimedOut
		default:
			return tarsy.SessionFailed
		}

		if len(stage.Agents) == 1 {
			continue
		}

		switch m.outcomes[stage.Synthesis.Spec.Name] {
		case tarsy.StatusCompleted:
		case tarsy.StatusTimedOut:
			return tarsy.SessionTimedOut
		default:
			return tarsy.SessionFailed
		}
	}

	return tarsy.SessionCompleted
}

// requireResult checks the result of the session: a synthesis provides the analysis of its stage, and an agent that was forced to conclude
// by the deadline makes the whole session concluded early.
func (m *model) requireResult(t *rapid.T, p *play) {
	session := p.state.Session

	switch {
	case !m.runbook:
		require.Empty(t, session.Runbook)
	case m.noRunbook:
		require.Equal(t, "the default", session.Runbook)
		require.JSONEq(t, `{"code": "runbook_unavailable"}`, string(p.state.Timeline[0].Metadata))
	default:
		require.Equal(t, "how to heal", session.Runbook)
	}

	if session.Status != tarsy.SessionCompleted {
		require.Empty(t, session.FinalAnalysis)

		return
	}

	last := m.recipe.Stages[len(m.recipe.Stages)-1]

	speaker := last.Synthesis
	if len(last.Agents) == 1 {
		speaker = last.Agents[0]
	}

	require.Equal(t, "found by "+speaker.Spec.Name, session.FinalAnalysis)

	early := ""
	if i := slices.IndexFunc(p.state.Executions, func(e tarsy.Execution) bool { return m.forced[e.AgentName].Early() }); i >= 0 {
		early = string(m.forced[p.state.Executions[i].AgentName])
	}

	require.Equal(t, early, session.ConcludedEarly)

	switch {
	case m.judgement.Err != nil:
		require.Equal(t, m.judgement.Err.Error(), session.VerdictError)
	case m.judgement.Verdict != nil:
		require.Len(t, p.verdicts, 1)
		require.Equal(t, m.judgement.Verdict.Outcome, session.Outcome)
		require.Equal(t, m.judgement.Verdict.Cause.Text, session.Cause)
	}
}

// checkCancelled requests a cancellation at this prefix.
func (m *model) checkCancelled(t *rapid.T, prefix *play, pick func(int) int) {
	p := m.again(prefix)
	ended := p.state.Session.Status
	p.released = false
	m.requestCancel(p)
	m.finishPlay(t, p, pick)
	requireClosed(t, p)

	if ended.Terminal() {
		require.Equal(t, ended, p.state.Session.Status)
		require.Equal(t, tarsy.RequestRefused, p.answered[len(p.answered)-1].Status)

		return
	}

	require.Equal(t, tarsy.SessionCancelled, p.state.Session.Status)
	require.Equal(t, tarsy.RequestDone, p.answered[len(p.answered)-1].Status)
}

// checkCancelledAfterPlan requests a cancellation between the plan and its step: people have seen "cancelling", and the earlier plan must
// not contradict it.
func (m *model) checkCancelledAfterPlan(t *rapid.T, prefix *play, pick func(int) int) {
	if prefix.released {
		return
	}

	p := m.again(prefix)
	tasks := m.plan(p)
	m.requestCancel(p)
	seen := p.state.Session.Status == tarsy.SessionCancelling
	m.advance(p, tasks, pick)
	m.finishPlay(t, p, pick)
	requireClosed(t, p)

	if seen {
		require.Equal(t, tarsy.SessionCancelled, p.state.Session.Status)
	}
}

// checkTimedOut lets the deadline pass at this prefix.
func (m *model) checkTimedOut(t *rapid.T, prefix *play, pick func(int) int) {
	p := m.again(prefix)
	if p.state.Session.StartedAt == nil || p.released {
		return
	}

	back := m.clock.Now().Add(-modelTimeout)
	p.state.Session.StartedAt = &back
	m.finishPlay(t, p, pick)
	requireClosed(t, p)
	require.Equal(t, tarsy.SessionTimedOut, p.state.Session.Status)
	require.Equal(t, "session_timeout", p.state.Session.ErrorCode)
}

func TestUnrunnableExecutionLeavesNothingOpen(t *testing.T) {
	t.Parallel()

	m := &model{clock: clockwork.NewFakeClock(), recipe: twoAgents()}
	p := m.begin()
	m.advance(p, m.plan(p), func(int) int { return 0 })

	first := p.state.Executions[0].ID
	p.apply(m.agentStep(p, first))
	p.apply(m.agentStep(p, first))
	p.apply(m.agentStep(p, p.state.Executions[1].ID))
	p.apply(m.agentStep(p, p.state.Executions[1].ID))
	// The agent's server was killed here, and the chain has lost the agent since.
	p.apply(m.steps(p).FailExecution(first, "unknown_agent", "the chain no longer has this agent"))
	require.Equal(t, tarsy.EventStreaming, p.state.Timeline[1].Status, "what another agent streams stays open")

	m.finishPlay(t, p, func(int) int { return 0 })
	requireClosed(t, p)
	require.Equal(t, tarsy.SessionCompleted, p.state.Session.Status)
	require.Equal(t, "found by synthesizer", p.state.Session.FinalAnalysis)
	require.Equal(t, "## b\n\nfound by b", analysisOf(p.state, p.state.Stages[0]), "what the synthesis was made of")
}

// twoAgents returns a chain with one stage, which completes if one of its agents does.
func twoAgents() chain.Chain {
	return chain.Chain{ID: "chain", Stages: []chain.Stage{{
		Name: "stage of a", Policy: tarsy.PolicyAny, Agents: []chain.Agent{{Spec: agent.Spec{Name: "a"}}, {Spec: agent.Spec{Name: "b"}}},
		Synthesis: chain.Agent{Spec: agent.Spec{Name: "synthesizer", Strategy: agent.Synthesis}},
	}}}
}
