package api_test

import (
	"encoding/json"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/internal/postgres"
	"tarsy.dev/tarsy/internal/progress"
)

// tracedSession has the ids of an investigated session and its parts.
type tracedSession struct {
	id                                    string
	stage, execution, event               string
	ask, digest, end, summary, call, open string
}

// heldSession stores a session and claims it.
func (f *fixture) heldSession(t *testing.T) postgres.Claim {
	t.Helper()

	id := f.session(t, func(*tarsy.Session) {})
	claims, err := f.db.Claim(t.Context(), postgres.ClaimParams{Version: 1, Has: []string{"chain:k8s", "chain:chain", "chain:"}, ServerID: "server-1", Slots: 1, MaxSessions: 10, Lease: time.Minute})
	require.NoError(t, err)
	require.Len(t, claims, 1)
	require.Equal(t, id, claims[0].SessionID)

	return claims[0]
}

// traced stores a session with one execution, four LLM calls and two MCP calls.
func (f *fixture) traced(t *testing.T) tracedSession {
	t.Helper()

	claim := f.heldSession(t)
	s := tracedSession{id: claim.SessionID}
	for _, id := range []*string{&s.stage, &s.execution, &s.event, &s.ask, &s.digest, &s.end, &s.summary, &s.call, &s.open} {
		*id = ident.New()
	}

	step := s.step(f.clock.Now())
	_, err := f.db.Hold(claim.Lease).Commit(t.Context(), step)
	require.NoError(t, err)

	return s
}

// calls returns the usage of n calls.
func calls(n int) tarsy.Usage {
	return tarsy.Usage{
		InputTokens: 10 * n, OutputTokens: 5 * n, ThinkingTokens: 2 * n, CachedTokens: n, TotalTokens: 17 * n, CostUSD: 0.25 * float64(n), UnpricedTokens: 3 * n,
	}
}

func (s tracedSession) step(now time.Time) progress.Step {
	llm := func(id string, kind tarsy.InteractionType, count int, request, response string) tarsy.LLMInteraction {
		call := tarsy.LLMInteraction{
			ID: id, SessionID: s.id, StageID: &s.stage, ExecutionID: &s.execution, InteractionType: kind, Provider: "google",
			ModelName: "gemini", MessageCount: count, LLMResponse: json.RawMessage(response), DurationMs: 1200, CreatedAt: now,
			Usage: calls(1), Attempts: 2, StopReason: "end",
		}
		if request != "" {
			call.LLMRequest = json.RawMessage(request)
		}

		return call
	}
	message := func(number int, role tarsy.Role, content string) tarsy.Message {
		return tarsy.Message{
			ID: ident.New(), SessionID: s.id, StageID: s.stage, ExecutionID: s.execution, SequenceNumber: number, Role: role,
			Content: content, CreatedAt: now,
		}
	}
	mcp := func(id, call string) tarsy.MCPInteraction {
		return tarsy.MCPInteraction{
			ID: id, SessionID: s.id, StageID: s.stage, ExecutionID: s.execution, TimelineEventID: s.event, ToolCallID: call,
			ServerName: "k8s", ToolName: "get", ReadOnly: true, Attempt: 1, Status: tarsy.CallStarted, CreatedAt: now,
		}
	}

	ask := llm(s.ask, tarsy.InteractionIteration, 2, "", `{"text":"I look.","tool_calls":[{"id":"c1","name":"k8s__get","arguments":"{}"}]}`)
	ask.ThinkingContent = "Hm."
	end := llm(s.end, tarsy.InteractionIteration, 4, "", `{"text":"","tool_calls":[]}`)
	end.ErrorCode, end.ErrorMessage = "llm_error", "no quota"
	summary := llm(s.summary, tarsy.InteractionExecutiveSummary, 1, `[{"role":"user","content":"Sum up <it>."}]`, `{"text":"Well.","tool_calls":[]}`)
	summary.StageID, summary.ExecutionID = nil, nil

	asked, result := message(3, tarsy.RoleAssistant, "I look."), message(4, tarsy.RoleTool, "the summary")
	asked.ToolCalls = []tarsy.ToolCall{{ID: "c1", Name: "k8s__get", Arguments: "{}"}}
	result.ToolCallID, result.ToolName = "c1", "k8s__get"

	call := mcp(s.call, "c1")
	call.ToolArguments, call.ToolResult, call.Summary = json.RawMessage(`{"kind":"pod"}`), "a long result", "the summary"
	call.AvailableTools, call.Status, call.IsError, call.DurationMs = []string{"get", "list"}, tarsy.CallCompleted, true, 42
	call.ErrorMessage, call.CompletedAt = "partly", new(now.Add(time.Second))

	return progress.Step{
		Stages: []tarsy.Stage{{
			ID: s.stage, SessionID: s.id, StageName: "look", StageType: tarsy.StageInvestigation, StageIndex: 1, ExpectedAgentCount: 1,
			Status: tarsy.StatusActive, CreatedAt: now,
		}},
		Executions: []tarsy.Execution{{
			ID: s.execution, SessionID: s.id, StageID: s.stage, AgentName: "KubernetesAgent", AgentIndex: 1,
			IterationStrategy: "function-calling", LLMProvider: "google-default", Status: tarsy.StatusActive, CreatedAt: now,
		}},
		Messages: []tarsy.Message{message(1, tarsy.RoleSystem, "Investigate."), message(2, tarsy.RoleUser, "pod down"), asked, result},
		LLMInteractions: []tarsy.LLMInteraction{
			ask, llm(s.digest, tarsy.InteractionSummarization, 1, `[{"role":"user","content":"a long result"}]`, `{"text":"the summary"}`), end, summary,
		},
		MCPInteractions: []tarsy.MCPInteraction{call, mcp(s.open, "c2")},
		Events:          []tarsy.Event{tarsy.NewEvent(s.id, tarsy.TypeStageStatus, tarsy.StageStatusPayload{Type: tarsy.TypeStageStatus}, now)},
	}
}

