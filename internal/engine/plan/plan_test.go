package plan

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/chain"
	"tarsy.dev/tarsy/internal/progress"
)

func TestPlanTable(t *testing.T) {
	t.Parallel()

	const timeout = time.Hour

	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	cancel := []tarsy.Request{{ID: "q", Kind: tarsy.RequestCancel}}
	question := []tarsy.Request{{ID: "q", Kind: tarsy.RequestChat}}
	twoStages := chain.Chain{Stages: []chain.Stage{{Name: "first"}, {Name: "second"}}}
	begun := func(age time.Duration, stages ...tarsy.Stage) progress.State {
		started := now.Add(-age)

		return progress.State{Session: tarsy.Session{Status: tarsy.SessionInProgress, StartedAt: &started}, Stages: stages}
	}
	stage := func(id string, status tarsy.Status) tarsy.Stage {
		return tarsy.Stage{ID: id, StageType: tarsy.StageInvestigation, ExpectedAgentCount: 1, Status: status}
	}
	execution := func(id, stage string, status tarsy.Status) tarsy.Execution {
		return tarsy.Execution{ID: id, StageID: stage, Status: status}
	}

	several := func(id string, status tarsy.Status) tarsy.Stage {
		s := stage(id, status)
		s.ExpectedAgentCount = 2

		return s
	}
	synthesis := func(id string, status tarsy.Status) tarsy.Stage {
		s := stage(id, status)
		s.StageType = tarsy.StageSynthesis

		return s
	}
	over := func(requests []tarsy.Request, stages ...tarsy.Stage) progress.State {
		s := begun(24*time.Hour, stages...)
		s.Session.Status, s.Requests = tarsy.SessionCompleted, requests

		return s
	}
	// chat returns a stage that has been answering a question for age.
	chat := func(id string, age time.Duration, status tarsy.Status) tarsy.Stage {
		s := stage(id, status)
		s.StageType, s.CreatedAt = tarsy.StageChat, now.Add(-age)

		return s
	}

	tests := map[string]struct {
		state   progress.State
		missing []string
		want    []Task
	}{
		"a fresh session begins its first stage": {
			state: progress.State{Session: tarsy.Session{Status: tarsy.SessionPending}}, want: []Task{{Kind: CreateStage}},
		},
		"a pending session has no deadline yet": {
			state: progress.State{Session: tarsy.Session{Status: tarsy.SessionPending, CreatedAt: now.Add(-24 * time.Hour)}},
			want:  []Task{{Kind: CreateStage}},
		},
		"an ended session is released, whatever is asked": {
			state: progress.State{Session: tarsy.Session{Status: tarsy.SessionCompleted}, Requests: cancel}, want: []Task{{Kind: Release}},
		},
		"an ended session of a chain that is gone is released": {
			state: progress.State{Session: tarsy.Session{Status: tarsy.SessionFailed}}, missing: []string{"mcp:gone"}, want: []Task{{Kind: Release}},
		},
		"a cancellation comes before the deadline and a missing chain": {
			state: func() progress.State {
				s := begun(2*timeout, stage("a", tarsy.StatusActive))
				s.Requests = cancel

				return s
			}(),
			missing: []string{"mcp:gone"}, want: []Task{{Kind: Cancel}},
		},
		"a question alone cancels nothing": {
			state: progress.State{
				Session:  tarsy.Session{Status: tarsy.SessionPending},
				Requests: []tarsy.Request{{ID: "q", Kind: tarsy.RequestChat}},
			},
			want: []Task{{Kind: CreateStage}},
		},
		"the deadline ends a session to the instant": {
			state: begun(timeout, stage("a", tarsy.StatusActive)), want: []Task{{Kind: TimeOut}},
		},
		"the deadline comes before a missing chain": {
			state: begun(2 * timeout), missing: []string{"mcp:gone"}, want: []Task{{Kind: TimeOut}},
		},
		"just before the deadline work goes on": {
			state: begun(timeout-time.Nanosecond, stage("a", tarsy.StatusActive)), want: []Task{{Kind: FinishStage}},
		},
		"a chain that is gone ends the session": {
			state: begun(0, stage("a", tarsy.StatusActive)), missing: []string{"mcp:gone"}, want: []Task{{Kind: NotConfigured}},
		},
		"every execution of the stage that has not ended runs, and none of another stage": {
			state: func() progress.State {
				s := begun(0, stage("a", tarsy.StatusCompleted), stage("b", tarsy.StatusActive))
				s.Executions = []tarsy.Execution{
					execution("1", "a", tarsy.StatusActive), execution("2", "b", tarsy.StatusPending),
					execution("3", "b", tarsy.StatusFailed), execution("4", "b", tarsy.StatusActive),
				}

				return s
			}(),
			want: []Task{{Kind: RunExecution, Stage: 1, Execution: "2"}, {Kind: RunExecution, Stage: 1, Execution: "4"}},
		},
		"a stage whose executions have ended is finished": {
			state: func() progress.State {
				s := begun(0, stage("a", tarsy.StatusActive))
				s.Executions = []tarsy.Execution{execution("1", "a", tarsy.StatusFailed)}

				return s
			}(),
			want: []Task{{Kind: FinishStage}},
		},
		"a pending stage is not over":        {state: begun(0, stage("a", tarsy.StatusPending)), want: []Task{{Kind: FinishStage}}},
		"a failed stage fails the session":   {state: begun(0, stage("a", tarsy.StatusFailed)), want: []Task{{Kind: Fail}}},
		"a timed-out stage ends the session": {state: begun(0, stage("a", tarsy.StatusTimedOut)), want: []Task{{Kind: Fail}}},
		"a later stage that fails is the one that is named": {
			state: begun(0, stage("a", tarsy.StatusCompleted), stage("b", tarsy.StatusFailed)), want: []Task{{Kind: Fail, Stage: 1}},
		},
		"a completed stage is followed by the next": {
			state: begun(0, stage("a", tarsy.StatusCompleted)), want: []Task{{Kind: CreateStage, Stage: 1}},
		},
		"after the last stage the session is concluded": {
			state: begun(0, stage("a", tarsy.StatusCompleted), stage("b", tarsy.StatusCompleted)), want: []Task{{Kind: Conclude}},
		},
		"a stage of several agents is followed by its synthesis": {
			state: begun(0, several("a", tarsy.StatusCompleted)), want: []Task{{Kind: Synthesize}},
		},
		"a later stage of several agents too": {
			state: begun(0, several("a", tarsy.StatusCompleted), synthesis("s", tarsy.StatusCompleted), several("b", tarsy.StatusCompleted)),
			want:  []Task{{Kind: Synthesize, Stage: 1}},
		},
		"a stage of several agents that failed is not": {
			state: begun(0, several("a", tarsy.StatusFailed)), want: []Task{{Kind: Fail}},
		},
		"a synthesis is not followed by another, but by the next stage": {
			state: begun(0, several("a", tarsy.StatusCompleted), synthesis("s", tarsy.StatusCompleted)),
			want:  []Task{{Kind: CreateStage, Stage: 1}},
		},
		"a synthesis that failed fails the session": {
			state: begun(0, several("a", tarsy.StatusCompleted), synthesis("s", tarsy.StatusTimedOut)), want: []Task{{Kind: Fail, Stage: 1}},
		},
		"a synthesis runs as any stage does": {
			state: func() progress.State {
				s := begun(0, several("a", tarsy.StatusCompleted), synthesis("s", tarsy.StatusActive))
				s.Executions = []tarsy.Execution{execution("1", "a", tarsy.StatusCompleted), execution("2", "s", tarsy.StatusActive)}

				return s
			}(),
			want: []Task{{Kind: RunExecution, Stage: 1, Execution: "2"}},
		},
		"after the synthesis of the last stage the session is concluded": {
			state: begun(0, stage("a", tarsy.StatusCompleted), several("b", tarsy.StatusCompleted), synthesis("s", tarsy.StatusCompleted)),
			want:  []Task{{Kind: Conclude}},
		},
		"what several agents found is synthesised though the chain became shorter": {
			state: begun(0, stage("a", tarsy.StatusCompleted), stage("b", tarsy.StatusCompleted), several("c", tarsy.StatusCompleted)),
			want:  []Task{{Kind: Synthesize, Stage: 2}},
		},
		"a session starts before its runbook is read": {
			state: progress.State{Session: tarsy.Session{Status: tarsy.SessionPending, RunbookURL: "https://x"}}, want: []Task{{Kind: Start}},
		},
		"a runbook whose reading was cut off is read again": {
			state: func() progress.State {
				s := begun(time.Minute)
				s.Session.RunbookURL = "https://x"

				return s
			}(),
			want: []Task{{Kind: FetchRunbook}},
		},
		"a runbook in the alert wins over its address": {
			state: progress.State{Session: tarsy.Session{Status: tarsy.SessionPending, Runbook: "text", RunbookURL: "https://x"}},
			want:  []Task{{Kind: CreateStage}},
		},
		"an empty runbook is not read again": {
			state: func() progress.State {
				s := begun(0, stage("a", tarsy.StatusCompleted))
				s.Session.RunbookURL = "https://x"

				return s
			}(),
			want: []Task{{Kind: CreateStage, Stage: 1}},
		},
		"a runbook is not read past the deadline": {
			state: func() progress.State {
				s := begun(timeout)
				s.Session.RunbookURL = "https://x"

				return s
			}(),
			want: []Task{{Kind: TimeOut}},
		},
		"a question of an ended session is answered": {
			state: over(question, stage("a", tarsy.StatusCompleted)), want: []Task{{Kind: Ask}},
		},
		"a question is answered though the chain is gone, by saying so": {
			state: over(question), missing: []string{"mcp:gone"}, want: []Task{{Kind: Ask}},
		},
		"a question that is to be cancelled before it is begun is begun first": {
			state: over(slices.Concat(cancel, question)), want: []Task{{Kind: Ask}},
		},
		"a question asked after another is answered": {
			state: over(question, chat("c", time.Hour, tarsy.StatusFailed)), want: []Task{{Kind: Ask}},
		},
		"an answer that is being written goes on": {
			state: func() progress.State {
				s := over(nil, stage("a", tarsy.StatusCompleted), chat("c", timeout-1, tarsy.StatusActive))
				s.Executions = []tarsy.Execution{execution("1", "c", tarsy.StatusActive)}

				return s
			}(),
			want: []Task{{Kind: RunExecution, Stage: 1, Execution: "1"}},
		},
		"an answer that is there ends its stage": {
			state: over(nil, chat("b", timeout, tarsy.StatusCompleted), chat("c", 0, tarsy.StatusActive)), want: []Task{{Kind: FinishStage, Stage: 1}},
		},
		"an answer is cancelled": {
			state: over(cancel, chat("c", 2*timeout, tarsy.StatusActive)), want: []Task{{Kind: CancelChat}},
		},
		"an answer has its own deadline": {
			state: over(nil, chat("c", timeout, tarsy.StatusActive)), want: []Task{{Kind: TimeOutChat}},
		},
		"a cancellation after the answer is too late": {
			state: over(cancel, chat("c", 0, tarsy.StatusCompleted)), want: []Task{{Kind: Release}},
		},
		"after the answer the session is released": {
			state: over(nil, chat("c", 0, tarsy.StatusCompleted)), want: []Task{{Kind: Release}},
		},
		"a chain that became shorter is concluded": {
			state: begun(0, stage("a", tarsy.StatusCompleted), stage("b", tarsy.StatusCompleted), stage("c", tarsy.StatusCompleted)),
			want:  []Task{{Kind: Conclude}},
		},
	}

	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			before := cloneState(&test.state)

			for range 2 {
				tasks := Next(&test.state, twoStages, test.missing, now, timeout)
				require.Empty(t, cmp.Diff(test.want, tasks))
			}

			require.Empty(t, cmp.Diff(before, &test.state), "planning changed its input")
		})
	}
}

