package engine

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/agent"
)

// The functions of this file build steps from the state. Their callers hold r.mu until the step is submitted.

// taskStep builds the step of a task that needs nothing from outside.
func (r *sessionRun) taskStep(recipe Recipe, t task) tarsy.Step {
	switch t.kind {
	case taskRelease:
		return tarsy.Step{Answered: r.answer(tarsy.RequestRefused)}
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
		return r.createStageStep(recipe, t.stage)
	case taskFinishStage:
		return r.finishStageStep(t.stage)
	case taskRunExecution, taskConclude:
	}

	panic("engine: this task has no step of its own")
}

// createStageStep begins a stage: its row, its executions, the session's progress, and with the first stage the
// session's start.
func (r *sessionRun) createStageStep(recipe Recipe, index int) tarsy.Step {
	now := r.engine.now()
	session := r.state.Session
	configured := recipe.Stages[index]

	stage := tarsy.Stage{
		ID: tarsy.NewID(), SessionID: session.ID, StageName: configured.Name, StageIndex: index + 1,
		ExpectedAgentCount: len(configured.Agents), Status: tarsy.StatusActive, CreatedAt: now, StartedAt: &now,
	}

	if len(configured.Agents) > 1 {
		parallel, policy := tarsy.ParallelMultiAgent, configured.Policy
		stage.ParallelType, stage.SuccessPolicy = &parallel, &policy
	}

	var step tarsy.Step

	if session.Status == tarsy.SessionPending {
		session.Status, session.StartedAt = tarsy.SessionInProgress, &now
		step.Events = append(step.Events, tarsy.SessionStatusChanged(session, now))
	}

	session.CurrentStageIndex, session.CurrentStageID, session.LastInteractionAt = stage.StageIndex, &stage.ID, &now
	step.Session = &session
	step.Stages = []tarsy.Stage{stage}
	step.Events = append(step.Events, tarsy.StageStatusChanged(stage, now))

	for i, a := range configured.Agents {
		execution := tarsy.Execution{
			ID: tarsy.NewID(), SessionID: session.ID, StageID: stage.ID, AgentName: a.Spec.Name, AgentIndex: i + 1,
			IterationStrategy: a.Strategy, LLMProvider: a.Spec.Provider, Status: tarsy.StatusActive, CreatedAt: now, StartedAt: &now,
		}
		step.Executions = append(step.Executions, execution)
		step.Events = append(step.Events, tarsy.ExecutionStatusChanged(execution, now))
	}

	return step
}