// fill replaces placeholders in an expected body with the ids of a session and with constant parts.
func (s tracedSession) fill(body string) string {
	return strings.NewReplacer(
		"$SESSION", s.id, "$STAGE", s.stage, "$EXECUTION", s.execution, "$EVENT", s.event,
		"$ASK", s.ask, "$DIGEST", s.digest, "$END", s.end, "$SUMMARY", s.summary, "$CALL", s.call, "$OPEN", s.open,
		"$ONE", `{"input_tokens":10,"output_tokens":5,"thinking_tokens":2,"cached_tokens":1,"total_tokens":17,"cost_usd":0.25,"unpriced_tokens":3}`,
		"$THREE", `{"input_tokens":30,"output_tokens":15,"thinking_tokens":6,"cached_tokens":3,"total_tokens":51,"cost_usd":0.75,"unpriced_tokens":9}`,
		"$FOUR", `{"input_tokens":40,"output_tokens":20,"thinking_tokens":8,"cached_tokens":4,"total_tokens":68,"cost_usd":1,"unpriced_tokens":12}`,
		"$NOW", "2026-11-15T10:00:00.123456Z", "$SOON", "2026-11-15T10:00:01.123456Z",
	).Replace(body)
}

// requireAnswer requests a route of the trace and checks the body, also against the document.
func (f *fixture) requireAnswer(t *testing.T, route, path, body string) {
	t.Helper()

	got := f.request(t, http.MethodGet, path, "")
	require.Equal(t, http.StatusOK, got.status, got.body)
	require.JSONEq(t, body, got.body)
	require.Empty(t, f.api.CheckAnswer(http.MethodGet, "/api/v1/sessions/{id}/trace"+route, http.StatusOK, []byte(got.body)), got.body)
	require.Equal(t, "application/json", got.header.Get("Content-Type"))
	require.Equal(t, "no-store", got.header.Get("Cache-Control"))
	require.Equal(t, http.StatusOK, f.request(t, http.MethodHead, path, "").status)
}

