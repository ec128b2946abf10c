package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/agent/quote"
	"tarsy.dev/tarsy/internal/plaintext"
	"tarsy.dev/tarsy/internal/progress"
	"tarsy.dev/tarsy/llm"
)

// Reasons why there is no summary.
var (
	errNoSummary     = errors.New("the model gave no summary")
	errSummaryNoRoom = errors.New("the model reached its limit of output tokens before it wrote a summary")
)

// summaryCutOff is appended to an incomplete summary.
const summaryCutOff = "\n\n[cut: the model reached its limit of output tokens; the summary is incomplete]"

// summaryOverrun is how many times longer than requested a summary can be before it is cut.
const summaryOverrun = 2

// longest returns how many tokens of a summary are kept.
func (d Digest) longest() int {
	if d.MaxTokens == 0 {
		return resultTokens
	}

	return min(summaryOverrun*d.MaxTokens, resultTokens)
}

// summaryError returns why a response contains no summary, or nil.
func summaryError(response llm.Response) error {
	switch {
	case strings.TrimSpace(response.Text) != "":
		return nil
	case response.End.Reason == llm.StopMaxTokens:
		return errSummaryNoRoom
	default:
		return errNoSummary
	}
}

// wholeSummary returns the text of a summary, with a note if the model did not finish it.
func wholeSummary(response llm.Response) string {
	if response.Text != "" && response.End.Reason == llm.StopMaxTokens {
		return response.Text + summaryCutOff
	}

	return response.Text
}

// notSummarised is the text of a summary's event when the model was given the result itself.
const notSummarised = "The result was not summarised; the agent was given all of it."

// pendingSummary is a result that has yet to be summarised: the message with the whole result, and the call it came from.
type pendingSummary struct {
	message tarsy.Message
	call    tarsy.MCPInteraction
	digest  Digest
	// number is the number of the call, by which the model cites it.
	number string
	raw    string
}

// digests reports whether a server's result is long enough to be summarised.
func (s Spec) digests(server, content string) bool {
	digest, ok := s.Digests[server]

	return ok && digest.Threshold > 0 && quote.Tokens(content) > digest.Threshold
}

// findPendingSummary checks the last message: every result is summarised before anything else happens.
func findPendingSummary(in *Input) (pendingSummary, bool) {
	message := in.Messages[len(in.Messages)-1]
	if message.ToolCallID == "" {
		return pendingSummary{}, false
	}

	i := recordOf(in.MCPInteractions, message.ToolCallID)
	if i < 0 {
		return pendingSummary{}, false
	}

	p := pendingSummary{message: message, call: in.MCPInteractions[i]}
	p.number = callNumber(in.Timeline, p.call.TimelineEventID)
	p.raw = strings.TrimPrefix(message.Content, in.Spec.resultPrefix(p.number))

	if !in.Spec.digests(p.call.ServerName, p.raw) {
		return pendingSummary{}, false
	}

	p.digest = in.Spec.Digests[p.call.ServerName]
	event, begun := summaryOf(in.Timeline, p.call.TimelineEventID)

	return p, !begun || event.Status == tarsy.EventStreaming
}

func hasPendingSummary(in *Input) bool {
	_, found := findPendingSummary(in)

	return found
}

// summaryOf finds the summary of a call by the id of the call's event.
func summaryOf(timeline []tarsy.TimelineEvent, callEventID string) (tarsy.TimelineEvent, bool) {
	for _, e := range timeline {
		if e.EventType == tarsy.EventToolSummary && summarisedCall(e) == callEventID {
			return e, true
		}
	}

	return tarsy.TimelineEvent{}, false
}

// summarisedCall returns the id of the event of the call whose result was summarised.
func summarisedCall(summary tarsy.TimelineEvent) string {
	return tarsy.MetadataAs[tarsy.ToolSummaryMetadata](summary.Metadata).ToolCallEventID
}

