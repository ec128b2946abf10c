package plan

import (
	"slices"
	"time"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/chain"
	"tarsy.dev/tarsy/internal/progress"
)

// Task is something to do now.
type Task struct {
	Kind Kind
	// Stage is an index from zero: into the chain's stages for CreateStage and Synthesize, otherwise into the session's stages.
	Stage int
	// Execution is the ID of the execution that RunExecution runs.
	Execution string
}

// Kind is the kind of a task.
type Kind int

// The kinds of tasks.
const (
	// Release releases the lease: nothing is left to do, and open cancel requests are too late.
	Release Kind = iota
	// Cancel ends the session on request.
	Cancel
	// TimeOut ends a session that exceeded its time limit.
	TimeOut
	// NotConfigured fails a session that needs something that no server has configured.
	NotConfigured
	// Start marks a session as in progress before its runbook is fetched, so that people see it and its time limit starts.
	Start
	// FetchRunbook reads the runbook that the alert refers to and begins the first stage with it.
	FetchRunbook
	// CreateStage begins the next stage of the chain.
	CreateStage
	// Synthesize begins the stage that turns the analyses of several agents into one.
	Synthesize
	// RunExecution runs one agent of a stage.
	RunExecution
	// FinishStage ends a stage whose executions have all ended.
	FinishStage
	// Fail ends a session whose stage did not succeed, without running later stages.
	Fail
	// Conclude writes the executive summary and the verdict and completes a session whose stages all succeeded.
	Conclude
	// Ask begins the stage that answers a question about a finished session.
	Ask
	// CancelChat ends the current answer on request.
	CancelChat
	// TimeOutChat ends an answer that exceeded its time limit.
	TimeOutChat
	// ApplyDecisions records people's decisions on tool calls.
	ApplyDecisions
	// Wait releases the lease until someone decides on a tool call, or an approval expires.
	Wait
)

// Next returns the tasks to do now. If there are several, they can run concurrently and belong to the same stage. missing lists the
// session's needs that this server lacks.
func Next(state *progress.State, c chain.Chain, missing []string, now time.Time, timeout time.Duration) []Task {
	session := state.Session

	switch {
	case session.Status.Terminal():
		return nextInChat(state, now, timeout)
	case HasRequest(state, tarsy.RequestCancel):
		return []Task{{Kind: Cancel}}
	case HasRequest(state, tarsy.RequestApproval):
		return []Task{{Kind: ApplyDecisions}}
	case isOver(state, now, timeout):
		return []Task{{Kind: TimeOut}}
	case len(missing) > 0:
		return []Task{{Kind: NotConfigured}}
	case len(state.Stages) == 0 && session.Runbook == "" && session.RunbookURL != "":
		if session.Status == tarsy.SessionPending {
			return []Task{{Kind: Start}}
		}

		return []Task{{Kind: FetchRunbook}}
	case len(state.Stages) == 0:
		return []Task{{Kind: CreateStage}}
	}

	last := len(state.Stages) - 1
	current := state.Stages[last]
	done := chainIndex(state.Stages, last) + 1

	switch {
	case !current.Status.Terminal():
		return nextInStage(state, last, now)
	case current.Status != tarsy.StatusCompleted:
		return []Task{{Kind: Fail, Stage: last}}
	case current.StageType == tarsy.StageInvestigation && current.ExpectedAgentCount > 1:
		return []Task{{Kind: Synthesize, Stage: done - 1}}
	case done < len(c.Stages):
		return []Task{{Kind: CreateStage, Stage: done}}
	default:
		return []Task{{Kind: Conclude}}
	}
}

// nextInChat returns the tasks of a finished session: answer questions, one at a time.
func nextInChat(state *progress.State, now time.Time, timeout time.Duration) []Task {
	open := openChat(state)

	switch {
	case open < 0 && HasRequest(state, tarsy.RequestChat):
		return []Task{{Kind: Ask}}
	case open < 0:
		return []Task{{Kind: Release}}
	case HasRequest(state, tarsy.RequestCancel):
		return []Task{{Kind: CancelChat}}
	case HasRequest(state, tarsy.RequestApproval):
		return []Task{{Kind: ApplyDecisions}}
	case isOver(state, now, timeout):
		return []Task{{Kind: TimeOutChat}}
	default:
		return nextInStage(state, open, now)
	}
}

// nextInStage runs the executions that have not ended, and finishes the stage once all have: all agents finish before the success policy
// decides. If all remaining executions wait for people, so does the session.
func nextInStage(state *progress.State, index int, now time.Time) []Task {
	var tasks []Task

	waiting := false

	for _, e := range state.Executions {
		switch {
		case e.StageID != state.Stages[index].ID || e.Status.Terminal():
		case IsWaiting(state, e.ID, now):
			waiting = true
		default:
			tasks = append(tasks, Task{Kind: RunExecution, Stage: index, Execution: e.ID})
		}
	}

	switch {
	case len(tasks) > 0:
		return tasks
	case waiting:
		return []Task{{Kind: Wait, Stage: index}}
	default:
		return []Task{{Kind: FinishStage, Stage: index}}
	}
}

// Began returns when the current work, the investigation or the answer to a question, began; its time limit counts from then. Time spent
// waiting for people is excluded by moving the start forward. It returns false if there is no such work.
func Began(state *progress.State, now time.Time) (time.Time, bool) {
	began := time.Time{}

	switch open := openChat(state); {
	case open >= 0:
		began = state.Stages[open].CreatedAt
	case state.Session.Status.Terminal() || state.Session.StartedAt == nil:
		return began, false
	default:
		began = *state.Session.StartedAt
	}

	return began.Add(waited(state, began, now)), true
}

// isOver reports whether the current work has exceeded its time limit.
func isOver(state *progress.State, now time.Time, timeout time.Duration) bool {
	began, working := Began(state, now)

	return working && !now.Before(began.Add(timeout))
}

// openChat returns the index of the stage that is answering a question, or -1.
func openChat(state *progress.State) int {
	return slices.IndexFunc(state.Stages, func(s tarsy.Stage) bool {
		return s.StageType == tarsy.StageChat && !s.Status.Terminal()
	})
}

// chainIndex returns the index in the chain of a stage of the session; a synthesis has that of the stage it follows.
func chainIndex(stages []tarsy.Stage, index int) int {
	configured := -1

	for _, s := range stages[:index+1] {
		if s.StageType == tarsy.StageInvestigation {
			configured++
		}
	}

	return configured
}

// HasRequest reports whether a request of this kind is open.
func HasRequest(state *progress.State, kind tarsy.RequestKind) bool {
	return slices.ContainsFunc(state.Requests, func(r tarsy.Request) bool { return r.Kind == kind })
}

// stageStatus returns the status of a stage by its policy, once all its executions have ended.
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

// worse combines the statuses of failed executions: cancelled only if all were, timed out only if all were, otherwise failed.
func worse(a, b tarsy.Status) tarsy.Status {
	if a == tarsy.StatusCompleted || a == b {
		return b
	}

	return tarsy.StatusFailed
}
