package agent

import (
	"context"
	"time"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/calendar"
	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/internal/progress"
)

// execution holds the state of an execution and records changes to it. It makes no decisions. It belongs to one goroutine.
type execution struct {
	Config
	Input

	applier progress.Applier
}

func (x *execution) now() time.Time { return calendar.Time(x.Clock.Now()) }

// commit records a step and waits for it. Finished work is recorded even if the execution is being cancelled.
func (x *execution) commit(ctx context.Context, step progress.Step) error {
	x.remember(step)

	return x.Recorder.Commit(context.WithoutCancel(ctx), step)
}

// submit records a step without waiting.
func (x *execution) submit(step progress.Step) {
	x.remember(step)
	x.Recorder.Submit(step)
}

// remember applies a recorded step to the run's own state.
func (x *execution) remember(step progress.Step) {
	state := progress.State{
		Messages: x.Messages, Timeline: x.Timeline,
		LLMInteractions: x.LLMInteractions, MCPInteractions: x.MCPInteractions,
	}
	x.applier.Apply(&state, step)
	x.Messages, x.Timeline = state.Messages, state.Timeline
	x.LLMInteractions, x.MCPInteractions = state.LLMInteractions, state.MCPInteractions
}

// addMessage appends a message to the conversation, after those that the step already adds.
func (x *execution) addMessage(step *progress.Step, message tarsy.Message) {
	message.ID, message.CreatedAt = ident.New(), x.now()
	message.SessionID, message.StageID, message.ExecutionID = x.Session.ID, x.Stage.ID, x.Execution.ID
	message.SequenceNumber = len(x.Messages) + len(step.Messages) + 1
	step.Messages = append(step.Messages, message)
}

// newEvent creates a timeline event of this execution.
func (x *execution) newEvent(eventType tarsy.EventType, status tarsy.EventStatus, content string) tarsy.TimelineEvent {
	now := x.now()
	e := tarsy.TimelineEvent{
		ID: ident.New(), SessionID: x.Session.ID, StageID: &x.Stage.ID, ExecutionID: &x.Execution.ID,
		SequenceNumber: x.Recorder.Sequence(), EventType: eventType, Status: status, Content: content,
		CreatedAt: now, UpdatedAt: now,
	}

	if status != tarsy.EventStreaming {
		e.CompletedAt = &now
	}

	return e
}

// create adds an event to a step and announces it.
func create(step *progress.Step, event tarsy.TimelineEvent) {
	step.Timeline = append(step.Timeline, event)
	step.Events = append(step.Events, tarsy.TimelineCreated(event))
}

// closeEvent ends an event in a step and announces it.
func (x *execution) closeEvent(step *progress.Step, event tarsy.TimelineEvent, status tarsy.EventStatus) {
	now := x.now()
	event.Status, event.UpdatedAt, event.CompletedAt = status, now, &now
	step.Timeline = append(step.Timeline, event)
	step.Events = append(step.Events, tarsy.TimelineCompleted(event))
}
