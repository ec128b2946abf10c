package agent

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/llm"
)

// action is what an execution does next.
type action int

const (
	actCompose  action = iota // write the first messages
	actGenerate               // ask the model, with tools
	actConclude               // tell the model to conclude
	actAnswer                 // ask the model, without tools, for its conclusion
	actTools                  // make the calls the model asked for
	actFail                   // too many time-outs
)

// next decides from the messages alone what comes next; a fresh execution and one whose server was killed go the
// same way.
func next(messages []tarsy.Message, calls []tarsy.LLMInteraction, maxIterations int) action {
	if len(messages) == 0 {
		return actCompose
	}

	iterations, timeouts := countIterations(calls)
	last := messages[len(messages)-1]

	switch {
	case len(pendingCalls(messages)) > 0:
		return actTools
	case timeouts >= maxConsecutiveTimeouts:
		return actFail
	case last.Role == tarsy.RoleUser && len(messages) > firstMessages:
		return actAnswer
	case iterations >= maxIterations:
		return actConclude
	default:
		return actGenerate
	}
}

// firstMessages is how many messages an execution begins with: the system's and the user's.
const firstMessages = 2

// countIterations returns how many LLM calls were made, and how many at the end ran out of time.
func countIterations(calls []tarsy.LLMInteraction) (iterations, timeouts int) {
	for _, c := range calls {
		if c.InteractionType == tarsy.InteractionIteration {
			iterations++
		}

		if c.ErrorCode == CodeIterationTimeout {
			timeouts++
		} else {
			timeouts = 0
		}
	}

	return iterations, timeouts
}

// pendingCalls returns the tool calls that have no result yet.
func pendingCalls(messages []tarsy.Message) []tarsy.ToolCall {
	answered := map[string]bool{}

	for _, m := range slices.Backward(messages) {
		switch m.Role {
		case tarsy.RoleTool:
			answered[m.ToolCallID] = true
		case tarsy.RoleAssistant:
			return slices.DeleteFunc(slices.Clone(m.ToolCalls), func(c tarsy.ToolCall) bool { return answered[c.ID] })
		case tarsy.RoleSystem, tarsy.RoleUser:
			return nil
		}
	}

	return nil
}

// loop does the next thing until the execution is over.
func (r *run) loop(ctx context.Context) error {
	r.started = map[string]bool{}

	if err := r.openTools(ctx); err != nil {
		return err
	}
	defer r.closeTools()

	for {
		if err := r.stopped(ctx); err != nil {
			return err
		}

		var (
			done bool
			err  error
		)

		switch next(r.Messages, r.LLMInteractions, r.Spec.MaxIterations) {
		case actCompose:
			r.submit(tarsy.Step{Messages: r.composeMessages()})
		case actGenerate:
			done, err = r.iterate(ctx, tarsy.InteractionIteration, r.toolList)
		case actConclude:
			r.submit(tarsy.Step{Messages: []tarsy.Message{r.message(tarsy.RoleUser, concludePrompt(r.Spec.MaxIterations))}})
		case actAnswer:
			done, err = r.iterate(ctx, tarsy.InteractionForcedConclusion, nil)
		case actTools:
			err = r.callTools(ctx)
		case actFail:
			done, err = true, r.fail(ctx, tarsy.Step{}, tarsy.StatusTimedOut, CodeIterationTimeout,
				fmt.Sprintf("%d LLM calls in a row took longer than %s", maxConsecutiveTimeouts, r.Spec.IterationTimeout))
		}

		if done || err != nil {
			return err
		}
	}
}

// stopped tells why the execution must not go on, if so.
func (r *run) stopped(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}

	return context.Cause(r.Yield)
}

func (r *run) openTools(ctx context.Context) error {
	if r.OpenTools == nil {
		return nil
	}

	if err := r.Recorder.Outside(ctx); err != nil {
		return err
	}

	tools, err := r.OpenTools(ctx)
	if err != nil {
		return fmt.Errorf("open tools: %w", err)
	}

	r.tools = tools

	list, err := tools.List(ctx)
	if err != nil {
		r.closeTools()

		return fmt.Errorf("list tools: %w", err)
	}

	r.toolList = list
	for _, t := range list {
		r.toolNames = append(r.toolNames, tarsy.CleanText(t.WireName()))
	}

	return nil
}

func (r *run) closeTools() {
	if r.tools == nil {
		return
	}

	if err := r.tools.Close(); err != nil {
		r.Logger.Warn("could not close tools", "execution_id", r.Execution.ID, "error", err)
	}
}

