package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"strings"

	"tarsy.dev/tarsy"
)

// storedResult is how much of a tool's result the timeline and the trace keep: 8,000 tokens of about four bytes.
const storedResult = 8000 * 4

// unknownOutcome is what the model is told of a call that was cut off after it may have taken effect.
const unknownOutcome = "The call was cut off and its outcome is unknown: it may or may not have taken effect. " +
	"Check the present state before you repeat it."

// callTools makes the pending calls of the last answer, one after the other. Each result is committed together with
// the beginning of the next call, so a call is always written down before it is made.
func (r *run) callTools(ctx context.Context) error {
	pending := pendingCalls(r.Messages)

	if _, written := r.written(pending[0].ID); !written {
		var step tarsy.Step

		r.startCall(&step, pending[0])

		if err := r.commit(ctx, step); err != nil {
			return err
		}
	}

	for i, call := range pending {
		interaction, written := r.written(call.ID)
		if !written {
			// The execution was stopped before this call was written down.
			return nil
		}

		result, err := r.callTool(ctx, call, &interaction)
		if err != nil {
			return err
		}

		step := r.finishCall(interaction, call, result)
		r.startNext(ctx, &step, pending[i+1:])

		if err := r.commit(ctx, step); err != nil {
			return err
		}
	}

	return nil
}

// written finds the record of a call.
func (r *run) written(toolCallID string) (tarsy.MCPInteraction, bool) {
	for _, i := range r.MCPInteractions {
		if i.ToolCallID == toolCallID {
			return i, true
		}
	}

	return tarsy.MCPInteraction{}, false
}

// startNext writes the first of the calls down, if there is one and the execution may go on: a call that is written
// down and not made could not be told from one that was cut off.
func (r *run) startNext(ctx context.Context, step *tarsy.Step, calls []tarsy.ToolCall) {
	if len(calls) > 0 && r.stopped(ctx) == nil {
		r.startCall(step, calls[0])
	}
}

// startCall writes a call down.
func (r *run) startCall(step *tarsy.Step, call tarsy.ToolCall) {
	server, name := splitName(call.Name)
	event := r.event(tarsy.EventToolCall, tarsy.EventStreaming, "")
	event.Metadata = map[string]any{"server_name": server, "tool_name": name, "arguments": argumentsOf(call)}

	interaction := tarsy.MCPInteraction{
		ID: tarsy.NewID(), SessionID: r.Session.ID, StageID: r.Stage.ID, ExecutionID: r.Execution.ID,
		TimelineEventID: event.ID, ToolCallID: call.ID, ServerName: server, ToolName: name,
		ToolArguments: encodeArguments(call), AvailableTools: r.toolNames, ReadOnly: r.readsOnly(server, name),
		Attempt: 1, Status: tarsy.CallStarted, CreatedAt: r.now(),
	}
	r.started[call.ID] = true

	step.Timeline = append(step.Timeline, event)
	step.MCPInteractions = append(step.MCPInteractions, interaction)
	step.Events = append(step.Events, tarsy.TimelineCreated(event))
}

// callTool makes a call, unless it was cut off before and may have taken effect.
func (r *run) callTool(ctx context.Context, call tarsy.ToolCall, interaction *tarsy.MCPInteraction) (Result, error) {
	if !r.started[call.ID] {
		if !interaction.ReadOnly {
			return Result{Content: unknownOutcome, IsError: true, Unknown: true}, nil
		}

		interaction.Attempt++
	}

	if r.tools == nil {
		return Result{Content: "This agent has no tools.", IsError: true}, nil
	}

	if err := r.Recorder.Outside(ctx); err != nil {
		return Result{}, err
	}

	result, err := r.tools.Call(ctx, Call{ID: interaction.ID, Name: call.Name, Arguments: call.Arguments})
	if err != nil {
		if ctx.Err() != nil {
			return Result{}, context.Cause(ctx)
		}

		// Infrastructure failed; the model is told, as of any tool that does not work.
		return Result{Content: fmt.Sprintf("The tool could not be called: %v", err), IsError: true, Unknown: !interaction.ReadOnly}, nil
	}

	if result.Attempts > 1 {
		interaction.Attempt += result.Attempts - 1
	}

	return result, nil
}

