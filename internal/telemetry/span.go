package telemetry

import (
	"cmp"
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	semconv "go.opentelemetry.io/otel/semconv/v1.41.0"
	"go.opentelemetry.io/otel/trace"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/progress"
	"tarsy.dev/tarsy/llm"
)

// span is a span derived from a stored row.
type span struct {
	session, row string
	// parent is the ID of the parent row; empty for the session itself.
	parent     string
	name       string
	kind       trace.SpanKind
	from, to   time.Time
	attributes []attribute.KeyValue
	// errorType is the error code, or "" if there is none. errorText may contain input of a model or a tool.
	errorType, errorText string
}

// countSpans returns how many spans makeSpans would create.
func countSpans(step *progress.Step) int {
	count := len(step.LLMInteractions)

	for i := range step.MCPInteractions {
		if step.EndsCall(&step.MCPInteractions[i]) {
			count++
		}
	}

	for i := range step.Executions {
		if step.Executions[i].Status.Terminal() {
			count++
		}
	}

	for i := range step.Stages {
		if step.Stages[i].Status.Terminal() {
			count++
		}
	}

	if step.EndsSession() {
		count++
	}

	return count
}

// makeSpans creates the spans that a step ends.
func (t *Tracer) makeSpans(step *progress.Step) {
	for i := range step.LLMInteractions {
		t.record(t.inference(&step.LLMInteractions[i], step.Prompts))
	}

	for i := range step.MCPInteractions {
		if call := &step.MCPInteractions[i]; step.EndsCall(call) {
			t.record(t.toolCall(call))
		}
	}

	for i := range step.Executions {
		if e := &step.Executions[i]; e.Status.Terminal() {
			t.record(t.agent(e))
		}
	}

	for i := range step.Stages {
		if s := &step.Stages[i]; s.Status.Terminal() {
			t.record(stage(s))
		}
	}

	if step.EndsSession() {
		t.record(workflow(step.Session))
	}
}

func (t *Tracer) record(s span) {
	own := t.spanContext(s.session, s.row)
	if !own.IsValid() {
		return
	}

	ctx := context.WithValue(context.Background(), idKey{}, own)
	if s.parent != "" {
		ctx = trace.ContextWithSpanContext(ctx, t.spanContext(s.session, s.parent))
	}

	s.attributes = append(s.attributes, semconv.GenAIConversationID(s.session))
	if s.errorType != "" {
		s.attributes = append(s.attributes, semconv.ErrorTypeKey.String(s.errorType))
	}

	_, made := t.tracer.Start(ctx, s.name, trace.WithTimestamp(s.from), trace.WithSpanKind(s.kind), trace.WithAttributes(s.attributes...))

	if s.errorType != "" {
		text := ""
		if t.cfg.CaptureContent {
			text = s.errorText
		}

		made.SetStatus(codes.Error, text)
	}

	made.End(trace.WithTimestamp(s.to))
}

// workflow returns the span of a session's investigation, without the time in the queue.
func workflow(s *tarsy.Session) span {
	made := span{
		session: s.ID, row: s.ID, name: named("invoke_workflow", s.ChainID), kind: trace.SpanKindInternal,
		from: begun(s.StartedAt, s.CreatedAt), to: completed(s.CompletedAt, s.CreatedAt),
		attributes: []attribute.KeyValue{
			semconv.GenAIOperationNameInvokeWorkflow, semconv.GenAIWorkflowName(s.ChainID),
			ours("alert.type", s.AlertType), ours("status", string(s.Status)),
		},
		errorText: s.ErrorMessage,
	}

	if s.Outcome != "" {
		made.attributes = append(made.attributes, ours("outcome", string(s.Outcome)))
	}

	if s.Status == tarsy.SessionFailed || s.Status == tarsy.SessionTimedOut {
		made.errorType = cmp.Or(s.ErrorCode, string(s.Status))
	}

	return made
}

// stage returns the span of a stage. The conventions define none; it groups the agents that ran concurrently.
func stage(s *tarsy.Stage) span {
	return span{
		session: s.SessionID, row: s.ID, parent: s.SessionID, name: named("stage", s.StageName), kind: trace.SpanKindInternal,
		from: begun(s.StartedAt, s.CreatedAt), to: completed(s.CompletedAt, s.CreatedAt),
		attributes: []attribute.KeyValue{
			ours("stage.name", s.StageName), ours("stage.type", string(s.StageType)), attribute.Int("tarsy.stage.index", s.StageIndex),
			ours("status", string(s.Status)),
		},
		errorType: failure(s.Status, ""), errorText: s.ErrorMessage,
	}
}

// agent returns the span of an execution.
func (t *Tracer) agent(e *tarsy.Execution) span {
	return span{
		session: e.SessionID, row: e.ID, parent: e.StageID, name: named("invoke_agent", e.AgentName), kind: trace.SpanKindInternal,
		from: begun(e.StartedAt, e.CreatedAt), to: completed(e.CompletedAt, e.CreatedAt),
		attributes: []attribute.KeyValue{
			semconv.GenAIOperationNameInvokeAgent, semconv.GenAIAgentName(e.AgentName), t.llmProvider(e.LLMProvider),
			ours("agent.strategy", e.IterationStrategy), ours("status", string(e.Status)),
		},
		errorType: failure(e.Status, e.ErrorCode), errorText: e.ErrorMessage,
	}
}