func TestTraceListsCallsByStageAndExecution(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	s := f.traced(t)

	f.requireAnswer(t, "", "/api/v1/sessions/"+s.id+"/trace", s.fill(`{
		"session_id": "$SESSION", "version": 1, "usage": $FOUR,
		"stages": [{
			"stage_id": "$STAGE", "stage_name": "look", "stage_type": "investigation", "stage_index": 1, "status": "active", "usage": $THREE,
			"executions": [{
				"execution_id": "$EXECUTION", "agent_name": "KubernetesAgent", "agent_index": 1, "iteration_strategy": "function-calling",
				"llm_provider": "google-default", "status": "active", "usage": $THREE,
				"llm_interactions": [
					{"id": "$ASK", "interaction_type": "iteration", "provider": "google", "model_name": "gemini", "message_count": 2,
						"usage": $ONE, "duration_ms": 1200, "attempts": 2, "stop_reason": "end", "error_code": "", "error_message": "", "created_at": "$NOW"},
					{"id": "$DIGEST", "interaction_type": "summarization", "provider": "google", "model_name": "gemini", "message_count": 1,
						"usage": $ONE, "duration_ms": 1200, "attempts": 2, "stop_reason": "end", "error_code": "", "error_message": "", "created_at": "$NOW"},
					{"id": "$END", "interaction_type": "iteration", "provider": "google", "model_name": "gemini", "message_count": 4,
						"usage": $ONE, "duration_ms": 1200, "attempts": 2, "stop_reason": "end", "error_code": "llm_error", "error_message": "no quota", "created_at": "$NOW"}],
				"mcp_interactions": [
					{"id": "$CALL", "timeline_event_id": "$EVENT", "tool_call_id": "c1", "server_name": "k8s", "tool_name": "get",
						"status": "completed", "is_error": true, "attempt": 1, "read_only": true, "duration_ms": 42, "error_message": "partly",
						"created_at": "$NOW", "completed_at": "$SOON", "summarized": true},
					{"id": "$OPEN", "timeline_event_id": "$EVENT", "tool_call_id": "c2", "server_name": "k8s", "tool_name": "get",
						"status": "started", "is_error": false, "attempt": 1, "read_only": true, "duration_ms": 0, "error_message": "",
						"created_at": "$NOW", "completed_at": null, "summarized": false}]
			}]
		}],
		"session_interactions": [
			{"id": "$SUMMARY", "interaction_type": "executive_summary", "provider": "google", "model_name": "gemini", "message_count": 1,
				"usage": $ONE, "duration_ms": 1200, "attempts": 2, "stop_reason": "end", "error_code": "", "error_message": "", "created_at": "$NOW"}],
		"interruptions": []
	}`))

	fresh := tracedSession{id: f.session(t, func(*tarsy.Session) {})}
	f.requireAnswer(t, "", "/api/v1/sessions/"+fresh.id+"/trace", fresh.fill(`{
		"session_id": "$SESSION", "version": 0,
		"usage": {"input_tokens":0,"output_tokens":0,"thinking_tokens":0,"cached_tokens":0,"total_tokens":0,"cost_usd":0,"unpriced_tokens":0},
		"stages": [], "session_interactions": [], "interruptions": []
	}`))
}

