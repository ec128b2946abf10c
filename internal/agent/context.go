package agent

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/agent/quote"
)

// StageContext formats the results of earlier stages for the agents of the next stage, in at most the given number of tokens. It also
// returns how many stages are shortened.
func StageContext(stages []StageResult, tokens int) (text string, shortened int) {
	sections := make([]section, 0, len(stages))
	for _, s := range stages {
		sections = append(sections, s)
	}

	text, shortened = fit("Results of earlier stages:", sections, tokens)

	return quote.Block("CHAIN_CONTEXT", text), shortened
}

// SynthesisContext formats the work of a stage's agents for the synthesis, each under a header that identifies it, in at most the given
// number of tokens. It also returns how many agents' work is shortened.
func SynthesisContext(stageName string, investigations []Investigation, tokens int) (text string, shortened int) {
	sections := make([]section, 0, len(investigations))
	for _, i := range investigations {
		sections = append(sections, work{header: agentHeader(i.Execution), block: "INVESTIGATION", events: i.Timeline})
	}

	return fit(fmt.Sprintf("Work of the %d agents of stage %q:", len(investigations), quote.OneLine(stageName)), sections, tokens)
}

// SessionContext formats everything that happened in a session before a question: the investigation, and earlier questions and answers,
// in at most the given number of tokens. Agents that worked concurrently follow each other in the order of their stage. It also returns
// how many agents' work is shortened.
func SessionContext(q Question, tokens int) (text string, shortened int) {
	timeline := slices.Clone(q.Timeline)
	slices.SortStableFunc(timeline, func(a, b tarsy.TimelineEvent) int { return cmp.Compare(a.SequenceNumber, b.SequenceNumber) })

	// The question itself comes last, and is given to the agent separately.
	if n := len(timeline); n > 0 && timeline[n-1].EventType == tarsy.EventUserQuestion {
		timeline = timeline[:n-1]
	}

	if len(timeline) == 0 {
		return "There is no record of the investigation.", 0
	}

	var (
		sections []section
		stage    *string
	)

	for _, scene := range inStageOrder(scenes(timeline), q.Executions) {
		sections = append(sections, work{header: sceneHeader(q, scene[0], stage), block: "SESSION", events: scene})
		stage = scene[0].StageID
	}

	return fit("The investigation, followed by earlier questions and answers:", sections, tokens)
}

// scenes groups the events by execution. Executions, and events without one, are in the order in which they began.
func scenes(timeline []tarsy.TimelineEvent) [][]tarsy.TimelineEvent {
	var (
		found   [][]tarsy.TimelineEvent
		sceneOf = map[string]int{}
	)

	for _, e := range timeline {
		if e.ExecutionID == nil {
			found = append(found, []tarsy.TimelineEvent{e})

			continue
		}

		i, begun := sceneOf[*e.ExecutionID]
		if !begun {
			i, sceneOf[*e.ExecutionID] = len(found), len(found)
			found = append(found, nil)
		}

		found[i] = append(found[i], e)
	}

	return found
}

// inStageOrder sorts the scenes of each stage by agent index: which agent began first is chance.
func inStageOrder(found [][]tarsy.TimelineEvent, executions []tarsy.Execution) [][]tarsy.TimelineEvent {
	index := make(map[string]int, len(executions))
	for _, e := range executions {
		index[e.ID] = e.AgentIndex
	}

	for from := 0; from < len(found); {
		to := from + 1
		for to < len(found) && sameStage(found[from][0].StageID, found[to][0].StageID) {
			to++
		}

		slices.SortStableFunc(found[from:to], func(a, b []tarsy.TimelineEvent) int {
			return cmp.Compare(index[executionOf(a[0])], index[executionOf(b[0])])
		})

		from = to
	}

	return found
}

func sameStage(a, b *string) bool { return a != nil && b != nil && *a == *b }

func executionOf(e tarsy.TimelineEvent) string {
	if e.ExecutionID == nil {
		return ""
	}

	return *e.ExecutionID
}

// sceneHeader returns the header of a scene; the stage is named once for all its agents.
func sceneHeader(q Question, first tarsy.TimelineEvent, stage *string) string {
	var parts []string

	if first.StageID != nil && !sameStage(first.StageID, stage) {
		for _, s := range q.Stages {
			if s.ID == *first.StageID {
				parts = append(parts, fmt.Sprintf("## Stage %d: %s (%s)", s.StageIndex, quote.OneLine(s.StageName), s.Status))
			}
		}
	}

	if first.ExecutionID != nil {
		for _, e := range q.Executions {
			if e.ID == *first.ExecutionID {
				parts = append(parts, agentHeader(e))
			}
		}
	}

	if len(parts) == 0 {
		return "## The session"
	}

	return strings.Join(parts, "\n\n")
}

