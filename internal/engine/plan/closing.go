package plan

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/agent"
	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/internal/plaintext"
	"tarsy.dev/tarsy/internal/progress"
)

// failSession ends a session whose stage did not succeed, as timed out if the stage did, otherwise as failed.
func (s Steps) failSession(index int) progress.Step {
	stage := s.State.Stages[index]
	code := "stage_failed"

	if executions := executionsOf(s.State, stage.ID); len(executions) == 1 {
		code = executions[0].ErrorCode
	}

	status := tarsy.SessionFailed
	if stage.Status == tarsy.StatusTimedOut {
		status = tarsy.SessionTimedOut
	}

	return s.closeSession(status, code, fmt.Sprintf("stage %q: %s", stage.StageName, stage.ErrorMessage))
}

// cancelledOnRequest is the error message of everything that was cancelled.
const cancelledOnRequest = "cancelled on request"

func (s Steps) cancelSession() progress.Step {
	return s.closeSession(tarsy.SessionCancelled, "cancelled", cancelledOnRequest)
}

// release refuses cancel requests, which arrived too late. A question that arrived after planning remains open and keeps the lease; the
// next plan answers it.
func (s Steps) release() progress.Step {
	late := slices.DeleteFunc(s.closeRequests(tarsy.RequestRefused), func(q tarsy.Request) bool { return q.Kind == tarsy.RequestChat })

	return progress.Step{Answered: late}
}

