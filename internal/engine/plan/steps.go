package plan

import (
	"fmt"
	"strings"
	"time"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/agent"
	"tarsy.dev/tarsy/internal/chain"
	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/internal/plaintext"
	"tarsy.dev/tarsy/internal/progress"
)

// synthesisAgent is the agent's name if the chain has become shorter since. The execution then fails with that reason.
const synthesisAgent = "SynthesisAgent"

// Steps builds the steps of a session at one point in time. Building a step changes nothing; the caller commits it.
type Steps struct {
	// State is the session's state in the database.
	State *progress.State
	// Chain is the chain that the session follows; it is empty if there is none.
	Chain chain.Chain
	// Missing lists the session's needs that this server lacks.
	Missing []string
	// Now is the time of the step.
	Now time.Time
	// Timeout is the time limit of the investigation, and of each answer to a question.
	Timeout time.Duration
	// Sequence returns the next sequence number of the session's timeline.
	Sequence func() int64
}

// For builds the step of a task that needs no external input. It panics for the other tasks: RunExecution, FetchRunbook and Conclude.
func (s Steps) For(t Task) progress.Step {
	switch t.Kind {
	case Release:
		return releasing(s.release())
	case Cancel:
		return releasing(withAnalysis(s.State, s.Chain, s.cancelSession()))
	case TimeOut:
		message := fmt.Sprintf("the session took longer than %s", s.Timeout)

		return releasing(withAnalysis(s.State, s.Chain, s.closeSession(tarsy.SessionTimedOut, "session_timeout", message)))
	case NotConfigured:
		message := fmt.Sprintf("no running server has configured %s, which this session needs; add it to the configuration and re-run the alert",
			chain.DescribeNeeds(s.Missing))

		return releasing(s.closeSession(tarsy.SessionFailed, "not_configured", message))
	case Fail:
		return releasing(s.failSession(t.Stage))
	case Start:
		return s.start()
	case CreateStage:
		return s.createStage(s.Chain.Stages[t.Stage])
	case Synthesize:
		return s.synthesize(t.Stage)
	case FinishStage:
		return s.finishStage(t.Stage)
	case Ask:
		return s.ask()
	case CancelChat:
		return releasing(s.closeChat(tarsy.StatusCancelled, cancelledOnRequest))
	case TimeOutChat:
		return releasing(s.closeChat(tarsy.StatusTimedOut, fmt.Sprintf("the answer took longer than %s", s.Timeout)))
	case ApplyDecisions:
		return *Decide(s.State, s.Now)
	case Wait:
		return s.wait(t.Stage)
	case RunExecution, Conclude, FetchRunbook:
	}

	panic("plan: this task needs more than a step")
}

// releasing makes a step release the lease.
func releasing(step progress.Step) progress.Step {
	step.Release = true

	return step
}

// createStage begins a stage of the chain: its row, its executions, the session's progress, and, with the first stage, the session's start.
func (s Steps) createStage(configured chain.Stage) progress.Step {
	stage := s.newStage(tarsy.StageInvestigation, configured.Name, len(configured.Agents))

	if len(configured.Agents) > 1 {
		stage.ParallelType, stage.SuccessPolicy = &configured.Parallel, &configured.Policy
	}

	return s.beginStage(stage, configured.Agents)
}

// synthesize begins the stage that turns the analyses of several agents into one.
func (s Steps) synthesize(index int) progress.Step {
	before := s.State.Stages[len(s.State.Stages)-1]

	synthesizer := chain.Agent{Spec: agent.Spec{Name: synthesisAgent, Strategy: agent.Synthesis}}
	if index < len(s.Chain.Stages) {
		synthesizer = s.Chain.Stages[index].Synthesis
	}

	return s.beginStage(s.newStage(tarsy.StageSynthesis, before.StageName+" - Synthesis", 1), []chain.Agent{synthesizer})
}

