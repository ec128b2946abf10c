package api_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/internal/postgres"
	"tarsy.dev/tarsy/internal/progress"
)

const approvalsPath = "/api/v1/approvals"

type approvalPage struct {
	Approvals  []tarsy.ApprovalRequest `json:"approvals"`
	NextCursor string                  `json:"next_cursor"`
}

// waiting stores a session with a tool call that waits for an approval, and releases it.
func (f *fixture) waiting(t *testing.T) tarsy.MCPInteraction {
	t.Helper()

	id, now := f.session(t, func(*tarsy.Session) {}), f.clock.Now()
	claims, err := f.db.Claim(t.Context(), postgres.ClaimParams{
		Version: 1, Has: []string{"chain:k8s"}, ServerID: "server-1", Slots: 1, MaxSessions: 100, Lease: time.Minute,
	})
	require.NoError(t, err)
	require.Len(t, claims, 1)
	require.Equal(t, id, claims[0].SessionID)

	session := claims[0].State.Session
	session.Status, session.StartedAt = tarsy.SessionInProgress, &now
	stage := tarsy.Stage{ID: ident.New(), SessionID: id, StageName: "fix", StageType: tarsy.StageInvestigation, StageIndex: 1, ExpectedAgentCount: 1, Status: tarsy.StatusActive, CreatedAt: now}
	execution := tarsy.Execution{ID: ident.New(), SessionID: id, StageID: stage.ID, AgentName: "fixer", AgentIndex: 1, IterationStrategy: "native-thinking", Status: tarsy.StatusActive, CreatedAt: now}
	expires := now.Add(time.Hour)
	call := tarsy.MCPInteraction{
		ID: ident.New(), SessionID: id, StageID: stage.ID, ExecutionID: execution.ID, TimelineEventID: ident.New(), ToolCallID: "c1",
		ServerName: "k8s", ToolName: "scale", ToolArguments: json.RawMessage(`{"replicas": 3}`), AvailableTools: []string{"scale"}, Attempt: 1,
		Status: tarsy.CallWaiting, CreatedAt: now,
		Approval: &tarsy.Approval{Status: tarsy.ApprovalWaiting, Scope: tarsy.ScopeCall, Rule: "approvals.rules[0]", ExpiresAt: expires},
	}
	event := tarsy.TimelineEvent{
		ID: call.TimelineEventID, SessionID: id, StageID: &stage.ID, ExecutionID: &execution.ID, SequenceNumber: 1, EventType: tarsy.EventToolCall,
		Status: tarsy.EventStreaming, CreatedAt: now, UpdatedAt: now, Metadata: tarsy.NewMetadata(tarsy.ToolCallMetadata{
			Call: "1.1.1", ServerName: call.ServerName, ToolName: call.ToolName, Arguments: call.ToolArguments, ApprovalID: call.ID, Approval: call.Approval,
		}),
	}

	committed, err := f.db.Hold(claims[0].Lease).Commit(t.Context(), progress.Step{
		Session: &session, Stages: []tarsy.Stage{stage}, Executions: []tarsy.Execution{execution}, Timeline: []tarsy.TimelineEvent{event},
		MCPInteractions: []tarsy.MCPInteraction{call}, Events: []tarsy.Event{tarsy.ApprovalChanged(call, now)}, Release: true, RunAt: &expires,
	})
	require.NoError(t, err)
	require.True(t, committed.Released)

	return call
}

// decision returns the decision on the only session with an open request.
func (f *fixture) decision(t *testing.T, sessionID string) (tarsy.Request, tarsy.ApprovalDecision) {
	t.Helper()

	requests, err := f.db.OpenRequests(t.Context(), sessionID)
	require.NoError(t, err)
	require.Len(t, requests, 1)

	var decision tarsy.ApprovalDecision

	require.NoError(t, json.Unmarshal(requests[0].Payload, &decision))

	return requests[0], decision
}

