package e2e

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/postgres"
	"tarsy.dev/tarsy/internal/postgres/pgtest"
	"tarsy.dev/tarsy/internal/progress"
	"tarsy.dev/tarsy/tarsytest"
)

// waitingCall stores a session with a tool call that waits for an approval. Its chain is one that no server has, so that nothing happens
// after a decision.
func waitingCall(t *testing.T, db *postgres.DB, number string, arguments string) tarsy.MCPInteraction {
	t.Helper()

	now := tarsy.Time(time.Now())
	session := tarsy.Session{
		ID: tarsy.NewID(), AlertType: "test", AlertData: "disk full", ChainID: "elsewhere", Status: tarsy.SessionPending, Author: "ann", CreatedAt: now,
		AlertFacts: tarsy.AlertFacts{Title: "Disk *full*", Labels: map[string]string{}, Links: []tarsy.AlertLink{}, Source: tarsy.SourceAPI},
	}
	require.NoError(t, db.CreateSession(t.Context(), session, postgres.Terms{}))

	claims, err := db.Claim(t.Context(), postgres.ClaimParams{
		Version: 1, Has: []string{"chain:elsewhere"}, ServerID: "test", Slots: 1, MaxSessions: 100, Lease: time.Minute,
	})
	require.NoError(t, err)
	require.Len(t, claims, 1)

	session = claims[0].State.Session
	session.Status, session.StartedAt = tarsy.SessionInProgress, &now
	stage := tarsy.Stage{ID: tarsy.NewID(), SessionID: session.ID, StageName: "fix", StageType: tarsy.StageInvestigation, StageIndex: 1, ExpectedAgentCount: 1, Status: tarsy.StatusActive, CreatedAt: now}
	execution := tarsy.Execution{ID: tarsy.NewID(), SessionID: session.ID, StageID: stage.ID, AgentName: "fixer", AgentIndex: 1, IterationStrategy: "native-thinking", Status: tarsy.StatusActive, CreatedAt: now}
	expires := now.Add(time.Hour)
	call := tarsy.MCPInteraction{
		ID: tarsy.NewID(), SessionID: session.ID, StageID: stage.ID, ExecutionID: execution.ID, TimelineEventID: tarsy.NewID(), ToolCallID: "c1",
		ServerName: "cluster", ToolName: "scale", ToolArguments: json.RawMessage(arguments), AvailableTools: []string{"scale"}, Attempt: 1,
		Status: tarsy.CallWaiting, CreatedAt: now,
		Approval: &tarsy.Approval{Status: tarsy.ApprovalWaiting, Scope: tarsy.ScopeCall, Rule: "approvals.rules[0]", ExpiresAt: expires},
	}
	event := tarsy.TimelineEvent{
		ID: call.TimelineEventID, SessionID: session.ID, StageID: &stage.ID, ExecutionID: &execution.ID, SequenceNumber: 1, EventType: tarsy.EventToolCall,
		Status: tarsy.EventStreaming, CreatedAt: now, UpdatedAt: now, Metadata: tarsy.NewMetadata(tarsy.ToolCallMetadata{
			Call: number, ServerName: call.ServerName, ToolName: call.ToolName, Arguments: call.ToolArguments, ApprovalID: call.ID, Approval: call.Approval,
		}),
	}

	_, err = db.Hold(claims[0].Lease).Commit(t.Context(), progress.Step{
		Session: &session, Stages: []tarsy.Stage{stage}, Executions: []tarsy.Execution{execution}, Timeline: []tarsy.TimelineEvent{event},
		MCPInteractions: []tarsy.MCPInteraction{call}, Release: true, RunAt: &expires,
	})
	require.NoError(t, err)

	return call
}

