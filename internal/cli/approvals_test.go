package cli_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/calendar"
	"tarsy.dev/tarsy/internal/cli"
	"tarsy.dev/tarsy/internal/client"
	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/internal/postgres"
	"tarsy.dev/tarsy/internal/progress"
)

// waiting stores a session with a tool call that waits for an approval. The server does not have its chain, so
// nothing happens after a decision.
func (s *server) waiting(t *testing.T) tarsy.MCPInteraction {
	t.Helper()

	now := calendar.Time(tarsyNow())
	session := tarsy.Session{
		ID: ident.New(), AlertType: "kubernetes", AlertData: "pod down", ChainID: "elsewhere", Status: tarsy.SessionPending, Author: "ana",
		// The server follows the database's clock, to within a slow round trip, so a session created now could lie in its future.
		CreatedAt:  calendar.Time(now.Add(-time.Minute)),
		AlertFacts: tarsy.AlertFacts{Title: "Pod down", Labels: map[string]string{}, Links: []tarsy.AlertLink{}, Source: tarsy.SourceAPI},
	}
	require.NoError(t, s.DB().CreateSession(t.Context(), session, postgres.Terms{}))

	claims, err := s.DB().Claim(t.Context(), postgres.ClaimParams{
		Version: 1, Has: []string{"chain:elsewhere"}, ServerID: "test", Slots: 1, MaxSessions: 100, Lease: time.Minute,
	})
	require.NoError(t, err)
	require.Len(t, claims, 1)

	session = claims[0].State.Session
	session.Status, session.StartedAt = tarsy.SessionInProgress, &now
	stage := tarsy.Stage{ID: ident.New(), SessionID: session.ID, StageName: "fix", StageType: tarsy.StageInvestigation, StageIndex: 1, ExpectedAgentCount: 1, Status: tarsy.StatusActive, CreatedAt: now}
	execution := tarsy.Execution{ID: ident.New(), SessionID: session.ID, StageID: stage.ID, AgentName: "fixer", AgentIndex: 1, IterationStrategy: "native-thinking", Status: tarsy.StatusActive, CreatedAt: now}
	expires := now.Add(90 * time.Minute)
	call := tarsy.MCPInteraction{
		ID: ident.New(), SessionID: session.ID, StageID: stage.ID, ExecutionID: execution.ID, TimelineEventID: ident.New(), ToolCallID: "c1",
		ServerName: "cluster", ToolName: "scale", ToolArguments: json.RawMessage(`{"note": "a\u001b[31mb", "replicas": 3}`), AvailableTools: []string{"scale"}, Attempt: 1,
		Status: tarsy.CallWaiting, CreatedAt: now,
		Approval: &tarsy.Approval{Status: tarsy.ApprovalWaiting, Scope: tarsy.ScopeCall, Rule: "approvals.rules[0]", ExpiresAt: expires},
	}

	_, err = s.DB().Hold(claims[0].Lease).Commit(t.Context(), progress.Step{
		Session: &session, Stages: []tarsy.Stage{stage}, Executions: []tarsy.Execution{execution}, MCPInteractions: []tarsy.MCPInteraction{call},
		Release: true, RunAt: &expires,
	})
	require.NoError(t, err)

	return call
}