// finishStageStep ends a stage whose executions have all ended.
func (r *sessionRun) finishStageStep(index int) tarsy.Step {
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

	return tarsy.Step{Stages: []tarsy.Stage{stage}, Events: []tarsy.Event{tarsy.StageStatusChanged(stage, now)}}
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

// failStep ends a session whose stage did not succeed, with that stage's status.
func (r *sessionRun) failStep(index int) tarsy.Step {
	stage := r.state.Stages[index]
	code := "stage_failed"

	if executions := r.executions(stage.ID); len(executions) == 1 {
		code = executions[0].ErrorCode
	}

	status := tarsy.SessionFailed
	if stage.Status == tarsy.StatusTimedOut {
		status = tarsy.SessionTimedOut
	}

	return r.closeStep(status, code, fmt.Sprintf("stage %q: %s", stage.StageName, stage.ErrorMessage))
}

func (r *sessionRun) cancelStep() tarsy.Step {
	return r.closeStep(tarsy.SessionCancelled, "cancelled", "cancelled on request")
}

// closeStep ends a session whatever is still open in it: timeline events, calls, executions, stages and requests.
// A cancellation that people have already seen is not taken back, whatever was planned before it was asked.
func (r *sessionRun) closeStep(status tarsy.SessionStatus, code, message string) tarsy.Step {
	now := r.engine.now()
	session := r.state.Session

	if session.Status == tarsy.SessionCancelling && status != tarsy.SessionCancelled {
		return r.cancelStep()
	}

	step := tarsy.Step{Answered: r.answer(tarsy.RequestDone)}
	r.closeOpen(&step, tarsy.Status(status), now)

	if status == tarsy.SessionCancelled && session.Status != tarsy.SessionCancelling {
		session.Status = tarsy.SessionCancelling
		step.Events = append(step.Events, tarsy.SessionStatusChanged(session, now))
	}

	session.Status, session.CompletedAt, session.LastInteractionAt = status, &now, &now
	session.ErrorCode, session.ErrorMessage = code, message
	step.Session = &session
	step.Events = append(step.Events, tarsy.SessionStatusChanged(session, now))

	return step
}

// closeOpen ends everything of the session that has not ended. The statuses of sessions that end badly are statuses
// of stages, executions and timeline events too.
func (r *sessionRun) closeOpen(step *tarsy.Step, status tarsy.Status, now time.Time) {
	r.closeTimeline(step, tarsy.EventStatus(status), now, "")

	for _, e := range r.state.Executions {
		if !e.Status.Terminal() {
			e.Status, e.CompletedAt, e.ErrorCode = status, &now, string(status)
			step.Executions = append(step.Executions, e)
			step.Events = append(step.Events, tarsy.ExecutionStatusChanged(e, now))
		}
	}

	for _, s := range r.state.Stages {
		if !s.Status.Terminal() {
			s.Status, s.CompletedAt = status, &now
			step.Stages = append(step.Stages, s)
			step.Events = append(step.Events, tarsy.StageStatusChanged(s, now))
		}
	}
}

// closeTimeline ends the timeline events and calls that nobody goes on with: those of one execution, or all.
func (r *sessionRun) closeTimeline(step *tarsy.Step, status tarsy.EventStatus, now time.Time, execution string) {
	for _, e := range r.state.Timeline {
		if e.Status != tarsy.EventStreaming || (execution != "" && (e.ExecutionID == nil || *e.ExecutionID != execution)) {
			continue
		}

		e.Status, e.UpdatedAt, e.CompletedAt = status, now, &now
		step.Timeline = append(step.Timeline, e)
		step.Events = append(step.Events, tarsy.TimelineCompleted(e))
	}

	for _, c := range r.state.MCPInteractions {
		if c.Status == tarsy.CallStarted && (execution == "" || c.ExecutionID == execution) {
			c.Status, c.CompletedAt, c.ErrorMessage = tarsy.CallUnknown, &now, "the call was cut off"
			step.MCPInteractions = append(step.MCPInteractions, c)
		}
	}
}

// failExecutionStep ends an execution that could not run, with what an earlier holder left open of it.
func (r *sessionRun) failExecutionStep(id, code, message string) tarsy.Step {
	var step tarsy.Step

	now := r.engine.now()
	r.closeTimeline(&step, tarsy.EventFailed, now, id)

	i := slices.IndexFunc(r.state.Executions, func(e tarsy.Execution) bool { return e.ID == id })
	execution := r.state.Executions[i]
	event := r.event(tarsy.EventError, message, now)
	event.StageID, event.ExecutionID, event.Metadata = &execution.StageID, &execution.ID, map[string]any{"code": code}
	execution.Status, execution.CompletedAt = tarsy.StatusFailed, &now
	execution.ErrorCode, execution.ErrorMessage = code, event.Content

	step.Executions = append(step.Executions, execution)
	step.Timeline = append(step.Timeline, event)
	step.Events = append(step.Events, tarsy.TimelineCreated(event), tarsy.ExecutionStatusChanged(execution, now))

	return step
}

// concludeStep completes a session. A summary that failed leaves its reason.
func (r *sessionRun) concludeStep(summary string, interaction tarsy.LLMInteraction, failure error) tarsy.Step {
	if r.state.Session.Status == tarsy.SessionCancelling {
		step := r.cancelStep()
		step.Session.FinalAnalysis = r.finalAnalysis()

		return step
	}

	now := r.engine.now()
	session := r.state.Session
	session.FinalAnalysis = r.finalAnalysis()
	step := tarsy.Step{LLMInteractions: []tarsy.LLMInteraction{interaction}, Answered: r.answer(tarsy.RequestRefused)}

	if failure != nil {
		session.ExecutiveSummaryError = tarsy.CleanText(failure.Error())
	} else {
		session.ExecutiveSummary = summary
		event := r.event(tarsy.EventExecutiveSummary, summary, now)
		step.Timeline = append(step.Timeline, event)
		step.Events = append(step.Events, tarsy.TimelineCreated(event))
	}

	session.Status, session.CompletedAt, session.LastInteractionAt = tarsy.SessionCompleted, &now, &now
	step.Session = &session
	step.Events = append(step.Events, tarsy.SessionStatusChanged(session, now))

	return step
}

// answer closes all open requests.
func (r *sessionRun) answer(status tarsy.RequestStatus) []tarsy.Request {
	now := r.engine.now()
	answered := make([]tarsy.Request, 0, len(r.state.Requests))

	for _, q := range r.state.Requests {
		q.Status, q.ClosedAt = status, &now
		answered = append(answered, q)
	}

	return answered
}

func (r *sessionRun) executions(stageID string) []tarsy.Execution {
	var executions []tarsy.Execution

	for _, e := range r.state.Executions {
		if e.StageID == stageID {
			executions = append(executions, e)
		}
	}

	return executions
}

// analysis is what a stage found: its agents' final analyses, under their names where there are several.
func (r *sessionRun) analysis(stage tarsy.Stage) string {
	executions := r.executions(stage.ID)

	var parts []string

	for _, e := range executions {
		for _, t := range r.state.Timeline {
			if t.EventType != tarsy.EventFinalAnalysis || t.ExecutionID == nil || *t.ExecutionID != e.ID {
				continue
			}

			if len(executions) == 1 {
				return t.Content
			}

			parts = append(parts, fmt.Sprintf("## %s\n\n%s", e.AgentName, t.Content))
		}
	}

	return strings.Join(parts, "\n\n")
}

// keepAnalysis adds what was found to the last step of a session that was stopped when only its summary was missing.
func (r *sessionRun) keepAnalysis(recipe Recipe, step tarsy.Step) tarsy.Step {
	if done := len(r.state.Stages); done > 0 && done == len(recipe.Stages) && r.state.Stages[done-1].Status == tarsy.StatusCompleted {
		step.Session.FinalAnalysis = r.finalAnalysis()
	}

	return step
}

// finalAnalysis is what the last stage found.
func (r *sessionRun) finalAnalysis() string { return r.analysis(r.state.Stages[len(r.state.Stages)-1]) }

// earlier is what the stages before one found.
func (r *sessionRun) earlier(index int) []agent.StageResult {
	var results []agent.StageResult

	for _, s := range r.state.Stages[:index] {
		results = append(results, agent.StageResult{StageName: s.StageName, FinalAnalysis: r.analysis(s)})
	}

	return results
}
