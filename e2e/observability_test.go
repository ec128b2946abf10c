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

// observed has two parallel agents with tools, one of whose results is long enough to be summarized, and a chat.
const observed = `
agents:
  LogReader: {mcp_servers: [test-mcp]}
  MetricReader: {mcp_servers: [test-mcp]}
mcp_servers:
  test-mcp:
    transport: {type: stdio, command: in-memory}
    instructions: Ask for one pod at a time.
    summarization: {enabled: true, size_threshold_tokens: 200, summary_max_token_limit: 50}
agent_chains:
  observability-test:
    alert_types: [test]
    stages: [{name: investigation, agents: [{name: LogReader}, {name: MetricReader}]}]
    chat: {enabled: true}
`

// All four layers of one session are compared with golden files: what a reader saw, what the API returns, the conversations
// with the model, and every LLM and MCP interaction with its place in the trace.
func TestComprehensiveObservability(t *testing.T) {
	t.Parallel()

	var long strings.Builder
	for i := range 60 {
		fmt.Fprintf(&long, "12:%02d:00 app-1 heap %d MiB\n", i, 100+i*30)
	}

	tools := tarsytest.NewMCPServer("test-mcp",
		tarsytest.Tool{Name: "read_log", Description: "Reads a log.", ReadOnly: true, Text: long.String()},
		tarsytest.Tool{Name: "read_metric", Description: "Reads a metric.", ReadOnly: true, Text: "heap 1.9Gi of 2Gi"})
	app := tarsytest.New(t, tarsytest.Options{HoldStreams: true, Config: observed, MCP: []*tarsytest.MCPServer{tools}})

	usage := func(n int) *llm.UsageChunk {
		return &llm.UsageChunk{InputTokens: 100 * n, OutputTokens: 10 * n, ThinkingTokens: n, CachedTokens: 50 * n}
	}
	app.Script.RouteFunc(
		func(r *llm.Request) bool { return r.Purpose == string(tarsy.InteractionSummarization) },
		func(*llm.Request, int) script.Reply {
			return script.Reply{Text: "The heap grows by 30 MiB a minute.", Usage: usage(7)}
		})
	app.Script.RouteFunc(func(r *llm.Request) bool { return r.Agent == "LogReader" }, func(_ *llm.Request, n int) script.Reply {
		return []script.Reply{
			{Thinking: "Logs first.", Usage: usage(1), ToolCalls: []llm.ToolCall{{ID: "l1", Name: "test-mcp__read_log", Arguments: `{"pod":"app-1"}`}}},
			{Text: "The log shows steady growth.", Usage: usage(2)},
		}[n]
	})
	app.Script.Route("MetricReader",
		script.Reply{Usage: usage(3), ToolCalls: []llm.ToolCall{{ID: "m1", Name: "test-mcp__read_metric", Arguments: `{"name":"heap"}`}}},
		script.Reply{Text: "The heap is nearly full.", Usage: usage(4)})
	app.Script.Route("SynthesisAgent", script.Reply{Text: "Both see a leak.", Usage: usage(5)})
	app.Script.Route("ExecSummaryAgent", script.Reply{Text: "A leak.", Usage: usage(6)})
	app.Script.Route("ChatAgent",
		script.Reply{Usage: usage(8), ToolCalls: []llm.ToolCall{{ID: "c1", Name: "test-mcp__read_metric", Arguments: `{"name":"cpu"}`}}},
		script.Reply{Text: "No, only memory.", Usage: usage(9)})

	sessionID := app.Submit("test", "the heap grows")
	socket := app.Watch(sessionID)
	socket.WaitStatus("completed")
	socket.WaitStage(app.Ask(sessionID, "Is the CPU busy too?").StageID)

	trace := app.Trace(sessionID)
	require.Equal(t, 45*111, trace.Usage.TotalTokens, "the sum of all calls")
	require.Equal(t, 17*111, trace.Stages[0].Usage.TotalTokens, "with the summary of the long result")
	require.Equal(t, 10*111, trace.Stages[0].Executions[0].Usage.TotalTokens)
	require.Equal(t, 7*111, trace.Stages[0].Executions[1].Usage.TotalTokens)
	require.Len(t, trace.SessionInteractions, 2, "the summary and the verdict")

	log := app.MCPDetail(sessionID, trace.Stages[0].Executions[0].MCPInteractions[0].ID)
	require.Equal(t, long.String(), log.ToolResult, "the original")
	require.Equal(t, "The heap grows by 30 MiB a minute.", log.Summary, "and what the model was given")
	require.True(t, trace.Stages[0].Executions[0].MCPInteractions[0].Summarized)

	n := app.Normalizer(sessionID)
	trace = n.Trace(trace)
	tarsytest.GoldenEvents(t, n, "observability/ws_events.golden", socket.Events())
	tarsytest.GoldenJSON(t, n, "observability/session.golden", app.Session(sessionID))
	tarsytest.GoldenJSON(t, n, "observability/timeline.golden", n.Timeline(app.Timeline(sessionID)))
	tarsytest.GoldenJSON(t, n, "observability/trace.golden", trace)
	tarsytest.GoldenJSON(t, n, "observability/llm_interactions.golden", n.LLMInteractions(app.LLMInteractions(sessionID)))
	tarsytest.GoldenJSON(t, n, "observability/mcp_interactions.golden", n.MCPInteractions(app.MCPInteractions(sessionID)))
	tarsytest.Golden(t, "observability/llm_conversations.golden", n.Normalize(conversations(app, sessionID, trace)))
}