func TestApprovalsAreListedApprovedAndRejected(t *testing.T) {
	t.Parallel()

	s := startServer(t, true)
	env := s.key(t, "ana", tarsy.ScopeWrite)

	require.Contains(t, tarsyWith(t, env, "", "approvals").stderr, "No tool calls wait for an approval.")
	require.Empty(t, jsonOf[[]tarsy.ApprovalRequest](t, env, "approvals", "list"))

	first, second, third := s.waiting(t), s.waiting(t), s.waiting(t)
	short := first.ID[len(first.ID)-12:]

	got := tarsyWith(t, env, "", "approvals", "--session", first.SessionID)
	require.Equal(t, cli.ExitOK, got.code, got.stderr)
	require.Regexp(t, `(?m)^`+short+` +1h +cluster\.scale +\{"note":"a\\u001b\[31mb","replicas":3\} +fixer +[0-9a-f]{12} +Pod down$`, got.stdout)
	require.NotContains(t, got.stdout, second.ID[len(second.ID)-12:])
	require.NotContains(t, got.stdout, "\x1b")
	require.Contains(t, got.stderr, "tarsy approvals reject ID --reason TEXT")
	require.Len(t, jsonOf[[]tarsy.ApprovalRequest](t, env, "approvals", "list"), 3)

	require.Regexp(t, `(?m)^[0-9a-f]{12} +waits for approval `, tarsyWith(t, env, "", "sessions", "--waiting-approval").stdout)
	require.Contains(t, tarsyWith(t, env, "", "sessions", "show", first.SessionID).stdout, "1 waiting; see tarsy approvals list --session ")

	decided := jsonOf[client.Decision](t, env, "approvals", "approve", short)
	require.Equal(t, client.Decision{ID: first.ID, SessionID: first.SessionID, Status: tarsy.ApprovalApproved}, decided)

	file := filepath.Join(t.TempDir(), "arguments.json")
	require.NoError(t, os.WriteFile(file, []byte("{\"replicas\": 1}\n"), 0o600))

	got = tarsyWith(t, env, "", "approvals", "approve", second.ID, "--arguments", "@"+file, "--reason", "one is enough")
	require.Equal(t, cli.ExitOK, got.code, got.stderr)
	require.Equal(t, second.ID+"\n", got.stdout)
	require.Contains(t, got.stderr, `Approved: cluster.scale {"replicas":1}`+"\nSee what it does with: tarsy watch "+second.SessionID[24:])

	requests, err := s.DB().OpenRequests(t.Context(), second.SessionID)
	require.NoError(t, err)
	require.Len(t, requests, 1)
	require.JSONEq(t, `{"approval_id": "`+second.ID+`", "status": "approved", "arguments": {"replicas": 1}, "reason": "one is enough"}`, string(requests[0].Payload))

	got = tarsyWith(t, env, "", "approvals", "reject", third.ID, "--reason", "not now")
	require.Equal(t, cli.ExitOK, got.code, got.stderr)
	require.Contains(t, got.stderr, `Rejected: cluster.scale {"note":"a\u001b[31mb","replicas":3}`+"\nThe agent continues without the call.\n")
	require.Empty(t, jsonOf[[]tarsy.ApprovalRequest](t, env, "approvals", "list"))

	got = tarsyWith(t, env, "", "approvals", "reject", third.ID, "--reason", "again")
	require.NotEqual(t, cli.ExitOK, got.code)
	require.Contains(t, got.stderr, "na has already rejected this call")
}

func TestApprovalIsShownWithWholeNameAndArguments(t *testing.T) {
	t.Parallel()

	s := startServer(t, false)
	call := s.waiting(t)
	env := append([]string{"NO_COLOR=1"}, s.env...)

	for _, command := range [][]string{{"approvals"}, {"approvals", "show", call.ID[24:]}} {
		got := inTerminal(t, 30, env, command...)
		require.Equal(t, cli.ExitOK, got.code, got.stderr)
		require.Regexp(t, `^`+call.ID[24:]+`  cluster\.scale\n  \{\n    "note": "a\\u001b\[31mb",\n    "replicas": 3\n  \}\n  state    expires in 1h\n  agent    fixer\n  session  `+
			call.SessionID[24:]+` Pod d`, got.stdout)
		requireFits(t, 30, got.stdout, command)

		narrow := inTerminal(t, 12, env, command...)
		require.Contains(t, strings.ReplaceAll(narrow.stdout, "\n  ", ""), `"note": "a\u001b[31mb"`, "folded, not cut")
	}

	require.Equal(t, call.ID, jsonOf[tarsy.ApprovalRequest](t, s.env, "approvals", "show", call.ID[24:]).ID)
	require.Contains(t, tarsyWith(t, s.env, "", "approvals", "show", call.ID).stdout, "  rule     approvals.rules[0]\n")

	require.Equal(t, cli.ExitOK, tarsyWith(t, s.env, "", "approvals", "approve", call.ID).code)

	got := tarsyWith(t, s.env, "", "approvals", "show", call.ID)
	require.Equal(t, cli.ExitNotFound, got.code)
	require.Contains(t, got.stderr, "does not wait for an approval")
}

func TestBadApprovalCommandsAreRefused(t *testing.T) {
	t.Parallel()

	s := startServer(t, false)
	call := s.waiting(t)

	for want, args := range map[string][]string{
		"--reason is missing":    {"reject", call.ID},
		"must be a JSON object":  {"approve", call.ID, "--arguments", "[1]"},
		"read the arguments":     {"approve", call.ID, "--arguments", "@/does/not/exist"},
		"too short":              {"approve", "ab"},
		"no tool call that wait": {"approve", "abcdef123456"},
	} {
		got := tarsyWith(t, s.env, "", append([]string{"approvals"}, args...)...)
		require.NotEqual(t, cli.ExitOK, got.code, args)
		require.Contains(t, got.stderr, want)
	}

	require.Len(t, jsonOf[[]tarsy.ApprovalRequest](t, s.env, "approvals"), 1)
}