// iterate makes one LLM call and commits what came of it. It reports whether the execution is over.
func (r *run) iterate(ctx context.Context, purpose tarsy.InteractionType, tools []Tool) (bool, error) {
	if err := r.Recorder.Outside(ctx); err != nil {
		return false, err
	}

	answer, err := r.generate(ctx, purpose, tools)

	switch {
	case errors.Is(err, errIterationTimeout):
		return false, r.commit(ctx, answer.step)
	case err != nil && r.stopped(ctx) != nil:
		// Cut off from outside: the text so far is kept, the call itself never finished.
		r.submit(answer.partial)

		return false, r.stopped(ctx)
	case err != nil:
		return true, r.fail(ctx, answer.step, tarsy.StatusFailed, CodeLLMError, err.Error())
	}

	message := r.message(tarsy.RoleAssistant, answer.Text)
	message.ToolCalls = r.uniqueCalls(answer.ToolCalls)
	step := answer.step
	step.Messages = append(step.Messages, message)

	switch {
	case len(message.ToolCalls) > 0 && purpose == tarsy.InteractionIteration:
		r.startNext(ctx, &step, message.ToolCalls)

		return false, r.commit(ctx, step)
	case strings.TrimSpace(answer.Text) == "":
		return true, r.fail(ctx, step, tarsy.StatusFailed, CodeEmptyAnswer, "the model ended with neither text nor a tool call")
	default:
		return true, r.complete(ctx, step, answer.Text, purpose == tarsy.InteractionForcedConclusion)
	}
}

// uniqueCalls gives every call an id that no other call of the execution has: models repeat theirs.
func (r *run) uniqueCalls(calls []llm.ToolCall) []tarsy.ToolCall {
	used := map[string]bool{}

	for _, m := range r.Messages {
		for _, c := range m.ToolCalls {
			used[c.ID] = true
		}
	}

	unique := make([]tarsy.ToolCall, 0, len(calls))

	for _, c := range calls {
		id := tarsy.CleanText(c.ID)
		if id == "" || used[id] {
			id = "call_" + tarsy.NewID()
		}

		used[id] = true

		unique = append(unique, tarsy.ToolCall{ID: id, Name: tarsy.CleanText(c.Name), Arguments: tarsy.CleanText(c.Arguments)})
	}

	return unique
}

// complete ends the execution with its final analysis.
func (r *run) complete(ctx context.Context, step tarsy.Step, analysis string, forced bool) error {
	event := r.event(tarsy.EventFinalAnalysis, tarsy.EventCompleted, analysis)

	if forced {
		event.Metadata = map[string]any{"forced_conclusion": true, "max_iterations": r.Spec.MaxIterations}
	}

	step.Timeline = append(step.Timeline, event)
	step.Events = append(step.Events, tarsy.TimelineCreated(event))

	return r.end(ctx, step, tarsy.StatusCompleted)
}

// fail ends the execution with an error that people see in the timeline.
func (r *run) fail(ctx context.Context, step tarsy.Step, status tarsy.Status, code, message string) error {
	message = tarsy.CleanText(message)
	event := r.event(tarsy.EventError, tarsy.EventCompleted, message)
	event.Metadata = map[string]any{"code": code}
	step.Timeline = append(step.Timeline, event)
	step.Events = append(step.Events, tarsy.TimelineCreated(event))
	r.Execution.ErrorCode, r.Execution.ErrorMessage = code, message

	return r.end(ctx, step, status)
}

func (r *run) end(ctx context.Context, step tarsy.Step, status tarsy.Status) error {
	now := r.now()
	r.Execution.Status, r.Execution.CompletedAt = status, &now
	step.Executions = append(step.Executions, r.Execution)
	step.Events = append(step.Events, tarsy.ExecutionStatusChanged(r.Execution, now))

	return r.commit(ctx, step)
}

// commit records a step and waits for it. Finished work is recorded even if the execution is being cancelled.
func (r *run) commit(ctx context.Context, step tarsy.Step) error {
	r.remember(step)

	return r.Recorder.Commit(context.WithoutCancel(ctx), step)
}

// submit records a step without waiting.
func (r *run) submit(step tarsy.Step) {
	r.remember(step)
	r.Recorder.Submit(step)
}

// remember keeps the run's own view in line with what it records.
func (r *run) remember(step tarsy.Step) {
	state := tarsy.State{
		Messages: r.Messages, Timeline: r.Timeline,
		LLMInteractions: r.LLMInteractions, MCPInteractions: r.MCPInteractions,
	}
	state.Apply(step)
	r.Messages, r.Timeline = state.Messages, state.Timeline
	r.LLMInteractions, r.MCPInteractions = state.LLMInteractions, state.MCPInteractions
}

// message makes the next message of the conversation.
func (r *run) message(role tarsy.Role, content string) tarsy.Message {
	return tarsy.Message{
		ID: tarsy.NewID(), SessionID: r.Session.ID, StageID: r.Stage.ID, ExecutionID: r.Execution.ID,
		SequenceNumber: len(r.Messages) + 1, Role: role, Content: content, CreatedAt: r.now(),
	}
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

// unavailable lists the servers that could not be reached, in a stable order.
func (r *run) unavailable() []string {
	if r.tools == nil {
		return nil
	}

	reasons := r.tools.Unavailable()
	lines := make([]string, 0, len(reasons))

	for _, server := range slices.Sorted(maps.Keys(reasons)) {
		lines = append(lines, fmt.Sprintf("%s: %s", server, reasons[server]))
	}

	return lines
}
