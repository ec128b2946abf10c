package engine

import (
	"fmt"
	"strings"
	"time"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/agent"
	"tarsy.dev/tarsy/internal/chain"
	"tarsy.dev/tarsy/internal/progress"
)

// synthesisAgent is whom a stage names where the chain has become shorter since; it is missing when it is to run, and
// says so.
const synthesisAgent = "SynthesisAgent"

// The functions of this file build steps from the state. Their callers hold r.mu until the step is submitted.

// taskStep builds the step of a task that needs nothing from outside.
func (r *sessionRun) taskStep(recipe chain.Chain, t task) progress.Step {
	switch t.kind {
	case taskRelease:
		return r.releaseStep()
	case taskCancel:
		return r.keepAnalysis(recipe, r.cancelStep())
	case taskTimeOut:
		message := fmt.Sprintf("the session took longer than %s", r.engine.SessionTimeout)

		return r.keepAnalysis(recipe, r.closeStep(tarsy.SessionTimedOut, "session_timeout", message))
	case taskNoChain:
		return r.closeStep(tarsy.SessionFailed, "unknown_chain", fmt.Sprintf("chain %q is no longer configured", r.state.Session.ChainID))
	case taskFail:
		return r.failStep(t.stage)
	case taskCreateStage:
		return r.createStageStep(recipe.Stages[t.stage])
	case taskSynthesise:
		return r.synthesiseStep(recipe, t.stage)
	case taskAsk:
		return r.askStep(recipe)
	case taskCancelChat:
		return r.closeChatStep(tarsy.StatusCancelled, cancelledOnRequest)
	case taskTimeOutChat:
		return r.closeChatStep(tarsy.StatusTimedOut, fmt.Sprintf("the answer took longer than %s", r.engine.SessionTimeout))
	case taskRunExecution, taskConclude, taskFetchRunbook, taskFinishStage:
	}

	panic("engine: this task has no step of its own")
}

// createStageStep begins a configured stage: its row, its executions, the session's progress, and with the first
// stage the session's start.
func (r *sessionRun) createStageStep(configured chain.Stage) progress.Step {
	now := r.engine.now()
	stage := r.newStage(tarsy.StageInvestigation, configured.Name, len(configured.Agents), now)

	if len(configured.Agents) > 1 {
		stage.ParallelType, stage.SuccessPolicy = &configured.Parallel, &configured.Policy
	}

	return r.beginStage(stage, configured.Agents, now)
}

// synthesiseStep begins the stage that makes one analysis of what several agents found.
func (r *sessionRun) synthesiseStep(recipe chain.Chain, index int) progress.Step {
	now := r.engine.now()
	before := r.state.Stages[len(r.state.Stages)-1]

	synthesizer := chain.Agent{Spec: agent.Spec{Name: synthesisAgent, Strategy: agent.Synthesis}}
	if index < len(recipe.Stages) {
		synthesizer = recipe.Stages[index].Synthesis
	}

	return r.beginStage(r.newStage(tarsy.StageSynthesis, before.StageName+" - Synthesis", 1, now), []chain.Agent{synthesizer}, now)
}

func (r *sessionRun) newStage(stageType tarsy.StageType, name string, agents int, now time.Time) tarsy.Stage {
	return tarsy.Stage{
		ID: tarsy.NewID(), SessionID: r.lease.SessionID, StageName: name, StageType: stageType, StageIndex: len(r.state.Stages) + 1,
		ExpectedAgentCount: agents, Status: tarsy.StatusActive, CreatedAt: now, StartedAt: &now,
	}
}

// beginStage begins a stage of the investigation.
func (r *sessionRun) beginStage(stage tarsy.Stage, agents []chain.Agent, now time.Time) progress.Step {
	step, session := r.startSession(now)
	session.CurrentStageIndex, session.CurrentStageID, session.LastInteractionAt = stage.StageIndex, &stage.ID, &now
	step.Session = &session

	addStage(&step, stage, agents, now)

	return step
}

// startSession is the beginning of a step that may be the session's first.
func (r *sessionRun) startSession(now time.Time) (progress.Step, tarsy.Session) {
	var step progress.Step

	session := r.state.Session
	if session.Status == tarsy.SessionPending {
		session.Status, session.StartedAt = tarsy.SessionInProgress, &now
		step.Events = append(step.Events, tarsy.SessionStatusChanged(session, now))
	}

	return step, session
}

// addStage puts a stage and its executions into a step.
func addStage(step *progress.Step, stage tarsy.Stage, agents []chain.Agent, now time.Time) {
	step.Stages = append(step.Stages, stage)
	step.Events = append(step.Events, tarsy.StageStatusChanged(stage, now))

	for i, a := range agents {
		execution := tarsy.Execution{
			ID: tarsy.NewID(), SessionID: stage.SessionID, StageID: stage.ID, AgentName: a.Spec.Name, AgentIndex: i + 1,
			IterationStrategy: string(a.Spec.Strategy), LLMProvider: a.Spec.Provider, Status: tarsy.StatusActive, CreatedAt: now, StartedAt: &now,
		}
		step.Executions = append(step.Executions, execution)
		step.Events = append(step.Events, tarsy.ExecutionStatusChanged(execution, now))
	}
}

// finishStageStep ends a stage whose executions have all ended.
func (r *sessionRun) finishStageStep(index int) progress.Step {
	now := r.engine.now()
	stage := r.state.Stages[index]
	executions := r.executions(stage.ID)

	policy := tarsy.PolicyAny
	if stage.SuccessPolicy != nil {
		policy = *stage.SuccessPolicy
	}

	stage.Status, stage.CompletedAt = stageStatus(policy, executions), &now
	if stage.Status != tarsy.StatusCompleted {
		stage.ErrorMessage = stageError(executions)
	}

	return progress.Step{Stages: []tarsy.Stage{stage}, Events: []tarsy.Event{tarsy.StageStatusChanged(stage, now)}}
}

// stageError tells what went wrong: one agent's error as it is, several by name.
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
