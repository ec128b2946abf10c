package plan

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"time"

	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/agent"
	"tarsy.dev/tarsy/internal/chain"
	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/internal/progress"
)

const modelTimeout = time.Hour

// model simulates sessions without a database: plans and steps are real, agents are reduced to the few steps that matter to a plan.
type model struct {
	recipe   chain.Chain
	missing  []string                // the session's needs that the server lacks
	outcomes map[string]tarsy.Status // by agent name, which is unique in a model
	forced   map[string]tarsy.ForcedConclusion
	// runbook is whether the alert refers to one, noRunbook whether it cannot be read.
	runbook, noRunbook bool
	// judgement is the result of the verdict call: a verdict, an error, or nothing if the chain requires none.
	judgement agent.Judgement
	clock     *clockwork.FakeClock
}

// play is one simulated session, with every event of its journal.
type play struct {
	state    *progress.State
	sequence int64
	events   []tarsy.Event
	answered []tarsy.Request
	verdicts []tarsy.Verdict
	released bool
}

func drawModel(t *rapid.T) *model {
	m := &model{
		outcomes: map[string]tarsy.Status{}, forced: map[string]tarsy.ForcedConclusion{}, clock: clockwork.NewFakeClock(),
		runbook: rapid.Bool().Draw(t, "runbook"), noRunbook: rapid.Bool().Draw(t, "no runbook"),
	}
	m.judgement = rapid.SampledFrom([]agent.Judgement{
		{},
		{Closing: agent.Closing{Err: errors.New("the model is out of order")}},
		{Verdict: &tarsy.Verdict{Outcome: tarsy.OutcomeCauseFound, Cause: tarsy.Claim{Text: "the disk is full"}, Confidence: tarsy.ConfidenceHigh}},
	}).Draw(t, "judgement")
	m.drawRecipe(t)

	return m
}

// drawAgent draws an agent and its outcome.
func (m *model) drawAgent(t *rapid.T, name string) chain.Agent {
	m.outcomes[name] = rapid.SampledFrom([]tarsy.Status{
		tarsy.StatusCompleted, tarsy.StatusCompleted, tarsy.StatusCompleted, tarsy.StatusFailed, tarsy.StatusTimedOut,
	}).Draw(t, name)
	m.forced[name] = rapid.SampledFrom([]tarsy.ForcedConclusion{
		tarsy.NotForced, tarsy.NotForced, tarsy.ForcedIterations, tarsy.ForcedDeadline, tarsy.ForcedResolved,
	}).Draw(t, name+" forced")

	return chain.Agent{Spec: agent.Spec{Name: name}}
}

func (m *model) drawRecipe(t *rapid.T) {
	m.recipe = chain.Chain{ID: "chain"}

	for s := range rapid.IntRange(1, 4).Draw(t, "stages") {
		stage := chain.Stage{
			Name:   fmt.Sprintf("stage %d", s+1),
			Policy: rapid.SampledFrom([]tarsy.SuccessPolicy{tarsy.PolicyAll, tarsy.PolicyAny}).Draw(t, "policy"),
		}

		for a := range rapid.IntRange(1, 3).Draw(t, "agents") {
			name := fmt.Sprintf("agent %d.%d", s+1, a+1)
			stage.Agents = append(stage.Agents, m.drawAgent(t, name))
		}

		stage.Synthesis = m.drawAgent(t, fmt.Sprintf("synthesis %d", s+1))
		m.recipe.Stages = append(m.recipe.Stages, stage)
	}

	if rapid.IntRange(0, 4).Draw(t, "chat") > 0 {
		answerer := m.drawAgent(t, "answerer")
		m.recipe.Chat = &answerer
	}
}

func (m *model) begin() *play {
	session := tarsy.Session{ID: ident.New(), ChainID: "chain", Status: tarsy.SessionPending, CreatedAt: m.clock.Now()}
	if m.runbook {
		session.RunbookURL = "https://runbooks.example/it-hurts"
	}

	return &play{state: &progress.State{Session: session}}
}

// steps returns the step builder for the session's current state.
func (m *model) steps(p *play) Steps {
	return Steps{State: p.state, Chain: m.recipe, Now: m.clock.Now(), Timeout: modelTimeout, Sequence: func() int64 {
		p.sequence++

		return p.sequence
	}}
}