// conversations formats every LLM call of a trace as the model saw it, and compares it with what was really sent.
func conversations(app *tarsytest.App, sessionID string, trace tarsy.Trace) []byte {
	var b strings.Builder

	write := func(agent string, item tarsy.LLMInteractionItem) {
		detail := app.LLMDetail(sessionID, item.ID)
		fmt.Fprintf(&b, "==== %s: %s\n", agent, item.InteractionType)

		for _, m := range detail.Conversation {
			fmt.Fprintf(&b, "---- %s", m.Role)

			if m.ToolName != "" {
				fmt.Fprintf(&b, " %s (%s)", m.ToolName, m.ToolCallID)
			}

			for _, c := range m.ToolCalls {
				fmt.Fprintf(&b, " → %s %s", c.Name, c.Arguments)
			}

			fmt.Fprintf(&b, "\n%s\n", m.Content)
		}
	}

	for _, stage := range trace.Stages {
		for _, execution := range stage.Executions {
			for _, item := range execution.LLMInteractions {
				write(execution.AgentName, item)
			}
		}
	}

	for _, item := range trace.SessionInteractions {
		write("session", item)
	}

	return []byte(b.String())
}

// The trace shows of a call what the model received, message by message.
func TestTraceShowsWhatModelReceived(t *testing.T) {
	t.Parallel()

	app := tarsytest.New(t, tarsytest.Options{Config: oomChain, MCP: []*tarsytest.MCPServer{oomTools()}})
	app.Script.Route("DataCollector", tool("get_pod_logs", `{}`), tool("get_metrics", `{}`), says("Collected."))
	app.Script.Route("MetricsAgent", says("Grows."))
	app.Script.Route("EventsAgent", says("Killed."))
	app.Script.Route("SynthesisAgent", says("A leak."))
	app.Script.Route("Diagnostician", says("The cache."))
	app.Script.Route("ExecSummaryAgent", says("Leak."))
	app.Script.Route("VerdictAgent", concludes(t, tarsy.OutcomeCauseFound, "a leak"))
	session := app.Run("kubernetes-oom", "trace me")

	sent := map[string][]string{}

	for _, c := range app.Script.Calls() {
		sent[c.Request.Agent] = append(sent[c.Request.Agent], render(c.Request.Messages))
	}

	trace := app.Trace(session.ID)
	shown := map[string][]string{}
	show := func(agent string, item tarsy.LLMInteractionItem) {
		detail := app.LLMDetail(session.ID, item.ID)
		messages := make([]llm.Message, len(detail.Conversation))

		for i, m := range detail.Conversation {
			messages[i] = llm.Message{Role: string(m.Role), Content: m.Content, ToolCallID: m.ToolCallID, ToolName: m.ToolName}
			for _, c := range m.ToolCalls {
				messages[i].ToolCalls = append(messages[i].ToolCalls, llm.ToolCall(c))
			}
		}

		shown[agent] = append(shown[agent], render(messages))
	}

	for _, stage := range trace.Stages {
		for _, execution := range stage.Executions {
			for _, item := range execution.LLMInteractions {
				show(execution.AgentName, item)
			}
		}
	}

	for _, item := range trace.SessionInteractions {
		show(map[tarsy.InteractionType]string{
			tarsy.InteractionExecutiveSummary: "ExecSummaryAgent", tarsy.InteractionVerdict: "VerdictAgent",
		}[item.InteractionType], item)
	}

	require.Equal(t, sent, shown)
}

func render(messages []llm.Message) string {
	var b strings.Builder
	for _, m := range messages {
		fmt.Fprintf(&b, "%s %q %v %q %q\n", m.Role, m.Content, m.ToolCalls, m.ToolCallID, m.ToolName)
	}

	return b.String()
}