// agentHeader identifies the agent whose work follows.
func agentHeader(e tarsy.Execution) string {
	lines := []string{fmt.Sprintf("### Agent %d: %s", e.AgentIndex, quote.OneLine(e.AgentName))}

	for _, fact := range []struct{ name, value string }{
		{"Strategy", e.IterationStrategy},
		{"LLM provider", e.LLMProvider},
		{"Status", string(e.Status)},
		{"Concluded early because of", string(e.ForcedConclusion)},
		{"Error", e.ErrorMessage},
	} {
		if fact.value != "" {
			lines = append(lines, fmt.Sprintf("- %s: %s", fact.name, quote.OneLine(fact.value)))
		}
	}

	return strings.Join(lines, "\n")
}

// formatEvents formats events in order. The summary of a tool's result is shown with its call instead of the result, wherever it is in
// the timeline; a response that equals the final analysis is left out.
func formatEvents(timeline []tarsy.TimelineEvent) string {
	var parts []string

	for _, e := range timeline {
		switch {
		case e.EventType == tarsy.EventToolSummary && hasCall(timeline, e):
			continue
		case e.EventType == tarsy.EventResponse && isAnalysis(timeline, e):
			continue
		case e.EventType == tarsy.EventToolCall:
			parts = append(parts, formatCall(timeline, e))
		default:
			parts = append(parts, formatEvent(e))
		}
	}

	if len(parts) == 0 {
		return "(nothing)"
	}

	return strings.Join(parts, "\n\n")
}

// hasCall reports whether the timeline contains the call that a summary belongs to.
func hasCall(timeline []tarsy.TimelineEvent, summary tarsy.TimelineEvent) bool {
	id := summarisedCall(summary)

	return slices.ContainsFunc(timeline, func(e tarsy.TimelineEvent) bool { return e.EventType == tarsy.EventToolCall && e.ID == id })
}

func isAnalysis(timeline []tarsy.TimelineEvent, response tarsy.TimelineEvent) bool {
	return slices.ContainsFunc(timeline, func(e tarsy.TimelineEvent) bool {
		return e.EventType == tarsy.EventFinalAnalysis && e.Content == response.Content
	})
}

// formatCall formats a call under its mark, so that readers can cite it.
func formatCall(timeline []tarsy.TimelineEvent, call tarsy.TimelineEvent) string {
	head := fmt.Sprintf("**Tool call%s:** %s", unfinished(call.Status), callHeader(call))
	if number := CallOf(call); number != "" {
		head = fmt.Sprintf("**Tool call%s:** %s %s", unfinished(call.Status), tarsy.CallMark(number), callHeader(call))
	}

	if summary, ok := summaryOf(timeline, call.ID); ok && summary.Status == tarsy.EventCompleted {
		return head + "\n\nSummary of the result:\n\n" + summary.Content
	}

	return head + "\n\nResult:\n\n" + call.Content
}

// callHeader names the tool of a call and its arguments.
func callHeader(e tarsy.TimelineEvent) string {
	call := tarsy.MetadataAs[tarsy.ToolCallMetadata](e.Metadata)
	header := joinName(call.ServerName, call.ToolName)

	var given any

	if json.Unmarshal(call.Arguments, &given) != nil {
		return header
	}

	if text, ok := given.(string); ok {
		return header + " " + text
	}

	// Encode the arguments again: the database spaces and orders JSON in its own way, and a prompt must not depend on whether its
	// events were loaded.
	raw, err := json.Marshal(given)
	if err != nil {
		return header
	}

	return header + " " + string(raw)
}

func formatEvent(e tarsy.TimelineEvent) string {
	title := eventTitle(e.EventType)
	content := e.Content

	switch e.EventType {
	case tarsy.EventToolSummary:
		summary := tarsy.MetadataAs[tarsy.ToolSummaryMetadata](e.Metadata)
		title += " of " + joinName(summary.ServerName, summary.ToolName)
	case tarsy.EventCodeExecution:
		if code := tarsy.MetadataAs[tarsy.CodeExecutionMetadata](e.Metadata).Code; code != "" {
			content = code + "\n\nOutput:\n\n" + content
		}
	default:
	}

	return fmt.Sprintf("**%s%s:**\n\n%s", title, unfinished(e.Status), content)
}

// unfinished returns the status of an event that did not complete, in parentheses.
func unfinished(status tarsy.EventStatus) string {
	if status == tarsy.EventCompleted || status == "" {
		return ""
	}

	return fmt.Sprintf(" (%s)", strings.ReplaceAll(string(status), "_", " "))
}

func eventTitle(eventType tarsy.EventType) string {
	switch eventType {
	case tarsy.EventThinking:
		return "Thinking"
	case tarsy.EventResponse:
		return "Response"
	case tarsy.EventToolCall:
		return "Tool call"
	case tarsy.EventToolSummary:
		return "Summary"
	case tarsy.EventError:
		return "Error"
	case tarsy.EventUserQuestion:
		return "Question"
	case tarsy.EventExecutiveSummary:
		return "Executive summary"
	case tarsy.EventFinalAnalysis:
		return "Final analysis"
	case tarsy.EventCodeExecution:
		return "Executed code"
	case tarsy.EventGoogleSearch:
		return "Web search"
	case tarsy.EventURLContext:
		return "Fetched pages"
	case tarsy.EventProviderFallback:
		return "Provider fallback"
	case tarsy.EventContextShortened:
		return "Conversation shortened"
	default:
		return string(eventType)
	}
}