// finishCall is the step that records a result.
func (r *run) finishCall(interaction tarsy.MCPInteraction, call tarsy.ToolCall, result Result) tarsy.Step {
	now := r.now()
	content := tarsy.CleanText(result.Content)

	interaction.Status, interaction.CompletedAt = tarsy.CallCompleted, &now
	interaction.ToolResult, interaction.IsError = truncate(content, storedResult), result.IsError
	interaction.DurationMs = now.Sub(interaction.CreatedAt).Milliseconds()

	if result.IsError {
		interaction.Status = tarsy.CallFailed
	}

	if result.Unknown {
		interaction.Status = tarsy.CallUnknown
	}

	message := r.message(tarsy.RoleTool, content)
	message.ToolCallID, message.ToolName = call.ID, call.Name
	step := tarsy.Step{MCPInteractions: []tarsy.MCPInteraction{interaction}, Messages: []tarsy.Message{message}}

	for _, event := range r.Timeline {
		if event.ID != interaction.TimelineEventID {
			continue
		}

		event.Status, event.Content = tarsy.EventCompleted, interaction.ToolResult
		event.UpdatedAt, event.CompletedAt = now, &now
		event.Metadata = withResult(event.Metadata, result, interaction)
		step.Timeline = append(step.Timeline, event)
		step.Events = append(step.Events, tarsy.TimelineCompleted(event))
	}

	return step
}

func withResult(metadata map[string]any, result Result, interaction tarsy.MCPInteraction) map[string]any {
	enriched := map[string]any{"is_error": result.IsError, "attempt": interaction.Attempt, "duration_ms": interaction.DurationMs}

	if result.Unknown {
		enriched["outcome"] = "unknown"
	}

	maps.Copy(enriched, metadata)

	return enriched
}

func (r *run) readsOnly(server, name string) bool {
	for _, t := range r.toolList {
		if t.Server == server && t.Name == name {
			return t.ReadOnly
		}
	}

	return false
}

// splitName takes the name that a model wrote apart, for people to read; routing is the tools' own affair.
func splitName(name string) (server, tool string) {
	for _, separator := range []string{"__", "."} {
		if server, tool, ok := strings.Cut(name, separator); ok {
			return server, tool
		}
	}

	return "", name
}

// maxDepth is how deeply nested arguments may be to be shown as JSON; deeper ones break parsers further on.
const maxDepth = 100

// argumentsOf shows arguments as the JSON they are, or as the text that the model wrote.
func argumentsOf(call tarsy.ToolCall) any {
	var value any
	if err := json.Unmarshal([]byte(call.Arguments), &value); err != nil || depth(value) > maxDepth {
		return call.Arguments
	}

	return cleanValue(value)
}

func depth(value any) int {
	deepest := 0

	switch v := value.(type) {
	case []any:
		for _, e := range v {
			deepest = max(deepest, depth(e))
		}
	case map[string]any:
		for _, e := range v {
			deepest = max(deepest, depth(e))
		}
	}

	return deepest + 1
}

// cleanValue drops what PostgreSQL cannot hold from the strings of a JSON value.
func cleanValue(value any) any {
	switch v := value.(type) {
	case string:
		return tarsy.CleanText(v)
	case []any:
		for i := range v {
			v[i] = cleanValue(v[i])
		}
	case map[string]any:
		clean := make(map[string]any, len(v))
		for k, e := range v {
			clean[tarsy.CleanText(k)] = cleanValue(e)
		}

		return clean
	}

	return value
}

func encodeArguments(call tarsy.ToolCall) json.RawMessage {
	raw, err := json.Marshal(argumentsOf(call))
	if err != nil {
		panic("agent: decoded JSON does not marshal: " + err.Error())
	}

	return raw
}

// truncate cuts text at a rune's boundary and says so.
func truncate(text string, limit int) string {
	if len(text) <= limit {
		return text
	}

	cut := strings.ToValidUTF8(text[:limit], "")

	return fmt.Sprintf("%s\n\n[cut: %d of %d bytes shown]", cut, len(cut), len(text))
}
