package agent

import (
	"strings"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/agent/quote"
	"tarsy.dev/tarsy/internal/agent/react"
)

// CallOf returns the number of a tool call's event; calls made before numbers were introduced have none.
func CallOf(event tarsy.TimelineEvent) string {
	return tarsy.MetadataAs[tarsy.ToolCallMetadata](event.Metadata).Call
}

// nextCall returns the number of the next call. Calls are counted by their rows, so that a server that resumes after a crash continues
// the count.
func nextCall(in *Input) string {
	return tarsy.CallNumber(in.Stage.StageIndex, in.Execution.AgentIndex, len(in.MCPInteractions)+1)
}

// eventOf finds an event by its id; it returns -1 if there is none. It is usually one of the last.
func eventOf(timeline []tarsy.TimelineEvent, id string) int {
	for i := len(timeline) - 1; i >= 0; i-- { //nolint:modernize // slices.Backward copies each one, and they are large
		if timeline[i].ID == id {
			return i
		}
	}

	return -1
}

// callNumber finds the number of a call by the id of its event.
func callNumber(timeline []tarsy.TimelineEvent, eventID string) string {
	if at := eventOf(timeline, eventID); at >= 0 {
		return CallOf(timeline[at])
	}

	return ""
}

// callNumbers returns the numbers of all calls by their ids.
func callNumbers(in *Input) map[string]string {
	byEvent := make(map[string]string, len(in.MCPInteractions))

	for i := range in.MCPInteractions {
		byEvent[in.MCPInteractions[i].TimelineEventID] = in.MCPInteractions[i].ToolCallID
	}

	numbers := make(map[string]string, len(in.MCPInteractions))

	for i := range in.Timeline {
		if call, made := byEvent[in.Timeline[i].ID]; made {
			numbers[call] = CallOf(in.Timeline[i])
		}
	}

	return numbers
}

// resultPrefix returns what precedes a result in the conversation: in the text protocol its heading, and the mark by which the model
// cites it. It is never cut off, because a result without its number could not be cited, and does not count against the limits of
// results.
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

// cutResult truncates the result of the call with that number to the model's limit.
func (s Spec) cutResult(number, content string) string {
	prefix := s.resultPrefix(number)

	return prefix + quote.Truncate(strings.TrimPrefix(content, prefix), s.resultTokens())
}

// citedCalls returns the calls that the marks of an analysis cite, and the marks that match no call the agent can have seen: its own or
// those of earlier stages. Agents of the same stage run concurrently and do not see each other's calls, so a mark that matches one of
// those is a guess.
func citedCalls(in *Input, analysis string) (cited []tarsy.Citation, unknown []string) {
	events := map[string]string{}

	for _, c := range in.EarlierCalls {
		events[c.Call] = c.EventID
	}

	for _, e := range in.Timeline {
		if e.EventType == tarsy.EventToolCall {
			events[CallOf(e)] = e.ID
		}
	}

	for _, call := range tarsy.CitedCalls(analysis) {
		if id, ok := events[call]; ok {
			cited = append(cited, tarsy.Citation{Call: call, EventID: id})
		} else {
			unknown = append(unknown, call)
		}
	}

	return cited, unknown
}