func TestDiscordThreadTakesDecisionsAboutToolCalls(t *testing.T) {
	t.Parallel()

	w, database := newDiscord(t), pgtest.New(t)
	app := tarsytest.New(t, tarsytest.Options{Config: w.Config(oncallAllowed+`, approve: ["`+oncallID+`"]`) + chatty, Env: w.Env(), Database: database, MCP: []*tarsytest.MCPServer{oomTools()}})

	db, err := postgres.Open(t.Context(), postgres.Config{URL: database})
	require.NoError(t, err)
	db.Start()
	t.Cleanup(db.Stop)

	decision := func(call tarsy.MCPInteraction) string {
		requests, err := db.OpenRequests(t.Context(), call.SessionID)
		require.NoError(t, err)

		if len(requests) == 0 {
			return ""
		}

		return requests[0].Author + " " + string(requests[0].Payload)
	}

	call := waitingCall(t, db, "1.1.2", `{"note": "`+"```"+` @everyone", "replicas": 3}`)
	said := w.Await("alerts", "Approval needed")
	thread := w.AwaitThread()
	w.AwaitReady()

	require.Contains(t, said.Content, `Disk \*full\*`)
	require.Contains(t, said.Content, `fixer wants to call cluster.scale (call 1.1.2)`)
	require.Contains(t, said.Content, `"replicas": 3`)
	require.Contains(t, said.Content, "`!approve 1.1.2` or `!reject 1.1.2 reason`")
	require.Equal(t, 2, strings.Count(said.Content, "```"), "nothing in the arguments ends the block")

	w.Write(thread.ID, "bob", "!approve 1.1.2")
	w.Await(thread.ID, "You may not decide")
	w.Write(thread.ID, "ann", "!reject 1.1.2")
	w.Await(thread.ID, "Write !approve")
	w.Write(thread.ID, "ann", "!approve 9.9.9")
	w.Await(thread.ID, "No call with the number 9.9.9")
	require.Empty(t, decision(call))

	message := w.Write(thread.ID, "ann", "!reject 1.1.2 not before noon")
	reply := w.Await(thread.ID, "Rejected.")
	require.Equal(t, message.ID, reply.ReplyTo)
	require.Contains(t, decision(call), `discord:ann`)
	require.Contains(t, decision(call), `not before noon`)
	require.Contains(t, decision(call), `rejected`)

	w.Write(thread.ID, "ann", "!approve 1.1.2")
	w.Await(thread.ID, "somebody decided already")
	require.Contains(t, decision(call), `rejected`)

	rows := auditLog(t, app)
	require.Len(t, rows, 1, "one decision was made")
	require.Equal(t, "approval.reject", rows[0].Action)
	require.Equal(t, "discord:ann", rows[0].Actor)
	require.Equal(t, tarsy.ActorDiscord, rows[0].ActorKind)
	require.Equal(t, call.ID, rows[0].TargetID)

	announced := 0

	for _, sent := range w.Sent().Messages {
		if strings.Contains(sent.Content, "Approval needed") {
			announced++
		}
	}

	require.Equal(t, 1, announced, "a call is announced once")
}

// Blanks hide the end of the arguments, so nobody approves them here. And whatever a model has written: Discord fetches nothing.
func TestDiscordOffersNoApprovalOfWhatItDoesNotShow(t *testing.T) {
	t.Parallel()

	w, database := newDiscord(t), pgtest.New(t)
	tarsytest.New(t, tarsytest.Options{Config: w.Config(oncallAllowed+`, approve: ["`+oncallID+`"]`) + chatty, Env: w.Env(), Database: database, MCP: []*tarsytest.MCPServer{oomTools()}})

	db, err := postgres.Open(t.Context(), postgres.Config{URL: database})
	require.NoError(t, err)
	db.Start()
	t.Cleanup(db.Stop)

	call := waitingCall(t, db, "1.1.3", `{"command": "echo`+strings.Repeat(" ", 3000)+`; rm -rf /"}`)
	said := w.Await("alerts", "Reject in the thread: `!reject 1.1.3 reason`")
	require.NotContains(t, said.Content, "!approve")

	thread := w.AwaitThread()
	w.AwaitReady()
	w.Write(thread.ID, "ann", "!approve 1.1.3")
	w.Await(thread.ID, "approve the call there")

	requests, err := db.OpenRequests(t.Context(), call.SessionID)
	require.NoError(t, err)
	require.Empty(t, requests)

	const suppressEmbeds = 1 << 2

	for _, sent := range w.Sent().Messages {
		require.NotZero(t, sent.Flags&suppressEmbeds, "links of %q are not fetched", sent.Content)
	}
}
