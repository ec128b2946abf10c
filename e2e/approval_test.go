package e2e

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/kit/wait"
	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
	"tarsy.dev/tarsy/tarsytest"
)

const restartArguments = `{"namespace":"shop","replicas":12345678901234567890}`

// operator returns a cluster with one tool that reads and one that writes, although it declares itself read-only.
func operator() *tarsytest.MCPServer {
	return tarsytest.NewMCPServer("cluster",
		tarsytest.Tool{Name: "get_pods", ReadOnly: true, Text: "two pods"},
		tarsytest.Tool{Name: "restart", ReadOnly: true, Text: "restarted"})
}

// Configurations in which restarts wait for a person. fixer is a chain with one agent that can restart.
const (
	fixer                  = "agents: {Fixer: {mcp_servers: [cluster]}}\nagent_chains: {test: {alert_types: [test], stages: [{name: fix, agents: [{name: Fixer}]}]}}\n"
	asksForRestart         = "approvals: {rules: [{server: cluster, tool: restart, policy: ask}]}\n"
	asksForRestartWithin3h = "approvals: {expires_after: 3h, rules: [{server: cluster, tool: restart, policy: ask}]}\n"
)

func restart(arguments string) script.Reply {
	return script.Reply{ToolCalls: []llm.ToolCall{{Name: "cluster__restart", Arguments: arguments}}}
}

// waitApproval waits until a call of a session needs an approval, and returns the approval request.
func waitApproval(app *tarsytest.App, socket *tarsytest.Socket) tarsy.ApprovalRequest {
	event := socket.Wait("an approval", func(e tarsytest.Event) bool { return e.Type == tarsy.TypeApprovalStatus })

	var payload tarsy.ApprovalStatusPayload
	if err := json.Unmarshal(event.Raw, &payload); err != nil {
		panic(err)
	}

	return approvalOf(app, payload.ApprovalID)
}

func approvalOf(app *tarsytest.App, id string) (approval tarsy.ApprovalRequest) {
	response := app.Do(http.MethodGet, "/api/v1/approvals/"+id, nil)
	if err := json.Unmarshal(response.Body, &approval); err != nil {
		panic(err)
	}

	return approval
}

func decide(t testing.TB, app *tarsytest.App, id, how string, body any) {
	t.Helper()
	require.Equal(t, http.StatusAccepted, app.Do(http.MethodPost, "/api/v1/approvals/"+id+"/"+how, body).Status)
}

// lastResult returns the last tool result that an LLM call contained.
func lastResult(app *tarsytest.App, call int) string {
	messages := app.Script.Calls()[call].Request.Messages

	return unmarked(messages[len(messages)-1].Content)
}

func TestWritingCallWaitsForPersonAndIsMadeOnce(t *testing.T) {
	t.Parallel()

	cluster := operator()
	app := tarsytest.New(t, tarsytest.Options{HoldStreams: true, MCP: []*tarsytest.MCPServer{cluster}, Config: fixer + asksForRestart})
	app.Script.Add(calls("cluster__get_pods"), restart(restartArguments), says("Restarted."), says("Done."))

	id := app.Submit("test", "restart it")
	socket := app.Watch(id)
	approval := waitApproval(app, socket)

	require.Equal(t, "restart", approval.ToolName)
	require.JSONEq(t, restartArguments, string(approval.ToolArguments))
	require.Contains(t, string(approval.ToolArguments), "12345678901234567890", "no digit is lost")
	require.Equal(t, tarsy.ApprovalWaiting, approval.Approval.Status)
	require.Equal(t, tarsy.ScopeCall, approval.Approval.Scope)
	require.Equal(t, "approvals.rules[0]", approval.Approval.Rule)
	require.Len(t, cluster.Calls(), 1, "only the call that reads was made")

	decide(t, app, approval.ID, "approve", map[string]any{"reason": "go"})
	session := app.WaitFor(id, tarsy.SessionCompleted)
	require.Equal(t, "Restarted.", session.FinalAnalysis)

	made := cluster.Calls()
	require.Len(t, made, 2)
	require.Equal(t, "restart", made[1].Tool)
	require.Equal(t, "restarted", lastResult(app, 2))

	// The approval is recorded as evidence.
	call := app.MCPInteractions(id)[1]
	require.Equal(t, tarsy.CallCompleted, call.Status)
	require.Equal(t, tarsy.ApprovalApproved, call.Approval.Status)
	require.Equal(t, "go", call.Approval.Reason)
	require.NotEmpty(t, call.Approval.DecidedBy)
	require.NotNil(t, call.Approval.StartedAt)
	require.False(t, call.ReadOnly, "what a server says of its tool is not trusted")

	require.Equal(t, http.StatusConflict, app.Do(http.MethodPost, "/api/v1/approvals/"+approval.ID+"/reject", map[string]any{"reason": "late"}).Status)

	socket.WaitStatus("completed")
	tarsytest.GoldenEvents(t, app.Normalizer(id), "approval/ws_events.golden", socket.Events())
}