func TestTimeLimitStartsWithCurrentWork(t *testing.T) {
	t.Parallel()

	started, asked := time.Unix(1, 0), time.Unix(2, 0)
	chat := tarsy.Stage{StageType: tarsy.StageChat, Status: tarsy.StatusActive, CreatedAt: asked}
	answered := tarsy.Stage{StageType: tarsy.StageChat, Status: tarsy.StatusFailed, CreatedAt: started}

	requireBegan := func(state progress.State, want time.Time) {
		t.Helper()

		began, ok := Began(&state, asked)
		require.Equal(t, want, began)
		require.Equal(t, !want.IsZero(), ok)
	}

	requireBegan(progress.State{Session: tarsy.Session{Status: tarsy.SessionPending}}, time.Time{})
	requireBegan(progress.State{Session: tarsy.Session{Status: tarsy.SessionInProgress, StartedAt: &started}}, started)

	over := tarsy.Session{Status: tarsy.SessionCompleted, StartedAt: &started}
	requireBegan(progress.State{Session: over, Stages: []tarsy.Stage{answered}}, time.Time{})
	requireBegan(progress.State{Session: over, Stages: []tarsy.Stage{answered, chat}}, asked)
}

func TestStageStatusByPolicy(t *testing.T) {
	t.Parallel()

	const (
		ok     = tarsy.StatusCompleted
		failed = tarsy.StatusFailed
		late   = tarsy.StatusTimedOut
		gone   = tarsy.StatusCancelled
	)

	tests := []struct {
		name     string
		statuses []tarsy.Status
		all, any tarsy.Status
	}{
		{"one that completed", []tarsy.Status{ok}, ok, ok},
		{"one that failed", []tarsy.Status{failed}, failed, failed},
		{"one that timed out", []tarsy.Status{late}, late, late},
		{"one that was cancelled", []tarsy.Status{gone}, gone, gone},
		{"all completed", []tarsy.Status{ok, ok, ok}, ok, ok},
		{"one of three failed", []tarsy.Status{ok, failed, ok}, failed, ok},
		{"one of three timed out", []tarsy.Status{late, ok, ok}, late, ok},
		{"all timed out", []tarsy.Status{late, late}, late, late},
		{"a mix of failures", []tarsy.Status{late, failed}, failed, failed},
		{"a mix in another order", []tarsy.Status{gone, late}, failed, failed},
		{"a mix that began with a success", []tarsy.Status{ok, late, gone}, failed, ok},
		{"a mix that ends as it began", []tarsy.Status{late, failed, late}, failed, failed},
	}

	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()

			var executions []tarsy.Execution
			for _, s := range test.statuses {
				executions = append(executions, tarsy.Execution{Status: s})
			}

			require.Equal(t, test.all, stageStatus(tarsy.PolicyAll, executions))
			require.Equal(t, test.any, stageStatus(tarsy.PolicyAny, executions))
			require.Equal(t, test.any, stageStatus("", executions), "any is what no policy means")
		})
	}
}
