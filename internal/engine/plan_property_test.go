package engine

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/agent"
	"tarsy.dev/tarsy/internal/postgres"
)

const modelTimeout = time.Hour

// model plays sessions without a database: plans and steps are the real ones, agents are reduced to the few steps
// that matter to a plan.
type model struct {
	recipe   Recipe
	outcomes map[string]tarsy.Status // by agent name, which is unique in a model
	clock    *clockwork.FakeClock
}

// play is one session on its way, with every event of its journal.
type play struct {
	*sessionRun

	events   []tarsy.Event
	answered []tarsy.Request
	released bool
}

func drawModel(t *rapid.T) *model {
	m := &model{outcomes: map[string]tarsy.Status{}, clock: clockwork.NewFakeClock()}
	m.recipe.ID = "chain"

	for s := range rapid.IntRange(1, 4).Draw(t, "stages") {
		stage := RecipeStage{
			Name:   fmt.Sprintf("stage %d", s+1),
			Policy: rapid.SampledFrom([]tarsy.SuccessPolicy{tarsy.PolicyAll, tarsy.PolicyAny}).Draw(t, "policy"),
		}

		for a := range rapid.IntRange(1, 3).Draw(t, "agents") {
			name := fmt.Sprintf("agent %d.%d", s+1, a+1)
			stage.Agents = append(stage.Agents, RecipeAgent{Spec: agent.Spec{Name: name}})
			m.outcomes[name] = rapid.SampledFrom([]tarsy.Status{
				tarsy.StatusCompleted, tarsy.StatusCompleted, tarsy.StatusCompleted, tarsy.StatusFailed, tarsy.StatusTimedOut,
			}).Draw(t, name)
		}

		m.recipe.Stages = append(m.recipe.Stages, stage)
	}

	return m
}

func (m *model) begin() *play {
	session := tarsy.Session{ID: tarsy.NewID(), ChainID: "chain", Status: tarsy.SessionPending, CreatedAt: m.clock.Now()}

	return &play{sessionRun: m.run(&tarsy.State{Session: session})}
}

func (m *model) run(state *tarsy.State) *sessionRun {
	e := &Engine{Config: Config{Clock: m.clock, SessionTimeout: modelTimeout}}
	r := &sessionRun{engine: e, lease: postgres.Lease{SessionID: state.Session.ID, Fence: 1}, state: state}

	for _, event := range state.Timeline {
		r.sequence = max(r.sequence, event.SequenceNumber)
	}

	return r
}

// again is what another server sees that loads the session now.
func (m *model) again(p *play) *play {
	return &play{
		sessionRun: m.run(cloneState(p.state)),
		events:     slices.Clone(p.events), answered: slices.Clone(p.answered), released: p.released,
	}
}

func (m *model) plan(p *play) []task {
	return plan(p.state, m.recipe, true, m.clock.Now(), modelTimeout)
}

// apply is the commit.
func (p *play) apply(step tarsy.Step) {
	p.state.Apply(step)
	p.events = append(p.events, step.Events...)
	p.answered = append(p.answered, step.Answered...)
}

// advance does one of the planned tasks, or a part of it where it is an execution.
func (m *model) advance(p *play, tasks []task, pick func(n int) int) {
	m.clock.Advance(time.Millisecond)

	switch t := tasks[pick(len(tasks))]; t.kind {
	case taskRunExecution:
		p.apply(m.agentStep(p, t.execution))
	case taskConclude:
		p.apply(p.concludeStep("in short", tarsy.LLMInteraction{ID: tarsy.NewID(), SessionID: p.lease.SessionID}, nil))
		p.released = len(p.state.Requests) == 0
	case taskCreateStage, taskFinishStage:
		p.apply(p.taskStep(m.recipe, t))
	case taskRelease, taskCancel, taskTimeOut, taskNoChain, taskFail:
		p.apply(p.taskStep(m.recipe, t))
		p.released = len(p.state.Requests) == 0
	}
}