func TestWaitingCallsAreListedAndDecided(t *testing.T) {
	t.Parallel()

	f := newFixture(t, locked)
	_, ana := f.key(t, "ana", tarsy.ScopeWrite)
	_, reader := f.key(t, "reader", tarsy.ScopeRead)

	require.Equal(t, []tarsy.ApprovalRequest{}, get[approvalPage](t, f, approvalsPath, reader...).Approvals)

	first, second := f.waiting(t), f.waiting(t)
	got := f.request(t, http.MethodGet, approvalsPath+"?session_id="+first.SessionID, "", reader...)
	require.Empty(t, f.api.CheckAnswer(http.MethodGet, approvalsPath, http.StatusOK, []byte(got.body)), got.body)

	open := decode[approvalPage](t, got).Approvals
	require.Len(t, open, 1)
	require.Equal(t, []any{first.ID, "fixer", "1.1.1", "k8s", "scale", "approvals.rules[0]"},
		[]any{open[0].ID, open[0].AgentName, open[0].Call, open[0].ServerName, open[0].ToolName, open[0].Approval.Rule})
	require.JSONEq(t, `{"replicas": 3}`, string(open[0].ToolArguments))
	require.Len(t, get[approvalPage](t, f, approvalsPath, reader...).Approvals, 2)

	type page struct {
		Sessions   []tarsy.SessionItem `json:"sessions"`
		NextCursor string              `json:"next_cursor"`
	}

	f.session(t, func(*tarsy.Session) {})
	require.Len(t, get[page](t, f, "/api/v1/sessions?approvals=waiting", reader...).Sessions, 2)

	top := get[page](t, f, "/api/v1/sessions?order=attention&limit=1", reader...)
	require.Equal(t, 1, top.Sessions[0].WaitingApprovals)
	require.Len(t, get[page](t, f, "/api/v1/sessions?order=attention&cursor="+top.NextCursor, reader...).Sessions, 2)

	got = f.request(t, http.MethodPost, approvalsPath+"/"+first.ID+"/approve", `{"arguments": {"replicas": 12345678901234567890, "why": "<a&b>"}, "reason": " ok, hunter2 "}`, ana...)
	require.Equal(t, http.StatusAccepted, got.status, got.body)
	require.Empty(t, f.api.CheckAnswer(http.MethodPost, approvalsPath+"/{id}/approve", http.StatusAccepted, []byte(got.body)), got.body)
	require.JSONEq(t, `{"id": "`+first.ID+`", "session_id": "`+first.SessionID+`", "status": "approved"}`, got.body)

	request, decision := f.decision(t, first.SessionID)
	require.Equal(t, []any{"ana", tarsy.RequestApproval, f.clock.Now()}, []any{request.Author, request.Kind, request.CreatedAt.UTC()})
	require.JSONEq(t, `{"replicas": 12345678901234567890, "why": "<a&b>"}`, string(decision.Arguments))
	require.Contains(t, string(decision.Arguments), "12345678901234567890")
	require.Equal(t, []any{first.ID, tarsy.ApprovalApproved, "ok, [MASKED]"}, []any{decision.ApprovalID, decision.Status, decision.Reason})

	got = f.request(t, http.MethodPost, approvalsPath+"/"+second.ID+"/reject", `{"reason": "not now"}`, ana...)
	require.Equal(t, http.StatusAccepted, got.status, got.body)
	require.JSONEq(t, `{"id": "`+second.ID+`", "session_id": "`+second.SessionID+`", "status": "rejected"}`, got.body)

	_, decision = f.decision(t, second.SessionID)
	require.Equal(t, tarsy.ApprovalDecision{ApprovalID: second.ID, Status: tarsy.ApprovalRejected, Reason: "not now"}, decision)

	require.Empty(t, get[approvalPage](t, f, approvalsPath, reader...).Approvals)
	require.Empty(t, get[page](t, f, "/api/v1/sessions?approvals=waiting", reader...).Sessions)
	require.Equal(t, tarsy.ApprovalWaiting, get[tarsy.ApprovalRequest](t, f, approvalsPath+"/"+first.ID, reader...).Approval.Status, "until it is applied")
}