// inference returns the span of an LLM call. A row is created when the call has ended.
func (t *Tracer) inference(call *tarsy.LLMInteraction, prompts map[string]progress.Prompt) span {
	made := span{
		session: call.SessionID, row: call.ID, parent: call.SessionID, name: named("chat", call.ModelName), kind: trace.SpanKindClient,
		from: call.CreatedAt.Add(-time.Duration(call.DurationMs) * time.Millisecond), to: call.CreatedAt,
		attributes: []attribute.KeyValue{
			semconv.GenAIOperationNameChat, t.llmProvider(call.Provider), semconv.GenAIRequestModel(call.ModelName), semconv.GenAIRequestStream(true),
			ours("llm.provider", call.Provider), ours("llm.purpose", string(call.InteractionType)),
			attribute.Int("tarsy.llm.attempts", call.Attempts),
		},
		errorType: call.ErrorCode, errorText: call.ErrorMessage,
	}

	made.attributes = append(made.attributes, addressOf(t.cfg.ProviderURL(call.Provider))...)

	if call.ExecutionID != nil {
		made.parent = *call.ExecutionID
	}

	if call.StopReason != "" {
		made.attributes = append(made.attributes, semconv.GenAIResponseFinishReasons(finishReason(call.StopReason)))
	}

	if used := call.Usage; used.TotalTokens > 0 {
		made.attributes = append(made.attributes,
			semconv.GenAIUsageInputTokens(used.InputTokens), semconv.GenAIUsageOutputTokens(used.OutputTokens+used.ThinkingTokens),
			semconv.GenAIUsageCacheReadInputTokens(used.CachedTokens), semconv.GenAIUsageReasoningOutputTokens(used.ThinkingTokens),
			attribute.Float64("tarsy.llm.cost_usd", used.CostUSD))
	}

	if t.cfg.CaptureContent {
		made.attributes = append(made.attributes, conversation(call, prompts[call.ID])...)
	}

	return made
}

// methodCall is the MCP method of tool calls.
const methodCall = "tools/call"

// toolCall returns the span of a tool call. Its ID is propagated to the MCP server, so that the server's spans are its
// children.
func (t *Tracer) toolCall(call *tarsy.MCPInteraction) span {
	made := span{
		session: call.SessionID, row: call.ID, parent: call.ExecutionID, name: named("execute_tool", call.ToolName), kind: trace.SpanKindInternal,
		from: call.CreatedAt, to: completed(call.CompletedAt, call.CreatedAt),
		attributes: []attribute.KeyValue{
			semconv.GenAIOperationNameExecuteTool, semconv.GenAIToolName(call.ToolName), semconv.GenAIToolType("function"),
			semconv.GenAIToolCallID(call.ToolCallID), attribute.Int("tarsy.tool.attempts", call.Attempt),
		},
		errorText: call.ErrorMessage,
	}

	if call.ServerName != "" && call.ServerName != tarsy.OwnServer {
		made.attributes = append(made.attributes, semconv.McpMethodNameKey.String(methodCall), ours("mcp.server", call.ServerName))

		if transport := t.cfg.ServerTransport(call.ServerName); transport == "stdio" {
			made.attributes = append(made.attributes, semconv.NetworkTransportPipe)
		} else if transport != "" {
			made.attributes = append(made.attributes, semconv.NetworkTransportTCP, semconv.NetworkProtocolName("http"))
			made.attributes = append(made.attributes, addressOf(t.cfg.ServerURL(call.ServerName))...)
		}
	}

	switch {
	case call.Status == tarsy.CallUnknown:
		made.errorType = "outcome_unknown"
	case call.IsError:
		made.errorType = "tool_error"
	}

	if t.cfg.CaptureContent {
		made.attributes = append(made.attributes,
			semconv.GenAIToolCallArgumentsKey.String(cut(string(call.ToolArguments))), semconv.GenAIToolCallResultKey.String(cut(call.ToolResult)))
	}

	return made
}

// llmProvider returns the provider in the terms of the conventions.
func (t *Tracer) llmProvider(name string) attribute.KeyValue {
	return semconv.GenAIProviderNameKey.String(cmp.Or(t.cfg.ProviderName(name), name))
}

// finishReason returns why a model stopped, in the terms of the conventions. A gateway's own reason is kept.
func finishReason(reason string) string {
	switch llm.StopReason(reason) {
	case llm.StopEnd, llm.StopSequence:
		return "stop"
	case llm.StopToolCalls:
		return "tool_call"
	case llm.StopMaxTokens:
		return "length"
	default:
		return reason
	}
}

// failure returns the error type of a stage or an execution, or "" if there is none.
func failure(status tarsy.Status, code string) string {
	if status == tarsy.StatusFailed || status == tarsy.StatusTimedOut {
		return cmp.Or(code, string(status))
	}

	return ""
}

func named(operation, what string) string {
	if what == "" {
		return operation
	}

	return operation + " " + what
}

func begun(started *time.Time, created time.Time) time.Time {
	if started != nil {
		return *started
	}

	return created
}

func completed(at *time.Time, created time.Time) time.Time { return begun(at, created) }