func TestLLMCallIsShownWithItsConversation(t *testing.T) {
	t.Parallel()

	const route = "/llm/{interaction_id}"

	f := newFixture(t)
	s := f.traced(t)
	path := "/api/v1/sessions/" + s.id + "/trace/llm/"

	f.requireAnswer(t, route, path+s.ask, s.fill(`{
		"id": "$ASK", "session_id": "$SESSION", "stage_id": "$STAGE", "execution_id": "$EXECUTION", "interaction_type": "iteration",
		"provider": "google", "model_name": "gemini", "message_count": 2, "llm_request": null,
		"llm_response": {"text": "I look.", "tool_calls": [{"id": "c1", "name": "k8s__get", "arguments": "{}"}]},
		"thinking_content": "Hm.", "shortened_through": 0, "usage": $ONE, "duration_ms": 1200, "attempts": 2, "stop_reason": "end", "error_code": "", "error_message": "", "created_at": "$NOW",
		"conversation": [
			{"role": "system", "content": "Investigate.", "tool_calls": [], "tool_call_id": "", "tool_name": ""},
			{"role": "user", "content": "pod down", "tool_calls": [], "tool_call_id": "", "tool_name": ""}],
		"response": {"role": "assistant", "content": "I look.", "tool_calls": [{"id": "c1", "name": "k8s__get", "arguments": "{}"}],
			"tool_call_id": "", "tool_name": ""}
	}`))

	f.requireAnswer(t, route, path+s.end, s.fill(`{
		"id": "$END", "session_id": "$SESSION", "stage_id": "$STAGE", "execution_id": "$EXECUTION", "interaction_type": "iteration",
		"provider": "google", "model_name": "gemini", "message_count": 4, "llm_request": null,
		"llm_response": {"text": "", "tool_calls": []},
		"thinking_content": "", "shortened_through": 0, "usage": $ONE, "duration_ms": 1200, "attempts": 2, "stop_reason": "end", "error_code": "llm_error", "error_message": "no quota", "created_at": "$NOW",
		"conversation": [
			{"role": "system", "content": "Investigate.", "tool_calls": [], "tool_call_id": "", "tool_name": ""},
			{"role": "user", "content": "pod down", "tool_calls": [], "tool_call_id": "", "tool_name": ""},
			{"role": "assistant", "content": "I look.", "tool_calls": [{"id": "c1", "name": "k8s__get", "arguments": "{}"}],
				"tool_call_id": "", "tool_name": ""},
			{"role": "tool", "content": "the summary", "tool_calls": [], "tool_call_id": "c1", "tool_name": "k8s__get"}],
		"response": null
	}`))

	f.requireAnswer(t, route, path+s.summary, s.fill(`{
		"id": "$SUMMARY", "session_id": "$SESSION", "stage_id": null, "execution_id": null, "interaction_type": "executive_summary",
		"provider": "google", "model_name": "gemini", "message_count": 1, "llm_request": [{"role": "user", "content": "Sum up <it>."}],
		"llm_response": {"text": "Well.", "tool_calls": []},
		"thinking_content": "", "shortened_through": 0, "usage": $ONE, "duration_ms": 1200, "attempts": 2, "stop_reason": "end", "error_code": "", "error_message": "", "created_at": "$NOW",
		"conversation": [{"role": "user", "content": "Sum up <it>.", "tool_calls": [], "tool_call_id": "", "tool_name": ""}],
		"response": {"role": "assistant", "content": "Well.", "tool_calls": [], "tool_call_id": "", "tool_name": ""}
	}`))

	digest := get[tarsy.LLMInteractionDetail](t, f, path+s.digest)
	require.Equal(t, []tarsy.TraceMessage{{Role: tarsy.RoleUser, Content: "a long result", ToolCalls: []tarsy.ToolCall{}}}, digest.Conversation)
	require.Equal(t, "the summary", digest.Response.Content)
}

func TestMCPCallIsShownInFull(t *testing.T) {
	t.Parallel()

	const route = "/mcp/{interaction_id}"

	f := newFixture(t)
	s := f.traced(t)
	path := "/api/v1/sessions/" + s.id + "/trace/mcp/"

	f.requireAnswer(t, route, path+s.call, s.fill(`{
		"id": "$CALL", "session_id": "$SESSION", "stage_id": "$STAGE", "execution_id": "$EXECUTION", "timeline_event_id": "$EVENT",
		"tool_call_id": "c1", "server_name": "k8s", "tool_name": "get", "tool_arguments": {"kind": "pod"}, "tool_result": "a long result",
		"summary": "the summary", "available_tools": ["get", "list"], "read_only": true, "is_error": true, "attempt": 1,
		"status": "completed", "approval": null, "duration_ms": 42, "error_message": "partly", "created_at": "$NOW", "completed_at": "$SOON"
	}`))

	f.requireAnswer(t, route, path+s.open, s.fill(`{
		"id": "$OPEN", "session_id": "$SESSION", "stage_id": "$STAGE", "execution_id": "$EXECUTION", "timeline_event_id": "$EVENT",
		"tool_call_id": "c2", "server_name": "k8s", "tool_name": "get", "tool_arguments": null, "tool_result": "",
		"summary": "", "available_tools": [], "read_only": true, "is_error": false, "attempt": 1,
		"status": "started", "approval": null, "duration_ms": 0, "error_message": "", "created_at": "$NOW", "completed_at": null
	}`))
}

