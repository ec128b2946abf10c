package plan

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/chain"
	"tarsy.dev/tarsy/internal/progress"
)

// waitingState returns a session whose stage has one agent per expiry, each with a call that waits for approval until that second.
func waitingState(expiries ...int64) *progress.State {
	started := time.Unix(0, 0)
	state := &progress.State{
		Session: tarsy.Session{ID: "s", Status: tarsy.SessionInProgress, StartedAt: &started},
		Stages:  []tarsy.Stage{{ID: "stage", StageType: tarsy.StageInvestigation, Status: tarsy.StatusActive, ExpectedAgentCount: len(expiries)}},
	}

	for i, expiry := range expiries {
		id := string(rune('a' + i))
		state.Executions = append(state.Executions, tarsy.Execution{ID: id, StageID: "stage", Status: tarsy.StatusActive, AgentIndex: i + 1})
		state.MCPInteractions = append(state.MCPInteractions, tarsy.MCPInteraction{
			ID: "call-" + id, SessionID: "s", StageID: "stage", ExecutionID: id, TimelineEventID: "event-" + id, Status: tarsy.CallWaiting,
			ToolArguments: json.RawMessage(`{}`), CreatedAt: time.Unix(10, 0),
			Approval: &tarsy.Approval{Status: tarsy.ApprovalWaiting, ExpiresAt: time.Unix(expiry, 0)},
		})
		state.Timeline = append(state.Timeline, tarsy.TimelineEvent{
			ID: "event-" + id, SessionID: "s", ExecutionID: &id, EventType: tarsy.EventToolCall, Status: tarsy.EventStreaming,
			Metadata: tarsy.NewMetadata(tarsy.ToolCallMetadata{Call: "1.1.1", Arguments: json.RawMessage(`{}`)}),
		})
	}

	return state
}

func decision(t *testing.T, call string, status tarsy.ApprovalStatus, at int64) tarsy.Request {
	t.Helper()

	payload, err := json.Marshal(tarsy.ApprovalDecision{ApprovalID: call, Status: status, Reason: "because", Arguments: json.RawMessage(`{"a":1}`)})
	require.NoError(t, err)

	return tarsy.Request{ID: "request-" + call, SessionID: "s", Kind: tarsy.RequestApproval, Status: tarsy.RequestOpen, Author: "ada", Payload: payload, CreatedAt: time.Unix(at, 0)}
}

func tasksAt(state *progress.State, second int64) []Task {
	return Next(state, chain.Chain{Stages: []chain.Stage{{}}}, nil, time.Unix(second, 0), time.Minute)
}

func TestSessionWaitsUntilFirstRequestExpires(t *testing.T) {
	t.Parallel()

	state := waitingState(500, 400)
	require.Equal(t, []Task{{Kind: Wait}}, tasksAt(state, 20))

	step := Steps{State: state, Now: time.Unix(20, 0)}.For(Task{Kind: Wait})
	require.True(t, step.Release)
	require.Equal(t, time.Unix(400, 0), *step.RunAt)

	require.Equal(t, []Task{{Kind: RunExecution, Execution: "b"}}, tasksAt(state, 400), "the agent finds that its request expired")
}

func TestTimeOfWaitingDoesNotCount(t *testing.T) {
	t.Parallel()

	state := waitingState(5000, 5000)
	require.Equal(t, []Task{{Kind: Wait}}, tasksAt(state, 4000), "longer than the session may take")

	// Both waited, one of them longer: only ten seconds of work count.
	first, second := time.Unix(1000, 0), time.Unix(2000, 0)
	state.MCPInteractions[0].Approval = &tarsy.Approval{Status: tarsy.ApprovalApproved, DecidedAt: &first}
	state.MCPInteractions[1].Approval = &tarsy.Approval{Status: tarsy.ApprovalApproved, DecidedAt: &second}

	began, ok := Began(state, time.Unix(2000, 0))
	require.True(t, ok)
	require.Equal(t, time.Unix(1990, 0), began)
	require.Equal(t, RunExecution, tasksAt(state, 2049)[0].Kind)
	require.Equal(t, TimeOut, tasksAt(state, 2050)[0].Kind)
}

