package agent

import (
	"context"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/progress"
)

// commit records a step and waits for it. Finished work is recorded even if the execution is being cancelled.
func (r *run) commit(ctx context.Context, step progress.Step) error {
	r.remember(step)

	return r.Recorder.Commit(context.WithoutCancel(ctx), step)
}

// submit records a step without waiting.
func (r *run) submit(step progress.Step) {
	r.remember(step)
	r.Recorder.Submit(step)
}

// remember keeps the run's own view in line with what it records.
func (r *run) remember(step progress.Step) {
	state := progress.State{
		Messages: r.Messages, Timeline: r.Timeline,
		LLMInteractions: r.LLMInteractions, MCPInteractions: r.MCPInteractions,
	}
	state.Apply(step)
	r.Messages, r.Timeline = state.Messages, state.Timeline
	r.LLMInteractions, r.MCPInteractions = state.LLMInteractions, state.MCPInteractions
}

// say adds a message to the conversation, after those that the step already adds.
func (r *run) say(step *progress.Step, message tarsy.Message) {
	message.ID, message.CreatedAt = tarsy.NewID(), r.now()
	message.SessionID, message.StageID, message.ExecutionID = r.Session.ID, r.Stage.ID, r.Execution.ID
	message.SequenceNumber = len(r.Messages) + len(step.Messages) + 1
	step.Messages = append(step.Messages, message)
}

// event makes a new timeline event of this execution.
func (r *run) event(eventType tarsy.EventType, status tarsy.EventStatus, content string) tarsy.TimelineEvent {
	now := r.now()
	e := tarsy.TimelineEvent{
		ID: tarsy.NewID(), SessionID: r.Session.ID, StageID: &r.Stage.ID, ExecutionID: &r.Execution.ID,
		SequenceNumber: r.Recorder.Sequence(), EventType: eventType, Status: status, Content: content,
		CreatedAt: now, UpdatedAt: now,
	}

	if status != tarsy.EventStreaming {
		e.CompletedAt = &now
	}

	return e
}

// create adds an event to a step and tells of it.
func create(step *progress.Step, event tarsy.TimelineEvent) {
	step.Timeline = append(step.Timeline, event)
	step.Events = append(step.Events, tarsy.TimelineCreated(event))
}

// settle ends an event in a step and tells of it.
func (r *run) settle(step *progress.Step, event tarsy.TimelineEvent, status tarsy.EventStatus) {
	now := r.now()
	event.Status, event.UpdatedAt, event.CompletedAt = status, now, &now
	step.Timeline = append(step.Timeline, event)
	step.Events = append(step.Events, tarsy.TimelineCompleted(event))
}
