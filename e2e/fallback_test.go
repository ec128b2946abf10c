package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
	"tarsy.dev/tarsy/tarsytest"
)

// fallbackChain uses one provider and, when it fails, another one of a different kind.
const fallbackChain = `
defaults:
  llm_provider: first
  fallback_list: spare
  llm_retry: {max_attempts: 3, first_wait: 1ms, max_wait: 2ms}
fallback_lists: {spare: [{llm_provider: second}]}
llm_providers:
  first: {type: openai, model: gpt-5, api: chat, base_url: '%s', api_key_env: KEY}
  second: {type: anthropic, model: claude-opus-4-5, base_url: '%s', api_key_env: KEY}
agents: {Investigator: {mcp_servers: [test-mcp]}}
agent_chains:
  test:
    alert_types: [test]
    stages: [{name: analysis, agents: [{name: Investigator}]}]
`

// hugeResult is the length of the result of the tool "huge".
const hugeResult = 10_000

// fallbackApp returns a server with the two providers, each with its own script.
func fallbackApp(t *testing.T) (app *tarsytest.App, first, second *script.Script) {
	t.Helper()

	first, second = script.New(script.Options{}), script.New(script.Options{})
	app = tarsytest.New(t, tarsytest.Options{
		Config: fmt.Sprintf(fallbackChain, tarsytest.NewLLMServer(t, first).OpenAI(), tarsytest.NewLLMServer(t, second).Anthropic()),
		MCP: []*tarsytest.MCPServer{tarsytest.NewMCPServer("test-mcp",
			tarsytest.Tool{Name: "get_pod_logs", ReadOnly: true, Text: "memory limit exceeded"},
			tarsytest.Tool{Name: "get_events", ReadOnly: true, Text: "OOMKilled at 14:32"},
			tarsytest.Tool{Name: "huge", ReadOnly: true, Text: strings.Repeat("0123456789", hugeResult/10)},
		)},
		Providers: true, Env: map[string]string{"KEY": "key-of-the-test"},
	})

	return app, first, second
}

func overloaded() script.Reply {
	return script.Reply{Err: &llm.Error{Status: 503, Code: "overloaded", Message: "too much to do", RetryAfter: time.Millisecond}}
}

// A failed call is retried; a provider that stays unavailable is replaced by the next one, in the middle of an
// investigation. The timeline reports it, and the trace has every call.
func TestFallbackProviderContinuesSession(t *testing.T) {
	t.Parallel()

	app, first, second := fallbackApp(t)
	first.Add(overloaded(), tool("get_pod_logs", `{"pod":"app-1"}`), overloaded(), overloaded(), overloaded(),
		script.Reply{Err: &llm.Error{Status: 401, Message: "the key was revoked"}})
	second.Add(says("The root cause is a leak."), says("A leak."))

	sessionID := app.Submit("test", "app-1 was OOM-killed")
	app.Watch(sessionID).WaitStatus("completed")

	session := app.Session(sessionID)
	require.Equal(t, "The root cause is a leak.", session.FinalAnalysis)
	require.Equal(t, "A leak.", session.ExecutiveSummary)
	require.Equal(t, "second", session.Stages[0].Executions[0].LLMProvider)

	var told []string

	for _, e := range app.Timeline(sessionID) {
		if e.EventType == tarsy.EventProviderFallback {
			fallback := tarsy.MetadataAs[tarsy.ProviderFallbackMetadata](e.Metadata)
			told = append(told, fmt.Sprintf("%s → %s: %s", fallback.From, fallback.To, fallback.Code))
		}
	}

	require.Equal(t, []string{"first → second: llm_transient", "first → second: llm_auth"}, told, "the executive summary falls back by itself")

	var made []string

	trace := app.Normalizer(sessionID).Trace(app.Trace(sessionID))
	for _, c := range append(trace.Stages[0].Executions[0].LLMInteractions, trace.SessionInteractions...) {
		made = append(made, fmt.Sprintf("%s %s ×%d %s", c.Provider, c.ModelName, c.Attempts, c.ErrorCode))
	}

	require.Equal(t, []string{
		"first gpt-5 ×2 ", "first gpt-5 ×3 llm_transient", "second claude-opus-4-5 ×1 ",
		"first gpt-5 ×1 llm_auth", "second claude-opus-4-5 ×1 ", // the summary
		"first gpt-5 ×1 ", // the verdict
	}, made)

	// The second provider received the whole conversation, in its own format.
	messages := second.Calls()[0].Request.Messages
	require.Equal(t, "memory limit exceeded", unmarked(messages[len(messages)-1].Content))
	require.Equal(t, "test-mcp__get_pod_logs", messages[len(messages)-2].ToolCalls[0].Name)
}

// The error tells operators what to do instead of repeating a library's message.
func TestProviderErrorExplainsRemedy(t *testing.T) {
	t.Parallel()

	app, first, second := fallbackApp(t)
	first.Add(script.Reply{Err: &llm.Error{Status: 404, Code: "model_not_found", Message: "there is no gpt-5"}})
	second.Add(script.Reply{Err: &llm.Error{Status: 401, Code: "authentication_error", Message: "invalid x-api-key"}})

	sessionID := app.Submit("test", "app-1 was OOM-killed")
	app.Watch(sessionID).WaitStatus("failed")

	session := app.Session(sessionID)
	require.Equal(t, "llm_auth", session.ErrorCode)
	require.Contains(t, session.ErrorMessage, "invalid x-api-key")
	require.Contains(t, session.ErrorMessage, "check the key in KEY, and that it may use claude-opus-4-5")
	require.NotContains(t, session.ErrorMessage, "key-of-the-test")
}

// A conversation that has become too long continues with old results shortened, once and visibly; what each call received
// can be reconstructed afterwards.
func TestTooLongConversationIsShortenedAndContinues(t *testing.T) {
	t.Parallel()

	app, first, _ := fallbackApp(t)
	tooLong := script.Reply{Err: &llm.Error{Status: 400, Code: "context_length_exceeded", Message: "maximum context length is 128000 tokens"}}
	first.Add(tool("huge", `{}`), tool("get_events", `{}`), tooLong, says("The root cause is a leak."), says("A leak."))

	sessionID := app.Submit("test", "app-1 was OOM-killed")
	app.Watch(sessionID).WaitStatus("completed")

	require.Equal(t, "The root cause is a leak.", app.Session(sessionID).FinalAnalysis)

	var shortened []tarsy.TimelineEvent

	for _, e := range app.Timeline(sessionID) {
		if e.EventType == tarsy.EventContextShortened {
			shortened = append(shortened, e)
		}
	}

	require.Len(t, shortened, 1)

	calls := app.Trace(sessionID).Stages[0].Executions[0].LLMInteractions
	require.Equal(t, "llm_context_too_long", calls[2].ErrorCode)
	require.Len(t, unmarked(app.LLMDetail(sessionID, calls[2].ID).Conversation[3].Content), hugeResult)
	require.Less(t, len(app.LLMDetail(sessionID, calls[3].ID).Conversation[3].Content), hugeResult/2)
	require.Equal(t, app.LLMDetail(sessionID, calls[3].ID).Conversation[3].Content, first.Calls()[3].Request.Messages[3].Content)
}