func TestDecisionIsAppliedToItsCallOnly(t *testing.T) {
	t.Parallel()

	state := waitingState(500, 500)
	state.Requests = []tarsy.Request{decision(t, "call-b", tarsy.ApprovalApproved, 100)}
	require.Equal(t, []Task{{Kind: ApplyDecisions}}, tasksAt(state, 600), "a decision that came in time counts")

	now := time.Unix(600, 0)
	step := Steps{State: state, Now: now}.For(Task{Kind: ApplyDecisions})
	state.Apply(step)

	require.Empty(t, state.Requests)
	require.Equal(t, tarsy.RequestDone, step.Answered[0].Status)
	require.Equal(t, tarsy.ApprovalWaiting, state.MCPInteractions[0].Approval.Status)

	approval := state.MCPInteractions[1].Approval
	require.Equal(t, tarsy.ApprovalApproved, approval.Status)
	require.Equal(t, "ada", approval.DecidedBy)
	require.JSONEq(t, `{"a":1}`, string(approval.Arguments))
	require.Equal(t, tarsy.ApprovalApproved, tarsy.MetadataAs[tarsy.ToolCallMetadata](state.Timeline[1].Metadata).Approval.Status)
	require.Equal(t, tarsy.TypeApprovalStatus, step.Events[0].Type)
}

func TestLateAndUnknownDecisionsAreRefused(t *testing.T) {
	t.Parallel()

	state := waitingState(500)
	state.Requests = []tarsy.Request{
		decision(t, "call-a", tarsy.ApprovalApproved, 500), decision(t, "call-z", tarsy.ApprovalApproved, 100),
		{ID: "broken", SessionID: "s", Kind: tarsy.RequestApproval, Payload: json.RawMessage(`[]`)},
	}

	step := Decide(state, time.Unix(501, 0))
	require.Empty(t, step.MCPInteractions)

	for _, q := range step.Answered {
		require.Equal(t, tarsy.RequestRefused, q.Status)
	}
}

func TestRejectionKeepsArgumentsOfModel(t *testing.T) {
	t.Parallel()

	state := waitingState(500)
	state.Requests = []tarsy.Request{decision(t, "call-a", tarsy.ApprovalRejected, 100)}
	state.Apply(*Decide(state, time.Unix(101, 0)))

	require.Equal(t, tarsy.ApprovalRejected, state.MCPInteractions[0].Approval.Status)
	require.Nil(t, state.MCPInteractions[0].Approval.Arguments)
	require.Equal(t, []Task{{Kind: RunExecution, Execution: "a"}}, tasksAt(state, 102))
}

func TestClosedSessionLeavesNothingWaiting(t *testing.T) {
	t.Parallel()

	state := waitingState(500, 500)
	state.Requests = []tarsy.Request{
		{ID: "cancel", SessionID: "s", Kind: tarsy.RequestCancel, Status: tarsy.RequestOpen}, decision(t, "call-a", tarsy.ApprovalApproved, 100),
	}

	step := Steps{State: state, Now: time.Unix(110, 0), Sequence: func() int64 { return 1 }}.For(Task{Kind: Cancel})
	state.Apply(step)

	for i, call := range state.MCPInteractions {
		require.Equal(t, tarsy.CallFailed, call.Status)
		require.Equal(t, tarsy.ApprovalWithdrawn, call.Approval.Status)
		require.Equal(t, tarsy.ApprovalWithdrawn, tarsy.MetadataAs[tarsy.ToolCallMetadata](state.Timeline[i].Metadata).Approval.Status)
	}

	require.Equal(t, tarsy.RequestRefused, step.Answered[1].Status, "the decision came too late")
}
