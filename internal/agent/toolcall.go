package agent

import (
	"context"
	"fmt"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/agent/quote"
	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/internal/plaintext"
	"tarsy.dev/tarsy/internal/progress"
)

// unknownOutcome is the result of a call that was interrupted after it may have taken effect.
const unknownOutcome = "The call was cut off and its outcome is unknown: it may or may not have taken effect. " +
	"Check the present state before you repeat it."

// callNext makes the first of the pending calls. Its result is committed together with the start of the next call, unless it is to be
// summarised first; a call is always recorded before it is made.
func (r *run) callNext(ctx context.Context) error {
	pending := pendingCalls(r.Messages)
	call := pending[0]

	var interaction tarsy.MCPInteraction

	if at := recordOf(r.MCPInteractions, call.ID); at >= 0 {
		interaction = r.MCPInteractions[at]
	} else {
		var step progress.Step

		interaction = r.startCall(&step, call)

		if err := r.commit(ctx, step); err != nil {
			return err
		}
	}

	if interaction.Approval.Open(r.now()) && !r.mustConclude(ctx) {
		return ErrWaiting
	}

	result, err := r.resultOf(ctx, call, &interaction)
	if err != nil {
		return err
	}

	step := r.finishCall(interaction, call, result)
	if !r.Spec.digests(interaction.ServerName, plaintext.Clean(result.Content)) {
		r.startNext(ctx, &step, pending[1:])
	}

	return r.commit(ctx, step)
}

// recordOf finds the record of a call; it returns -1 if there is none. It is usually one of the last.
func recordOf(calls []tarsy.MCPInteraction, toolCallID string) int {
	for i := len(calls) - 1; i >= 0; i-- { //nolint:modernize // slices.Backward copies each one, and they are large
		if calls[i].ToolCallID == toolCallID {
			return i
		}
	}

	return -1
}

// startNext records the first of the calls, if there is one and the execution may continue: a call that is recorded but not made could
// not be distinguished from an interrupted one.
func (r *run) startNext(ctx context.Context, step *progress.Step, calls []tarsy.ToolCall) {
	if len(calls) > 0 && r.stopped(ctx) == nil && !r.mustConclude(ctx) && recordOf(r.MCPInteractions, calls[0].ID) < 0 {
		r.startCall(step, calls[0])
	}
}

// startCall records a call.
func (r *run) startCall(step *progress.Step, call tarsy.ToolCall) tarsy.MCPInteraction {
	tool, known := Resolve(r.tools.all, call.Name)
	server, name := plaintext.Clean(tool.Server), plaintext.Clean(tool.Name)

	if !known {
		server, name = splitName(call.Name)
	}

	event := r.newEvent(tarsy.EventToolCall, tarsy.EventStreaming, "")
	arguments := encodeArguments(call)

	interaction := tarsy.MCPInteraction{
		ID: ident.New(), SessionID: r.Session.ID, StageID: r.Stage.ID, ExecutionID: r.Execution.ID,
		TimelineEventID: event.ID, ToolCallID: call.ID, ServerName: server, ToolName: name,
		ToolArguments: arguments, AvailableTools: r.tools.names, ReadOnly: tool.ReadOnly,
		Attempt: 1, Status: tarsy.CallStarted, CreatedAt: r.now(),
	}

	metadata := tarsy.ToolCallMetadata{Call: nextCall(&r.Input), ServerName: server, ToolName: name, Arguments: arguments}

	if known && r.requestApproval(&interaction, call) {
		metadata.ApprovalID, metadata.Approval = interaction.ID, interaction.Approval
	} else {
		r.started[call.ID] = true
	}

	event.Metadata = tarsy.NewMetadata(metadata)
	create(step, event)
	step.MCPInteractions = append(step.MCPInteractions, interaction)

	if interaction.Approval != nil {
		step.Events = append(step.Events, tarsy.ApprovalChanged(interaction, event.CreatedAt))
	}

	return interaction
}