func TestRejectedCallIsNotMadeAndModelLearnsReason(t *testing.T) {
	t.Parallel()

	cluster := operator()
	app := tarsytest.New(t, tarsytest.Options{MCP: []*tarsytest.MCPServer{cluster}, Config: fixer + asksForRestart})
	app.Script.Add(restart(`{}`), says("Not restarted."), says("Done."))

	id := app.Submit("test", "restart it")
	approval := waitApproval(app, app.Watch(id))
	decide(t, app, approval.ID, "reject", map[string]any{"reason": "freeze until Monday"})

	app.WaitFor(id, tarsy.SessionCompleted)
	require.Empty(t, cluster.Calls())
	require.Contains(t, lastResult(app, 1), "freeze until Monday")
	require.Equal(t, tarsy.ApprovalRejected, app.MCPInteractions(id)[0].Approval.Status)
}

func TestCallIsMadeWithArgumentsThatPersonSet(t *testing.T) {
	t.Parallel()

	cluster := operator()
	app := tarsytest.New(t, tarsytest.Options{MCP: []*tarsytest.MCPServer{cluster}, Config: fixer + asksForRestart})
	app.Script.Add(restart(`{"namespace":"prod"}`), says("Restarted."), says("Done."))

	id := app.Submit("test", "restart it")
	approval := waitApproval(app, app.Watch(id))
	decide(t, app, approval.ID, "approve", map[string]any{"arguments": map[string]any{"namespace": "staging"}})

	app.WaitFor(id, tarsy.SessionCompleted)
	require.Len(t, cluster.Calls(), 1)
	require.Equal(t, map[string]any{"namespace": "staging"}, cluster.Calls()[0].Arguments)

	told := lastResult(app, 1)
	require.Contains(t, told, `{"namespace":"staging"}`)
	require.Contains(t, told, "restarted")

	call := app.MCPInteractions(id)[0]
	require.JSONEq(t, `{"namespace":"prod"}`, string(call.ToolArguments), "what the model wrote stays visible")
}

func TestApprovalExpiresAndAgentContinuesWithoutCall(t *testing.T) {
	t.Parallel()

	clock := clockwork.NewFakeClockAt(time.Now())
	cluster := operator()
	app := tarsytest.New(t, tarsytest.Options{
		MCP: []*tarsytest.MCPServer{cluster}, Clock: clock, Config: fixer + asksForRestartWithin3h,
	})
	app.Script.Add(restart(`{}`), says("Somebody must restart it."), says("Done."))

	id := app.Submit("test", "restart it")
	approval := waitApproval(app, app.Watch(id))
	requireUnheld(t, app, id)

	// This is longer than a session may take: waiting for people does not count.
	clock.Advance(3*time.Hour + time.Second)

	session := app.WaitFor(id, tarsy.SessionCompleted)
	require.Empty(t, session.ConcludedEarly)
	require.Empty(t, cluster.Calls())
	require.Contains(t, lastResult(app, 1), "Nobody approved this call in time")
	require.Equal(t, tarsy.ApprovalExpired, app.MCPInteractions(id)[0].Approval.Status)
	require.Equal(t, http.StatusConflict, app.Do(http.MethodPost, "/api/v1/approvals/"+approval.ID+"/approve", map[string]any{}).Status)
}

