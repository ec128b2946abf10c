package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
	"tarsy.dev/tarsy/tarsytest"
)

// endless is a chain whose agent can make a thousand calls.
const endless = `
agents: {Investigator: {mcp_servers: [kubernetes]}}
agent_chains: {test: {alert_types: [test], max_iterations: 1000, stages: [{name: analysis, agents: [{name: Investigator}]}]}}
`

// endlessApp returns a server for the chain; continues is a stopped one, whose sessions it takes over immediately.
func endlessApp(t *testing.T, settings string, replies *script.Script, continues *tarsytest.App) *tarsytest.App {
	t.Helper()

	database := ""
	if continues != nil {
		database = continues.Database
	}

	return tarsytest.New(t, tarsytest.Options{
		Config: endless + settings, Script: replies, Database: database, MCP: []*tarsytest.MCPServer{tarsytest.NewMCPServer("kubernetes",
			tarsytest.Tool{Name: "get_pods", ReadOnly: true, Text: "pods"}, tarsytest.Tool{Name: "get_events", ReadOnly: true, Text: "events"})},
	})
}

// loops returns a script in which the agent makes the same calls in turn for as long as it has tools.
func loops(calls ...script.Reply) *script.Script {
	replies := script.New(script.Options{})
	replies.RouteFunc(func(req *llm.Request) bool { return len(req.Tools) > 0 }, func(_ *llm.Request, n int) script.Reply { return calls[n%len(calls)] })
	replies.RouteFunc(func(req *llm.Request) bool { return len(req.Tools) == 0 }, func(*llm.Request, int) script.Reply { return says("I am stuck.") })

	return replies
}

func getPods(arguments string) script.Reply {
	return script.Reply{ToolCalls: []llm.ToolCall{{Name: "kubernetes__get_pods", Arguments: arguments}}}
}

func TestRepeatedCallsWarnThenConclude(t *testing.T) {
	t.Parallel()

	events := script.Reply{ToolCalls: []llm.ToolCall{{Name: "kubernetes__get_events", Arguments: `{}`}}}

	for name, test := range map[string]struct {
		settings string
		replies  []script.Reply
		calls    int
		warned   int
	}{
		"the same call":                     {"", []script.Reply{getPods(`{"namespace": "shop", "all": true}`), getPods(`{"all":true,"namespace":"shop"}`)}, 10, 5},
		"two calls in turn":                 {"", []script.Reply{getPods(`{}`), events}, 19, 9},
		"three calls in turn":               {"", []script.Reply{getPods(`{}`), events, getPods(`{"all":true}`)}, 28, 13},
		"another limit":                     {"defaults: {llm_provider: test, repeated_calls: {warn: 2, conclude: 3}}\n", []script.Reply{getPods(`{}`)}, 3, 2},
		"a limit without a notice before":   {"defaults: {llm_provider: test, repeated_calls: {warn: 0, conclude: 4}}\n", []script.Reply{getPods(`{}`)}, 4, 0},
		"several calls at once in one turn": {"", []script.Reply{{ToolCalls: append(getPods(`{}`).ToolCalls, getPods(`{}`).ToolCalls...)}}, 10, 5},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			app := endlessApp(t, test.settings, loops(test.replies...), nil)

			session := app.Run("test", "checkout is slow")
			require.Equal(t, tarsy.SessionCompleted, session.Status)
			require.Equal(t, "repeated_calls", session.ConcludedEarly)
			require.Equal(t, tarsy.ForcedRepeatedCalls, session.Stages[0].Executions[0].ForcedConclusion)
			require.Equal(t, "I am stuck.", session.FinalAnalysis)
			require.Equal(t, test.calls, session.ToolCalls)

			warned, concluded := 0, false

			for _, call := range app.Script.Calls() {
				for i, message := range call.Request.Messages {
					if warned == 0 && strings.Contains(message.Content, "Do not repeat it") {
						require.Equal(t, llm.RoleTool, message.Role)

						warned = results(call.Request.Messages[:i+1])
					}

					concluded = concluded || strings.Contains(message.Content, "You repeat the same tool calls")
				}
			}

			require.Equal(t, test.warned, warned, "the result that has the first notice")
			require.True(t, concluded)
		})
	}
}

// results counts the results of tools.
func results(messages []llm.Message) int {
	count := 0

	for _, m := range messages {
		if m.Role == llm.RoleTool {
			count++
		}
	}

	return count
}

func TestCallsThatDifferAreNoLoop(t *testing.T) {
	t.Parallel()

	for name, test := range map[string]struct {
		settings string
		call     func(n int) script.Reply
	}{
		"other arguments":  {"", func(n int) script.Reply { return getPods(fmt.Sprintf(`{"page": %d}`, n)) }},
		"detection is off": {"defaults: {llm_provider: test, repeated_calls: {warn: 0, conclude: 0}}\n", func(int) script.Reply { return getPods(`{}`) }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			const many = 40

			app := endlessApp(t, test.settings, nil, nil)
			app.Script.RouteFunc(everyRequest, func(req *llm.Request, n int) script.Reply {
				if len(req.Tools) == 0 || n >= many {
					return says("Found it.")
				}

				return test.call(n)
			})

			session := app.Run("test", "checkout is slow")
			require.Empty(t, session.ConcludedEarly)
			require.Equal(t, many, session.ToolCalls)

			for _, call := range app.Script.Calls() {
				for _, message := range call.Request.Messages {
					require.NotContains(t, message.Content, "Do not repeat it")
				}
			}
		})
	}
}

// Repetitions are counted from the database, so a server that continues a session continues the count.
func TestRepeatedCallsAreCountedAcrossRestart(t *testing.T) {
	t.Parallel()

	// The database stores the arguments in a different form than the model wrote them.
	const arguments = `{"namespace":"shop","all":true}`

	app, gate := endlessApp(t, "", nil, nil), script.NewGate()
	app.Script.RouteFunc(everyRequest, func(_ *llm.Request, n int) script.Reply {
		reply := getPods(arguments)
		if n == 7 {
			reply.Gate = gate
		}

		return reply
	})

	sessionID := app.Submit("test", "checkout is slow")
	app.WaitGate(gate)
	app.Stop()

	again := endlessApp(t, "", loops(getPods(arguments)), app)
	again.WaitFor(sessionID, tarsy.SessionCompleted)

	session := again.Session(sessionID)
	require.Equal(t, "repeated_calls", session.ConcludedEarly)
	require.Equal(t, 10, session.ToolCalls)
}

// A model with a price is limited even if no budget is configured.
func TestSessionHasBudgetByDefault(t *testing.T) {
	t.Parallel()

	app := endlessApp(t, "system: {cost_estimation: {model_rates: {test-model: {input_per_million: 1000000, output_per_million: 0}}}}\n", nil, nil)
	app.Script.RouteFunc(everyRequest, func(req *llm.Request, n int) script.Reply {
		if len(req.Tools) == 0 {
			return says("What I know.")
		}

		return used(getPods(fmt.Sprintf(`{"page": %d}`, n)), 2, 0) // 2 USD
	})

	session := app.Run("test", "checkout is slow")
	require.Equal(t, "budget", session.ConcludedEarly)
	require.Equal(t, 3, session.ToolCalls, "6 USD: the first sum of at least 5")
}