// again returns the session as another server would load it now.
func (m *model) again(p *play) *play {
	loaded := &play{
		state: cloneState(p.state), events: slices.Clone(p.events), answered: slices.Clone(p.answered),
		verdicts: slices.Clone(p.verdicts), released: p.released,
	}

	for _, event := range loaded.state.Timeline {
		loaded.sequence = max(loaded.sequence, event.SequenceNumber)
	}

	return loaded
}

func (m *model) plan(p *play) []Task {
	return Next(p.state, m.recipe, m.missing, m.clock.Now(), modelTimeout)
}

// apply commits a step. A releasing step releases the lease unless a request is open.
func (p *play) apply(step progress.Step) {
	p.state.Apply(step)
	p.released = step.Release && len(p.state.Requests) == 0
	p.events = append(p.events, step.Events...)
	p.answered = append(p.answered, step.Answered...)
	p.verdicts = append(p.verdicts, step.Verdicts...)
}

// advance does one of the planned tasks. Building its step must not change the state.
func (m *model) advance(p *play, tasks []Task, pick func(n int) int) {
	m.clock.Advance(time.Millisecond)

	before := cloneState(p.state)
	step := m.step(p, tasks[pick(len(tasks))])

	if !reflect.DeepEqual(before, p.state) {
		panic("building a step changed the state")
	}

	p.apply(step)
}

// step returns the step of a task; for an execution, only its next step.
func (m *model) step(p *play, t Task) progress.Step {
	steps := m.steps(p)

	switch t.Kind {
	case RunExecution:
		return m.executionStep(p, t)
	case FetchRunbook:
		if m.noRunbook {
			return steps.Runbook("", errors.New("404"), "the default")
		}

		return steps.Runbook("how to heal", nil, "the default")
	case Conclude:
		return steps.Complete(agent.Summary{Text: "in short"}, m.judgement)
	default:
		return steps.For(t)
	}
}

// executionStep returns the next step of an execution: that of its agent, or its failure if there is no agent.
func (m *model) executionStep(p *play, t Task) progress.Step {
	i := slices.IndexFunc(p.state.Executions, func(e tarsy.Execution) bool { return e.ID == t.Execution })

	if _, err := agentOf(p.state, m.recipe, t.Stage, p.state.Executions[i]); err != nil {
		return m.steps(p).FailExecution(t.Execution, string(tarsy.CodeOf(err)), err.Error())
	}

	return m.agentStep(p, t.Execution)
}

// agentStep returns the next step of an agent, derived from the state: messages, a text that streams together with a tool call, the end.
func (m *model) agentStep(p *play, id string) progress.Step {
	i := slices.IndexFunc(p.state.Executions, func(e tarsy.Execution) bool { return e.ID == id })
	execution := p.state.Executions[i]
	now := m.clock.Now()
	mine := func(e tarsy.TimelineEvent) bool {
		return e.ExecutionID != nil && *e.ExecutionID == id && e.EventType == tarsy.EventToolCall
	}

	if !slices.ContainsFunc(p.state.Messages, func(g tarsy.Message) bool { return g.ExecutionID == id }) {
		return progress.Step{Messages: []tarsy.Message{{ID: ident.New(), ExecutionID: id, SequenceNumber: 1, Role: tarsy.RoleUser}}}
	}

	at := slices.IndexFunc(p.state.Timeline, mine)
	if at < 0 {
		event := m.steps(p).newEvent(tarsy.EventToolCall, "")
		event.Status, event.CompletedAt, event.StageID, event.ExecutionID = tarsy.EventStreaming, nil, &execution.StageID, &id

		return progress.Step{
			Timeline: []tarsy.TimelineEvent{event}, Events: []tarsy.Event{tarsy.TimelineCreated(event)},
			MCPInteractions: []tarsy.MCPInteraction{{ID: ident.New(), ExecutionID: id, Status: tarsy.CallStarted, TimelineEventID: event.ID}},
		}
	}

	streaming := p.state.Timeline[at]
	streaming.Status, streaming.CompletedAt = tarsy.EventCompleted, &now
	call := p.state.MCPInteractions[slices.IndexFunc(p.state.MCPInteractions, func(c tarsy.MCPInteraction) bool { return c.ExecutionID == id })]
	call.Status = tarsy.CallCompleted
	execution.Status, execution.CompletedAt = cmp.Or(m.outcomes[execution.AgentName], tarsy.StatusCompleted), &now
	execution.ForcedConclusion = m.forced[execution.AgentName]
	kind, text := tarsy.EventFinalAnalysis, "found by "+execution.AgentName

	if execution.Status != tarsy.StatusCompleted {
		kind, text = tarsy.EventError, "broken in "+execution.AgentName
		execution.ErrorCode, execution.ErrorMessage = "code of "+execution.AgentName, text
	}

	end := m.steps(p).newEvent(kind, text)
	end.StageID, end.ExecutionID = &execution.StageID, &id

	return progress.Step{
		Executions: []tarsy.Execution{execution}, MCPInteractions: []tarsy.MCPInteraction{call},
		Timeline: []tarsy.TimelineEvent{streaming, end},
		Events: []tarsy.Event{
			tarsy.TimelineCompleted(streaming), tarsy.TimelineCreated(end), tarsy.ExecutionStatusChanged(execution, now),
		},
	}
}

