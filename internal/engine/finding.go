package engine

import (
	"fmt"
	"strings"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/agent"
	"tarsy.dev/tarsy/internal/chain"
	"tarsy.dev/tarsy/internal/progress"
)

// The functions of this file read the state. Their callers hold r.mu.

func (r *sessionRun) executions(stageID string) []tarsy.Execution {
	var executions []tarsy.Execution

	for _, e := range r.state.Executions {
		if e.StageID == stageID {
			executions = append(executions, e)
		}
	}

	return executions
}

// timeline returns the events of one execution.
func (r *sessionRun) timeline(executionID string) []tarsy.TimelineEvent {
	var events []tarsy.TimelineEvent

	for _, e := range r.state.Timeline {
		if e.ExecutionID != nil && *e.ExecutionID == executionID {
			events = append(events, e)
		}
	}

	return events
}

// investigations are what the agents of a stage did.
func (r *sessionRun) investigations(stage tarsy.Stage) []agent.Investigation {
	var all []agent.Investigation

	for _, e := range r.executions(stage.ID) {
		all = append(all, agent.Investigation{Execution: e, Timeline: r.timeline(e.ID)})
	}

	return all
}

// analysis is what a stage found: its agents' final analyses, under their names where there are several.
func (r *sessionRun) analysis(stage tarsy.Stage) string {
	executions := r.executions(stage.ID)

	var parts []string

	for _, e := range executions {
		for _, t := range r.timeline(e.ID) {
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

// results are what the first stages found, one for each configured stage: a synthesis speaks for its agents.
func (r *sessionRun) results(stages []tarsy.Stage) []agent.StageResult {
	var results []agent.StageResult

	for _, s := range stages {
		switch s.StageType {
		case tarsy.StageInvestigation:
			results = append(results, agent.StageResult{StageName: s.StageName, FinalAnalysis: r.analysis(s)})
		case tarsy.StageSynthesis:
			results[len(results)-1].FinalAnalysis = r.analysis(s)
		case tarsy.StageChat:
		}
	}

	return results
}

// calls are the tool calls of the first stages that have a number, by which later stages may cite them.
func (r *sessionRun) calls(stages []tarsy.Stage) []tarsy.Citation {
	earlier := make(map[string]bool, len(stages))
	for _, s := range stages {
		earlier[s.ID] = true
	}

	var calls []tarsy.Citation

	for _, e := range r.state.Timeline {
		if e.EventType != tarsy.EventToolCall || e.StageID == nil || !earlier[*e.StageID] {
			continue
		}

		if number := agent.CallOf(e); number != "" {
			calls = append(calls, tarsy.Citation{Call: number, EventID: e.ID})
		}
	}

	return calls
}

// finalAnalysis is what the last stage found.
func (r *sessionRun) finalAnalysis() string {
	results := r.results(r.state.Stages)

	return results[len(results)-1].FinalAnalysis
}

// keepAnalysis adds what was found to the last step of a session that was stopped when only its summary was missing.
func (r *sessionRun) keepAnalysis(recipe chain.Chain, step progress.Step) progress.Step {
	if len(r.state.Stages) == 0 {
		return step
	}

	last := len(r.state.Stages) - 1
	stage := r.state.Stages[last]
	whole := stage.StageType == tarsy.StageSynthesis || stage.ExpectedAgentCount == 1

	if whole && stage.Status == tarsy.StatusCompleted && recipeIndex(r.state.Stages, last)+1 == len(recipe.Stages) {
		step.Session.FinalAnalysis = r.finalAnalysis()
	}

	return step
}

// concludedEarly is why the session's agents concluded before they were done, if one of them did.
func (r *sessionRun) concludedEarly() string {
	for _, e := range r.state.Executions {
		if e.ForcedConclusion.Early() {
			return string(e.ForcedConclusion)
		}
	}

	return ""
}