// requireUnheld waits until no server holds a session.
func requireUnheld(t testing.TB, app *tarsytest.App, id string) {
	t.Helper()
	wait.Until(t, "the session to give its lease back", func() bool {
		return len(tarsytest.Rows[struct{ ID string }](app, `SELECT id::text FROM sessions WHERE id = $1 AND lease_until IS NULL AND runnable_at > created_at + interval '1 minute'`, id)) == 1
	})
}

// With one worker, a second session runs while the first one waits: a waiting session holds no worker.
func TestWaitingSessionHoldsNoWorker(t *testing.T) {
	t.Parallel()

	cluster := operator()
	app := tarsytest.New(t, tarsytest.Options{
		MCP: []*tarsytest.MCPServer{cluster}, Config: fixer + asksForRestart + "queue: {worker_count: 1, max_concurrent_sessions: 1}\n",
	})
	app.Script.Add(restart(`{}`))

	id := app.Submit("test", "restart it")
	approval := waitApproval(app, app.Watch(id))

	app.Script.Add(says("Nothing is wrong."), says("Fine."))
	require.Equal(t, "Nothing is wrong.", app.Run("test", "look").FinalAnalysis)

	app.Script.Add(says("Restarted."), says("Done."))
	decide(t, app, approval.ID, "approve", map[string]any{})
	require.Equal(t, "Restarted.", app.WaitFor(id, tarsy.SessionCompleted).FinalAnalysis)
	require.Len(t, cluster.Calls(), 1)
}

func TestCancelWithdrawsWaitingCall(t *testing.T) {
	t.Parallel()

	cluster := operator()
	app := tarsytest.New(t, tarsytest.Options{MCP: []*tarsytest.MCPServer{cluster}, Config: fixer + asksForRestart})
	app.Script.Add(restart(`{}`))

	id := app.Submit("test", "restart it")
	approval := waitApproval(app, app.Watch(id))
	requireUnheld(t, app, id)
	app.Cancel(id)
	app.WaitFor(id, tarsy.SessionCancelled)

	require.Empty(t, cluster.Calls())
	require.Equal(t, tarsy.ApprovalWithdrawn, app.MCPInteractions(id)[0].Approval.Status)
	require.Equal(t, http.StatusConflict, app.Do(http.MethodPost, "/api/v1/approvals/"+approval.ID+"/approve", map[string]any{}).Status)
}

// One agent waits while the other one works; the decision takes effect before the other one has finished.
func TestDecisionTakesEffectWhileOtherAgentWorks(t *testing.T) {
	t.Parallel()

	cluster, gate := operator(), script.NewGate()
	t.Cleanup(gate.Open)

	app := tarsytest.New(t, tarsytest.Options{MCP: []*tarsytest.MCPServer{cluster}, Config: asksForRestart + `
agents: {Fixer: {mcp_servers: [cluster]}, Reader: {}}
agent_chains: {pair: {alert_types: [pair], stages: [{name: both, agents: [{name: Fixer}, {name: Reader}]}]}}
`})
	app.Script.Route("Fixer", restart(`{}`), says("Restarted."))
	app.Script.Route("Reader", script.Reply{Text: "Read.", Gate: gate})
	app.Script.Add(says("Both."), says("Done."))

	id := app.Submit("pair", "restart it")
	socket := app.Watch(id)
	approval := waitApproval(app, socket)
	await(t, gate.Reached(), "the other agent")
	decide(t, app, approval.ID, "approve", map[string]any{})
	socket.Wait("the end of the agent that waited", func(e tarsytest.Event) bool {
		return e.Type == tarsy.TypeExecutionStatus && e.Fields["agent_name"] == "Fixer" && e.Fields["status"] == "completed"
	})
	gate.Open()

	app.WaitFor(id, tarsy.SessionCompleted)
	require.Len(t, cluster.Calls(), 1)
}

