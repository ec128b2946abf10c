package plan

import (
	"fmt"
	"strings"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/agent"
	"tarsy.dev/tarsy/internal/chain"
	"tarsy.dev/tarsy/internal/progress"
)

// executionsOf returns the executions of a stage.
func executionsOf(state *progress.State, stageID string) []tarsy.Execution {
	var executions []tarsy.Execution

	for _, e := range state.Executions {
		if e.StageID == stageID {
			executions = append(executions, e)
		}
	}

	return executions
}

// timelineOf returns the events of an execution.
func timelineOf(state *progress.State, executionID string) []tarsy.TimelineEvent {
	var events []tarsy.TimelineEvent

	for _, e := range state.Timeline {
		if e.ExecutionID != nil && *e.ExecutionID == executionID {
			events = append(events, e)
		}
	}

	return events
}

// investigationsOf returns what the agents of a stage did.
func investigationsOf(state *progress.State, stage tarsy.Stage) []agent.Investigation {
	var all []agent.Investigation

	for _, e := range executionsOf(state, stage.ID) {
		all = append(all, agent.Investigation{Execution: e, Timeline: timelineOf(state, e.ID)})
	}

	return all
}

// analysisOf returns the final analysis of a stage. If it has several agents, each analysis is under the agent's name.
func analysisOf(state *progress.State, stage tarsy.Stage) string {
	executions := executionsOf(state, stage.ID)

	var parts []string

	for _, e := range executions {
		for _, t := range timelineOf(state, e.ID) {
			if t.EventType != tarsy.EventFinalAnalysis {
				continue
			}

			if len(executions) == 1 {
				return t.Content
			}

			parts = append(parts, fmt.Sprintf("## %s\n\n%s", e.AgentName, t.Content))
		}
	}

	return strings.Join(parts, "\n\n")
}

// resultsOf returns the results of the first stages, one for each stage of the chain: a synthesis replaces the analyses of its agents.
func resultsOf(state *progress.State, stages []tarsy.Stage) []agent.StageResult {
	var results []agent.StageResult

	for _, s := range stages {
		switch s.StageType {
		case tarsy.StageInvestigation:
			results = append(results, agent.StageResult{StageName: s.StageName, FinalAnalysis: analysisOf(state, s)})
		case tarsy.StageSynthesis:
			results[len(results)-1].FinalAnalysis = analysisOf(state, s)
		case tarsy.StageChat:
		}
	}

	return results
}

// Calls returns the tool calls that a conclusion can cite.
func Calls(state *progress.State) []tarsy.Citation { return callsOf(state, state.Stages) }

// callsOf returns the numbered tool calls of the given stages, which later stages may cite.
func callsOf(state *progress.State, stages []tarsy.Stage) []tarsy.Citation {
	earlier := make(map[string]bool, len(stages))
	for _, s := range stages {
		earlier[s.ID] = true
	}

	var calls []tarsy.Citation

	for _, e := range state.Timeline {
		if e.EventType != tarsy.EventToolCall || e.StageID == nil || !earlier[*e.StageID] {
			continue
		}

		if number := agent.CallOf(e); number != "" {
			calls = append(calls, tarsy.Citation{Call: number, EventID: e.ID})
		}
	}

	return calls
}

// FinalAnalysis returns the analysis of the last stage.
func FinalAnalysis(state *progress.State) string {
	results := resultsOf(state, state.Stages)

	return results[len(results)-1].FinalAnalysis
}

// withAnalysis adds the final analysis to the last step of a session that was stopped when only its conclusion was missing.
func withAnalysis(state *progress.State, c chain.Chain, step progress.Step) progress.Step {
	if len(state.Stages) == 0 {
		return step
	}

	last := len(state.Stages) - 1
	stage := state.Stages[last]
	whole := stage.StageType == tarsy.StageSynthesis || stage.ExpectedAgentCount == 1

	if whole && stage.Status == tarsy.StatusCompleted && chainIndex(state.Stages, last)+1 == len(c.Stages) {
		step.Session.FinalAnalysis = FinalAnalysis(state)
	}

	return step
}

// concludedEarly returns why an agent of the session had to conclude before it was done; empty if none had to.
func concludedEarly(state *progress.State) string {
	for _, e := range state.Executions {
		if e.ForcedConclusion.Early() {
			return string(e.ForcedConclusion)
		}
	}

	return ""
}

// chatOf returns a copy of the session's chat, or nil.
func chatOf(state *progress.State) *tarsy.Chat {
	if len(state.Chats) == 0 {
		return nil
	}

	chat := state.Chats[0]

	return &chat
}