// agentStep is the next of an agent's steps, from what the state holds of it: messages, a text that streams together
// with a tool call, the end.
func (m *model) agentStep(p *play, id string) tarsy.Step {
	i := slices.IndexFunc(p.state.Executions, func(e tarsy.Execution) bool { return e.ID == id })
	execution := p.state.Executions[i]
	now := m.clock.Now()
	mine := func(e tarsy.TimelineEvent) bool { return e.ExecutionID != nil && *e.ExecutionID == id }

	if !slices.ContainsFunc(p.state.Messages, func(g tarsy.Message) bool { return g.ExecutionID == id }) {
		return tarsy.Step{Messages: []tarsy.Message{{ID: tarsy.NewID(), ExecutionID: id, SequenceNumber: 1, Role: tarsy.RoleUser}}}
	}

	at := slices.IndexFunc(p.state.Timeline, mine)
	if at < 0 {
		event := p.event(tarsy.EventToolCall, "", now)
		event.Status, event.CompletedAt, event.StageID, event.ExecutionID = tarsy.EventStreaming, nil, &execution.StageID, &id

		return tarsy.Step{
			Timeline: []tarsy.TimelineEvent{event}, Events: []tarsy.Event{tarsy.TimelineCreated(event)},
			MCPInteractions: []tarsy.MCPInteraction{{ID: tarsy.NewID(), ExecutionID: id, Status: tarsy.CallStarted, TimelineEventID: event.ID}},
		}
	}

	streaming := p.state.Timeline[at]
	streaming.Status, streaming.CompletedAt = tarsy.EventCompleted, &now
	call := p.state.MCPInteractions[slices.IndexFunc(p.state.MCPInteractions, func(c tarsy.MCPInteraction) bool { return c.ExecutionID == id })]
	call.Status = tarsy.CallCompleted
	execution.Status, execution.CompletedAt = m.outcomes[execution.AgentName], &now
	kind, text := tarsy.EventFinalAnalysis, "found by "+execution.AgentName

	if execution.Status != tarsy.StatusCompleted {
		kind, text = tarsy.EventError, "broken in "+execution.AgentName
		execution.ErrorCode, execution.ErrorMessage = "code of "+execution.AgentName, text
	}

	end := p.event(kind, text, now)
	end.StageID, end.ExecutionID = &execution.StageID, &id

	return tarsy.Step{
		Executions: []tarsy.Execution{execution}, MCPInteractions: []tarsy.MCPInteraction{call},
		Timeline: []tarsy.TimelineEvent{streaming, end},
		Events: []tarsy.Event{
			tarsy.TimelineCompleted(streaming), tarsy.TimelineCreated(end), tarsy.ExecutionStatusChanged(execution, now),
		},
	}
}

// finishPlay goes on to the end.
func (m *model) finishPlay(t require.TestingT, p *play, pick func(n int) int) {
	for range 1000 {
		if p.released {
			return
		}

		m.advance(p, m.plan(p), pick)
	}

	require.FailNow(t, "the session does not come to an end")
}

// outcome is a session's state without ids, times and the order of what ran at once.
type outcome struct {
	Session    tarsy.SessionStatus
	Error      string
	Analysis   string
	Summary    string
	StageIndex int
	Stages     []string
	Executions map[string][]string
}

func outcomeOf(state *tarsy.State) outcome {
	o := outcome{
		Session: state.Session.Status, Error: state.Session.ErrorCode + ": " + state.Session.ErrorMessage,
		Analysis: state.Session.FinalAnalysis, Summary: state.Session.ExecutiveSummary,
		StageIndex: state.Session.CurrentStageIndex, Executions: map[string][]string{},
	}

	for _, s := range state.Stages {
		o.Stages = append(o.Stages, fmt.Sprintf("%d %s %s %q", s.StageIndex, s.StageName, s.Status, s.ErrorMessage))
	}

	for _, e := range state.Executions {
		lines := []string{fmt.Sprintf("%s %s %s", e.Status, e.ErrorCode, e.ErrorMessage)}

		for _, v := range state.Timeline {
			if v.ExecutionID != nil && *v.ExecutionID == e.ID {
				lines = append(lines, fmt.Sprintf("%s %s %s", v.EventType, v.Status, v.Content))
			}
		}

		o.Executions[e.AgentName] = lines
	}

	return o
}

// requireClosed checks that nothing is left open and that the journal tells of each thing once.
func requireClosed(t require.TestingT, p *play) {
	require.True(t, p.state.Session.Status.Terminal())
	require.NotNil(t, p.state.Session.CompletedAt)
	require.Empty(t, p.state.Requests)

	for _, s := range p.state.Stages {
		require.True(t, s.Status.Terminal(), "stage %s is left %s", s.StageName, s.Status)
		require.NotNil(t, s.CompletedAt)
	}

	for _, e := range p.state.Executions {
		require.True(t, e.Status.Terminal(), "execution %s is left %s", e.AgentName, e.Status)
		require.NotNil(t, e.CompletedAt)
	}

	for _, e := range p.state.Timeline {
		require.NotEqual(t, tarsy.EventStreaming, e.Status, "a timeline event is left streaming")
	}

	for _, c := range p.state.MCPInteractions {
		require.NotEqual(t, tarsy.CallStarted, c.Status, "a call is left started")
	}

	told := map[string][]string{}

	for _, e := range p.events {
		var payload struct {
			EventID     string `json:"event_id"`
			StageID     string `json:"stage_id"`
			ExecutionID string `json:"execution_id"`
			Status      string `json:"status"`
		}

		require.NoError(t, json.Unmarshal(e.Payload, &payload))

		switch e.Type {
		case tarsy.TypeSessionStatus:
			told["session"] = append(told["session"], payload.Status)
		case tarsy.TypeStageStatus:
			told[payload.StageID] = append(told[payload.StageID], payload.Status)
		case tarsy.TypeExecutionStatus:
			told[payload.ExecutionID] = append(told[payload.ExecutionID], payload.Status)
		case tarsy.TypeTimelineCreated, tarsy.TypeTimelineCompleted:
			told[payload.EventID] = append(told[payload.EventID], e.Type)
		}
	}

	for _, s := range p.state.Stages {
		require.Equal(t, []string{"started", string(s.Status)}, told[s.ID], s.StageName)
	}

	for _, e := range p.state.Executions {
		require.Equal(t, []string{"started", string(e.Status)}, told[e.ID], e.AgentName)
	}

	for _, e := range p.state.Timeline {
		require.Equal(t, tarsy.TypeTimelineCreated, told[e.ID][0])
		require.LessOrEqual(t, len(told[e.ID]), 2)
	}

	require.Equal(t, string(p.state.Session.Status), told["session"][len(told["session"])-1])
	require.Len(t, slices.Compact(slices.Sorted(slices.Values(told["session"]))), len(told["session"]), "a status was told twice")
}

