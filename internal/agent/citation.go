package agent

import (
	"strings"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/agent/quote"
	"tarsy.dev/tarsy/internal/agent/react"
)

// Keys of the metadata of timeline events that have to do with citations.
const (
	keyCall             = "call"
	keyCitations        = "citations"
	keyUnknownCitations = "unknown_citations"
)

// CallOf is the number of a tool call's event; calls that were made before calls had numbers have none.
func CallOf(event tarsy.TimelineEvent) string {
	call, _ := event.Metadata[keyCall].(string)

	return call
}

// nextCall is the number of the call that is written down next. Calls are counted by their rows, so that whoever goes on
// after a crash counts on from there.
func (r *run) nextCall() string {
	return tarsy.CallNumber(r.Stage.StageIndex, r.Execution.AgentIndex, len(r.MCPInteractions)+1)
}

// callNumber finds the number of a call by the id of its event.
func callNumber(timeline []tarsy.TimelineEvent, eventID string) string {
	for _, e := range timeline {
		if e.ID == eventID {
			return CallOf(e)
		}
	}

	return ""
}

// resultPrefix is what stands before a result in the conversation: in the text protocol its heading, and the mark
// by which the model cites it. It is never cut off, for a result without its number could not be cited, and does not count
// against the limits of results, which are of what tools said.
func (s Spec) resultPrefix(call string) string {
	prefix := ""
	if s.Strategy == React {
		prefix = react.Observation
	}

	if call != "" {
		prefix += tarsy.CallMark(call) + "\n"
	}

	return prefix
}

// cutResult is a message with a result that is too long for the model, cut.
func (r *run) cutResult(message tarsy.Message, content string) string {
	number := ""
	if call, written := r.written(message.ToolCallID); written {
		number = callNumber(r.Timeline, call.TimelineEventID)
	}

	prefix := r.Spec.resultPrefix(number)

	return prefix + quote.Truncate(strings.TrimPrefix(content, prefix), r.Spec.resultTokens())
}

// cite adds to an analysis's metadata which calls its marks name, and which of the marks name none that the agent can
// have seen: one of its own or of an earlier stage. What agents of the same stage do meanwhile is nothing it knows of, so a
// mark that hits one of their calls is a guess.
func (r *run) cite(metadata map[string]any, analysis string) {
	events := map[string]string{}

	for _, c := range r.EarlierCalls {
		events[c.Call] = c.EventID
	}

	for _, e := range r.Timeline {
		if e.EventType == tarsy.EventToolCall {
			events[CallOf(e)] = e.ID
		}
	}

	var cited, unknown []any

	for _, call := range tarsy.CitedCalls(analysis) {
		if id, ok := events[call]; ok {
			cited = append(cited, map[string]any{"call": call, "event_id": id})
		} else {
			unknown = append(unknown, call)
		}
	}

	if len(cited) > 0 {
		metadata[keyCitations] = cited
	}

	if len(unknown) > 0 {
		metadata[keyUnknownCitations] = unknown
	}
}
