package e2e

import (
	"compress/gzip"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	otlp "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
	"tarsy.dev/tarsy/tarsytest"
)

// spanCollector receives traces as an OpenTelemetry collector does, over OTLP/HTTP.
type spanCollector struct {
	*httptest.Server

	t testing.TB
	// refuse is the status of the responses; zero means that spans are accepted.
	refuse int

	mu      sync.Mutex
	spans   []receivedSpan
	headers []http.Header
	more    chan struct{}
}

// receivedSpan is a span with the server that sent it.
type receivedSpan struct {
	*otlp.Span

	ServerID string
}

func newSpanCollector(t testing.TB) *spanCollector {
	t.Helper()

	c := &spanCollector{t: t, more: make(chan struct{}, 1)}
	c.Server = httptest.NewServer(http.HandlerFunc(c.receive))
	t.Cleanup(c.Close)

	return c
}

func (c *spanCollector) receive(w http.ResponseWriter, r *http.Request) {
	body := io.Reader(r.Body)

	if r.Header.Get("Content-Encoding") == "gzip" {
		unzipped, err := gzip.NewReader(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)

			return
		}

		body = unzipped
	}

	raw, err := io.ReadAll(body)

	var request collector.ExportTraceServiceRequest
	if err != nil || r.Method != http.MethodPost || r.URL.Path != "/v1/traces" || proto.Unmarshal(raw, &request) != nil {
		c.t.Errorf("not an export of traces: %s %s %v", r.Method, r.URL.Path, err)
	}

	if c.refuse != 0 {
		http.Error(w, "no", c.refuse)

		return
	}

	c.mu.Lock()
	defer c.mu.Unlock()

	c.headers = append(c.headers, r.Header)

	for _, of := range request.GetResourceSpans() {
		server := ""

		for _, attr := range of.GetResource().GetAttributes() {
			if attr.GetKey() == "service.instance.id" {
				server = attr.GetValue().GetStringValue()
			}
		}

		for _, scope := range of.GetScopeSpans() {
			for _, span := range scope.GetSpans() {
				c.spans = append(c.spans, receivedSpan{Span: span, ServerID: server})
			}
		}
	}

	select {
	case c.more <- struct{}{}:
	default:
	}
}

// waitRoot waits for the span of a session, which ends last, and returns all spans.
func (c *spanCollector) waitRoot(sessionID string) []receivedSpan {
	c.t.Helper()

	for {
		c.mu.Lock()
		spans := slices.Clone(c.spans)
		c.mu.Unlock()

		if slices.ContainsFunc(spans, func(s receivedSpan) bool {
			return len(s.GetParentSpanId()) == 0 && hex.EncodeToString(s.GetTraceId()) == strings.ReplaceAll(sessionID, "-", "")
		}) {
			return spans
		}

		await(c.t, c.more, "the span of the session")
	}
}

// attributesOf returns the attributes of a span, as text.
func attributesOf(span *otlp.Span) map[string]string {
	all := map[string]string{}

	for _, attr := range span.GetAttributes() {
		value := attr.GetValue()

		switch {
		case value.GetArrayValue() != nil:
			all[attr.GetKey()] = fmt.Sprint(value.GetArrayValue().GetValues()[0].GetStringValue())
		case value.GetStringValue() != "":
			all[attr.GetKey()] = value.GetStringValue()
		default:
			all[attr.GetKey()] = fmt.Sprint(value.GetIntValue())
		}
	}

	return all
}

// tree returns the names of spans as an indented tree, with children sorted by name.
func tree(spans []receivedSpan) []string {
	var (
		lines []string
		add   func(parent []byte, depth int)
	)

	add = func(parent []byte, depth int) {
		children := slices.DeleteFunc(slices.Clone(spans), func(s receivedSpan) bool { return string(s.GetParentSpanId()) != string(parent) })
		slices.SortFunc(children, func(x, y receivedSpan) int { return strings.Compare(x.GetName(), y.GetName()) })

		for _, s := range children {
			lines = append(lines, strings.Repeat("  ", depth)+s.GetName())
			add(s.GetSpanId(), depth+1)
		}
	}
	add(nil, 0)

	return lines
}

