package engine

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
)

func TestPlanTable(t *testing.T) {
	t.Parallel()

	const timeout = time.Hour

	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	cancel := []tarsy.Request{{ID: "q", Kind: tarsy.RequestCancel}}
	twoStages := Recipe{Stages: []RecipeStage{{Name: "first"}, {Name: "second"}}}
	begun := func(age time.Duration, stages ...tarsy.Stage) tarsy.State {
		started := now.Add(-age)

		return tarsy.State{Session: tarsy.Session{Status: tarsy.SessionInProgress, StartedAt: &started}, Stages: stages}
	}
	stage := func(id string, status tarsy.Status) tarsy.Stage { return tarsy.Stage{ID: id, Status: status} }
	execution := func(id, stage string, status tarsy.Status) tarsy.Execution {
		return tarsy.Execution{ID: id, StageID: stage, Status: status}
	}

	tests := map[string]struct {
		state   tarsy.State
		unknown bool
		want    []task
	}{
		"a fresh session begins its first stage": {
			state: tarsy.State{Session: tarsy.Session{Status: tarsy.SessionPending}}, want: []task{{kind: taskCreateStage}},
		},
		"a pending session has no deadline yet": {
			state: tarsy.State{Session: tarsy.Session{Status: tarsy.SessionPending, CreatedAt: now.Add(-24 * time.Hour)}},
			want:  []task{{kind: taskCreateStage}},
		},
		"an ended session is released, whatever is asked": {
			state: tarsy.State{Session: tarsy.Session{Status: tarsy.SessionCompleted}, Requests: cancel}, want: []task{{kind: taskRelease}},
		},
		"an ended session of a chain that is gone is released": {
			state: tarsy.State{Session: tarsy.Session{Status: tarsy.SessionFailed}}, unknown: true, want: []task{{kind: taskRelease}},
		},
		"a cancellation comes before the deadline and a missing chain": {
			state: func() tarsy.State {
				s := begun(2*timeout, stage("a", tarsy.StatusActive))
				s.Requests = cancel

				return s
			}(),
			unknown: true, want: []task{{kind: taskCancel}},
		},
		"a question alone cancels nothing": {
			state: tarsy.State{
				Session:  tarsy.Session{Status: tarsy.SessionPending},
				Requests: []tarsy.Request{{ID: "q", Kind: tarsy.RequestChat}},
			},
			want: []task{{kind: taskCreateStage}},
		},
		"the deadline ends a session to the instant": {
			state: begun(timeout, stage("a", tarsy.StatusActive)), want: []task{{kind: taskTimeOut}},
		},
		"the deadline comes before a missing chain": {
			state: begun(2 * timeout), unknown: true, want: []task{{kind: taskTimeOut}},
		},
		"just before the deadline work goes on": {
			state: begun(timeout-time.Nanosecond, stage("a", tarsy.StatusActive)), want: []task{{kind: taskFinishStage}},
		},
		"a chain that is gone ends the session": {
			state: begun(0, stage("a", tarsy.StatusActive)), unknown: true, want: []task{{kind: taskNoChain}},
		},
		"every execution of the stage that has not ended runs, and none of another stage": {
			state: func() tarsy.State {
				s := begun(0, stage("a", tarsy.StatusCompleted), stage("b", tarsy.StatusActive))
				s.Executions = []tarsy.Execution{
					execution("1", "a", tarsy.StatusActive), execution("2", "b", tarsy.StatusPending),
					execution("3", "b", tarsy.StatusFailed), execution("4", "b", tarsy.StatusActive),
				}

				return s
			}(),
			want: []task{{kind: taskRunExecution, stage: 1, execution: "2"}, {kind: taskRunExecution, stage: 1, execution: "4"}},
		},
		"a stage whose executions have ended is finished": {
			state: func() tarsy.State {
				s := begun(0, stage("a", tarsy.StatusActive))
				s.Executions = []tarsy.Execution{execution("1", "a", tarsy.StatusFailed)}

				return s
			}(),
			want: []task{{kind: taskFinishStage}},
		},
		"a pending stage is not over":        {state: begun(0, stage("a", tarsy.StatusPending)), want: []task{{kind: taskFinishStage}}},
		"a failed stage fails the session":   {state: begun(0, stage("a", tarsy.StatusFailed)), want: []task{{kind: taskFail}}},
		"a timed-out stage ends the session": {state: begun(0, stage("a", tarsy.StatusTimedOut)), want: []task{{kind: taskFail}}},
		"a later stage that fails is the one that is named": {
			state: begun(0, stage("a", tarsy.StatusCompleted), stage("b", tarsy.StatusFailed)), want: []task{{kind: taskFail, stage: 1}},
		},
		"a completed stage is followed by the next": {
			state: begun(0, stage("a", tarsy.StatusCompleted)), want: []task{{kind: taskCreateStage, stage: 1}},
		},
		"after the last stage the session is concluded": {
			state: begun(0, stage("a", tarsy.StatusCompleted), stage("b", tarsy.StatusCompleted)), want: []task{{kind: taskConclude}},
		},
		"a chain that became shorter is concluded": {
			state: begun(0, stage("a", tarsy.StatusCompleted), stage("b", tarsy.StatusCompleted), stage("c", tarsy.StatusCompleted)),
			want:  []task{{kind: taskConclude}},
		},
	}

	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			before := cloneState(&test.state)

			for range 2 {
				tasks := plan(&test.state, twoStages, !test.unknown, now, timeout)
				require.Empty(t, cmp.Diff(test.want, tasks, cmp.AllowUnexported(task{})))
			}

			require.Empty(t, cmp.Diff(before, &test.state), "planning changed its input")
		})
	}
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

func TestASelectionReplacesTheServersOfTheChain(t *testing.T) {
	t.Parallel()

	configured := []ServerTools{{Server: "kubernetes"}}
	require.Equal(t, configured, toolServers(nil, configured))
	require.Empty(t, toolServers(&tarsy.MCPSelection{}, configured))
	require.Equal(t, []ServerTools{{Server: "github", Tools: []string{"search"}}},
		toolServers(&tarsy.MCPSelection{Servers: []tarsy.MCPServerSelection{{Name: "github", Tools: []string{"search"}}}}, configured))
}