// callTool makes a call, unless it was interrupted after it may have taken effect, or is no longer worth the time.
func (r *run) callTool(ctx context.Context, call tarsy.ToolCall, interaction *tarsy.MCPInteraction) (Result, error) {
	if !r.started[call.ID] {
		if !interaction.ReadOnly {
			return Result{Content: unknownOutcome, IsError: true, Unknown: true}, nil
		}

		if r.mustConclude(ctx) {
			return Result{Content: notRepeated, IsError: true}, nil
		}

		interaction.Attempt++
	}

	tool := r.recordedTool(call, interaction)
	if refused := r.refused(call, interaction); refused != "" && tool.Name != "" {
		return Result{Content: refused, IsError: true}, nil
	}

	if r.tools.open == nil {
		return Result{Content: "This agent has no tools.", IsError: true}, nil
	}

	if err := r.Recorder.CheckLease(ctx); err != nil {
		return Result{}, err
	}

	made := Call{
		ID: interaction.ID, Server: tool.Server, Tool: tool.Name, Name: call.Name,
		Arguments: argumentsToSend(call, interaction), Once: interaction.Approval != nil,
	}
	if tool.Name == "" {
		made.Shown = r.tools.shown()
	}

	result, err := r.tools.open.Call(ctx, made)
	if err != nil {
		if ctx.Err() != nil {
			return Result{}, context.Cause(ctx)
		}

		// Infrastructure failed; the model gets an error, as for any failing tool.
		return Result{Content: fmt.Sprintf("The tool could not be called: %v", err), IsError: true, Unknown: !interaction.ReadOnly}, nil
	}

	if result.Attempts > 1 {
		interaction.Attempt += result.Attempts - 1
	}

	return result, nil
}

// recordedTool returns the tool that was recorded with the call and that the configuration or an approver decided on. The zero value means
// that no tool is called: the name matches none, or a different one than when the call was recorded.
func (r *run) recordedTool(call tarsy.ToolCall, interaction *tarsy.MCPInteraction) Tool {
	tool, _ := Resolve(r.tools.all, call.Name)
	if plaintext.Clean(tool.Server) != interaction.ServerName || plaintext.Clean(tool.Name) != interaction.ToolName {
		return Tool{}
	}

	return tool
}

// finishCall returns the step that records a result. A result to be summarised enters the conversation whole, so that a server that
// resumes after a crash has it.
func (r *run) finishCall(interaction tarsy.MCPInteraction, call tarsy.ToolCall, result Result) progress.Step {
	now := r.now()
	content := plaintext.Clean(result.Content)

	interaction.Status, interaction.CompletedAt = tarsy.CallCompleted, &now
	interaction.ToolResult, interaction.IsError = quote.Truncate(content, storedTokens), result.IsError
	interaction.DurationMs = callDuration(&interaction, now)

	if result.IsError {
		interaction.Status = tarsy.CallFailed
	}

	if result.Unknown {
		interaction.Status = tarsy.CallUnknown
	}

	number, given := callNumber(r.Timeline, interaction.TimelineEventID), content
	if !r.Spec.digests(interaction.ServerName, content) {
		given = quote.Truncate(content, r.Spec.resultTokens()) + r.repeatNotice(interaction)
	}

	step := progress.Step{MCPInteractions: []tarsy.MCPInteraction{interaction}}
	r.addMessage(&step, resultMessage(r.Spec, call, number, given))

	if at := eventOf(r.Timeline, interaction.TimelineEventID); at >= 0 {
		event := r.Timeline[at]
		event.Content, event.Metadata = interaction.ToolResult, withResult(event.Metadata, result, interaction)
		event.Metadata = event.Metadata.WithApproval(interaction.Approval)
		r.closeEvent(&step, event, tarsy.EventCompleted)
	}

	// A person's decision was announced when it was applied.
	if a := interaction.Approval; a != nil && (a.Status == tarsy.ApprovalExpired || a.Status == tarsy.ApprovalWithdrawn) {
		step.Events = append(step.Events, tarsy.ApprovalChanged(interaction, now))
	}

	return step
}

// withResult adds the result of a call to its recorded metadata.
func withResult(started tarsy.Metadata, result Result, interaction tarsy.MCPInteraction) tarsy.Metadata {
	ended := tarsy.ToolCallResult{
		IsError: result.IsError, Attempt: interaction.Attempt, DurationMs: interaction.DurationMs,
		ResultTokens: quote.Tokens(plaintext.Clean(result.Content)),
	}

	if result.Unknown {
		ended.Outcome = tarsy.OutcomeUnknown
	}

	return started.Merge(tarsy.NewMetadata(ended))
}

// resultMessage returns a call's result for the model, under the call's number, if it has one. For a model without functions it is a
// user message.
func resultMessage(spec Spec, call tarsy.ToolCall, number, content string) tarsy.Message {
	message := tarsy.Message{
		Role: tarsy.RoleTool, Content: spec.resultPrefix(number) + content, ToolCallID: call.ID, ToolName: call.Name,
	}
	if spec.Strategy == React {
		message.Role = tarsy.RoleUser
	}

	return message
}