func spanNamed(t testing.TB, spans []receivedSpan, name string) receivedSpan {
	t.Helper()

	i := slices.IndexFunc(spans, func(s receivedSpan) bool { return s.GetName() == name })
	require.GreaterOrEqual(t, i, 0, "there is no span %q", name)

	return spans[i]
}

// lastBytes returns the last eight bytes of a row's id, which are the id of its span.
func lastBytes(rowID string) string {
	id := uuid.MustParse(rowID)

	return hex.EncodeToString(id[8:])
}

// tracedTools returns tools, one of whose results contains a secret.
func tracedTools() *tarsytest.MCPServer {
	return tarsytest.NewMCPServer("test-mcp",
		tarsytest.Tool{Name: "get_metrics", ReadOnly: true, Text: "heap 1.9Gi, key " + masked()["alert"]},
		tarsytest.Tool{Name: "get_events", ReadOnly: true, Text: "OOMKilled"})
}

// scriptTraced scripts two agents that use a tool each, a synthesis and a last agent.
func scriptTraced(app *tarsytest.App) {
	used := &llm.UsageChunk{InputTokens: 100, OutputTokens: 10, ThinkingTokens: 5, CachedTokens: 50}

	app.Script.Route("Metrics",
		script.Reply{Usage: used, Stop: llm.StopToolCalls, ToolCalls: []llm.ToolCall{{ID: "m1", Name: "test-mcp__get_metrics", Arguments: `{"pod":"app-1"}`}}}, says("Memory grows."))
	app.Script.Route("Events", script.Reply{ToolCalls: []llm.ToolCall{{ID: "e1", Name: "test-mcp__get_events", Arguments: `{}`}}}, says("It was killed."))
	app.Script.Route("SynthesisAgent", says("Memory grows until it is killed."))
	app.Script.Route("Closer", says("It is a leak."))
	app.Script.Route("ExecSummaryAgent", says("A leak."))
}

func tracing(settings string) string {
	return fmt.Sprintf(twoWithTools, "all") + "system: {tracing: {" + settings + "}}\n"
}