func TestMissingTraceIsNotFound(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	mine, other := f.traced(t), f.traced(t)
	deleted := f.session(t, func(s *tarsy.Session) { s.DeletedAt = new(f.clock.Now()) })
	nobody := ident.New()

	for path, want := range map[string]struct {
		code tarsy.Code
		says string
	}{
		nobody + "/trace":                         {tarsy.CodeSessionNotFound, `there is no session "` + nobody + `"`},
		"no-id/trace":                             {tarsy.CodeSessionNotFound, `there is no session "no-id"`},
		deleted + "/trace":                        {tarsy.CodeSessionNotFound, `there is no session "` + deleted + `"`},
		nobody + "/trace/llm/" + mine.ask:         {tarsy.CodeSessionNotFound, `there is no session "` + nobody + `"`},
		nobody + "/trace/mcp/" + mine.call:        {tarsy.CodeSessionNotFound, `there is no session "` + nobody + `"`},
		"no-id/trace/llm/no-id":                   {tarsy.CodeSessionNotFound, `there is no session "no-id"`},
		"no-id/trace/mcp/no-id":                   {tarsy.CodeSessionNotFound, `there is no session "no-id"`},
		deleted + "/trace/llm/" + mine.ask:        {tarsy.CodeSessionNotFound, `there is no session "` + deleted + `"`},
		deleted + "/trace/mcp/" + mine.call:       {tarsy.CodeSessionNotFound, `there is no session "` + deleted + `"`},
		mine.id + "/trace/llm/" + other.ask:       {tarsy.CodeInteractionNotFound, `session ` + mine.id + ` has no LLM interaction "` + other.ask + `"`},
		mine.id + "/trace/mcp/" + other.call:      {tarsy.CodeInteractionNotFound, `session ` + mine.id + ` has no MCP interaction "` + other.call + `"`},
		mine.id + "/trace/llm/" + mine.call:       {tarsy.CodeInteractionNotFound, `session ` + mine.id + ` has no LLM interaction "` + mine.call + `"`},
		mine.id + "/trace/mcp/" + mine.ask:        {tarsy.CodeInteractionNotFound, `session ` + mine.id + ` has no MCP interaction "` + mine.ask + `"`},
		mine.id + "/trace/llm/%00%ff%22x":         {tarsy.CodeInteractionNotFound, `session ` + mine.id + ` has no LLM interaction "�\"x"`},
		mine.id + "/trace/mcp/" + long():          {tarsy.CodeInteractionNotFound, `session ` + mine.id + ` has no MCP interaction "` + long()[:100] + `…"`},
		mine.id + "/trace/llm":                    {tarsy.CodeNotFound, "/openapi.json lists what there is"},
		mine.id + "/trace/other/" + mine.ask:      {tarsy.CodeNotFound, "/openapi.json lists what there is"},
		mine.id + "/trace/llm/" + upper(mine.ask): {tarsy.CodeInteractionNotFound, upper(mine.ask)},
	} {
		got := f.requireProblem(t, f.request(t, http.MethodGet, "/api/v1/sessions/"+path, ""), http.StatusNotFound, want.code)
		require.Contains(t, got.Detail, want.says, path)
	}
}

func long() string { return strings.Repeat("x", 5000) }

func upper(id string) string { return strings.ToUpper(id) }

func TestTraceNeedsReadScope(t *testing.T) {
	t.Parallel()

	f := newFixture(t, locked)
	s := f.traced(t)
	_, reader := f.key(t, "reader", tarsy.ScopeRead)

	for _, path := range []string{"", "/llm/" + s.ask, "/mcp/" + s.call} {
		path = "/api/v1/sessions/" + s.id + "/trace" + path
		f.requireProblem(t, f.request(t, http.MethodGet, path, ""), http.StatusUnauthorized, tarsy.CodeUnauthenticated)
		require.Equal(t, http.StatusOK, f.request(t, http.MethodGet, path, "", reader...).status)
		f.requireProblem(t, f.request(t, http.MethodGet, path+"?size=1", "", reader...), http.StatusBadRequest, tarsy.CodeInvalidParameter)
		f.requireProblem(t, f.request(t, http.MethodPost, path, "", reader...), http.StatusMethodNotAllowed, tarsy.CodeMethodNotAllowed)
	}
}

func TestReferenceExamplesMatchDocument(t *testing.T) {
	t.Parallel()

	text, err := os.ReadFile("../../docs/trace.md")
	require.NoError(t, err)

	f := newFixture(t)
	examples := regexp.MustCompile("(?s)`GET ([^`]+)`\n.*?```json\n(.*?)```").FindAllSubmatch(text, -1)
	require.Len(t, examples, 3)

	for _, example := range examples {
		require.Empty(t, f.api.CheckAnswer(http.MethodGet, string(example[1]), http.StatusOK, example[2]), "%s", example[1])
	}
}