// digest summarises the last result and replaces it with the summary. If this fails, the conversation continues with the result as it
// is.
func (r *run) digest(ctx context.Context) error {
	if err := r.Recorder.CheckLease(ctx); err != nil {
		return err
	}

	p, _ := findPendingSummary(&r.Input)

	limit, cause := r.callLimit(tarsy.InteractionSummarization)

	limited, cancel := withLimit(ctx, r.Clock, limit, cause)
	defer cancel()
	defer context.AfterFunc(r.Yield, cancel)()

	live := &liveText{execution: &r.execution}
	defer live.end()

	live.begin(r.summaryEvent(p))

	started := r.now()
	request := digestRequest(&r.Input, p)

	response, attempts, err := r.collectContained(limited, request, func(chunk llm.Chunk) error {
		if text, ok := chunk.(llm.TextChunk); ok {
			live.append(tarsy.EventToolSummary, text.Text)
		}

		return nil
	})
	if err != nil && !errors.Is(err, errIterationTimeout) && !errors.Is(err, errDeadline) && r.stopped(ctx) != nil {
		r.submit(live.partial())

		return r.stopped(ctx)
	}

	if err == nil {
		err = summaryError(response)
	}

	interaction := r.interaction(tarsy.InteractionSummarization, request, response, started)
	interaction.Attempts = attempts
	interaction.MessageCount, interaction.LLMRequest = len(request.Messages), encodeMessages(request.Messages)
	status := noteFailure(&interaction, err)

	step := r.digested(p, live, wholeSummary(response), status, err)
	step.LLMInteractions = append(step.LLMInteractions, interaction)
	r.startNext(ctx, &step, pendingCalls(r.Messages))

	return r.commit(ctx, step)
}

// summaryEvent returns the event that shows the summary. An event that a killed server left streaming is reused.
func (x *execution) summaryEvent(p pendingSummary) tarsy.TimelineEvent {
	if left, ok := summaryOf(x.Timeline, p.call.TimelineEventID); ok {
		return left
	}

	event := x.newEvent(tarsy.EventToolSummary, tarsy.EventStreaming, "")
	event.Metadata = tarsy.NewMetadata(tarsy.ToolSummaryMetadata{
		ServerName: p.call.ServerName, ToolName: p.call.ToolName,
		ToolCallEventID: p.call.TimelineEventID, OriginalTokens: quote.Tokens(p.raw),
	})

	var step progress.Step

	create(&step, event)
	x.submit(step)

	return event
}

// digested returns the step that replaces the result with the summary, or records why there is none.
func (r *run) digested(p pendingSummary, live *liveText, summary string, status tarsy.EventStatus, err error) progress.Step {
	content := p.raw

	if status == tarsy.EventCompleted {
		summary = quote.Truncate(summary, p.digest.longest())
		live.rewrite(tarsy.EventToolSummary, summary)

		p.call.Summary = summary
		content = wrappedSummary(p, summary)
	} else {
		live.rewrite(tarsy.EventToolSummary, plaintext.Clean(fmt.Sprintf("%s (%v)", notSummarised, err)))
	}

	p.message.Content = r.Spec.resultPrefix(p.number) + quote.Truncate(content, r.Spec.resultTokens()) + r.repeatNotice(p.call)

	step := live.finish(status)
	step.MCPInteractions = append(step.MCPInteractions, p.call)
	step.Messages = append(step.Messages, p.message)

	return step
}

// abandonSummaries ends summary events that a killed server left streaming and that will not be resumed, because time is up or results
// are no longer summarised.
func (x *execution) abandonSummaries(step *progress.Step) {
	for _, e := range x.Timeline {
		if e.EventType == tarsy.EventToolSummary && e.Status == tarsy.EventStreaming {
			e.Content = notSummarised
			x.closeEvent(step, e, tarsy.EventFailed)
		}
	}
}

func encodeMessages(messages []llm.Message) json.RawMessage {
	raw, err := json.Marshal(messages)
	if err != nil {
		panic("agent: messages of strings do not marshal: " + err.Error())
	}

	return raw
}