// decided applies the open decision on a call, as the server that runs its session does.
func (f *fixture) decided(t *testing.T, call tarsy.MCPInteraction, status tarsy.ApprovalStatus) {
	t.Helper()

	claims, err := f.db.Claim(t.Context(), postgres.ClaimParams{
		Version: 1, Has: []string{"chain:k8s"}, ServerID: "server-1", Slots: 1, MaxSessions: 100, Lease: time.Minute,
	})
	require.NoError(t, err)
	require.Len(t, claims, 1)

	now := f.clock.Now()
	approval := *call.Approval
	approval.Status, approval.DecidedBy, approval.DecidedAt = status, "ana", &now
	call.Approval, call.Status, call.CompletedAt = &approval, tarsy.CallCompleted, &now

	require.Len(t, claims[0].State.Requests, 1)
	request := claims[0].State.Requests[0]
	request.Status, request.ClosedAt = tarsy.RequestDone, &now

	later := now.Add(time.Hour)
	_, err = f.db.Hold(claims[0].Lease).Commit(t.Context(), progress.Step{
		MCPInteractions: []tarsy.MCPInteraction{call}, Answered: []tarsy.Request{request}, Release: true, RunAt: &later,
	})
	require.NoError(t, err)
}

func TestDecidedRequestsAreListedAndCountedForTheirTool(t *testing.T) {
	t.Parallel()

	f := newFixture(t, locked)
	_, ana := f.key(t, "ana", tarsy.ScopeWrite)
	require.Equal(t, []tarsy.ApprovalRequest{}, get[approvalPage](t, f, approvalsPath+"?status=decided", ana...).Approvals)

	first := f.waiting(t)
	require.Nil(t, get[tarsy.ApprovalRequest](t, f, approvalsPath+"/"+first.ID, ana...).Earlier)
	require.Equal(t, http.StatusAccepted, f.request(t, http.MethodPost, approvalsPath+"/"+first.ID+"/approve", "", ana...).status)
	f.decided(t, first, tarsy.ApprovalApproved)

	second := f.waiting(t)
	require.Equal(t, http.StatusAccepted, f.request(t, http.MethodPost, approvalsPath+"/"+second.ID+"/reject", `{"reason": "no"}`, ana...).status)
	f.decided(t, second, tarsy.ApprovalRejected)

	third := f.waiting(t)
	require.Equal(t, &tarsy.EarlierDecisions{Approved: 1, Rejected: 1, LastStatus: tarsy.ApprovalRejected, LastBy: "ana", LastAt: f.clock.Now().UTC()},
		get[tarsy.ApprovalRequest](t, f, approvalsPath+"/"+third.ID, ana...).Earlier)

	page := get[approvalPage](t, f, approvalsPath+"?status=decided&limit=1", ana...)
	require.Len(t, page.Approvals, 1)
	require.Equal(t, second.ID, page.Approvals[0].ID, "the last request comes first")

	page = get[approvalPage](t, f, approvalsPath+"?status=decided&limit=1&cursor="+page.NextCursor, ana...)
	require.Len(t, page.Approvals, 1)
	require.Equal(t, first.ID, page.Approvals[0].ID)
	require.Empty(t, page.NextCursor)

	require.Equal(t, http.StatusBadRequest, f.request(t, http.MethodGet, approvalsPath+"?status=open", "", ana...).status)
	require.Equal(t, []string{third.ID}, []string{get[approvalPage](t, f, approvalsPath, ana...).Approvals[0].ID})
}

func TestCallIsApprovedWithoutBody(t *testing.T) {
	t.Parallel()

	for _, body := range []string{"", "{}", `{"arguments": null, "reason": null}`} {
		f := newFixture(t)
		call := f.waiting(t)
		got := f.request(t, http.MethodPost, approvalsPath+"/"+call.ID+"/approve", body)
		require.Equal(t, http.StatusAccepted, got.status, got.body)

		_, decision := f.decision(t, call.SessionID)
		require.Equal(t, tarsy.ApprovalDecision{ApprovalID: call.ID, Status: tarsy.ApprovalApproved}, decision)
	}
}

