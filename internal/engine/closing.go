package engine

import (
	"fmt"
	"slices"
	"time"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/agent"
	"tarsy.dev/tarsy/internal/progress"
)

// The functions of this file build the steps that end something. Their callers hold r.mu until the step is submitted.

// failStep ends a session whose stage did not succeed, with that stage's status.
func (r *sessionRun) failStep(index int) progress.Step {
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

// cancelledOnRequest is what is said of everything that was cancelled.
const cancelledOnRequest = "cancelled on request"

func (r *sessionRun) cancelStep() progress.Step {
	return r.closeStep(tarsy.SessionCancelled, "cancelled", cancelledOnRequest)
}

// releaseStep refuses wishes to cancel, which come too late. A question that came since the plan was made stays open and
// keeps the lease: the next plan answers it.
func (r *sessionRun) releaseStep() progress.Step {
	late := slices.DeleteFunc(r.answer(tarsy.RequestRefused), func(q tarsy.Request) bool { return q.Kind == tarsy.RequestChat })

	return progress.Step{Answered: late}
}

// closeStep ends a session whatever is still open in it: timeline events, calls, executions, stages and requests.
// A cancellation that people have already seen is not taken back, whatever was planned before it was asked.
func (r *sessionRun) closeStep(status tarsy.SessionStatus, code, message string) progress.Step {
	now := r.engine.now()
	session := r.state.Session

	if session.Status == tarsy.SessionCancelling && status != tarsy.SessionCancelled {
		return r.cancelStep()
	}

	step := progress.Step{Answered: r.answer(tarsy.RequestDone)}
	r.closeOpen(&step, tarsy.Status(status), message, now)

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
func (r *sessionRun) closeOpen(step *progress.Step, status tarsy.Status, message string, now time.Time) {
	r.closeTimeline(step, tarsy.EventStatus(status), now, "")

	for _, e := range r.state.Executions {
		if !e.Status.Terminal() {
			e.Status, e.CompletedAt, e.ErrorCode, e.ErrorMessage = status, &now, string(status), message
			step.Executions = append(step.Executions, e)
			step.Events = append(step.Events, tarsy.ExecutionStatusChanged(e, now))
		}
	}

	for _, s := range r.state.Stages {
		if !s.Status.Terminal() {
			s.Status, s.CompletedAt, s.ErrorMessage = status, &now, message
			step.Stages = append(step.Stages, s)
			step.Events = append(step.Events, tarsy.StageStatusChanged(s, now))
		}
	}
}

// closeTimeline ends the timeline events and calls that nobody goes on with: those of one execution, or all.
func (r *sessionRun) closeTimeline(step *progress.Step, status tarsy.EventStatus, now time.Time, execution string) {
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
func (r *sessionRun) failExecutionStep(id, code, message string) progress.Step {
	var step progress.Step

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
func (r *sessionRun) concludeStep(summary agent.Summary) progress.Step {
	if r.state.Session.Status == tarsy.SessionCancelling {
		step := r.cancelStep()
		step.Session.FinalAnalysis = r.finalAnalysis()

		return step
	}

	now := r.engine.now()
	session := r.state.Session
	session.FinalAnalysis, session.ConcludedEarly = r.finalAnalysis(), r.concludedEarly()
	step := progress.Step{LLMInteractions: summary.Interactions, Answered: r.answer(tarsy.RequestRefused)}

	for _, f := range summary.Fallbacks {
		event := r.event(f.EventType, f.Content, now)
		event.Metadata = f.Metadata
		step.Timeline = append(step.Timeline, event)
		step.Events = append(step.Events, tarsy.TimelineCreated(event))
	}

	if summary.Err != nil {
		session.ExecutiveSummaryError = tarsy.CleanText(summary.Err.Error())
	} else {
		session.ExecutiveSummary = summary.Text
		event := r.event(tarsy.EventExecutiveSummary, summary.Text, now)
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