func (s Steps) newStage(stageType tarsy.StageType, name string, agents int) tarsy.Stage {
	return tarsy.Stage{
		ID: ident.New(), SessionID: s.State.Session.ID, StageName: name, StageType: stageType, StageIndex: len(s.State.Stages) + 1,
		ExpectedAgentCount: agents, Status: tarsy.StatusActive, CreatedAt: s.Now, StartedAt: &s.Now,
	}
}

// newEvent returns a completed timeline event of the session.
func (s Steps) newEvent(eventType tarsy.EventType, content string) tarsy.TimelineEvent {
	return tarsy.TimelineEvent{
		ID: ident.New(), SessionID: s.State.Session.ID, SequenceNumber: s.Sequence(), EventType: eventType,
		Status: tarsy.EventCompleted, Content: plaintext.Clean(content), CreatedAt: s.Now, UpdatedAt: s.Now, CompletedAt: &s.Now,
	}
}

// start begins a session, unless it has already begun.
func (s Steps) start() progress.Step {
	var step progress.Step

	session := s.State.Session
	if session.Status == tarsy.SessionPending {
		session.Status, session.StartedAt = tarsy.SessionInProgress, &s.Now
		step.Events = append(step.Events, tarsy.SessionStatusChanged(session, s.Now))
	}

	step.Session = &session

	return step
}

// beginStage begins a stage of the investigation, and with the first one the session.
func (s Steps) beginStage(stage tarsy.Stage, agents []chain.Agent) progress.Step {
	step := s.start()
	step.Session.CurrentStageIndex, step.Session.CurrentStageID, step.Session.LastInteractionAt = stage.StageIndex, &stage.ID, &s.Now
	addStage(&step, stage, agents, s.Now)

	return step
}

// addStage adds a stage and its executions to a step.
func addStage(step *progress.Step, stage tarsy.Stage, agents []chain.Agent, now time.Time) {
	step.Stages = append(step.Stages, stage)
	step.Events = append(step.Events, tarsy.StageStatusChanged(stage, now))

	for i, a := range agents {
		execution := tarsy.Execution{
			ID: ident.New(), SessionID: stage.SessionID, StageID: stage.ID, AgentName: a.Spec.Name, AgentIndex: i + 1,
			IterationStrategy: string(a.Spec.Strategy), LLMProvider: a.Spec.Provider, Status: tarsy.StatusActive, CreatedAt: now, StartedAt: &now,
		}
		step.Executions = append(step.Executions, execution)
		step.Events = append(step.Events, tarsy.ExecutionStatusChanged(execution, now))
	}
}

// finishStage ends a stage whose executions have all ended. After the answer to a question it releases the lease.
func (s Steps) finishStage(index int) progress.Step {
	stage := s.State.Stages[index]
	executions := executionsOf(s.State, stage.ID)

	policy := tarsy.PolicyAny
	if stage.SuccessPolicy != nil {
		policy = *stage.SuccessPolicy
	}

	stage.Status, stage.CompletedAt = stageStatus(policy, executions), &s.Now
	if stage.Status != tarsy.StatusCompleted {
		stage.ErrorMessage = stageError(executions)
	}

	step := progress.Step{Stages: []tarsy.Stage{stage}, Events: []tarsy.Event{tarsy.StageStatusChanged(stage, s.Now)}}

	if stage.StageType == tarsy.StageChat {
		s.touchChat(&step, *chatOf(s.State))

		return releasing(step)
	}

	return step
}

// stageError returns the error of a stage: that of a single agent unchanged, those of several prefixed with their names.
func stageError(executions []tarsy.Execution) string {
	if len(executions) == 1 {
		return executions[0].ErrorMessage
	}

	var lines []string

	for _, e := range executions {
		if e.Status != tarsy.StatusCompleted {
			lines = append(lines, fmt.Sprintf("%s (%s): %s", e.AgentName, e.Status, e.ErrorMessage))
		}
	}

	return strings.Join(lines, "\n")
}