// picker chooses which of several executions goes on: any order may happen.
func picker(t *rapid.T) func(int) int {
	random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "order"), 0))

	return random.IntN
}

// requestCancel is what noteRequests does, without the database.
func (p *play) requestCancel() {
	p.state.Requests = append(p.state.Requests, tarsy.Request{ID: tarsy.NewID(), Kind: tarsy.RequestCancel, Status: tarsy.RequestOpen})
	if p.state.Session.Status != tarsy.SessionInProgress {
		return
	}

	session := p.state.Session
	session.Status = tarsy.SessionCancelling
	p.apply(tarsy.Step{Session: &session, Events: []tarsy.Event{tarsy.SessionStatusChanged(session, p.engine.now())}})
}

func TestFromEveryPrefixOfARunPlanningAgainLeadsToTheSameEnd(t *testing.T) {
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

		want := outcomeOf(p.state)

		for i, prefix := range prefixes {
			again := m.again(prefix)
			m.finishPlay(t, again, pick)
			require.Empty(t, cmp.Diff(want, outcomeOf(again.state)), "from prefix %d of %d", i, len(prefixes))
			requireClosed(t, again)

			m.checkCancelled(t, prefix, pick)
			m.checkCancelledAfterPlan(t, prefix, pick)
			m.checkTimedOut(t, prefix, pick)
		}
	})
}

// expected is the end of a session by the outcomes alone.
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
	}

	return tarsy.SessionCompleted
}

// checkCancelled asks for a cancellation at this prefix.
func (m *model) checkCancelled(t *rapid.T, prefix *play, pick func(int) int) {
	p := m.again(prefix)
	ended := p.state.Session.Status
	p.released = false
	p.requestCancel()
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

// checkCancelledAfterPlan asks for a cancellation between the plan and its step: people have seen "cancelling", and
// what was planned before must not make it untrue.
func (m *model) checkCancelledAfterPlan(t *rapid.T, prefix *play, pick func(int) int) {
	if prefix.released {
		return
	}

	p := m.again(prefix)
	tasks := m.plan(p)
	p.requestCancel()
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

	back := p.state.Session.StartedAt.Add(-modelTimeout)
	p.state.Session.StartedAt = &back
	m.finishPlay(t, p, pick)
	requireClosed(t, p)
	require.Equal(t, tarsy.SessionTimedOut, p.state.Session.Status)
	require.Equal(t, "session_timeout", p.state.Session.ErrorCode)
}

func TestAnExecutionThatCannotRunLeavesNothingOpen(t *testing.T) {
	t.Parallel()

	m := &model{
		clock:    clockwork.NewFakeClock(),
		outcomes: map[string]tarsy.Status{"a": tarsy.StatusCompleted, "b": tarsy.StatusCompleted},
		recipe: Recipe{Stages: []RecipeStage{{Name: "s", Policy: tarsy.PolicyAny, Agents: []RecipeAgent{
			{Spec: agent.Spec{Name: "a"}}, {Spec: agent.Spec{Name: "b"}},
		}}}},
	}
	p := m.begin()
	m.advance(p, m.plan(p), func(int) int { return 0 })

	first := p.state.Executions[0].ID
	p.apply(m.agentStep(p, first))
	p.apply(m.agentStep(p, first))
	p.apply(m.agentStep(p, p.state.Executions[1].ID))
	p.apply(m.agentStep(p, p.state.Executions[1].ID))
	// The agent's server was killed here, and the chain has lost the agent since.
	p.apply(p.failExecutionStep(first, "unknown_agent", "the chain no longer has this agent"))
	require.Equal(t, tarsy.EventStreaming, p.state.Timeline[1].Status, "what another agent streams stays open")

	m.finishPlay(t, p, func(int) int { return 0 })
	requireClosed(t, p)
	require.Equal(t, tarsy.SessionCompleted, p.state.Session.Status)
	require.Equal(t, "## b\n\nfound by b", p.state.Session.FinalAnalysis)
}

func cloneState(s *tarsy.State) *tarsy.State {
	c := *s
	c.Stages, c.Executions, c.Timeline = slices.Clone(s.Stages), slices.Clone(s.Executions), slices.Clone(s.Timeline)
	c.Messages, c.LLMInteractions = slices.Clone(s.Messages), slices.Clone(s.LLMInteractions)
	c.MCPInteractions, c.Requests = slices.Clone(s.MCPInteractions), slices.Clone(s.Requests)

	return &c
}
