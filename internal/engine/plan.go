package engine

import (
	"slices"
	"time"

	"tarsy.dev/tarsy"
)

// task is one thing that may be done now.
type task struct {
	kind taskKind
	// stage counts from zero in the recipe.
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
	taskCreateStage
	taskRunExecution
	taskFinishStage
	// taskFail: a stage did not succeed, so the session fails without trying the later ones.
	taskFail
	// taskConclude: all stages succeeded; write the executive summary and finish.
	taskConclude
)

// plan is what may be done now, from what the database holds: a pure function, so that going on after a crash is
// nothing special. Several tasks may run at once; all are of the same stage.
func plan(state *tarsy.State, recipe Recipe, known bool, now time.Time, timeout time.Duration) []task {
	switch {
	case state.Session.Status.Terminal():
		return []task{{kind: taskRelease}}
	case hasCancel(state.Requests):
		return []task{{kind: taskCancel}}
	case state.Session.StartedAt != nil && !now.Before(state.Session.StartedAt.Add(timeout)):
		return []task{{kind: taskTimeOut}}
	case !known:
		return []task{{kind: taskNoChain}}
	}

	if len(state.Stages) == 0 {
		return []task{{kind: taskCreateStage, stage: 0}}
	}

	current := state.Stages[len(state.Stages)-1]
	index := len(state.Stages) - 1

	switch {
	case !current.Status.Terminal():
		return planStage(state, current, index)
	case current.Status != tarsy.StatusCompleted:
		return []task{{kind: taskFail, stage: index}}
	case len(state.Stages) < len(recipe.Stages):
		return []task{{kind: taskCreateStage, stage: len(state.Stages)}}
	default:
		return []task{{kind: taskConclude}}
	}
}

// planStage runs what has not ended, and finishes the stage when everything has: all agents finish before the
// success policy decides.
func planStage(state *tarsy.State, stage tarsy.Stage, index int) []task {
	var tasks []task

	for _, e := range state.Executions {
		if e.StageID == stage.ID && !e.Status.Terminal() {
			tasks = append(tasks, task{kind: taskRunExecution, stage: index, execution: e.ID})
		}
	}

	if len(tasks) == 0 {
		return []task{{kind: taskFinishStage, stage: index}}
	}

	return tasks
}

func hasCancel(requests []tarsy.Request) bool {
	return slices.ContainsFunc(requests, func(r tarsy.Request) bool { return r.Kind == tarsy.RequestCancel })
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
