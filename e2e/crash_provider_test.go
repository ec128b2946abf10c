package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/postgres/pgtest"
	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
	"tarsy.dev/tarsy/tarsytest"
)

// frailChain has a provider, a fallback, and a budget for two answers.
const frailChain = `
system: {budgets: {session: {max_tokens: 1500}}}
defaults:
  llm_provider: first
  fallback_providers: [{provider: second}]
  llm_retry: {max_attempts: 2, first_wait: 1ms, max_wait: 1ms, max_retry_after: 60s}
llm_providers:
  first: {type: openai, model: gpt-5, api: chat, base_url: '%s', api_key_env: KEY}
  second: {type: anthropic, model: claude-opus-4-5, base_url: '%s', api_key_env: KEY}
agents: {Investigator: {mcp_servers: [%s]}}
agent_chains: {test: {alert_types: [test], stages: [{name: analysis, agents: [{name: Investigator}]}]}}
`

// providerKill is a point at which the server is killed while a provider fails.
type providerKill struct {
	name string
	// first and second are the providers' replies to the calls after the first one; held is the gate of one of them.
	first, second []script.Reply
	held          *script.Gate
	// logged is what the server logs at the point, if no call is held there.
	logged string
	// provider is the one that ends the investigation, calls are all calls in the trace.
	provider string
	calls    []string
	// shortened reports whether the model gets the result shortened.
	shortened bool
}

func providerKills() []providerKill {
	// Each look uses 1,100 tokens or 500: the budget is exhausted after the second one only if the first one is remembered.
	ending := []script.Reply{used(deskLook(), 400, 100), used(says("What I know so far."), 10, 10)}
	revoked := script.Reply{Err: &llm.Error{Status: 401, Message: "the key was revoked"}}
	held := func() (*script.Gate, script.Reply) {
		gate := script.NewGate()

		return gate, script.Reply{Text: "never", Gate: gate}
	}
	taken, amidSecond := held()
	short, amidShortened := held()

	return []providerKill{
		{
			name: "the second provider is asked", first: []script.Reply{revoked}, second: append([]script.Reply{amidSecond}, ending...), held: taken,
			provider: "second", calls: []string{"first ×1 ", "first ×1 llm_auth", "second ×1 ", "second ×1 "},
		},
		{
			name:   "another attempt is waited for",
			first:  []script.Reply{{Err: &llm.Error{Status: 429, Message: "slow down", RetryAfter: 30 * time.Second}}, revoked},
			second: ending, logged: "an LLM call failed; retrying",
			provider: "second", calls: []string{"first ×1 ", "first ×1 llm_auth", "second ×1 ", "second ×1 "},
		},
		{
			name: "the conversation was shortened", held: short, shortened: true,
			first: append([]script.Reply{
				{Err: &llm.Error{Status: 400, Code: "context_length_exceeded", Message: "maximum context length"}}, amidShortened,
			}, ending...),
			provider: "first", calls: []string{"first ×1 ", "first ×1 llm_context_too_long", "first ×1 ", "first ×1 "},
		},
	}
}

// deskLook returns a reply that calls the only tool.
func deskLook() script.Reply {
	return script.Reply{ToolCalls: []llm.ToolCall{{Name: "desk__look", Arguments: "{}"}}}
}

// The real program is killed while a provider fails, and another process continues from there: with the provider that was
// in use, without repeating a finished call, and with the usage so far.
func TestKillDuringProviderFailure(t *testing.T) {
	t.Parallel()

	binary := buildProgram(t)

	for _, point := range providerKills() {
		t.Run(point.name, func(t *testing.T) {
			t.Parallel()

			first, second := script.New(script.Options{}), script.New(script.Options{})
			first.Add(used(deskLook(), 1000, 100))
			first.Add(point.first...)
			first.Add(used(says("In short."), 1, 1)) // the summary starts with the first provider again
			second.Add(point.second...)

			desk := newHugeDesk(t)
			models := []any{tarsytest.NewLLMServer(t, first).OpenAI(), tarsytest.NewLLMServer(t, second).Anthropic()}
			database, dir := pgtest.New(t), t.TempDir()
			chain := fmt.Sprintf(frailChain, append(models, "desk")...) +
				fmt.Sprintf("mcp_servers: {desk: {transport: {type: http, url: '%s'}}}\n", desk.URL)
			settings := chain + fmt.Sprintf("queue: {worker_count: 1, orphan_threshold: %s, heartbeat_interval: %s}\n", lease, lease/5)
			require.NoError(t, os.WriteFile(filepath.Join(dir, "tarsy.yaml"), []byte(settings), 0o600))

			app := tarsytest.New(t, tarsytest.Options{
				Config: chain + "queue: {worker_count: 0}\n", Database: database,
				Providers: true, Env: map[string]string{"KEY": "key-of-the-test"},
			})
			killed := startServe(t, binary, dir, database)
			sessionID := app.Submit("test", "the app is slow")
			socket := app.Watch(sessionID)

			if point.held != nil {
				await(t, point.held.Reached(), "the call")
			} else {
				killed.Log.WaitLine(point.logged)
			}

			killed.Kill()
			startServe(t, binary, dir, database)
			socket.WaitStatus("completed")
			requireFrail(t, app, sessionID, point)
			require.Len(t, desk.Seen(), 2, "each tool call is made once")

			if point.shortened {
				calls := first.Calls()
				require.Less(t, len(calls[2].Request.Messages[3].Content), hugeResult)
				require.Equal(t, calls[2].Request.Messages, calls[3].Request.Messages, "the next server shortens the same")
			}
		})
	}
}

func requireFrail(t *testing.T, app *tarsytest.App, sessionID string, point providerKill) {
	t.Helper()

	session := app.Session(sessionID)
	require.Equal(t, "budget", session.ConcludedEarly, "what was spent before the kill counts")
	require.Equal(t, "What I know so far.", session.FinalAnalysis)
	require.Equal(t, "In short.", session.ExecutiveSummary)
	require.Equal(t, point.provider, session.Stages[0].Executions[0].LLMProvider)
	require.Equal(t, 1100+500+20+2, session.Usage.TotalTokens)
	require.Equal(t, 2, session.ToolCalls)

	var made []string
	for _, c := range app.Trace(sessionID).Stages[0].Executions[0].LLMInteractions {
		made = append(made, fmt.Sprintf("%s ×%d %s", c.Provider, c.Attempts, c.ErrorCode))
	}

	require.Equal(t, point.calls, made)

	told := slices.DeleteFunc(app.Timeline(sessionID), func(e tarsy.TimelineEvent) bool {
		return e.EventType != tarsy.EventProviderFallback && e.EventType != tarsy.EventContextShortened
	})
	require.Len(t, told, 1, "people are told once")
	requireJournal(t, app, sessionID)
}

// newHugeDesk returns a desk whose answers are long.
func newHugeDesk(t *testing.T) *desk {
	t.Helper()

	d := newDesk(t)
	d.answer = func(deskCall) string { return strings.Repeat("0123456789", hugeResult/10) }

	return d
}

// startServe starts the program as a server and waits until it answers.
func startServe(t *testing.T, binary, dir, database string, flags ...string) *process {
	t.Helper()

	command := exec.Command(binary, append([]string{"serve", "--config-dir", dir, "--listen", "127.0.0.1:0", "--database-url", database}, flags...)...)
	command.Env = append(slices.DeleteFunc(os.Environ(), func(entry string) bool { return strings.HasPrefix(entry, "TARSY_") }), "KEY=key-of-the-test")

	p := runProcess(t, command)
	p.URL = address.FindString(p.Log.WaitLine("TARSy listens on"))

	return p
}
