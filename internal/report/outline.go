package report

import (
	"encoding/json"
	"fmt"
	"strings"

	"tarsy.dev/tarsy"
)

// Limits of the outline, per agent and per event.
const (
	maxEvents = 200
	maxLine   = 120
)

// outline lists the events in order: one line per event, under its stage and agent.
func (r *writer) outline() {
	r.section("Timeline")

	for _, stage := range r.export.Session.Stages {
		r.printf("### %d. %s (%s)\n\n", stage.StageIndex, inline(stage.StageName, maxCell),
			joined(words(string(stage.StageType)), words(string(stage.Status)), duration(stage.StartedAt, stage.CompletedAt)))

		for _, execution := range stage.Executions {
			r.printf("- **%s** (%s)\n", inline(execution.AgentName, maxCell), joined(
				words(string(execution.Status)), inline(execution.LLMProvider, maxCell), cost(execution.Usage),
				duration(execution.StartedAt, execution.CompletedAt)))
			r.events("  ", func(e tarsy.TimelineEvent) bool { return e.ExecutionID != nil && *e.ExecutionID == execution.ID })
		}

		r.printf("\n")
	}

	r.events("", func(e tarsy.TimelineEvent) bool {
		return e.ExecutionID == nil && e.EventType != tarsy.EventUserQuestion
	})
}

// events writes a line for each selected event.
func (r *writer) events(indent string, chosen func(tarsy.TimelineEvent) bool) {
	written, left := 0, 0

	for _, e := range r.export.Timeline {
		switch {
		case !chosen(e):
		case written == maxEvents:
			left++
		default:
			written++

			r.printf("%s- %s %s\n", indent, e.CreatedAt.UTC().Format("15:04:05"), line(e))
		}
	}

	if left > 0 {
		r.printf("%s- and %s more\n", indent, count(left))
	}
}

// line formats an event as one line.
func line(e tarsy.TimelineEvent) string {
	what := words(strings.TrimPrefix(strings.TrimPrefix(string(e.EventType), "llm_"), "mcp_"))
	if e.Status != tarsy.EventCompleted {
		what += " (" + words(string(e.Status)) + ")"
	}

	if e.EventType == tarsy.EventToolCall {
		call := toolCall(e)

		return what + " " + joined(strings.TrimSpace(call.Call+" "+toolName(call)), outcome(call))
	}

	first, _, _ := strings.Cut(strings.TrimLeft(e.Content, "# \t\r\n"), "\n")
	if first == "" {
		return what
	}

	return what + ": " + inline(first, maxLine)
}

func toolCall(e tarsy.TimelineEvent) tarsy.ToolCallMetadata {
	return tarsy.MetadataAs[tarsy.ToolCallMetadata](e.Metadata)
}

// toolName returns the name of a call's tool, with its server.
func toolName(call tarsy.ToolCallMetadata) string {
	return inline(strings.Trim(call.ServerName+"."+call.ToolName, "."), maxCell)
}

// outcome describes the result of a call.
func outcome(call tarsy.ToolCallMetadata) string {
	if call.ToolCallResult == nil {
		return ""
	}

	var parts []string

	if call.IsError {
		parts = append(parts, "failed")
	}

	if call.Outcome != "" {
		parts = append(parts, "outcome "+inline(call.Outcome, maxCell))
	}

	return joined(append(parts, fmt.Sprintf("%d ms", call.DurationMs))...)
}

func resultTitle(call tarsy.ToolCallMetadata) string {
	if how := outcome(call); how != "" {
		return "Result (" + how + ")"
	}

	return "Result"
}

// arguments returns the arguments of a call as indented JSON.
func arguments(call tarsy.ToolCallMetadata) string {
	var given any

	if json.Unmarshal(call.Arguments, &given) != nil || given == nil {
		return ""
	}

	readable, err := json.MarshalIndent(given, "", "  ")
	if err != nil {
		return string(call.Arguments)
	}

	return string(readable)
}
