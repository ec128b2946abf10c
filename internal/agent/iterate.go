package agent

import (
	"context"
	"errors"
	"strings"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/agent/react"
	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/internal/plaintext"
	"tarsy.dev/tarsy/internal/progress"
	"tarsy.dev/tarsy/llm"
)

// iterate makes one LLM call and commits its outcome. It reports whether the execution is over.
func (r *run) iterate(ctx context.Context, purpose tarsy.InteractionType) (bool, error) {
	if err := r.Recorder.CheckLease(ctx); err != nil {
		return false, err
	}

	answer, err := r.generate(ctx, purpose)

	switch {
	case errors.Is(err, errDeadline):
		return r.takeDeadline(ctx, answer.step, purpose)
	case errors.Is(err, errIterationTimeout):
		return false, r.commit(ctx, answer.step)
	case err != nil && r.stopped(ctx) != nil:
		// Cancelled from outside: the text so far is kept, the call itself never finished.
		r.submit(answer.partial)

		return false, r.stopped(ctx)
	case err != nil:
		return r.recover(ctx, answer.step, err)
	case r.Spec.Strategy == React:
		return r.takeReply(ctx, answer, purpose)
	case len(r.Spec.Fallbacks) > 0 && strings.TrimSpace(answer.Text) == "" && len(answer.ToolCalls) == 0:
		// Another provider may do better than an empty answer.
		step, call := answer.step, &answer.step.LLMInteractions[0]
		call.ErrorCode, call.ErrorMessage = CodeEmptyAnswer, emptyAnswer(answer)
		r.fallBack(&step, call.ErrorCode, call.ErrorMessage)

		return false, r.commit(ctx, step)
	default:
		return r.takeAnswer(ctx, answer, purpose)
	}
}

// recover handles a call that failed permanently: it continues with less of the conversation or of the prompt if it was too long, or
// with the next provider if there is one. Otherwise the execution is over; a synthesis that is too long for every model ends with the
// analyses that it should have combined.
func (r *run) recover(ctx context.Context, step progress.Step, err error) (bool, error) {
	code := codeOf(err)

	switch {
	case code == CodeContextTooLong && r.shorten(&step):
		return false, r.commit(ctx, step)
	case code == CodeContextTooLong && r.recompose(&step):
		return false, r.commit(ctx, step)
	case len(r.Spec.Fallbacks) > 0:
		r.fallBack(&step, code, err.Error())

		return false, r.commit(ctx, step)
	case code == CodeContextTooLong && hasAnalysis(r.Investigations):
		return true, r.keepAnalyses(ctx, step, code, keptAnalyses)
	default:
		return true, r.fail(ctx, step, tarsy.StatusFailed, code, err.Error())
	}
}

// takeAnswer processes an answer with or without function calls.
func (r *run) takeAnswer(ctx context.Context, answer answer, purpose tarsy.InteractionType) (bool, error) {
	step := answer.step
	calls := uniqueCalls(r.Messages, answer.ToolCalls)
	r.addMessage(&step, tarsy.Message{Role: tarsy.RoleAssistant, Content: answer.Text, ToolCalls: calls, Signature: answer.signature()})

	if len(calls) > 0 && purpose == tarsy.InteractionIteration {
		r.startNext(ctx, &step, calls)

		return false, r.commit(ctx, step)
	}

	return true, r.complete(ctx, step, answer, answer.Text)
}

// takeReply processes an answer in the text protocol.
func (r *run) takeReply(ctx context.Context, answer answer, purpose tarsy.InteractionType) (bool, error) {
	step, reply := answer.step, answer.reply

	if purpose == tarsy.InteractionForcedConclusion {
		r.addMessage(&step, tarsy.Message{Role: tarsy.RoleAssistant, Content: answer.Text})

		return true, r.complete(ctx, step, answer, reply.Conclusion(answer.Text))
	}

	switch reply.Kind {
	case react.Action:
		calls := uniqueCalls(r.Messages, []llm.ToolCall{{Name: reply.Tool, Arguments: reply.Input}})
		r.addMessage(&step, tarsy.Message{Role: tarsy.RoleAssistant, Content: reply.Kept, ToolCalls: calls, Signature: answer.signature()})
		r.startNext(ctx, &step, calls)
	case react.Answer:
		r.addMessage(&step, tarsy.Message{Role: tarsy.RoleAssistant, Content: answer.Text})

		return true, r.complete(ctx, step, answer, reply.Answer)
	case react.Malformed:
		// Providers reject messages without content.
		if strings.TrimSpace(answer.Text) != "" {
			r.addMessage(&step, tarsy.Message{Role: tarsy.RoleAssistant, Content: answer.Text})
		}

		r.addMessage(&step, tarsy.Message{Role: tarsy.RoleUser, Content: reply.Correction(len(r.tools.list) > 0)})
	}

	return false, r.commit(ctx, step)
}

