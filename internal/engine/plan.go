package engine

import (
	"slices"
	"time"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/chain"
	"tarsy.dev/tarsy/internal/progress"
)

// task is one thing that may be done now.
type task struct {
	kind taskKind
	// stage counts from zero: in the recipe for a stage that is to be created, in the session's stages otherwise.
	stage     int
	execution string
}

type taskKind int

const (
	// taskRelease: nothing is left to do; what is still asked is too late.
	taskRelease taskKind = iota
	taskCancel
	taskTimeOut
	// taskNoChain: the chain is no longer configured.
	taskNoChain
	// taskFetchRunbook: the alert named a runbook that must be read before the first stage begins.
	taskFetchRunbook
	taskCreateStage
	// taskSynthesise: several agents completed a stage; another makes one analysis of theirs.
	taskSynthesise
	taskRunExecution
	taskFinishStage
	// taskFail: a stage did not succeed, so the session fails without trying the later ones.
	taskFail
	// taskConclude: all stages succeeded; write the executive summary and finish.
	taskConclude
	// taskAsk: the session is over and somebody asked a question; begin the stage that answers it.
	taskAsk
	taskCancelChat
	taskTimeOutChat
)

// plan is what may be done now, from what the database holds: a pure function, so that going on after a crash is
// nothing special. Several tasks may run at once; all are of the same stage.
func plan(state *progress.State, recipe chain.Chain, known bool, now time.Time, timeout time.Duration) []task {
	session := state.Session

	switch {
	case session.Status.Terminal():
		return planChat(state, now, timeout)
	case hasRequest(state, tarsy.RequestCancel):
		return []task{{kind: taskCancel}}
	case session.StartedAt != nil && !now.Before(session.StartedAt.Add(timeout)):
		return []task{{kind: taskTimeOut}}
	case !known:
		return []task{{kind: taskNoChain}}
	case len(state.Stages) == 0 && session.Runbook == "" && session.RunbookURL != "":
		return []task{{kind: taskFetchRunbook}}
	case len(state.Stages) == 0:
		return []task{{kind: taskCreateStage}}
	}

	last := len(state.Stages) - 1
	current := state.Stages[last]
	done := recipeIndex(state.Stages, last) + 1

	switch {
	case !current.Status.Terminal():
		return planStage(state, last)
	case current.Status != tarsy.StatusCompleted:
		return []task{{kind: taskFail, stage: last}}
	case current.StageType == tarsy.StageInvestigation && current.ExpectedAgentCount > 1:
		return []task{{kind: taskSynthesise, stage: done - 1}}
	case done < len(recipe.Stages):
		return []task{{kind: taskCreateStage, stage: done}}
	default:
		return []task{{kind: taskConclude}}
	}
}

// planChat is what may be done of a session that is over: answer questions, one at a time.
func planChat(state *progress.State, now time.Time, timeout time.Duration) []task {
	open := openChat(state)

	switch {
	case open < 0 && hasRequest(state, tarsy.RequestChat):
		return []task{{kind: taskAsk}}
	case open < 0:
		return []task{{kind: taskRelease}}
	case hasRequest(state, tarsy.RequestCancel):
		return []task{{kind: taskCancelChat}}
	case !now.Before(state.Stages[open].CreatedAt.Add(timeout)):
		return []task{{kind: taskTimeOutChat}}
	default:
		return planStage(state, open)
	}
}

// planStage runs what has not ended, and finishes the stage when everything has: all agents finish before the
// success policy decides.
func planStage(state *progress.State, index int) []task {
	var tasks []task

	for _, e := range state.Executions {
		if e.StageID == state.Stages[index].ID && !e.Status.Terminal() {
			tasks = append(tasks, task{kind: taskRunExecution, stage: index, execution: e.ID})
		}
	}

	if len(tasks) == 0 {
		return []task{{kind: taskFinishStage, stage: index}}
	}

	return tasks
}

// openChat finds the stage that answers a question now, or returns -1.
func openChat(state *progress.State) int {
	return slices.IndexFunc(state.Stages, func(s tarsy.Stage) bool {
		return s.StageType == tarsy.StageChat && !s.Status.Terminal()
	})
}

// recipeIndex is the place in the recipe of one of the session's stages; a synthesis has that of the stage before it.
func recipeIndex(stages []tarsy.Stage, index int) int {
	configured := -1

	for _, s := range stages[:index+1] {
		if s.StageType == tarsy.StageInvestigation {
			configured++
		}
	}

	return configured
}

func hasRequest(state *progress.State, kind tarsy.RequestKind) bool {
	return slices.ContainsFunc(state.Requests, func(r tarsy.Request) bool { return r.Kind == kind })
}

// stageStatus decides a stage by its policy, once all its executions have ended.
func stageStatus(policy tarsy.SuccessPolicy, executions []tarsy.Execution) tarsy.Status {
	completed := 0
	worst := tarsy.StatusCompleted

	for _, e := range executions {
		if e.Status == tarsy.StatusCompleted {
			completed++
		} else {
			worst = worse(worst, e.Status)
		}
	}

	if completed == len(executions) || (policy != tarsy.PolicyAll && completed > 0) {
		return tarsy.StatusCompleted
	}

	return worst
}

// worse chooses the status that a stage of mixed failures has: cancelled only if all were, timed out only if all
// were, otherwise failed.
func worse(a, b tarsy.Status) tarsy.Status {
	if a == tarsy.StatusCompleted || a == b {
		return b
	}

	return tarsy.StatusFailed
}