func TestClosedApprovalTellsWhoDecidedOrThatItExpired(t *testing.T) {
	t.Parallel()

	f := newFixture(t, locked)
	_, ana := f.key(t, "ana", tarsy.ScopeWrite)
	_, bob := f.key(t, "bob", tarsy.ScopeWrite)
	decided, late := f.waiting(t), f.waiting(t)

	try := func(call tarsy.MCPInteraction) string {
		f.requireProblem(t, f.request(t, http.MethodPost, approvalsPath+"/"+call.ID+"/approve", "", bob...), http.StatusConflict, tarsy.CodeApprovalNotOpen)

		return f.requireProblem(t, f.request(t, http.MethodPost, approvalsPath+"/"+call.ID+"/reject", `{"reason": "no"}`, bob...),
			http.StatusConflict, tarsy.CodeApprovalNotOpen).Detail
	}

	require.Equal(t, http.StatusAccepted, f.request(t, http.MethodPost, approvalsPath+"/"+decided.ID+"/reject", `{"reason": "no"}`, ana...).status)
	require.Contains(t, try(decided), "na has already rejected this call")

	// The server applies the decision.
	claims, err := f.db.Claim(t.Context(), postgres.ClaimParams{
		Version: 1, Has: []string{"chain:k8s"}, ServerID: "server-1", Slots: 1, MaxSessions: 100, Lease: time.Minute,
	})
	require.NoError(t, err)
	require.Len(t, claims, 1)

	request, now := claims[0].State.Requests[0], f.clock.Now()
	request.Status, request.ClosedAt = tarsy.RequestDone, &now
	decided.Status, decided.CompletedAt = tarsy.CallFailed, &now
	decided.Approval.Status, decided.Approval.DecidedBy, decided.Approval.DecidedAt = tarsy.ApprovalRejected, "ana", &now
	_, err = f.db.Hold(claims[0].Lease).Commit(t.Context(), progress.Step{MCPInteractions: []tarsy.MCPInteraction{decided}, Answered: []tarsy.Request{request}})
	require.NoError(t, err)
	require.Contains(t, try(decided), "na has already rejected this call")
	require.Equal(t, "ana", get[tarsy.ApprovalRequest](t, f, approvalsPath+"/"+decided.ID, bob...).Approval.DecidedBy)

	f.clock.Advance(time.Hour)
	require.Contains(t, try(late), "xpired at 2026-11-15 11:00:00 UTC")

	late.Approval.Status = tarsy.ApprovalWithdrawn
	claims, err = f.db.Claim(t.Context(), postgres.ClaimParams{
		Version: 1, Has: []string{"chain:k8s"}, ServerID: "server-1", Slots: 1, MaxSessions: 100, Lease: time.Minute, Held: []string{decided.SessionID},
	})
	require.NoError(t, err)
	_, err = f.db.Hold(claims[0].Lease).Commit(t.Context(), progress.Step{MCPInteractions: []tarsy.MCPInteraction{late}})
	require.NoError(t, err)
	require.Contains(t, try(late), "o longer wanted")
}