// One session is one trace under the session's id, named by the GenAI conventions, without what people and models wrote.
// MCP servers receive the id of the span that called them.
func TestSessionIsExportedAsTrace(t *testing.T) {
	t.Parallel()

	received, tools := newSpanCollector(t), tracedTools()
	app := tarsytest.New(t, tarsytest.Options{
		Config: tracing("endpoint: " + received.URL + ", headers_env: COLLECTOR_HEADERS"),
		Env:    map[string]string{"COLLECTOR_HEADERS": "authorization=Bearer%20for-the-collector,x-tenant=ops"},
		MCP:    []*tarsytest.MCPServer{tools},
	})
	scriptTraced(app)

	session := app.Run("test", "the heap of the shop grows")
	spans := received.waitRoot(session.ID)

	require.Equal(t, []string{
		"invoke_workflow test",
		"  chat test-model",
		"  chat test-model",
		"  stage close",
		"    invoke_agent Closer",
		"      chat test-model",
		"  stage look",
		"    invoke_agent Events",
		"      chat test-model",
		"      chat test-model",
		"      execute_tool get_events",
		"    invoke_agent Metrics",
		"      chat test-model",
		"      chat test-model",
		"      execute_tool get_metrics",
		"  stage look - Synthesis",
		"    invoke_agent SynthesisAgent",
		"      chat test-model",
	}, tree(spans))

	for _, s := range spans {
		require.Equal(t, strings.ReplaceAll(session.ID, "-", ""), hex.EncodeToString(s.GetTraceId()))
		require.Equal(t, app.ServerID, s.ServerID)
		require.Equal(t, session.ID, attributesOf(s.Span)["gen_ai.conversation.id"])
		require.LessOrEqual(t, s.GetStartTimeUnixNano(), s.GetEndTimeUnixNano())
		require.Equal(t, otlp.Status_STATUS_CODE_UNSET, s.GetStatus().GetCode())

		for _, written := range []string{"heap", "leak", "app-1", "Memory", "OOMKilled"} {
			require.NotContains(t, s.String(), written, "content is exported only on request")
		}
	}

	root := spanNamed(t, spans, "invoke_workflow test")
	require.Equal(t, lastBytes(session.ID), hex.EncodeToString(root.GetSpanId()))
	require.Equal(t, uint64(session.StartedAt.UnixNano()), root.GetStartTimeUnixNano())
	require.Equal(t, map[string]string{
		"gen_ai.operation.name": "invoke_workflow", "gen_ai.workflow.name": "test", "gen_ai.conversation.id": session.ID,
		"tarsy.alert.type": "test", "tarsy.status": "completed", "tarsy.outcome": "inconclusive",
	}, attributesOf(root.Span))

	agent := spanNamed(t, spans, "invoke_agent Metrics")
	require.Equal(t, lastBytes(session.Stages[0].Executions[0].ID), hex.EncodeToString(agent.GetSpanId()))
	require.Equal(t, map[string]string{
		"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "Metrics", "gen_ai.provider.name": "scripted",
		"gen_ai.conversation.id": session.ID, "tarsy.agent.strategy": "function-calling", "tarsy.status": "completed",
	}, attributesOf(agent.Span))

	chat := spans[slices.IndexFunc(spans, func(s receivedSpan) bool { return attributesOf(s.Span)["gen_ai.usage.input_tokens"] == "100" })]
	require.Equal(t, otlp.Span_SPAN_KIND_CLIENT, chat.GetKind())

	attributes := attributesOf(chat.Span)
	require.Equal(t, "chat", attributes["gen_ai.operation.name"])
	require.Equal(t, "scripted", attributes["gen_ai.provider.name"])
	require.Equal(t, "test-model", attributes["gen_ai.request.model"])
	require.Equal(t, "15", attributes["gen_ai.usage.output_tokens"], "with what it thought")
	require.Equal(t, "5", attributes["gen_ai.usage.reasoning.output_tokens"])
	require.Equal(t, "50", attributes["gen_ai.usage.cache_read.input_tokens"])
	require.Equal(t, "tool_call", attributes["gen_ai.response.finish_reasons"])

	called := spanNamed(t, spans, "execute_tool get_metrics")
	require.Equal(t, map[string]string{
		"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "get_metrics", "gen_ai.tool.call.id": "m1", "gen_ai.tool.type": "function",
		"gen_ai.conversation.id": session.ID, "mcp.method.name": "tools/call", "network.transport": "pipe", "tarsy.mcp.server": "test-mcp",
		"tarsy.tool.attempts": "1",
	}, attributesOf(called.Span))

	for _, call := range tools.Calls() {
		require.Equal(t, fmt.Sprintf("00-%s-%s-01", strings.ReplaceAll(session.ID, "-", ""), lastBytes(call.ID)), call.Traceparent)
	}

	require.Equal(t, "Bearer for-the-collector", received.headers[0].Get("Authorization"))
	require.Equal(t, "ops", received.headers[0].Get("X-Tenant"))
	waitMetrics(t, app, fmt.Sprintf(`tarsy_trace_spans_total{result="exported"} %d`, len(spans)))
}