func TestRulesDecideWhichCallsWait(t *testing.T) {
	t.Parallel()

	const rules = `
approvals:
  rules:
    - {server: cluster, tool: restart, arguments: {namespace: 'dev-.*'}, policy: always}
    - {server: cluster, tool: restart, arguments: {namespace: 'kube-.*'}, policy: never}
    - {server: cluster, tool: restart, policy: ask}
    - {server: cluster, tool: get_*, policy: never}
`

	cluster := operator()
	app := tarsytest.New(t, tarsytest.Options{MCP: []*tarsytest.MCPServer{cluster}, Config: fixer + rules})
	app.Script.Add(restart(`{"namespace":"dev-1"}`), restart(`{"namespace":"kube-system"}`),
		restart(`{"namespace":"shop"}`), says("Restarted."), says("Done."))

	id := app.Submit("test", "restart it")
	approval := waitApproval(app, app.Watch(id))
	require.Len(t, cluster.Calls(), 1, "the first call needs no approval")
	require.Contains(t, lastResult(app, 2), "does not allow this call")
	require.Contains(t, string(approval.ToolArguments), "shop")
	decide(t, app, approval.ID, "reject", map[string]any{"reason": "no"})
	app.WaitFor(id, tarsy.SessionCompleted)
	require.Len(t, cluster.Calls(), 1)

	for _, call := range app.Script.Calls() {
		for _, tool := range call.Request.Tools {
			require.NotEqual(t, "cluster__get_pods", tool.Name, "the model does not see what it may never call")
		}
	}
}

func TestPersonCannotSetArgumentsThatRuleForbids(t *testing.T) {
	t.Parallel()

	const rules = `
approvals:
  rules:
    - {server: cluster, tool: restart, arguments: {namespace: 'kube-.*'}, policy: never}
    - {server: cluster, tool: restart, policy: ask}
`

	cluster := operator()
	app := tarsytest.New(t, tarsytest.Options{MCP: []*tarsytest.MCPServer{cluster}, Config: fixer + rules})
	app.Script.Add(restart(`{"namespace":"shop"}`), says("Not restarted."), says("Done."))

	id := app.Submit("test", "restart it")
	approval := waitApproval(app, app.Watch(id))
	decide(t, app, approval.ID, "approve", map[string]any{"arguments": map[string]any{"namespace": "kube-system"}})
	app.WaitFor(id, tarsy.SessionCompleted)

	require.Empty(t, cluster.Calls())
	require.Contains(t, lastResult(app, 1), "does not allow this call")
}

// A tool that no rule names, and that its server does not declare read-only, waits for a person.
func TestUnnamedToolThatMayWriteWaitsForPerson(t *testing.T) {
	t.Parallel()

	cluster := tarsytest.NewMCPServer("cluster",
		tarsytest.Tool{Name: "get_pods", ReadOnly: true, Text: "two pods"}, tarsytest.Tool{Name: "scale", Text: "scaled"}, tarsytest.Tool{Name: "label", Text: "labelled"})
	app := tarsytest.New(t, tarsytest.Options{
		MCP: []*tarsytest.MCPServer{cluster}, Config: fixer + "approvals: {unnamed: ask, rules: [{tool: label, policy: always}]}\n",
	})
	app.Script.Add(calls("cluster__get_pods"), calls("cluster__label"), calls("cluster__scale"), says("Scaled."), says("Done."))

	id := app.Submit("test", "scale it")
	approval := waitApproval(app, app.Watch(id))
	require.Equal(t, "scale", approval.ToolName)
	require.Equal(t, "approvals.unnamed", approval.Approval.Rule)
	require.Len(t, cluster.Calls(), 2, "the one that reads, and the one that a rule allows")

	decide(t, app, approval.ID, "approve", map[string]any{})
	app.WaitFor(id, tarsy.SessionCompleted)
	require.Len(t, cluster.Calls(), 3)
}