// closeSession ends a session and everything that is open in it: timeline events, calls, executions, stages and requests. A cancellation
// that people have already seen is not reverted, whatever was planned before the request.
func (s Steps) closeSession(status tarsy.SessionStatus, code, message string) progress.Step {
	now := s.Now
	session := s.State.Session

	if session.Status == tarsy.SessionCancelling && status != tarsy.SessionCancelled {
		return s.cancelSession()
	}

	step := progress.Step{Answered: s.closeRequests(tarsy.RequestDone)}
	closeOpen(&step, s.State, tarsy.Status(status), message, now)

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

// closeOpen ends everything in the session that has not ended. The statuses of sessions that did not complete are also valid statuses of
// stages, executions and timeline events.
func closeOpen(step *progress.Step, state *progress.State, status tarsy.Status, message string, now time.Time) {
	closeTimeline(step, state, tarsy.EventStatus(status), now, "")

	for _, e := range state.Executions {
		if !e.Status.Terminal() {
			e.Status, e.CompletedAt, e.ErrorCode, e.ErrorMessage = status, &now, string(status), message
			step.Executions = append(step.Executions, e)
			step.Events = append(step.Events, tarsy.ExecutionStatusChanged(e, now))
		}
	}

	for _, s := range state.Stages {
		if !s.Status.Terminal() {
			s.Status, s.CompletedAt, s.ErrorMessage = status, &now, message
			step.Stages = append(step.Stages, s)
			step.Events = append(step.Events, tarsy.StageStatusChanged(s, now))
		}
	}
}

// closeTimeline ends the open timeline events and calls of an execution, or of all executions if it is empty.
func closeTimeline(step *progress.Step, state *progress.State, status tarsy.EventStatus, now time.Time, execution string) {
	approvals := withdraw(step, state, now, execution)

	for _, e := range state.Timeline {
		if e.Status != tarsy.EventStreaming || (execution != "" && (e.ExecutionID == nil || *e.ExecutionID != execution)) {
			continue
		}

		if metadata, ok := approvals[e.ID]; ok {
			e.Metadata = metadata
		}

		e.Status, e.UpdatedAt, e.CompletedAt = status, now, &now
		step.Timeline = append(step.Timeline, e)
		step.Events = append(step.Events, tarsy.TimelineCompleted(e))
	}

	for _, c := range state.MCPInteractions {
		if c.Status == tarsy.CallStarted && (execution == "" || c.ExecutionID == execution) {
			c.Status, c.CompletedAt, c.ErrorMessage = tarsy.CallUnknown, &now, "the call was cut off"
			step.MCPInteractions = append(step.MCPInteractions, c)
		}
	}
}

// FailExecution fails an execution that could not run, and closes what an earlier holder of the session left open in it.
func (s Steps) FailExecution(id, code, message string) progress.Step {
	var step progress.Step

	now := s.Now
	closeTimeline(&step, s.State, tarsy.EventFailed, now, id)

	i := slices.IndexFunc(s.State.Executions, func(e tarsy.Execution) bool { return e.ID == id })
	execution := s.State.Executions[i]
	event := s.newEvent(tarsy.EventError, message)
	event.StageID, event.ExecutionID, event.Metadata = &execution.StageID, &execution.ID, tarsy.NewMetadata(tarsy.ErrorMetadata{Code: code})
	execution.Status, execution.CompletedAt = tarsy.StatusFailed, &now
	execution.ErrorCode, execution.ErrorMessage = code, event.Content

	step.Executions = append(step.Executions, execution)
	step.Timeline = append(step.Timeline, event)
	step.Events = append(step.Events, tarsy.TimelineCreated(event), tarsy.ExecutionStatusChanged(execution, now))

	return step
}

// Complete ends a session whose stages all succeeded. If the summary or the verdict failed, the reason is stored.
func (s Steps) Complete(summary agent.Summary, judgement agent.Judgement) progress.Step {
	if s.State.Session.Status == tarsy.SessionCancelling {
		step := s.cancelSession()
		step.Session.FinalAnalysis = FinalAnalysis(s.State)

		return releasing(step)
	}

	now := s.Now
	session := s.State.Session
	session.FinalAnalysis, session.ConcludedEarly = FinalAnalysis(s.State), concludedEarly(s.State)
	step := progress.Step{
		LLMInteractions: slices.Concat(summary.Interactions, judgement.Interactions), Answered: s.closeRequests(tarsy.RequestRefused),
	}

	for _, f := range slices.Concat(summary.Fallbacks, judgement.Fallbacks) {
		event := s.newEvent(f.EventType, f.Content)
		event.Metadata = f.Metadata
		step.Timeline = append(step.Timeline, event)
		step.Events = append(step.Events, tarsy.TimelineCreated(event))
	}

	if summary.Err != nil {
		session.ExecutiveSummaryError = plaintext.Clean(summary.Err.Error())
	} else {
		session.ExecutiveSummary = summary.Text
		event := s.newEvent(tarsy.EventExecutiveSummary, summary.Text)
		step.Timeline = append(step.Timeline, event)
		step.Events = append(step.Events, tarsy.TimelineCreated(event))
	}

	switch {
	case judgement.Err != nil:
		session.VerdictError = plaintext.Clean(judgement.Err.Error())
	case judgement.Verdict != nil:
		verdict := *judgement.Verdict
		verdict.ID, verdict.SessionID, verdict.CreatedAt = ident.New(), session.ID, now
		// Lists and search results show one line without links to calls.
		session.Outcome, session.Cause = verdict.Outcome, tarsy.WithoutMarks(verdict.Cause.Text)
		step.Verdicts = []tarsy.Verdict{verdict}
		step.Events = append(step.Events, tarsy.SessionVerdict(verdict, now))
	}

	session.Status, session.CompletedAt, session.LastInteractionAt = tarsy.SessionCompleted, &now, &now
	step.Session = &session
	step.Events = append(step.Events, tarsy.SessionStatusChanged(session, now))

	return releasing(step)
}

// GiveUp ends a session that makes no progress, or the current answer to a question.
func (s Steps) GiveUp(message string) progress.Step {
	switch {
	case !s.State.Session.Status.Terminal():
		return releasing(s.closeSession(tarsy.SessionFailed, string(tarsy.CodeInternal), message))
	case openChat(s.State) >= 0:
		return releasing(s.closeChat(tarsy.StatusFailed, message))
	default:
		return releasing(s.refuseQuestions(message))
	}
}

// refuseQuestions refuses all open requests. Questions had been accepted, so an event tells the asker that there will be no answer.
func (s Steps) refuseQuestions(reason string) progress.Step {
	step := progress.Step{Answered: s.closeRequests(tarsy.RequestRefused)}

	for _, q := range step.Answered {
		if q.Kind != tarsy.RequestChat {
			continue
		}

		var question tarsy.Question
		if err := json.Unmarshal(q.Payload, &question); err != nil {
			continue // without an ID the asker cannot recognize the event
		}

		event := s.newEvent(tarsy.EventError, fmt.Sprintf("A question of %s cannot be answered: %s. Ask it again.", q.Author, reason))
		event.Metadata = tarsy.NewMetadata(tarsy.ErrorMetadata{Code: tarsy.ErrorQuestionRefused, MessageID: question.MessageID})
		step.Timeline = append(step.Timeline, event)
		step.Events = append(step.Events, tarsy.TimelineCreated(event))
	}

	return step
}

// Cancelling reports whether a cancel request must stop the current work immediately. If people must first see that the session is being
// cancelled, step records that; otherwise it is nil.
func Cancelling(state *progress.State, now time.Time) (step *progress.Step, stop bool) {
	if !HasRequest(state, tarsy.RequestCancel) || state.Session.Status.Terminal() && openChat(state) < 0 {
		return nil, false
	}

	if state.Session.Status != tarsy.SessionInProgress {
		return nil, true
	}

	session := state.Session
	session.Status = tarsy.SessionCancelling

	return &progress.Step{Session: &session, Events: []tarsy.Event{tarsy.SessionStatusChanged(session, now)}}, true
}

// closeRequests closes all open requests.
func (s Steps) closeRequests(status tarsy.RequestStatus) []tarsy.Request {
	closed := make([]tarsy.Request, 0, len(s.State.Requests))

	for _, q := range s.State.Requests {
		q.Status, q.ClosedAt = status, &s.Now

		// A remaining decision arrived too late.
		if q.Kind == tarsy.RequestApproval {
			q.Status = tarsy.RequestRefused
		}

		closed = append(closed, q)
	}

	return closed
}