// maxCallID is the maximum length of a call's id in bytes: it is indexed, and some gateways put whole signatures into it.
const maxCallID = 1024

// uniqueCalls gives every call an id that is unique in the execution: models repeat theirs.
func uniqueCalls(messages []tarsy.Message, calls []llm.ToolCall) []tarsy.ToolCall {
	used := map[string]bool{}

	for _, m := range messages {
		for _, c := range m.ToolCalls {
			used[c.ID] = true
		}
	}

	unique := make([]tarsy.ToolCall, 0, len(calls))

	for _, c := range calls {
		id := plaintext.Clean(c.ID)
		if id == "" || len(id) > maxCallID || used[id] {
			id = "call_" + ident.New()
		}

		used[id] = true

		unique = append(unique, tarsy.ToolCall{ID: id, Name: plaintext.Clean(c.Name), Arguments: plaintext.Clean(c.Arguments)})
	}

	return unique
}

// complete ends the execution with its final analysis, or as failed if the analysis is empty.
func (x *execution) complete(ctx context.Context, step progress.Step, answer answer, analysis string) error {
	if strings.TrimSpace(analysis) == "" {
		return x.fail(ctx, step, tarsy.StatusFailed, CodeEmptyAnswer, emptyAnswer(answer))
	}

	event := x.newEvent(tarsy.EventFinalAnalysis, tarsy.EventCompleted, analysis)
	event.Metadata = tarsy.NewMetadata(analysisMetadata(&x.Input, answer, analysis))
	create(&step, event)

	return x.end(ctx, step, tarsy.StatusCompleted)
}

// emptyAnswer explains why there is no analysis.
func emptyAnswer(answer answer) string {
	if answer.End.Reason == llm.StopMaxTokens {
		return "the model reached its limit of output tokens before it said anything: raise max_output_tokens of its provider"
	}

	return "the model ended with neither text nor a tool call"
}

// analysisMetadata describes the evidence of an analysis and how it ended.
func analysisMetadata(in *Input, answer answer, analysis string) tarsy.FinalAnalysisMetadata {
	cited, unknown := citedCalls(in, analysis)
	metadata := tarsy.FinalAnalysisMetadata{Citations: cited, UnknownCitations: unknown, CutOff: answer.End.Reason == llm.StopMaxTokens}

	if reason := in.Execution.ForcedConclusion; reason != tarsy.NotForced {
		metadata.ForcedConclusion, metadata.Reason, metadata.MaxIterations = true, reason, in.Spec.MaxIterations
	}

	return metadata
}

// fail ends the execution with an error that is shown in the timeline.
func (x *execution) fail(ctx context.Context, step progress.Step, status tarsy.Status, code, message string) error {
	message = plaintext.Clean(message)
	event := x.newEvent(tarsy.EventError, tarsy.EventCompleted, message)
	event.Metadata = tarsy.NewMetadata(tarsy.ErrorMetadata{Code: code})
	create(&step, event)
	x.Execution.ErrorCode, x.Execution.ErrorMessage = code, message

	return x.end(ctx, step, status)
}

func (x *execution) end(ctx context.Context, step progress.Step, status tarsy.Status) error {
	now := x.now()
	x.Execution.Status, x.Execution.CompletedAt = status, &now
	step.Executions = append(step.Executions, x.Execution)
	step.Events = append(step.Events, tarsy.ExecutionStatusChanged(x.Execution, now))

	return x.commit(ctx, step)
}