// finishPlay runs the session to its end.
func (m *model) finishPlay(t require.TestingT, p *play, pick func(n int) int) {
	for range 1000 {
		if p.released {
			return
		}

		m.advance(p, m.plan(p), pick)
	}

	require.FailNow(t, "the session does not come to an end")
}

// outcome is a session's state without IDs, times and the order of concurrent work.
type outcome struct {
	Session    tarsy.SessionStatus
	Error      string
	Analysis   string
	Summary    string
	Outcome    tarsy.Outcome
	Cause      string
	NoVerdict  string
	Early      string
	Runbook    string
	StageIndex int
	Stages     []string
	Executions map[string][]string
}

func outcomeOf(state *progress.State) outcome {
	o := outcome{
		Session: state.Session.Status, Error: state.Session.ErrorCode + ": " + state.Session.ErrorMessage,
		Analysis: state.Session.FinalAnalysis, Summary: state.Session.ExecutiveSummary,
		Outcome: state.Session.Outcome, Cause: state.Session.Cause, NoVerdict: state.Session.VerdictError,
		Early: state.Session.ConcludedEarly, Runbook: state.Session.Runbook,
		StageIndex: state.Session.CurrentStageIndex, Executions: map[string][]string{},
	}

	names := map[string]string{}

	for _, s := range state.Stages {
		names[s.ID] = fmt.Sprintf("%d %s", s.StageIndex, s.StageName)
		o.Stages = append(o.Stages, fmt.Sprintf("%s %s %s %q", names[s.ID], s.StageType, s.Status, s.ErrorMessage))
	}

	for _, e := range state.Executions {
		lines := []string{fmt.Sprintf("%s %s %s", e.Status, e.ErrorCode, e.ErrorMessage)}

		for _, v := range state.Timeline {
			if v.ExecutionID != nil && *v.ExecutionID == e.ID {
				lines = append(lines, fmt.Sprintf("%s %s %s", v.EventType, v.Status, v.Content))
			}
		}

		o.Executions[names[e.StageID]+": "+e.AgentName] = lines
	}

	return o
}

// requireClosed checks that nothing is left open and that the journal reports everything once.
func requireClosed(t require.TestingT, p *play) {
	require.True(t, p.state.Session.Status.Terminal())
	require.NotNil(t, p.state.Session.CompletedAt)
	require.Empty(t, p.state.Requests)

	if len(p.state.Stages) > 0 {
		require.NotNil(t, p.state.Session.StartedAt, "the time limit counts from the start")
	}

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

	requireVerdict(t, p)

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

// picker returns a function that chooses which of several executions continues; any order is possible.
func picker(t *rapid.T) func(int) int {
	random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "order"), 0))

	return random.IntN
}

// requestCancel does what the engine does when it reads a cancel request.
func (m *model) requestCancel(p *play) {
	p.state.Requests = append(p.state.Requests, tarsy.Request{ID: ident.New(), Kind: tarsy.RequestCancel, Status: tarsy.RequestOpen})
	if step, _ := Cancelling(p.state, m.clock.Now()); step != nil {
		p.apply(*step)
	}
}

func cloneState(s *progress.State) *progress.State {
	c := *s
	c.Stages, c.Executions, c.Timeline = slices.Clone(s.Stages), slices.Clone(s.Executions), slices.Clone(s.Timeline)
	c.Messages, c.LLMInteractions = slices.Clone(s.Messages), slices.Clone(s.LLMInteractions)
	c.MCPInteractions, c.Requests = slices.Clone(s.MCPInteractions), slices.Clone(s.Requests)

	c.Chats, c.ChatMessages = slices.Clone(s.Chats), slices.Clone(s.ChatMessages)

	return &c
}