func TestBadDecisionIsRefusedAndNotStored(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	call := f.waiting(t)
	approve, reject := approvalsPath+"/"+call.ID+"/approve", approvalsPath+"/"+call.ID+"/reject"
	long := strings.Repeat("é", tarsy.MaxApprovalReason+1)

	for _, bad := range []struct {
		path, body string
		status     int
		code       tarsy.Code
		field      string
	}{
		{approve, `[]`, http.StatusBadRequest, tarsy.CodeInvalidField, ""},
		{approve, `{"arguments": [1]}`, http.StatusBadRequest, tarsy.CodeInvalidField, "arguments"},
		{approve, `{"arguments": "{}"}`, http.StatusBadRequest, tarsy.CodeInvalidField, "arguments"},
		{approve, `{"arguments": {"a": "x\u0000"}}`, http.StatusBadRequest, tarsy.CodeInvalidField, "arguments"},
		{approve, `{"arguments": {"\u0000": 1}}`, http.StatusBadRequest, tarsy.CodeInvalidField, "arguments"},
		{approve, `{"arguments": {"a": [{"b": "\ud800"}]}}`, http.StatusBadRequest, tarsy.CodeInvalidField, "arguments"},
		{approve, `{"arguments": {"a": 1e999999}}`, http.StatusBadRequest, tarsy.CodeInvalidField, "arguments"},
		{approve, `{"arguments": {"a": ` + strings.Repeat("[", 200) + strings.Repeat("]", 200) + `}}`, http.StatusBadRequest, tarsy.CodeInvalidField, "arguments"},
		{approve, `{"arguments": {"a": "` + strings.Repeat("x", tarsy.MaxApprovalArguments) + `"}}`, http.StatusBadRequest, tarsy.CodeInvalidField, "arguments"},
		{approve, `{"arguments": {"password": "hunter2"}}`, http.StatusBadRequest, tarsy.CodeInvalidField, "arguments"},
		{approve, `{"argument": {}}`, http.StatusBadRequest, tarsy.CodeUnknownField, "argument"},
		{approve, `{"reason": "` + long + `"}`, http.StatusBadRequest, tarsy.CodeInvalidField, "reason"},
		{approve, `{"status": "approved"}`, http.StatusBadRequest, tarsy.CodeUnknownField, "status"},
		{reject, ``, http.StatusBadRequest, tarsy.CodeInvalidJSON, ""},
		{reject, `{}`, http.StatusBadRequest, tarsy.CodeMissingField, "reason"},
		{reject, `{"reason": " \u0000 "}`, http.StatusBadRequest, tarsy.CodeMissingField, "reason"},
		{reject, `{"reason": "` + long + `"}`, http.StatusBadRequest, tarsy.CodeInvalidField, "reason"},
		{reject, `{"reason": "x", "arguments": {}}`, http.StatusBadRequest, tarsy.CodeUnknownField, "arguments"},
		{approvalsPath + "/" + ident.New() + "/approve", ``, http.StatusNotFound, tarsy.CodeApprovalNotFound, ""},
		{approvalsPath + "/none/reject", `{"reason": "x"}`, http.StatusNotFound, tarsy.CodeApprovalNotFound, ""},
	} {
		problem := f.requireProblem(t, f.request(t, http.MethodPost, bad.path, bad.body), bad.status, bad.code)
		require.Equal(t, bad.field, problem.Field, bad.body[:min(len(bad.body), 80)])
	}

	f.requireProblem(t, f.request(t, http.MethodGet, approvalsPath+"/none", ""), http.StatusNotFound, tarsy.CodeApprovalNotFound)
	f.requireProblem(t, f.request(t, http.MethodGet, approvalsPath+"?session_id=none", ""), http.StatusBadRequest, tarsy.CodeInvalidParameter)

	requests, err := f.db.OpenRequests(t.Context(), call.SessionID)
	require.NoError(t, err)
	require.Empty(t, requests)
	require.Len(t, get[approvalPage](t, f, approvalsPath).Approvals, 1)
}

func TestDecisionsNeedWriteScope(t *testing.T) {
	t.Parallel()

	f := newFixture(t, locked)
	call := f.waiting(t)
	_, reader := f.key(t, "reader", tarsy.ScopeRead)

	for _, path := range []string{approvalsPath, approvalsPath + "/" + call.ID} {
		f.requireProblem(t, f.request(t, http.MethodGet, path, ""), http.StatusUnauthorized, tarsy.CodeUnauthenticated)
	}

	for _, action := range []string{"approve", "reject"} {
		path := approvalsPath + "/" + call.ID + "/" + action
		f.requireProblem(t, f.request(t, http.MethodPost, path, `{"reason": "x"}`, reader...), http.StatusForbidden, tarsy.CodeForbidden)
		f.requireProblem(t, f.request(t, http.MethodPost, path, `{"reason": "x"}`), http.StatusUnauthorized, tarsy.CodeUnauthenticated)
	}
}