// With capture_content, spans contain what models and tools received and returned. Secrets are masked as everywhere.
func TestTraceHasMaskedContentOnRequest(t *testing.T) {
	t.Parallel()

	received := newSpanCollector(t)
	app := tarsytest.New(t, tarsytest.Options{
		Config: tracing("endpoint: " + received.URL + "/v1/traces, capture_content: true"), MCP: []*tarsytest.MCPServer{tracedTools()},
	})
	scriptTraced(app)

	session := app.Run("test", "the heap grows, my token is "+masked()["inline"])
	spans := received.waitRoot(session.ID)

	call := attributesOf(spanNamed(t, spans, "execute_tool get_metrics").Span)
	require.JSONEq(t, `{"pod":"app-1"}`, call["gen_ai.tool.call.arguments"])
	require.Contains(t, call["gen_ai.tool.call.result"], "heap 1.9Gi")

	first := attributesOf(spans[slices.IndexFunc(spans, func(s receivedSpan) bool { return attributesOf(s.Span)["gen_ai.usage.input_tokens"] == "100" })].Span)
	require.Contains(t, first["gen_ai.input.messages"], "the heap grows, my token is")
	require.JSONEq(t,
		`[{"role":"assistant","parts":[{"type":"tool_call","id":"m1","name":"test-mcp__get_metrics","arguments":{"pod":"app-1"}}],"finish_reason":"tool_call"}]`,
		first["gen_ai.output.messages"])

	for _, s := range spans {
		require.NotContains(t, s.String(), masked()["alert"])
		require.NotContains(t, s.String(), masked()["inline"])
	}
}

// A collector that is down or refuses spans does not affect sessions; lost spans are counted.
func TestUnavailableCollectorLeavesSessionsAlone(t *testing.T) {
	t.Parallel()

	received := newSpanCollector(t)
	received.refuse = http.StatusBadRequest
	app := tarsytest.New(t, tarsytest.Options{Config: tracing("endpoint: " + received.URL), MCP: []*tarsytest.MCPServer{tracedTools()}})
	scriptTraced(app)

	session := app.Run("test", "nobody listens")
	require.Equal(t, tarsy.SessionCompleted, session.Status)
	waitMetrics(t, app, `tarsy_trace_spans_total{result="failed"} 18`, `tarsy_trace_spans_total{result="exported"} 0`)
}

// The next server continues the trace that the first one began, although it knows only what is stored.
func TestTraceContinuesAfterTakeover(t *testing.T) {
	t.Parallel()

	received := newSpanCollector(t)
	options := tarsytest.Options{Config: tracing("endpoint: " + received.URL), MCP: []*tarsytest.MCPServer{tracedTools()}, Unwatched: true}
	first := tarsytest.New(t, options)

	held := says("never said")
	held.Gate = script.NewGate()
	first.Script.Route("Metrics", tool("get_metrics", `{}`), held)
	first.Script.Route("Events", says("Nothing."))

	sessionID := first.Submit("test", "the first server stops")
	await(t, held.Gate.Reached(), "the second call of the agent")
	first.Watch(sessionID).Wait("the end of the other agent", func(e tarsytest.Event) bool {
		return e.Type == tarsy.TypeExecutionStatus && e.Fields["agent_name"] == "Events" && e.Fields["status"] == "completed"
	})
	first.Stop()

	// The second server claims the session as soon as it starts, so its script is complete by then.
	options.Database, options.Script = first.Database, script.New(script.Options{})
	options.Script.Route("Metrics", says("Memory grows."))
	options.Script.Route("SynthesisAgent", says("Memory grows."))
	options.Script.Route("Closer", says("It is a leak."))
	options.Script.Route("ExecSummaryAgent", says("A leak."))

	second := tarsytest.New(t, options)
	second.WaitFor(sessionID, tarsy.SessionCompleted)

	spans := received.waitRoot(sessionID)
	require.Equal(t, []string{
		"invoke_workflow test",
		"  chat test-model",
		"  chat test-model",
		"  stage close",
		"    invoke_agent Closer",
		"      chat test-model",
		"  stage look",
		"    invoke_agent Events",
		"      chat test-model",
		"    invoke_agent Metrics",
		"      chat test-model",
		"      chat test-model",
		"      execute_tool get_metrics",
		"  stage look - Synthesis",
		"    invoke_agent SynthesisAgent",
		"      chat test-model",
	}, tree(spans))
	require.Equal(t, first.ServerID, spanNamed(t, spans, "execute_tool get_metrics").ServerID)
	require.Equal(t, first.ServerID, spanNamed(t, spans, "invoke_agent Events").ServerID)
	require.Equal(t, second.ServerID, spanNamed(t, spans, "invoke_agent Metrics").ServerID)
	require.Equal(t, second.ServerID, spanNamed(t, spans, "invoke_workflow test").ServerID)
}
